//! A kernel's process: how it is started, interrupted and ended.

use super::End;
use crate::interpreter::environment::Environment;
use crate::interpreter::language::KernelKind;
use jupyter_protocol::{ConnectionInfo, Transport};
use jupyter_zmq_client::{RuntimeError, peek_ports_with_listeners};
use rustix::process::{Pid, Signal, kill_process_group, set_parent_process_death_signal};
use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::AsyncReadExt;
use tokio::process::{Child, Command};
use tokio::sync::watch;

/// How much of what a kernel writes while it starts is kept for the error message, in bytes.
const KEPT_OUTPUT: usize = 2048;

/// The longest path of a Unix socket, less what is added for each channel, in bytes.
const SOCKET_PREFIX: usize = 107 - "-1".len();

/// Why a kernel did not start or cannot be reached.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// No kernel has this name.
    #[error("No kernel for the language {language:?}: python, bash, javascript and typescript are supported")]
    NoKernel {
        /// The name that was asked for.
        language: String,
    },
    /// The kernel needs a program that was not found when the platform started.
    #[error(
        "The kernel for JavaScript and TypeScript needs Deno 2: install it (npm install deno) or put it on the platform's PATH, then restart the platform"
    )]
    NoDeno,
    /// The program could not be started, or its files not be written.
    #[error("The kernel could not be started: {0}")]
    Io(#[from] std::io::Error),
    /// A channel could not be used.
    #[error("The kernel could not be reached: {0}")]
    Channel(#[from] RuntimeError),
    /// The kernel ended before it answered.
    #[error("The kernel ended before it was ready: {output}")]
    Exited {
        /// The end of what it wrote.
        output: String,
    },
    /// The kernel is gone, or its context is.
    #[error("The kernel is gone: its context was restarted or removed")]
    Gone,
    /// The kernel runs and does not answer.
    #[error("The kernel did not answer within {seconds} seconds")]
    Silent {
        /// How long it was given.
        seconds: u64,
    },
}

/// Starts kernels. Connection files and sockets live in a private folder.
pub struct Launcher {
    folder: tempfile::TempDir,
    environment: Environment,
}

impl Launcher {
    /// A launcher for kernels in this environment, with its private folder in `run_dir`.
    pub fn new(environment: Environment, run_dir: &Path) -> std::io::Result<Launcher> {
        let folder = tempfile::Builder::new().prefix("kernels-").tempdir_in(run_dir)?;
        std::fs::write(folder.path().join("launch.py"), include_str!("launch.py"))?;
        std::fs::write(folder.path().join("results.py"), include_str!("results.py"))?;
        Ok(Launcher { folder, environment })
    }

    /// Where contexts start that name no folder.
    pub fn home(&self) -> &Path {
        self.environment.home()
    }

    /// Whether kernels of this kind can be started.
    pub fn supports(&self, kind: KernelKind) -> bool {
        kind != KernelKind::Deno || self.environment.deno().is_some()
    }

    pub(super) async fn start(&self, kind: KernelKind, cwd: &Path) -> Result<(Process, ConnectionInfo), StartError> {
        self.environment.prepare()?;
        let id = uuid::Uuid::new_v4().simple().to_string();
        // Sockets in a private folder need no ports. `deno jupyter` knows only TCP; the ports stay taken until it starts.
        let prefix = self.folder.path().join(&id[..8]);
        let (info, _listeners) = if kind == KernelKind::Deno || prefix.as_os_str().len() > SOCKET_PREFIX {
            let (ports, listeners) = peek_ports_with_listeners(IpAddr::V4(Ipv4Addr::LOCALHOST), 5).await?;
            let ports = <[u16; 5]>::try_from(ports).map_err(|_| RuntimeError::ZmqMessageError("too few free ports".into()))?;
            (connection_info(Transport::TCP, "127.0.0.1".into(), ports), listeners)
        } else {
            (connection_info(Transport::IPC, prefix.to_string_lossy().into_owned(), [1, 2, 3, 4, 5]), Vec::new())
        };
        let file = self.folder.path().join(format!("{id}.json"));
        std::fs::write(&file, serde_json::to_vec(&info).map_err(std::io::Error::from)?)?;
        let child = self.command(kind, &file, cwd)?.spawn()?;
        Ok((Process::watch(child, file)?, info))
    }

    fn command(&self, kind: KernelKind, connection_file: &Path, cwd: &Path) -> Result<Command, StartError> {
        let mut command = match kind {
            KernelKind::Deno => {
                let mut command = Command::new(self.environment.deno().ok_or(StartError::NoDeno)?);
                command.args(["jupyter", "--kernel", "--conn"]).arg(connection_file);
                // Values are shown as text, not on a terminal.
                command.env("NO_COLOR", "1");
                command
            }
            KernelKind::Python | KernelKind::Bash => {
                let mut command = Command::new(self.environment.python());
                command.arg(self.folder.path().join("launch.py"));
                command.arg(if kind == KernelKind::Bash { "bash" } else { "python" });
                command.arg("-f").arg(connection_file);
                command
            }
        };
        // A folder that does not exist is no error on this wire: the kernel starts at home.
        command.current_dir(if cwd.is_dir() { cwd } else { self.environment.home() });
        command.envs(self.environment.variables());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        command.process_group(0).kill_on_drop(true);
        // However the interpreter ends, its kernels end with it. The threads that start kernels live as long as it does.
        // SAFETY: the closure makes one system call and neither allocates nor locks.
        unsafe { command.pre_exec(|| Ok(set_parent_process_death_signal(Some(Signal::KILL))?)) };
        Ok(command)
    }
}

fn connection_info(transport: Transport, ip: String, ports: [u16; 5]) -> ConnectionInfo {
    let [shell_port, iopub_port, stdin_port, control_port, hb_port] = ports;
    ConnectionInfo {
        ip,
        transport,
        shell_port,
        iopub_port,
        stdin_port,
        control_port,
        hb_port,
        key: uuid::Uuid::new_v4().to_string(),
        signature_scheme: "hmac-sha256".into(),
        kernel_name: None,
    }
}

/// A kernel's process group. Dropping it kills the group.
pub struct Process {
    group: Option<Pid>,
    end: watch::Receiver<Option<End>>,
    stopped: Arc<watch::Sender<bool>>,
    output: Arc<Mutex<VecDeque<u8>>>,
    connection_file: PathBuf,
}

impl Process {
    fn watch(mut child: Child, connection_file: PathBuf) -> std::io::Result<Process> {
        let group = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        let output = Arc::new(Mutex::new(VecDeque::new()));
        if let Some(stderr) = child.stderr.take() {
            tokio::spawn(keep_end(stderr, Arc::clone(&output)));
        }
        let stopped = Arc::new(watch::Sender::new(false));
        let (ended, end) = watch::channel(None);
        let on_purpose = Arc::clone(&stopped);
        tokio::spawn(async move {
            let _ = child.wait().await;
            let end = if *on_purpose.borrow() { End::Ended } else { End::Died };
            ended.send_replace(Some(end));
        });
        Ok(Process { group, end, stopped, output, connection_file })
    }

    /// Follows the process to its end.
    pub fn end(&self) -> watch::Receiver<Option<End>> {
        self.end.clone()
    }

    /// The kernel has read its connection file.
    pub fn started(&mut self) {
        let _ = std::fs::remove_file(&self.connection_file);
    }

    /// The end of what the process wrote to stderr.
    pub fn last_output(&self) -> String {
        let output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        let (front, back) = output.as_slices();
        String::from_utf8_lossy(&[front, back].concat()).trim().to_owned()
    }

    /// Sends SIGINT to the group, so that programs started by a cell stop with it.
    pub fn interrupt(&self) {
        self.signal(Signal::INT);
    }

    /// Kills the group.
    pub fn kill(&self) {
        self.stopped.send_replace(true);
        self.signal(Signal::KILL);
    }

    fn signal(&self, signal: Signal) {
        // After the end the group's id may belong to others.
        if self.end.borrow().is_none()
            && let Some(group) = self.group
        {
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
        let _ = std::fs::remove_file(&self.connection_file);
    }
}

/// Reads to the end, so that the process never waits, and keeps the last bytes.
async fn keep_end(mut stderr: tokio::process::ChildStderr, output: Arc<Mutex<VecDeque<u8>>>) {
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = stderr.read(&mut buffer).await {
        let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
        output.extend(&buffer[..count]);
        let surplus = output.len().saturating_sub(KEPT_OUTPUT);
        output.drain(..surplus);
    }
}
