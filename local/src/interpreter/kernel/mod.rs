//! One Jupyter kernel: its process, and its channels over ZeroMQ.
//!
//! Nothing is lost and nothing piles up between a cell and its client: each request has a short queue, the reader of the iopub
//! channel waits when that queue is full, the socket then fills, and our own launcher (`launch.py`) makes the kernel wait in turn.
//! Kernels that are not started by it (`deno jupyter`) decide themselves what to do about a slow reader.

mod channels;
pub mod message;
mod process;

pub use channels::Run;
pub use process::{Launcher, StartError};

use super::language::KernelKind;
use channels::Channels;
use process::Process;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// How long a kernel may take until it answers. The first start on a machine reads hundreds of files from a cold disk.
const START_TIMEOUT: Duration = Duration::from_secs(120);

/// How often a connection that breaks while a kernel starts is tried again, and after how long.
const CONNECT_ATTEMPTS: u32 = 50;
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(100);

/// Why a kernel is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Its process ended by itself or was killed by the system.
    Died,
    /// It was ended on purpose: restart or removal of its context, or the only way to stop a cell.
    Ended,
}

/// A running kernel. Dropping it kills its process group.
pub struct Kernel {
    kind: KernelKind,
    process: Process,
    channels: Channels,
    end: watch::Receiver<Option<End>>,
}

impl Kernel {
    /// Starts a kernel and waits until it answers on every channel that cells need.
    pub async fn start(launcher: &Launcher, kind: KernelKind, cwd: &Path) -> Result<Arc<Kernel>, StartError> {
        let (mut process, connection) = launcher.start(kind, cwd).await?;
        let mut end = process.end();
        let connected = async {
            let mut attempt = 1;
            let channels = loop {
                match Channels::connect(&connection).await {
                    Err(error) if attempt == CONNECT_ATTEMPTS => return Err(error),
                    // `deno jupyter` drops connections that come while it starts.
                    Err(_) => tokio::time::sleep(BETWEEN_ATTEMPTS).await,
                    Ok(channels) => break channels,
                }
                attempt += 1;
            };
            channels.wait_until_ready().await?;
            Ok(channels)
        };
        let channels = tokio::select! {
            channels = tokio::time::timeout(START_TIMEOUT, connected) => match channels {
                Ok(channels) => channels?,
                Err(_) => return Err(StartError::Silent { seconds: START_TIMEOUT.as_secs() }),
            },
            _ = end.wait_for(Option::is_some) => return Err(StartError::Exited { output: process.last_output() }),
        };
        process.started();
        Ok(Arc::new(Kernel { kind, process, channels, end }))
    }

    /// Which kernel this is.
    pub fn kind(&self) -> KernelKind {
        self.kind
    }

    /// Sends code. A silent request leaves no trace: no number, no history, no output.
    pub async fn execute(&self, code: &str, silent: bool) -> Result<Run, StartError> {
        tokio::select! {
            run = self.channels.execute(code, silent) => run,
            _ = self.ended() => Err(StartError::Gone),
        }
    }

    /// Runs code silently to its end; whether it ran without raising.
    pub async fn run_silently(&self, code: &str) -> bool {
        let Ok(mut run) = self.execute(code, true).await else { return false };
        tokio::select! {
            succeeded = run.finish() => succeeded,
            _ = self.ended() => false,
        }
    }

    /// Asks the kernel to stop the cell that runs. A kernel without a way to do so keeps running.
    pub async fn interrupt(&self) {
        match self.kind {
            KernelKind::Python | KernelKind::Bash => self.process.interrupt(),
            KernelKind::Deno => self.channels.interrupt().await,
        }
    }

    /// Kills the kernel's process group.
    pub fn stop(&self) {
        self.process.kill();
    }

    /// Whether it still runs.
    pub fn is_alive(&self) -> bool {
        self.end.borrow().is_none()
    }

    /// Resolves when all that the kernel published before its end has been handed to its requests.
    pub async fn drained(&self) {
        self.channels.drained().await;
    }

    /// Resolves when the kernel is gone.
    pub async fn ended(&self) -> End {
        let mut end = self.end.clone();
        end.wait_for(Option::is_some).await.ok().and_then(|end| *end).unwrap_or(End::Ended)
    }
}
