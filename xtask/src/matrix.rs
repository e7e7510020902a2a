//! `cargo xtask matrix`: the packed package in every runtime and with every bundler, and every panel of the console in every width and colour.

use crate::build;
use crate::project::Project;
use crate::run::run as run_command;
use crate::setup::{self, Needs};
use anyhow::Result;

/// Arguments of the task.
#[derive(clap::Args)]
pub struct Args {
    /// Runtimes and bundlers by name, or `sweep` for the console: each is a file of `tests/runtimes`, `tests/bundlers` or `tests/console`. None means all.
    names: Vec<String>,
}

/// Runs the task: also what `cargo xtask test` runs of it.
pub fn run(project: &Project, args: &Args) -> Result<()> {
    setup::ensure(project, Needs::Matrix)?;
    build::for_tests(project)?;
    let mut vitest = project.npm_tool("vitest");
    vitest.args(["run", "--config", "tests/matrix.config.ts"]).args(&args.names);
    run_command(vitest.env("AGENT_SANDBOX_LOCAL", project.unoptimized_platform_binary()))
}
