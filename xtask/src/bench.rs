//! `cargo xtask bench`: what the project promises about size and speed, measured.

use crate::build;
use crate::project::Project;
use crate::run::{run as run_command, step};
use crate::setup::{self, Needs};
use anyhow::{Result, bail};

/// Arguments of the task.
#[derive(clap::Args)]
pub struct Args {
    /// Benchmarks by name: each is a file `tests/bench/NAME.bench.mjs`. None means all.
    names: Vec<String>,
}

/// Runs the task. Every benchmark prints its own table and fails when a bound is broken; all of them run.
pub fn run(project: &Project, args: &Args) -> Result<()> {
    let benchmarks = benchmarks(project, &args.names)?;
    setup::ensure(project, Needs::Tests)?;
    build::all(project)?;
    let mut broken = Vec::new();
    for name in benchmarks {
        let file = format!("tests/bench/{name}.bench.mjs");
        // The collector is exposed so that a benchmark can tell what is kept from what is only not yet collected.
        let outcome = step(&format!("bench {name}"), || run_command(project.command("node").args(["--expose-gc", &file])));
        if outcome.is_err() {
            broken.push(name);
        }
    }
    match broken.is_empty() {
        true => Ok(()),
        false => bail!("outside their bounds, or failed: {}", broken.join(", ")),
    }
}

fn benchmarks(project: &Project, wanted: &[String]) -> Result<Vec<String>> {
    let mut there = Vec::new();
    for file in std::fs::read_dir(project.path("tests/bench"))? {
        if let Some(name) = file?.file_name().to_str().and_then(|name| name.strip_suffix(".bench.mjs")) {
            there.push(name.to_owned());
        }
    }
    there.sort();
    if wanted.is_empty() {
        return Ok(there);
    }
    match wanted.iter().find(|name| !there.contains(name)) {
        Some(unknown) => bail!("there is no benchmark `{unknown}`; there are {}", there.join(", ")),
        None => Ok(wanted.to_vec()),
    }
}
