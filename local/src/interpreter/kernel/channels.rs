//! A kernel's channels: requests go out on shell and control, and what comes back on shell and iopub goes to the request it names
//! as its parent.

use super::message::{self, Output, ReplyStatus};
use super::process::StartError;
use futures_util::{Stream, StreamExt};
use jupyter_protocol::{ConnectionInfo, ExecuteRequest, InterruptRequest, JupyterMessage, KernelInfoRequest};
use jupyter_zmq_client::{ClientControlConnection, Connection, DealerSendConnection, RawMessage, RuntimeError};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use zeromq::{DealerSocket, Socket, SocketEvent, SocketOptions, SocketRecv, SubSocket};

/// Messages that wait for the reader of one request.
const QUEUE: usize = 4;

/// How long to wait for the iopub channel to speak before asking again: subscriptions take effect at some point after connecting.
const SUBSCRIPTION_RETRY: Duration = Duration::from_millis(100);

/// How long a kernel that says it is idle may take to answer. One that was interrupted at a bad moment never does.
const REPLY_AFTER_IDLE: Duration = Duration::from_secs(2);

type Routes = Arc<Mutex<HashMap<String, mpsc::Sender<Output>>>>;

/// The client's side of a kernel.
pub struct Channels {
    shell: tokio::sync::Mutex<DealerSendConnection>,
    control: tokio::sync::Mutex<ClientControlConnection>,
    routes: Routes,
    /// Whether the iopub channel is at its end, with everything that came before handed to its request.
    drained: watch::Receiver<bool>,
    _readers: JoinSet<()>,
}

impl Channels {
    /// Connects, also to a kernel that does not listen yet.
    pub async fn connect(info: &ConnectionInfo) -> Result<Channels, StartError> {
        let session = uuid::Uuid::new_v4().to_string();
        let mut shell = DealerSocket::with_options(patient());
        let mut control = DealerSocket::with_options(patient());
        let mut iopub = SubSocket::with_options(patient());
        let events = iopub.monitor();
        iopub.subscribe("").await.map_err(RuntimeError::from)?;
        shell.connect(&info.shell_url()).await.map_err(RuntimeError::from)?;
        control.connect(&info.control_url()).await.map_err(RuntimeError::from)?;
        iopub.connect(&info.iopub_url()).await.map_err(RuntimeError::from)?;

        let (shell, replies) = Connection::new(shell, &info.key, &session).split();
        let routes = Routes::default();
        let mut readers = JoinSet::new();
        readers.spawn(route(replies, Arc::clone(&routes)));
        readers.spawn(route(Connection::new(iopub, &info.key, &session), Arc::clone(&routes)));
        let (ends, drained) = watch::channel(false);
        readers.spawn(follow_end(events, ends));
        Ok(Channels {
            shell: tokio::sync::Mutex::new(shell),
            control: tokio::sync::Mutex::new(Connection::new(control, &info.key, &session)),
            routes,
            drained,
            _readers: readers,
        })
    }

    /// Resolves once a request is answered on shell and seen on iopub: from then on no output can be missed.
    pub async fn wait_until_ready(&self) -> Result<(), StartError> {
        loop {
            let mut run = self.send(KernelInfoRequest {}.into()).await?;
            while !run.replied {
                run.advance().await;
            }
            if tokio::time::timeout(SUBSCRIPTION_RETRY, run.finish()).await.is_ok() {
                return Ok(());
            }
        }
    }

    /// Sends code to the kernel.
    pub async fn execute(&self, code: &str, silent: bool) -> Result<Run, StartError> {
        let request = ExecuteRequest {
            code: code.to_owned(),
            silent,
            store_history: !silent,
            user_expressions: None,
            // There is nobody to answer: `input()` raises.
            allow_stdin: false,
            // Cells are sent one at a time. After an error or an interrupt this would throw away the next one.
            stop_on_error: false,
        };
        self.send(request.into()).await
    }

    /// Sends an interrupt on the control channel.
    pub async fn interrupt(&self) {
        // A kernel that cannot be reached is seen to have ended by whoever waits for its cell.
        let _ = self.control.lock().await.send(InterruptRequest {}.into()).await;
    }

    /// Resolves when the kernel's end of the iopub channel is closed and all that came through it has been handed to its requests.
    pub async fn drained(&self) {
        // The sender lives as long as the readers do.
        let _ = self.drained.clone().wait_for(|drained| *drained).await;
    }

    async fn send(&self, message: JupyterMessage) -> Result<Run, StartError> {
        let (sender, outputs) = mpsc::channel(QUEUE);
        let id = message.header.msg_id.clone();
        lock(&self.routes).insert(id.clone(), sender);
        let run = Run {
            id,
            outputs,
            routes: Arc::clone(&self.routes),
            started: false,
            replied: false,
            idle: false,
            status: ReplyStatus::Ok,
        };
        self.shell.lock().await.send(message).await?;
        Ok(run)
    }
}

/// Connecting waits for the kernel; whoever waits sets the limit.
fn patient() -> SocketOptions {
    let mut options = SocketOptions::default();
    options.no_connect_timeout();
    options
}

/// Keeps track of whether the channel is at its end. A kernel that starts may close it once and take a new connection.
async fn follow_end(mut events: impl Stream<Item = SocketEvent> + Unpin, ends: watch::Sender<bool>) {
    while let Some(event) = events.next().await {
        match event {
            SocketEvent::Connected(..) => ends.send_replace(false),
            // The reader asks for the next message, and finds the end, once it has handed over the one before.
            SocketEvent::Disconnected(..) => ends.send_replace(true),
            _ => continue,
        };
    }
}

/// Hands messages to the requests that caused them, waiting for a request whose reader is slow.
async fn route<S: SocketRecv>(mut connection: Connection<S>, routes: Routes) {
    while let Ok(multipart) = connection.socket.recv().await {
        let Ok(raw) = RawMessage::from_multipart(multipart, &connection.mac) else {
            tracing::warn!("a message that is not signed by the kernel was dropped");
            continue;
        };
        let Some((id, output)) = message::read(&raw.jparts) else { continue };
        let route = lock(&routes).get(&id).cloned();
        if let Some(route) = route {
            // An error means that the reader has left: its request's route goes with it.
            let _ = route.send(output).await;
        }
    }
}

fn lock(routes: &Routes) -> std::sync::MutexGuard<'_, HashMap<String, mpsc::Sender<Output>>> {
    routes.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A request under way. Dropping it drops its further output.
pub struct Run {
    id: String,
    outputs: mpsc::Receiver<Output>,
    routes: Routes,
    started: bool,
    replied: bool,
    idle: bool,
    status: ReplyStatus,
}

impl Run {
    /// The next output; nothing once the request is finished: answered, and everything that it published has arrived.
    pub async fn next(&mut self) -> Option<Output> {
        while !(self.replied && self.idle) {
            if let Some(output) = self.advance().await {
                return Some(output);
            }
        }
        None
    }

    /// Drops output until the code runs or the request is finished.
    pub async fn started(&mut self) {
        while !self.started && self.next().await.is_some() {}
    }

    /// An output that arrives although the request is finished.
    pub async fn late(&mut self) -> Output {
        loop {
            if let Some(output) = self.advance().await {
                return output;
            }
        }
    }

    /// How the request ended, as far as it has.
    pub fn status(&self) -> ReplyStatus {
        self.status
    }

    /// Drops all further output until the request is finished; whether it succeeded.
    pub async fn finish(&mut self) -> bool {
        while self.next().await.is_some() {}
        self.status == ReplyStatus::Ok
    }

    /// Takes one message; gives it if it is for the cell.
    async fn advance(&mut self) -> Option<Output> {
        let received = if self.idle && !self.replied {
            let Ok(received) = tokio::time::timeout(REPLY_AFTER_IDLE, self.outputs.recv()).await else {
                self.replied = true;
                self.status = ReplyStatus::Aborted;
                return None;
            };
            received
        } else {
            self.outputs.recv().await
        };
        match received {
            Some(Output::Idle) => self.idle = true,
            Some(Output::Reply(status)) => {
                self.replied = true;
                self.status = status;
            }
            Some(output) => {
                self.started |= matches!(output, Output::Started(_));
                return Some(output);
            }
            // The route lives as long as this request.
            None => std::future::pending().await,
        }
        None
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        lock(&self.routes).remove(&self.id);
    }
}
