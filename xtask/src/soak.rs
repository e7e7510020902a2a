//! `cargo xtask soak`: long runs that look for growth.

use crate::build;
use crate::project::Project;
use crate::run::run as run_command;
use crate::setup::{self, Needs};
use anyhow::Result;

/// Arguments of the task.
#[derive(clap::Args)]
pub struct Args {
    /// How often a sandbox is created, used and killed.
    #[arg(long, default_value_t = 10_000)]
    turns: u32,
    /// After how many minutes no further turn begins.
    #[arg(long, default_value_t = 1_440)]
    minutes: u32,
    /// How many MiB go up and down in Chromium.
    #[arg(long, default_value_t = 1_024)]
    mebibytes: u32,
    /// How many frames of output the console shows.
    #[arg(long, default_value_t = 50_000)]
    frames: u32,
    /// How often the console's tabs are turned.
    #[arg(long, default_value_t = 500)]
    tab_turns: u32,
    /// Soaks by name: each is a file `tests/soak/NAME.soak.ts`. None means all.
    names: Vec<String>,
}

/// Runs the task. Every soak prints its own table and fails when something grew.
pub fn run(project: &Project, args: &Args) -> Result<()> {
    setup::ensure(project, Needs::Tests)?;
    build::all(project)?;
    let mut vitest = project.npm_tool("vitest");
    vitest.args(["run", "--config", "tests/soak/vitest.config.ts"]).args(&args.names);
    vitest.env("SOAK_TURNS", args.turns.to_string()).env("SOAK_MEBIBYTES", args.mebibytes.to_string());
    vitest.env("SOAK_MINUTES", args.minutes.to_string());
    vitest.env("SOAK_FRAMES", args.frames.to_string()).env("SOAK_TAB_TURNS", args.tab_turns.to_string());
    run_command(vitest.env("AGENT_SANDBOX_LOCAL", project.platform_binary()))
}
