//! The interpreter of a sandbox with code cells: started beside envd, started again should it end, and where it listens.

use super::reaper::Reaper;
use crate::handover::{EnvdConfig, INTERPRETER_PORT, InterpreterConfig, READY};
use anyhow::Context;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;
use tokio::sync::oneshot;

/// How long the interpreter may take until it listens; its kernels start later.
const LISTENS: Duration = Duration::from_secs(20);
/// The pause before an interpreter that has ended is started again.
const RESTART: Duration = Duration::from_secs(1);

/// Leads the interpreter's well-known port to the one that it has.
#[derive(Debug, Clone, Default)]
pub struct PortMap(Option<Arc<AtomicU16>>);

impl PortMap {
    /// The port behind `port`; 0 while the interpreter does not run.
    pub fn behind(&self, port: u16) -> u16 {
        match &self.0 {
            Some(actual) if port == INTERPRETER_PORT => actual.load(Ordering::Relaxed),
            _ => port,
        }
    }
}

/// Starts the interpreter, if the sandbox has one, and waits until it listens.
///
/// # Errors
/// When it does not come up.
pub async fn start(reaper: &Reaper, config: &EnvdConfig, run_dir: &Path) -> anyhow::Result<PortMap> {
    let Some(interpreter) = &config.interpreter else { return Ok(PortMap::default()) };
    let port = Arc::new(AtomicU16::new(0));
    let running = Running::start(reaper, config, interpreter, run_dir, &port).await?;
    tokio::spawn(keep_up(reaper.clone(), config.clone(), run_dir.to_owned(), running, Arc::clone(&port)));
    Ok(PortMap(Some(port)))
}

/// An interpreter that listens. It ends when its stdin is dropped.
struct Running {
    _stdin: Option<ChildStdin>,
    exit: oneshot::Receiver<ExitStatus>,
}

impl Running {
    async fn start(
        reaper: &Reaper,
        config: &EnvdConfig,
        interpreter: &InterpreterConfig,
        run_dir: &Path,
        port: &AtomicU16,
    ) -> anyhow::Result<Self> {
        let mut command = Command::new(std::env::current_exe().context("cannot find the platform's own program")?);
        command
            .args(["interpreter", "--listen", &format!("127.0.0.1:{}", interpreter.port)])
            .args(&interpreter.arguments)
            .arg("--run-dir")
            .arg(run_dir);
        command.envs(&config.env_vars).env("HOME", &config.default_workdir).current_dir(&config.default_workdir);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let (mut child, exit) = reaper.spawn(|| command.spawn()).context("cannot start the interpreter")?;
        let stdin = child.stdin.take();
        let (ready, listens) = oneshot::channel();
        if let Some(stdout) = child.stdout.take() {
            std::thread::spawn(move || first_line(BufReader::new(stdout), ready));
        }
        let line = tokio::time::timeout(LISTENS, listens).await.context("the interpreter does not listen")?;
        let line = line.context("the interpreter ended before it listened")?;
        let address = line.trim().strip_prefix(READY).and_then(|address| address.trim().parse::<SocketAddr>().ok());
        port.store(address.context("the interpreter says something else than where it listens")?.port(), Ordering::Relaxed);
        Ok(Self { _stdin: stdin, exit })
    }
}

/// Hands the first line on and reads the rest, so that the writer never waits.
fn first_line(mut stdout: impl BufRead, ready: oneshot::Sender<String>) {
    let mut line = String::new();
    if stdout.read_line(&mut line).is_ok() && !line.is_empty() {
        // Nobody takes it when it comes too late.
        let _ = ready.send(line);
    }
    let _ = std::io::copy(&mut stdout, &mut std::io::sink());
}

/// Starts the interpreter again whenever it has ended.
async fn keep_up(reaper: Reaper, config: EnvdConfig, run_dir: PathBuf, mut running: Running, port: Arc<AtomicU16>) {
    let Some(interpreter) = &config.interpreter else { return };
    loop {
        let _ = running.exit.await;
        port.store(0, Ordering::Relaxed);
        running = loop {
            tokio::time::sleep(RESTART).await;
            match Running::start(&reaper, &config, interpreter, &run_dir, &port).await {
                Ok(running) => break running,
                Err(error) => tracing::warn!("the interpreter does not start again: {error:#}"),
            }
        };
    }
}
