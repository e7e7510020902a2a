//! The calls of `process.Process`.

use super::super::connect::{Context, Messages};
use super::super::error::RpcError;
use super::super::journal;
use super::frames::ProcessFrame;
use super::spawn::spawn;
use super::supervise::supervise;
use super::table::{Found, Process};
use agent_sandbox_web::protocol::connect::Code;
use agent_sandbox_web::protocol::process::*;
use futures_util::Stream;
use rustix::process::Signal as OsSignal;
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as Task, Poll};
use tokio::sync::mpsc;

/// The events of one process for one subscriber.
pub struct Follow {
    first: VecDeque<ProcessFrame>,
    rest: Option<mpsc::Receiver<ProcessFrame>>,
}

impl Follow {
    fn running(pid: u32, rest: mpsc::Receiver<ProcessFrame>) -> Self {
        Self { first: [ProcessFrame::Start(pid)].into(), rest: Some(rest) }
    }

    fn ended(pid: u32, end: EndEvent) -> Self {
        Self { first: [ProcessFrame::Start(pid), ProcessFrame::End(end)].into(), rest: None }
    }
}

impl Stream for Follow {
    type Item = Result<ProcessFrame, RpcError>;

    fn poll_next(mut self: Pin<&mut Self>, task: &mut Task) -> Poll<Option<Self::Item>> {
        if let Some(frame) = self.first.pop_front() {
            return Poll::Ready(Some(Ok(frame)));
        }
        match &mut self.rest {
            Some(rest) => rest.poll_recv(task).map(|frame| frame.map(Ok)),
            None => Poll::Ready(None),
        }
    }
}

/// The running processes. Needs no user.
pub async fn list(context: Context, _: ListRequest) -> Result<ListResponse, RpcError> {
    Ok(ListResponse { processes: context.envd.processes.list() })
}

/// Starts a process and follows it. The call's timeout is the process's too.
pub async fn start(context: Context, request: StartRequest) -> Result<Follow, RpcError> {
    let user = context.user()?;
    if context.expired() {
        return Err(RpcError::deadline_exceeded());
    }
    let processes = context.envd.processes.clone();
    let config = request.process.unwrap_or_default();
    let stdin = request.stdin.unwrap_or(true);
    let spawned = spawn(&processes.reaper, &context.envd.config, &user, &config, request.pty, stdin)?;
    let pid = spawned.pid;
    journal::started(pid, &config.cmd, &config.args);
    let process = Arc::new(Process::new(pid, config, request.tag, spawned.stdin));
    // Before anything is read, so that the first byte is not missed.
    let events = process.fanout.subscribe();
    processes.add(Arc::clone(&process));
    tokio::spawn(supervise(processes, process, spawned.exit, spawned.outputs, context.deadline));
    events.map(|events| Follow::running(pid, events)).ok_or_else(|| RpcError::internal("the process ended before it began"))
}

/// Follows a process that runs, from now on, or tells how it ended.
pub async fn connect(context: Context, request: ConnectRequest) -> Result<Follow, RpcError> {
    let process = match context.envd.processes.find(request.process)? {
        Found::Exited(exited) => return Ok(Follow::ended(exited.pid, exited.end.clone())),
        Found::Running(process) => process,
    };
    match (process.final_end(), process.fanout.subscribe()) {
        (None, Some(events)) => Ok(Follow::running(process.pid, events)),
        (Some(end), _) => Ok(Follow::ended(process.pid, end)),
        (None, None) => match context.envd.processes.find(Some(ProcessSelector::pid(process.pid)))? {
            Found::Exited(exited) => Ok(Follow::ended(exited.pid, exited.end.clone())),
            Found::Running(_) => Err(RpcError::not_found(format!("process with pid {} not found", process.pid))),
        },
    }
}

/// Resizes a terminal; without a size nothing happens.
pub async fn update(context: Context, request: UpdateRequest) -> Result<UpdateResponse, RpcError> {
    let process = context.envd.processes.running(request.process)?;
    if let Some(pty) = request.pty {
        process.stdin.resize(pty.size.unwrap_or_default())?;
    }
    Ok(UpdateResponse {})
}

/// Writes many pieces of input, one after another.
pub async fn stream_input(context: Context, mut messages: Messages) -> Result<StreamInputResponse, RpcError> {
    let mut process: Option<Arc<Process>> = None;
    while let Some(message) = messages.next::<StreamInputRequest>().await? {
        match message.event {
            Some(StreamInput::Start(start)) => process = Some(context.envd.processes.running(start.process)?),
            Some(StreamInput::Data(data)) => match &process {
                Some(process) => process.stdin.send(data.input).await?,
                None => return Err(RpcError::invalid_argument("data before start: the first message must name the process")),
            },
            Some(StreamInput::Keepalive(_)) => {}
            None => return Err(RpcError::new(Code::Unimplemented, "invalid event type: neither start, data nor keepalive")),
        }
    }
    Ok(StreamInputResponse {})
}

/// Writes one piece of input.
pub async fn send_input(context: Context, request: SendInputRequest) -> Result<SendInputResponse, RpcError> {
    context.envd.processes.running(request.process)?.stdin.send(request.input).await?;
    Ok(SendInputResponse {})
}

/// Signals the process itself, not its group.
pub async fn send_signal(context: Context, request: SendSignalRequest) -> Result<SendSignalResponse, RpcError> {
    let process = context.envd.processes.running(request.process)?;
    let signal = match Signal::try_from(request.signal) {
        Ok(Signal::Sigkill) => OsSignal::KILL,
        Ok(Signal::Sigterm) => OsSignal::TERM,
        Ok(Signal::Unspecified) => {
            return Err(RpcError::new(Code::Unimplemented, "invalid signal: SIGNAL_UNSPECIFIED"));
        }
        Err(_) => return Err(RpcError::new(Code::Unimplemented, format!("invalid signal: {}", request.signal))),
    };
    // Ended in the meantime is as good as delivered.
    let delivery = context.envd.processes.signal(&process, signal);
    delivery.map(|_| SendSignalResponse {}).map_err(|error| RpcError::internal(format!("error sending signal: {error}")))
}

/// Closes a pipe.
pub async fn close_stdin(context: Context, request: CloseStdinRequest) -> Result<CloseStdinResponse, RpcError> {
    context.envd.processes.running(request.process)?.stdin.close().await?;
    Ok(CloseStdinResponse {})
}
