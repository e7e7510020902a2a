//! `cargo xtask bench`: what the project promises about size and speed, measured.

use crate::build;
use crate::project::Project;
use crate::run::run as run_command;
use crate::setup::{self, Needs};
use anyhow::Result;

/// Arguments of the task.
#[derive(clap::Args)]
pub struct Args {
    /// Benchmarks by name: each is a file `tests/bench/NAME.bench.ts`. None means all.
    names: Vec<String>,
}

/// Runs the task. Every benchmark prints its own table and fails when a bound is broken; all of them run.
pub fn run(project: &Project, args: &Args) -> Result<()> {
    setup::ensure(project, Needs::Tests)?;
    build::all(project)?;
    let mut vitest = project.npm_tool("vitest");
    vitest.args(["run", "--config", "tests/bench/vitest.config.ts"]).args(&args.names);
    run_command(vitest.env("AGENT_SANDBOX_LOCAL", project.platform_binary()))
}
