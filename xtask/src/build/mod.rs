//! `cargo xtask build`: everything that is shipped or run.
//!
//! | part | made from | product |
//! |---|---|---|
//! | wasm | the root crate | `pkg/dist/agent_sandbox_web.{js,d.ts}`, `…_bg.wasm` (see [`wasm`]) |
//! | package | `pkg/`, by its npm script `build` | the rest of `pkg/dist` |
//! | console | `www/`, by its npm script `build` | `www/dist` |
//! | platform | `local/` | `target/release/agent-sandbox-local` |
//!
//! The npm scripts find what the earlier parts made in `pkg/dist` and must leave it there; they run when what they read has changed.

mod files;
mod npm;
mod slim;
mod unreached;
mod wasm;

use crate::project::Project;
use crate::run::{run as run_command, run_silent, say, step};
use crate::setup::{self, Needs};
use anyhow::Result;
use std::io::IsTerminal;
use std::num::NonZero;
use std::path::PathBuf;
use std::process::Command;

/// Arguments of the task.
#[derive(clap::Args)]
pub struct Args {
    /// Build only these parts.
    #[arg(value_enum)]
    parts: Vec<Part>,
}

/// What can be built by itself.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Part {
    /// The client: WebAssembly, its JavaScript glue and types.
    Wasm,
    /// The npm package around it.
    Package,
    /// The web console.
    Console,
    /// The local platform.
    Platform,
}

/// Runs the task.
pub fn run(project: &Project, args: &Args) -> Result<()> {
    setup::ensure(project, Needs::Build)?;
    let all = [Part::Wasm, Part::Package, Part::Console, Part::Platform];
    parts(project, if args.parts.is_empty() { &all } else { &args.parts })
}

/// Builds everything.
pub fn all(project: &Project) -> Result<()> {
    parts(project, &[Part::Wasm, Part::Package, Part::Console, Part::Platform])
}

/// Builds what the tests drive: everything as it is shipped, but the platform unoptimized. An optimized build of it takes longer than its
/// tests; and the Rust tests have compiled that one already, if it is asked for as they are: by itself, or with some of them, it has other
/// features of its dependencies, and is compiled again.
pub fn for_tests(project: &Project) -> Result<()> {
    parts(project, &[Part::Wasm, Part::Package, Part::Console])?;
    step("build the platform (unoptimized)", || compile(&mut compile_tests(project)))
}

/// Compiles the Rust tests, and with them the platform that they start.
pub fn compile_tests(project: &Project) -> Command {
    let mut cargo = project.cargo();
    cargo.args(["test", "--workspace", "--no-run"]);
    cargo
}

impl Part {
    /// About how many minutes it takes two cores the first time, when all that it depends on is compiled too.
    fn first_minutes(self) -> usize {
        match self {
            Self::Wasm => 3,
            Self::Package | Self::Console => 1,
            Self::Platform => 6,
        }
    }

    /// What is there once it has been built.
    fn product(self, project: &Project) -> PathBuf {
        match self {
            Self::Wasm => project.target().join("wasm32-unknown-unknown/wasm"),
            Self::Package => project.path(npm::PACKAGE.product),
            Self::Console => project.path(npm::CONSOLE.product),
            Self::Platform => project.platform_binary(),
        }
    }
}

/// What to expect of parts that are built for the first time, by these many cores; nothing when there are none.
fn expectation(first: &[Part], cores: usize) -> Option<String> {
    let minutes = first.iter().map(|part| part.first_minutes()).sum::<usize>() * 2;
    let about = minutes.div_ceil(cores.max(1));
    (minutes > 0).then(|| {
        format!(
            "    built for the first time: about {about} min on {cores} cores that have nothing else to do; the next time, seconds"
        )
    })
}

fn parts(project: &Project, parts: &[Part]) -> Result<()> {
    let first: Vec<Part> = parts.iter().copied().filter(|part| !part.product(project).exists()).collect();
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    if let Some(expectation) = expectation(&first, cores) {
        say(&expectation);
    }
    for part in parts {
        match part {
            Part::Wasm => wasm::build(project)?,
            Part::Package => npm::PACKAGE.build(project)?,
            Part::Console => npm::CONSOLE.build(project)?,
            Part::Platform => step("build the platform (release)", || {
                compile(project.cargo().args(["build", "--release", "--package", "agent-sandbox-local"]))
            })?,
        }
    }
    Ok(())
}

/// Compiles for minutes: whoever watches sees how far it is; in a log that would be hundreds of lines.
pub(super) fn compile(cargo: &mut Command) -> Result<()> {
    if std::io::stderr().is_terminal() { run_command(cargo) } else { run_silent(cargo.arg("--quiet")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_build_says_how_long_it_takes_and_a_later_one_does_not() {
        assert!(expectation(&[Part::Wasm, Part::Platform], 2).unwrap().contains("about 9 min on 2 cores"));
        assert!(expectation(&[Part::Wasm, Part::Platform], 8).unwrap().contains("about 3 min"));
        assert_eq!(expectation(&[], 2), None);
    }
}
