//! The envd role: processes, files and ports of one sandbox, served on two Unix sockets in its run folder.
//!
//! It is started by `serve` (see [`crate::handover`]), inside the walls where there are any.

mod auth;
mod body;
mod connect;
mod cors;
mod descendants;
mod error;
mod files;
mod filesystem;
mod interpreter;
mod journal;
mod metrics;
mod own_ports;
mod paths;
mod ports;
mod process;
mod reaper;
mod routes;
mod users;

use crate::handover::{ENVD_SOCKET, EnvdConfig, PORTS_SOCKET, READY};
use crate::received::Received;
use anyhow::{Context, anyhow};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use std::io::{self, BufRead, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::UnixListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;

/// Arguments of the role.
#[derive(clap::Args)]
pub struct Args {
    /// The folder in which the two sockets are made.
    #[arg(long)]
    run_dir: PathBuf,
}

/// What all requests share.
pub struct Envd {
    config: EnvdConfig,
    processes: process::Processes,
    watchers: filesystem::Watchers,
    metrics: metrics::Sampler,
}

/// Runs the role until stdin ends or a signal asks for the end, and ends everything that it started.
pub fn run(args: Args) -> anyhow::Result<()> {
    reset_signals();
    // Whoever started envd may be stricter or laxer; new files are readable and not writable by others.
    rustix::process::umask(rustix::fs::Mode::WGRP | rustix::fs::Mode::WOTH);
    let mut stdin = io::stdin().lock();
    let mut line = String::new();
    stdin.read_line(&mut line).context("the configuration could not be read from stdin")?;
    drop(stdin);
    let mut config: EnvdConfig = serde_json::from_str(&line).map_err(|error| {
        // Without the parser's own words, which repeat the value that does not fit: it may be a secret.
        anyhow!("stdin must begin with one line of JSON, the configuration; it does not fit at column {}", error.column())
    })?;
    config.env_vars.insert("E2B_SANDBOX".to_owned(), "true".to_owned());
    // Orphans become children of this process, so that none of them outlives it.
    rustix::process::set_child_subreaper(Some(rustix::process::getpid())).context("orphaned processes cannot be adopted")?;

    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let outcome = runtime.block_on(serve(config, &args.run_dir));
    // First nothing more may be started, then what was started is ended.
    runtime.shutdown_timeout(Duration::from_millis(200));
    descendants::kill_all();
    outcome
}

async fn serve(config: EnvdConfig, run_dir: &Path) -> anyhow::Result<()> {
    // Before anything is started or said to be ready: whoever reads that may ask for the end at once. As the first process of its namespace
    // it is out of the reach of those inside as long as it asks for no signal; then the end of stdin, or a signal from outside that nobody
    // can ask for, is its end.
    let asked =
        if std::process::id() == 1 { None } else { Some((signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?)) };
    let http = listen(&run_dir.join(ENVD_SOCKET))?;
    let port_streams = listen(&run_dir.join(PORTS_SOCKET))?;
    let reaper = reaper::Reaper::start()?;
    let port_map = interpreter::start(&reaper, &config, run_dir).await?;
    let shared_network = config.shared_network;
    let envd = Arc::new(Envd {
        config,
        processes: process::Processes::new(reaper),
        watchers: filesystem::Watchers::default(),
        metrics: metrics::Sampler::default(),
    });
    tokio::spawn(accept_http(http, envd));
    tokio::spawn(ports::accept(port_streams, port_map, shared_network));
    let stdin_ended = stdin_end();
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{READY}").and_then(|()| stdout.flush()).context("nobody reads stdout")?;
    drop(stdout);
    let Some((mut terminate, mut interrupt)) = asked else {
        drop(stdin_ended.await);
        return Ok(());
    };
    tokio::select! {
        _ = stdin_ended => {}
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}

/// A socket of that name, in place of one that an earlier run left behind.
fn listen(path: &Path) -> anyhow::Result<UnixListener> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(error).with_context(|| format!("{} is in the way", path.display()));
        }
        _ => {}
    }
    UnixListener::bind(path).with_context(|| format!("{} cannot be made", path.display()))
}

async fn accept_http(listener: UnixListener, envd: Arc<Envd>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Out of file descriptors: connections that end make room.
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        let envd = Arc::clone(&envd);
        tokio::spawn(async move {
            let service = service_fn(|request| routes::handle(Arc::clone(&envd), Received::of(request)));
            if let Err(error) = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await {
                tracing::debug!(%error, "a connection broke");
            }
        });
    }
}

/// Resolves when stdin ends. A thread of its own waits for it, as a read of stdin cannot be cancelled.
fn stdin_end() -> oneshot::Receiver<()> {
    let (ended, receiver) = oneshot::channel();
    std::thread::spawn(move || {
        let mut ignored = [0; 256];
        let mut stdin = io::stdin().lock();
        loop {
            match stdin.read(&mut ignored) {
                Ok(0) => break,
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        let _ = ended.send(());
    });
    receiver
}

/// Gives every signal its default meaning again: children inherit ignored ones, and a shell that starts envd in the background
/// has SIGINT ignored. SIGPIPE stays ignored; it is set back for children when they are spawned.
fn reset_signals() {
    for number in (1..=31).filter(|number| ![libc::SIGKILL, libc::SIGSTOP, libc::SIGPIPE].contains(number)) {
        // SAFETY: no handler is installed, only the default action, before any thread is started.
        unsafe { libc::signal(number, libc::SIG_DFL) };
    }
}
