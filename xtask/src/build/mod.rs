//! `cargo xtask build`: everything that is shipped or run.
//!
//! | part | made from | product |
//! |---|---|---|
//! | wasm | the root crate | `pkg/dist/agent_sandbox_web.{js,d.ts}`, `…_bg.wasm` (see [`wasm`]) |
//! | package | `pkg/`, by its npm script `build` | the rest of `pkg/dist` |
//! | console | `www/`, by its npm script `build` | `www/dist` |
//! | platform | `local/` | `target/release/agent-sandbox-local` |
//!
//! The npm scripts find what the earlier parts made in `pkg/dist` and must leave it there.

mod slim;
mod unreached;
mod wasm;

use crate::project::Project;
use crate::run::{run as run_command, run_quietly, say, step};
use crate::setup::{self, Needs};
use anyhow::Result;
use std::io::IsTerminal;
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

/// Builds what the tests drive: everything as it is shipped, but the platform unoptimized. The Rust tests have compiled that one already,
/// and an optimized build of it takes longer than its tests.
pub fn for_tests(project: &Project) -> Result<()> {
    parts(project, &[Part::Wasm, Part::Package, Part::Console])?;
    step("build the platform (unoptimized)", || compile(project.cargo().args(["build", "--package", "agent-sandbox-local"])))
}

fn parts(project: &Project, parts: &[Part]) -> Result<()> {
    for part in parts {
        match part {
            Part::Wasm => wasm::build(project)?,
            Part::Package => npm_build(project, "package", "pkg")?,
            Part::Console => npm_build(project, "console", "www")?,
            Part::Platform => step("build the platform (release)", || {
                compile(project.cargo().args(["build", "--release", "--package", "agent-sandbox-local"]))
            })?,
        }
    }
    Ok(())
}

/// Compiles for minutes: whoever watches sees how far it is; in a log that would be hundreds of lines.
pub(super) fn compile(cargo: &mut Command) -> Result<()> {
    if !std::io::stderr().is_terminal() {
        cargo.arg("--quiet");
    }
    run_command(cargo)
}

fn npm_build(project: &Project, what: &str, workspace: &str) -> Result<()> {
    if !project.has_npm_script(workspace, "build")? {
        say(&format!("    {workspace}/package.json has no build script: nothing to do for the {what}"));
        return Ok(());
    }
    step(&format!("build the {what}"), || run_quietly(&mut project.npm_script(workspace, "build")))
}
