//! One cell, from its place in the queue to the last line of its stream.

use super::context::{Context, Turn};
use super::event::{CellError, Event};
use super::kernel::message::{Output, ReplyStatus};
use super::kernel::{End, Kernel, Run};
use bytes::Bytes;
use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

/// Silence after which a running cell says that it is still there.
const KEEPALIVE: Duration = Duration::from_secs(5);

/// Lines that wait for the client. Few: one may hold a large picture, and more of them would only be memory.
const QUEUE: usize = 2;

/// A kernel that has died may have left output in the socket. One whose children hold that socket open never brings it to an end: then
/// this long without output is one.
const LAST_OUTPUT: Duration = Duration::from_secs(1);

/// A cell that goes on after an interrupt gets another one, later each time: it may be cleaning up, or have missed the first.
const FIRST_INTERRUPT: Duration = Duration::from_secs(2);
const LONGEST_INTERRUPT: Duration = Duration::from_secs(30);

/// How long a kernel that has no interrupt of its own may take to finish an abandoned cell before it is ended.
const ABANDONED: Duration = Duration::from_secs(1);

/// How many turns of the kernel's event loop a late value may take.
const TURNS: usize = 3;

/// What to run.
pub struct Cell {
    /// The code.
    pub code: String,
    /// Variables for this cell only.
    pub variables: BTreeMap<String, String>,
}

/// Runs a cell when its turn comes; gives the lines of its stream. Dropping the receiver interrupts it.
pub fn start(context: Arc<Context>, turn: impl Future<Output = Turn> + Send + 'static, cell: Cell) -> mpsc::Receiver<Bytes> {
    let (lines, stream) = mpsc::channel(QUEUE);
    tokio::spawn(async move {
        let mut client = Client { lines, failed: false };
        let turn = tokio::select! {
            biased;
            () = context.removed() => None,
            turn = turn => Some(turn),
            // Nobody waits for it any more: it never runs.
            () = client.gone() => return,
        };
        // An error means that the client has left, and it has been dealt with.
        let _ = match turn {
            Some(_turn) => run(&context, &cell, &mut client).await,
            None => client.kernel_ended(End::Ended).await,
        };
        let _ = client.send(Event::EndOfExecution).await;
    });
    stream
}

/// The client has left.
struct Gone;

struct Client {
    lines: mpsc::Sender<Bytes>,
    failed: bool,
}

impl Client {
    async fn gone(&self) {
        self.lines.closed().await;
    }

    async fn send(&self, event: Event) -> Result<(), Gone> {
        self.lines.send(event.line()).await.map_err(|_| Gone)
    }

    /// Passes an error of the code on, once.
    async fn fail(&mut self, error: CellError) -> Result<(), Gone> {
        if std::mem::replace(&mut self.failed, true) {
            return Ok(());
        }
        self.send(Event::Error(error)).await
    }

    async fn kernel_ended(&mut self, end: End) -> Result<(), Gone> {
        match end {
            End::Died => {
                self.send(Event::Error(CellError::own("ContextRestarting", "The kernel died and is restarted; its state is lost")))
                    .await
            }
            End::Ended => {
                self.send(Event::Error(CellError::own("WebSocketError", "The connection to the kernel was closed"))).await?;
                let value = "The context was restarted or removed before the cell was finished";
                self.send(Event::Error(CellError::own("UnexpectedEndOfExecution", value))).await
            }
        }
    }

    async fn output(&mut self, output: Output) -> Result<(), Gone> {
        match output {
            Output::Started(execution_count) => self.send(Event::NumberOfExecutions { execution_count }).await,
            Output::Stream { stderr: false, text, timestamp } => self.send(Event::Stdout { text, timestamp }).await,
            Output::Stream { stderr: true, text, timestamp } => self.send(Event::Stderr { text, timestamp }).await,
            Output::Result(result) => self.send(Event::Result(result)).await,
            Output::Error(error) => self.fail(error).await,
            Output::Idle | Output::Reply(_) => Ok(()),
        }
    }
}

async fn run(context: &Context, cell: &Cell, client: &mut Client) -> Result<(), Gone> {
    let kernel = match context.kernel().await {
        Ok(kernel) => kernel,
        Err(error) => return client.fail(CellError::own("ContextRestarting", &error.to_string())).await,
    };
    if !cell.variables.is_empty() && !kernel.run_silently(&context.kind().set_variables(&cell.variables)).await {
        return client.fail(CellError::own("EnvironmentError", "The cell's environment variables could not be set")).await;
    }
    let outcome = match kernel.execute(&cell.code, false).await {
        Ok(mut execution) => follow(&kernel, &mut execution, client).await,
        Err(_) => client.kernel_ended(kernel.ended().await).await,
    };
    if !cell.variables.is_empty() {
        kernel.run_silently(&context.kind().restore_variables(&cell.variables)).await;
    }
    outcome
}

/// Passes a cell's output on until it is finished, its kernel is gone or its client is.
async fn follow(kernel: &Kernel, execution: &mut Run, client: &mut Client) -> Result<(), Gone> {
    match forward(kernel, execution, client).await {
        Ok(None) => {}
        Ok(Some(end)) => {
            if end == End::Died {
                while let Some(output) = last_output(kernel, execution).await {
                    client.output(output).await?;
                }
            }
            return client.kernel_ended(end).await;
        }
        Err(Gone) => {
            stop(kernel, execution).await;
            return Err(Gone);
        }
    }
    if kernel.kind().results_come_late() {
        collect_late(kernel, execution, client).await?;
    }
    if execution.status() == ReplyStatus::Aborted {
        client.fail(CellError::own("ExecutionAborted", "The kernel did not finish the cell")).await?;
    }
    Ok(())
}

/// What a dead kernel has left, one by one.
async fn last_output(kernel: &Kernel, execution: &mut Run) -> Option<Output> {
    tokio::select! {
        // What is there comes before the news that no more will follow.
        biased;
        output = execution.next() => output,
        () = kernel.drained() => None,
        () = sleep(LAST_OUTPUT) => None,
    }
}

/// Passes output on until the execution is finished or the kernel's end comes, which it gives. The end interrupts the wait for output alone,
/// and not its way to the client: what has been taken would be lost.
async fn forward(kernel: &Kernel, execution: &mut Run, client: &mut Client) -> Result<Option<End>, Gone> {
    loop {
        let output = tokio::select! {
            output = timeout(KEEPALIVE, execution.next()) => output,
            end = kernel.ended() => return Ok(Some(end)),
            () = client.gone() => return Err(Gone),
        };
        match output {
            Ok(Some(output)) => client.output(output).await?,
            Ok(None) => return Ok(None),
            Err(_) => client.send(Event::Keepalive).await?,
        }
    }
}

/// Takes the values that the kernel sends after it has said that it is idle, under the name of the request that runs by then. So requests
/// follow that give no value themselves: each is a turn of the kernel's event loop, and what comes meanwhile is the cell's.
async fn collect_late(kernel: &Kernel, execution: &mut Run, client: &mut Client) -> Result<(), Gone> {
    for _ in 0..TURNS {
        let Ok(mut turn) = kernel.execute("0", true).await else { return Ok(()) };
        loop {
            let output = tokio::select! {
                biased;
                output = execution.late() => output,
                output = turn.next() => match output {
                    Some(Output::Result(value)) => Output::Result(value),
                    Some(_) => continue,
                    None => break,
                },
                _ = kernel.ended() => return Ok(()),
            };
            client.output(output).await?;
        }
    }
    Ok(())
}

/// Interrupts an abandoned cell and waits until the kernel has let go of it, so that the next one is not hit.
async fn stop(kernel: &Kernel, execution: &mut Run) {
    // An interrupt that comes before the code runs is lost.
    tokio::select! {
        () = execution.started() => {}
        _ = kernel.ended() => return,
    }
    let finished = async {
        tokio::select! {
            _ = execution.finish() => {}
            _ = kernel.ended() => {}
        }
    };
    let interrupts = async {
        let mut pause = FIRST_INTERRUPT;
        loop {
            kernel.interrupt().await;
            if !kernel.kind().can_interrupt() {
                sleep(ABANDONED).await;
                kernel.stop();
            }
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_INTERRUPT);
        }
    };
    tokio::select! {
        () = finished => {}
        () = interrupts => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interpreter::event::RichResult;

    #[tokio::test]
    async fn only_the_first_error_of_the_code_is_passed_on() {
        let (lines, mut stream) = mpsc::channel(QUEUE);
        let mut client = Client { lines, failed: false };
        for name in ["First", "Second"] {
            assert!(client.output(Output::Error(CellError::own(name, ""))).await.is_ok());
        }
        assert!(client.output(Output::Result(Box::<RichResult>::default())).await.is_ok());
        drop(client);
        let mut seen = String::new();
        while let Some(line) = stream.recv().await {
            seen.push_str(&String::from_utf8_lossy(&line));
        }
        assert!(seen.contains("First") && !seen.contains("Second") && seen.contains("result"), "{seen}");
    }
}
