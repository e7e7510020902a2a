//! Starting a process.

use super::super::error::RpcError;
use super::super::paths::Base;
use super::super::reaper::Reaper;
use super::super::users::User;
use super::frames::Source;
use super::input::{Stdin, winsize};
use crate::handover::EnvdConfig;
use agent_sandbox_web::protocol::process::{ProcessConfig, Pty, PtySize};
use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use tokio::io::unix::AsyncFd;
use tokio::sync::{Mutex, oneshot};

/// Starts every program: it looks it up in the process's own PATH, says on stderr when there is none, and exits with 127 then, or
/// with 126 when it cannot be executed. The process keeps its id.
const LAUNCHER: &str = "/usr/bin/nice";

/// What it calls itself in what it says: nobody who ran a program has asked for `nice`.
const LAUNCHER_NAME: &str = "exec";

/// What a pipe of output holds, in bytes. The usual 64 KiB make a writer and its reader wait for each other more often.
pub const PIPE: usize = 256 * 1024;

/// Where programs are looked for when envd was started with an empty environment.
const DEFAULT_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// How much of a program's name an error repeats, in characters.
const LONGEST_NAME: usize = 200;

/// A process that has just begun.
pub struct Spawned {
    /// Its id.
    pub pid: u32,
    /// Becomes its status when it has ended.
    pub exit: oneshot::Receiver<ExitStatus>,
    /// The way into it.
    pub stdin: Stdin,
    /// The ways out of it.
    pub outputs: Vec<Output>,
}

/// A way out of a process.
pub struct Output {
    /// What it is.
    pub source: Source,
    /// This side's end.
    pub fd: Arc<AsyncFd<OwnedFd>>,
}

/// Starts what `config` says as `user`.
///
/// # Errors
/// Invalid argument for a directory or a command line that cannot be used.
pub fn spawn(
    reaper: &Reaper,
    sandbox: &EnvdConfig,
    user: &User,
    config: &ProcessConfig,
    pty: Option<Pty>,
    stdin: bool,
) -> Result<Spawned, RpcError> {
    let cwd = Base::of(user, &sandbox.default_workdir)
        .resolve(config.cwd.as_deref().unwrap_or_default())
        .map_err(RpcError::invalid_argument)?;
    if !Path::new(&cwd).exists() {
        return Err(RpcError::invalid_argument(format!("cwd '{cwd}' does not exist")));
    }
    let command = Launch { sandbox, user, config, cwd: &cwd };
    let spawned = match pty {
        Some(pty) => command.on_terminal(reaper, pty.size.unwrap_or_default()),
        None => command.on_pipes(reaper, stdin),
    };
    spawned.map_err(|error| {
        let name: String = config.cmd.chars().take(LONGEST_NAME).collect();
        RpcError::invalid_argument(format!("error starting process '{name}': {error}"))
    })
}

/// Everything that both ways of starting a process need.
struct Launch<'a> {
    sandbox: &'a EnvdConfig,
    user: &'a User,
    config: &'a ProcessConfig,
    cwd: &'a str,
}

impl Launch<'_> {
    fn on_pipes(&self, reaper: &Reaper, stdin: bool) -> io::Result<Spawned> {
        let mut command = Command::new(LAUNCHER);
        command.arg0(LAUNCHER_NAME).args(self.arguments()).current_dir(self.cwd).env_clear().envs(self.environment());
        // A group of its own: what the process signals as its group is not envd.
        command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.stdin(if stdin { Stdio::piped() } else { Stdio::null() });
        if self.user.must_drop() {
            command.uid(self.user.uid).gid(self.user.gid);
        }
        let (mut child, exit) = reaper.spawn(|| command.spawn())?;
        let mut outputs = Vec::new();
        if let Some(stdout) = child.stdout.take().map(OwnedFd::from) {
            // Not allowed beyond a user's quota; then the pipe stays as it is.
            let _ = rustix::pipe::fcntl_setpipe_size(&stdout, PIPE);
            outputs.push(Output { source: Source::Stdout, fd: Arc::new(end(stdout)?) });
        }
        if let Some(stderr) = child.stderr.take().map(OwnedFd::from) {
            outputs.push(Output { source: Source::Stderr, fd: Arc::new(end(stderr)?) });
        }
        let pipe = child.stdin.take().map(|stdin| end(stdin.into())).transpose()?;
        Ok(Spawned { pid: child.id(), exit, stdin: Stdin::Pipe(Mutex::new(pipe)), outputs })
    }

    fn on_terminal(&self, reaper: &Reaper, size: PtySize) -> io::Result<Spawned> {
        let (master, terminal) = pty_process::blocking::open().map_err(plain)?;
        let master = OwnedFd::from(master);
        rustix::termios::tcsetwinsize(&master, winsize(size))?;
        let mut command = pty_process::blocking::Command::new(LAUNCHER)
            .arg0(LAUNCHER_NAME)
            .args(self.arguments())
            .current_dir(self.cwd)
            .env_clear()
            .envs(self.environment());
        if self.user.must_drop() {
            rustix::fs::fchown(&terminal, Some(rustix::process::Uid::from_raw(self.user.uid)), None)?;
            command = command.uid(self.user.uid).gid(self.user.gid);
        }
        let (child, exit) = reaper.spawn(|| command.spawn(terminal).map_err(plain))?;
        let master = Arc::new(end(master)?);
        let outputs = vec![Output { source: Source::Pty, fd: Arc::clone(&master) }];
        Ok(Spawned { pid: child.id(), exit, stdin: Stdin::Pty(master, Mutex::default()), outputs })
    }

    fn arguments(&self) -> impl Iterator<Item = &str> {
        ["-n", "0", "--", &self.config.cmd].into_iter().chain(self.config.args.iter().map(String::as_str))
    }

    /// The process's variables; what stands later wins.
    fn environment(&self) -> BTreeMap<String, String> {
        let mut variables = BTreeMap::from([
            ("HOME".to_owned(), self.user.home.clone()),
            ("USER".to_owned(), self.user.name.clone()),
            ("LOGNAME".to_owned(), self.user.name.clone()),
            ("PWD".to_owned(), self.cwd.to_owned()),
            ("PATH".to_owned(), std::env::var("PATH").unwrap_or_else(|_| DEFAULT_PATH.to_owned())),
        ]);
        variables.extend(self.sandbox.env_vars.clone());
        variables.extend(self.config.envs.clone());
        variables
    }
}

/// The operating system's error behind a terminal's.
fn plain(error: pty_process::Error) -> io::Error {
    match error {
        pty_process::Error::Io(error) => error,
        pty_process::Error::Rustix(error) => error.into(),
        error => io::Error::other(error),
    }
}

/// Prepares an end for this side's event loop.
fn end(fd: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    rustix::io::ioctl_fionbio(&fd, true)?;
    // SAFETY: nothing closes the descriptor that the `AsyncFd` now owns.
    unsafe { AsyncFd::register(fd) }.map_err(io::Error::from)
}
