//! The interpreter role: code cells on port 49999 of a sandbox, from real Jupyter kernels.
//!
//! It runs inside the sandbox. Where the service that the wire comes from hangs, this one does not: a cell after an aborted one waits
//! until the kernel has let go, odd messages of a kernel are read or skipped, a dead kernel is replaced before the next cell runs, and
//! a default context that was removed is made anew.

mod cell;
mod context;
mod contexts;
mod environment;
mod event;
mod http;
mod kernel;
mod language;
mod lenient;
pub mod prepare;
pub mod runtime;

use anyhow::Context as _;
use axum::serve::ListenerExt;
use contexts::Contexts;
use environment::Environment;
use kernel::Launcher;
use std::io::Write;
use std::net::SocketAddr;
use std::path::{PathBuf, absolute};
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

/// Arguments of the role. Sandbox-wide variables and the user's home are the role's own environment.
#[derive(clap::Args)]
pub struct Args {
    /// Where to listen; port 0 picks a free port. When ready, a line on stdout says `ready ADDRESS`.
    #[arg(long, default_value = "127.0.0.1:49999")]
    listen: SocketAddr,
    /// Where connection files and sockets of kernels go; the folder for temporary files if none is given.
    #[arg(long, value_name = "DIR")]
    run_dir: Option<PathBuf>,
    /// The shared Python environment, made by `prepare`.
    #[arg(long, value_name = "DIR")]
    python_env: PathBuf,
    /// Deno 2, for JavaScript and TypeScript.
    #[arg(long, value_name = "FILE")]
    deno: Option<PathBuf>,
}

/// Runs the role until its stdin ends or a signal asks for its end; kernels end with it.
pub fn run(args: Args) -> anyhow::Result<()> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_max_level(tracing::Level::WARN).with_ansi(false).init();
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?.block_on(serve(args))
}

async fn serve(args: Args) -> anyhow::Result<()> {
    let home = std::env::var_os("HOME").map(PathBuf::from).context("HOME is not set")?;
    // Kernels run in other folders.
    let run_dir = absolute(args.run_dir.unwrap_or_else(std::env::temp_dir))?;
    let (python_env, deno) = (absolute(args.python_env)?, args.deno.map(absolute).transpose()?);
    let launcher =
        Launcher::new(Environment::new(python_env, deno, home), &run_dir).context("no folder for kernels could be made")?;
    let contexts = Arc::new(Contexts::new(launcher));
    let listener = TcpListener::bind(args.listen).await.with_context(|| format!("{} is not free", args.listen))?;
    let address = listener.local_addr()?;
    // First of all, as whoever reads that it is ready may ask for its end at once.
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let mut stdout = std::io::stdout();
    writeln!(stdout, "{} {}", crate::handover::READY, address)?;
    stdout.flush()?;

    // Small events must not wait for each other.
    let listener = listener.tap_io(|connection| drop(connection.set_nodelay(true)));
    let app = http::router(Arc::clone(&contexts));
    let served = tokio::select! {
        served = async { axum::serve(listener, app).await } => served,
        () = stdin_ended() => Ok(()),
        _ = interrupt.recv() => Ok(()),
        _ = terminate.recv() => Ok(()),
    };
    contexts.remove_all().await;
    Ok(served?)
}

/// Reads on a thread of its own, which the end of the process does not wait for.
async fn stdin_ended() {
    let (ended, end) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        let _ = ended.send(());
    });
    let _ = end.await;
}
