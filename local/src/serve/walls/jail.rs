//! The processes of one running sandbox.

use super::super::journal::Journal;
use super::Launch;
use super::cgroup::Cgroup;
use super::freeze::Freezer;
use super::network::Egress;
use crate::handover::READY;
use anyhow::{Context, bail};
use rustix::fd::OwnedFd;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader, Interest};
use tokio::process::{Child, ChildStdin};

/// How long envd may take to come up.
const ENVD_READY: Duration = Duration::from_secs(60);
/// How long envd without walls may take to end what it started, once its stdin is closed.
const ENVD_ENDS: Duration = Duration::from_secs(5);
/// How long the processes behind walls may take to end.
const ENDS: Duration = Duration::from_secs(5);
/// How much of a line of envd's log is kept.
const LOG_LINE: u64 = 4096;

/// envd, what stands around it, and the handle by which it ends. Dropped without [`Jail::end`], everything in it is killed as well.
pub struct Jail {
    /// bubblewrap, or envd itself where there are no walls.
    child: Child,
    /// The first process inside the walls: with it everything inside ends at once.
    init: Option<AsyncFd<OwnedFd>>,
    /// The way out to the internet, open or cut; `None` where there are no walls.
    egress: Option<Egress>,
    /// Closed, it tells envd to end.
    stdin: Option<ChildStdin>,
    /// The process below which everything in the sandbox is.
    root: u32,
    freezer: Freezer,
}

impl Jail {
    /// Takes over an envd without walls, which was started with pipes for stdin, stdout and stderr.
    pub fn unwalled(mut child: Child) -> Self {
        let (stdin, root) = (child.stdin.take(), child.id().unwrap_or_default());
        Self { child, init: None, egress: None, stdin, root, freezer: Freezer::signals(root, false) }
    }

    /// Takes over a bubblewrap that was started in the same way. `pid` is the first process inside.
    ///
    /// # Errors
    /// When that process is gone already.
    pub fn walled(mut child: Child, pid: u32, group: Option<Cgroup>) -> anyhow::Result<Self> {
        let init = i32::try_from(pid).ok().and_then(Pid::from_raw).context("bubblewrap named no process")?;
        let init = pidfd_open(init, PidfdFlags::empty()).context("the sandbox ended as it started")?;
        let init = register(init)?;
        let freezer = group.map_or_else(|| Freezer::signals(pid, true), Freezer::Group);
        Ok(Self { stdin: child.stdin.take(), child, init: Some(init), egress: None, root: pid, freezer })
    }

    /// Takes over the way out that belongs to this sandbox.
    pub fn set_egress(&mut self, egress: Egress) {
        self.egress = Some(egress);
    }

    /// Opens or cuts the way out to the internet. `etc` is the sandbox's own `/etc`.
    ///
    /// # Errors
    /// When it cannot be opened; it is cut then. Always where there are no walls.
    pub async fn set_online(&mut self, online: bool, etc: &Path) -> anyhow::Result<()> {
        let egress = self.egress.as_mut().context("there is no network wall")?;
        if online { egress.open(etc).await } else { egress.cut(etc).await }
    }

    /// Stops everything inside and waits until it has stopped.
    ///
    /// # Errors
    /// When something does not stop; everything goes on then.
    pub async fn freeze(&mut self) -> anyhow::Result<()> {
        self.freezer.freeze().await
    }

    /// Lets everything inside go on.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn thaw(&mut self) -> anyhow::Result<()> {
        self.freezer.thaw()
    }

    /// The process below which everything in the sandbox is.
    pub fn root(&self) -> u32 {
        self.root
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
    pub async fn hand_over(&mut self, launch: &Launch<'_>) -> anyhow::Result<()> {
        if let Some(stderr) = self.child.stderr.take() {
            tokio::spawn(log(launch.id.to_owned(), Arc::clone(launch.journal), stderr));
        }
        let mut line = serde_json::to_vec(launch.config)?;
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
        match &self.init {
            // bubblewrap itself says nothing while it is frozen. (The system tells the end of a process as something to read.)
            Some(init) => drop(init.readable().await),
            None => drop(self.child.wait().await),
        }
    }

    /// Ends everything in the sandbox and waits until it is gone.
    pub async fn end(mut self) {
        drop(self.stdin.take());
        match self.init.take() {
            Some(init) => {
                if let Err(error) = pidfd_send_signal(init.get_ref(), Signal::KILL)
                    && error != rustix::io::Errno::SRCH
                {
                    tracing::warn!(%error, "cannot end a sandbox's first process");
                    drop(self.child.start_kill());
                }
                // What is frozen ends where it stands. Only then may bubblewrap, which is in the group too, see that its child is gone.
                drop(tokio::time::timeout(ENDS, init.readable()).await);
                drop(self.freezer.thaw());
            }
            None => {
                if tokio::time::timeout(ENVD_ENDS, self.child.wait()).await.is_err() {
                    drop(self.child.start_kill());
                }
            }
        }
        drop(self.child.wait().await);
        if let Some(egress) = self.egress.take() {
            egress.end().await;
        }
        self.freezer.remove().await;
    }
}

/// Has a descriptor watched for something to read.
fn register(fd: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an owned descriptor stays what it is and open for as long as it is registered.
    let watched = unsafe { AsyncFd::register_with_interest(fd, Interest::READABLE) };
    watched.map_err(io::Error::from)
}

/// Copies envd's log to the sandbox's and ours, line by line; a line without end is cut.
async fn log(id: String, journal: Arc<Journal>, stderr: impl AsyncRead + Unpin) {
    let mut stderr = BufReader::new(stderr);
    let mut line = Vec::new();
    loop {
        line.clear();
        match next_line(&mut stderr, &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {
                let line = String::from_utf8_lossy(&line);
                tracing::debug!(sandbox = %id, "{}", line.trim_end());
                journal.add_line(line.trim_end());
            }
        }
    }
}

async fn next_line(from: &mut (impl AsyncBufReadExt + Unpin), line: &mut Vec<u8>) -> io::Result<usize> {
    from.take(LOG_LINE).read_until(b'\n', line).await
}
