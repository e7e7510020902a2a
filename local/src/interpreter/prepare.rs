//! The prepare role: makes the runtime of code cells ahead of its first use.

use super::runtime::{self, Options};
use crate::sandbox_server::ServerFolder;
use std::io::Write;
use std::path::PathBuf;

/// Arguments of the role.
#[derive(clap::Args)]
pub struct Args {
    /// Where the runtime is kept; give the same folder to `serve`.
    #[arg(long, value_name = "DIR")]
    runtime_dir: PathBuf,
    /// Package index for pip.
    #[arg(long, value_name = "URL")]
    pip_index: Option<String>,
    /// Certificate authorities (PEM) for pip.
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
    /// Make agent-sandbox-server alone, which takes seconds.
    #[arg(long)]
    server_only: bool,
}

/// Makes the runtime unless it is there, with progress on stderr, and writes the folder of its Python environment to stdout.
pub fn run(args: Args) -> anyhow::Result<()> {
    // Sandboxes read it as other users.
    rustix::process::umask(rustix::fs::Mode::WGRP | rustix::fs::Mode::WOTH);
    let options = Options { pip_index: args.pip_index, ca_file: args.ca_file, deno: None };
    let mut progress = |line: &str| eprintln!("{line}");
    if args.server_only {
        let folder = ServerFolder::new(&args.runtime_dir)?;
        folder.ensure(&options, &mut progress)?;
        writeln!(std::io::stdout(), "{}", folder.launcher().display())?;
        return Ok(());
    }
    let runtime = runtime::ensure(&args.runtime_dir, &options, &mut progress)?;
    // Code cells work without it.
    let server = ServerFolder::new(&args.runtime_dir).and_then(|folder| folder.ensure(&options, &mut progress));
    if let Err(error) = server {
        eprintln!("agent-sandbox-server is not available in sandboxes: {error}");
    }
    writeln!(std::io::stdout(), "{}", runtime.python_env().display())?;
    Ok(())
}
