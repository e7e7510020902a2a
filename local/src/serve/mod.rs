//! The serve role: the platform on one port.

mod code_cells;
mod console;
mod control;
mod copy;
mod data;
mod error;
mod gateway;
mod hosts;
mod journal;
mod keeper;
mod keys;
mod listen;
mod metrics;
mod platform;
mod record;
mod results;
mod route;
mod sandbox;
mod server_setup;
mod snapshots;
mod template;
mod walls;
mod wish;

use crate::interpreter::runtime;
use anyhow::Context;
use code_cells::CodeCells;
use console::Console;
use data::DataDir;
use hosts::{Allowed, reachable};
use keys::Keys;
use listen::Listener;
use platform::Platform;
use route::Front;
use serde::Serialize;
use snapshots::Snapshots;
use std::io::{IsTerminal, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::EnvFilter;
use walls::{Choice, Walls};

/// Arguments of the role.
#[derive(clap::Args)]
pub struct Args {
    /// Address and port of control plane, gateway and console; port 0 takes a free one.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7300")]
    listen: SocketAddr,
    /// Where sandboxes keep their files [default: agent-sandbox-local below $XDG_DATA_HOME or ~/.local/share].
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// The built console to serve at http://localhost:PORT.
    #[arg(long, value_name = "DIR")]
    console: Option<PathBuf>,
    /// The key that clients of the control plane send; a random one if none is given.
    #[arg(long, value_name = "KEY", env = "AGENT_SANDBOX_API_KEY", hide_env_values = true)]
    api_key: Option<String>,
    /// The walls around sandboxes. `auto` is bubblewrap and never less; `none` runs sandboxes as ordinary processes of this user.
    #[arg(long, value_enum, default_value_t = Choice::Auto)]
    isolation: Choice,
    /// Where the runtime of code cells is kept, about 600 MB made on first use [default: runtime in the data folder].
    #[arg(long, value_name = "DIR")]
    runtime_dir: Option<PathBuf>,
    /// The package index for pip, on the host and in sandboxes with code cells.
    #[arg(long, value_name = "URL")]
    pip_index: Option<String>,
    /// Certificate authorities (PEM) for pip and other programs in sandboxes with code cells.
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
    /// A page's origin that may call the control plane, beside those on loopback; may be repeated.
    #[arg(long, value_name = "URL")]
    origin: Vec<String>,
    /// Another platform that the console may be used with, as an origin (`https://*.example.com` for all hosts below a domain); may be
    /// repeated.
    #[arg(long, value_name = "URL")]
    console_connect: Vec<console::Source>,
    /// A host name by which the platform may be called, beside loopback; may be repeated.
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<String>,
    /// Let sandboxes reach private networks and this machine's own addresses.
    #[arg(long)]
    allow_private: bool,
    /// Print one line of JSON on stdout when ready.
    #[arg(long)]
    json: bool,
}

/// What a starter of the platform needs to know; printed once it answers.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Ready {
    api_url: String,
    sandbox_url: String,
    sandbox_host_url: String,
    console_url: Option<String>,
    api_key: String,
    isolation: &'static str,
    pid: u32,
}

/// Runs the role until SIGTERM or SIGINT.
///
/// # Errors
/// When the platform cannot start.
pub fn run(args: Args) -> anyhow::Result<()> {
    walls::seal_descriptors().context("cannot list the open descriptors")?;
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        // Where the log goes may be as full as any disk; saying so there would end whoever has something to say.
        .log_internal_errors(false)
        .with_ansi(std::io::stderr().is_terminal())
        .init();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start the runtime")?;
    runtime.block_on(serve(args))
}

async fn serve(args: Args) -> anyhow::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let start = start(args);
    let (platform, serving) = tokio::select! {
        started = start => started?,
        _ = terminate.recv() => return Ok(()),
        _ = interrupt.recv() => return Ok(()),
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    let (paused, running) = platform.count();
    tracing::info!("stopping: {running} running sandboxes end, {paused} paused ones stay");
    serving.abort();
    platform.shut_down().await;
    Ok(())
}

async fn start(args: Args) -> anyhow::Result<(Arc<Platform>, tokio::task::JoinHandle<()>)> {
    if let Some(folder) = &args.console {
        anyhow::ensure!(folder.join("index.html").is_file(), "the console folder {} has no index.html", folder.display());
    }
    let listener = Listener::bind(args.listen).await?;
    let address = listener.address()?;
    let data_dir = args.data_dir.map_or_else(default_data_dir, Ok)?;
    let (data, paused) = DataDir::open(&data_dir)?;
    let snapshots = Snapshots::open(&data.snapshots).context("cannot read the snapshots in the data folder")?;
    let runtime_dir = std::path::absolute(args.runtime_dir.unwrap_or_else(|| data_dir.join("runtime")))?;
    let ca_file = args.ca_file.map(|file| file.canonicalize().context("the file of --ca-file cannot be read")).transpose()?;
    let options = runtime::Options { pip_index: args.pip_index, ca_file, deno: runtime::find_deno() };
    let code_cells = CodeCells::new(runtime_dir, options);
    tokio::spawn(code_cells.clone().announce());
    let walls = Walls::raise(args.isolation, args.allow_private, &data).await?;
    if walls.name() == "none" {
        tracing::warn!(
            "NO WALLS: sandboxes run as ordinary processes of this user and can read and change all that is this user's. Of this \
             machine's ports, the gateway leads to those that processes of the named sandbox listen on, and these can be reached by everybody here"
        );
    }
    let api_key = args.api_key.filter(|key| !key.trim().is_empty()).unwrap_or_else(keys::api_key);
    let platform = Arc::new(Platform::new(Keys::new(api_key.clone()), address, walls, data, snapshots, code_cells));
    platform.take_back(paused);
    let console_url =
        args.console.is_some().then(|| format!("http://localhost:{}/#code={}", address.port(), platform.keys.issue_code()));
    let base = SocketAddr::new(reachable(address.ip()), address.port());
    let ready = Ready {
        api_url: format!("http://{base}"),
        sandbox_url: format!("http://{base}/s/{{sandboxId}}/{{port}}"),
        sandbox_host_url: format!("http://{{port}}-{{sandboxId}}.localhost:{}", address.port()),
        console_url,
        api_key,
        isolation: platform.walls.name(),
        pid: std::process::id(),
    };
    let console = Console::new(args.console, args.console_connect);
    let front = Arc::new(Front::new(Arc::clone(&platform), Allowed::new(&args.allow_host, &args.origin), console));
    tokio::spawn(metrics::watch(Arc::clone(&platform)));
    let serving = tokio::spawn(listener.serve(front));
    announce(&ready, args.json).context("cannot write to stdout")?;
    Ok((platform, serving))
}

fn announce(ready: &Ready, json: bool) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    if json {
        serde_json::to_writer(&mut out, ready)?;
        return writeln!(out).and_then(|()| out.flush());
    }
    writeln!(out, "API      {}\nAPI key  {}", ready.api_url, ready.api_key)?;
    if let Some(url) = &ready.console_url {
        writeln!(out, "Console  {url}")?;
    }
    writeln!(out, "Ctrl-C stops it, and ends running sandboxes with their files; paused ones stay.")?;
    out.flush()
}

fn default_data_dir() -> anyhow::Result<PathBuf> {
    let folder = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = folder("XDG_DATA_HOME").or_else(|| Some(folder("HOME")?.join(".local/share")));
    Ok(base.context("neither HOME nor XDG_DATA_HOME is set; name a folder with --data-dir")?.join("agent-sandbox-local"))
}
