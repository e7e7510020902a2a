//! The processes of one running sandbox.

use crate::handover::{EnvdConfig, READY};
use anyhow::{Context, bail};
use rustix::fd::OwnedFd;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::io;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin};

/// How long envd may take to come up.
const ENVD_READY: Duration = Duration::from_secs(30);
/// How long envd without walls may take to end what it started, once its stdin is closed.
const ENVD_ENDS: Duration = Duration::from_secs(5);
/// How much of a line of envd's log is kept.
const LOG_LINE: u64 = 4096;

/// envd, what stands around it, and the handle by which it ends. Dropped without [`Jail::end`], everything in it is killed as well.
pub struct Jail {
    /// bubblewrap, or envd itself where there are no walls.
    child: Child,
    /// The first process inside the walls: with it everything inside ends at once.
    init: Option<OwnedFd>,
    /// What carries the packets.
    pasta: Option<Child>,
    /// Closed, it tells envd to end.
    stdin: Option<ChildStdin>,
}

impl Jail {
    /// Takes over a child that was started with pipes for stdin, stdout and stderr.
    pub fn new(mut child: Child) -> Self {
        let stdin = child.stdin.take();
        Self { child, init: None, pasta: None, stdin }
    }

    /// Names the first process inside the walls.
    ///
    /// # Errors
    /// When it is gone already.
    pub fn set_init(&mut self, pid: u32) -> anyhow::Result<()> {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).context("bubblewrap named no process")?;
        self.init = Some(pidfd_open(pid, PidfdFlags::empty()).context("the sandbox ended as it started")?);
        Ok(())
    }

    /// Takes over the pasta that belongs to this sandbox, if it has one.
    pub fn set_pasta(&mut self, pasta: Option<Child>) {
        self.pasta = pasta;
    }

    /// Itself when the start has succeeded; otherwise it is ended first, so that nothing of it is left when the error is told.
    ///
    /// # Errors
    /// What the start failed with.
    pub async fn or_end(self, start: anyhow::Result<()>) -> anyhow::Result<Self> {
        match start {
            Ok(()) => Ok(self),
            Err(error) => {
                self.end().await;
                Err(error)
            }
        }
    }

    /// Tells envd its configuration and waits until it is ready. Its log goes to ours from then on.
    ///
    /// # Errors
    /// When envd ends, says something else or takes too long.
    pub async fn hand_over(&mut self, id: &str, config: &EnvdConfig) -> anyhow::Result<()> {
        if let Some(stderr) = self.child.stderr.take() {
            tokio::spawn(log(id.to_owned(), stderr));
        }
        let mut line = serde_json::to_vec(config)?;
        line.push(b'\n');
        let stdin = self.stdin.as_mut().context("envd has no stdin")?;
        stdin.write_all(&line).await.context("envd ended before it was configured")?;
        stdin.flush().await?;
        let stdout = self.child.stdout.take().context("envd has no stdout")?;
        let mut lines = BufReader::new(stdout.take(LOG_LINE)).lines();
        match tokio::time::timeout(ENVD_READY, lines.next_line()).await.context("envd did not come up in time")?? {
            Some(line) if line == READY => Ok(()),
            _ => bail!("envd ended before it was ready"),
        }
    }

    /// Resolves when the sandbox has ended by itself.
    pub async fn exited(&mut self) {
        drop(self.child.wait().await);
    }

    /// Ends everything in the sandbox and waits until it is gone.
    pub async fn end(mut self) {
        drop(self.stdin.take());
        match self.init.take() {
            Some(init) => {
                if let Err(error) = pidfd_send_signal(&init, Signal::KILL)
                    && error != rustix::io::Errno::SRCH
                {
                    tracing::warn!(%error, "cannot end a sandbox's first process");
                    drop(self.child.start_kill());
                }
            }
            None => {
                if tokio::time::timeout(ENVD_ENDS, self.child.wait()).await.is_err() {
                    drop(self.child.start_kill());
                }
            }
        }
        drop(self.child.wait().await);
        if let Some(mut pasta) = self.pasta.take() {
            drop(pasta.kill().await);
        }
    }
}

/// Copies envd's log to ours, line by line; a line without end is cut.
async fn log(id: String, stderr: impl AsyncRead + Unpin) {
    let mut stderr = BufReader::new(stderr);
    let mut line = Vec::new();
    loop {
        line.clear();
        match next_line(&mut stderr, &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => tracing::debug!(sandbox = %id, "{}", String::from_utf8_lossy(&line).trim_end()),
        }
    }
}

async fn next_line(from: &mut (impl AsyncBufReadExt + Unpin), line: &mut Vec<u8>) -> io::Result<usize> {
    from.take(LOG_LINE).read_until(b'\n', line).await
}
