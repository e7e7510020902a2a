//! The project's tasks: `cargo xtask dev | test | build | docs | bench | soak | matrix`.
//!
//! Every task first sets up what it needs and is missing (see [`setup`]), says what it does and how long it took, and asks nothing.
#![expect(clippy::print_stdout, reason = "talking to the person at the terminal is what this program does")]

mod bench;
mod build;
mod children;
mod dev;
mod docs;
mod matrix;
mod project;
mod run;
mod setup;
mod soak;
mod test;

use clap::{Parser, Subcommand};
use project::Project;
use std::process::ExitCode;

/// The project's tasks.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", about)]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Install what is missing, build everything, start the local platform and print the address of the console.
    Dev(dev::Args),
    /// Run every check that a change must pass.
    Test(test::Args),
    /// Build the client, the npm package, the console and the platform.
    Build(build::Args),
    /// Build the documentation's site in target/docs, and check its links.
    Docs,
    /// Measure what the project promises about size and speed.
    Bench(bench::Args),
    /// Look for growth in long runs: large transfers, and sandboxes that come and go.
    Soak(soak::Args),
    /// Use the packed package in every runtime and with every bundler.
    Matrix(matrix::Args),
}

fn main() -> ExitCode {
    let task = Cli::parse().task;
    let project = children::end_with_this_program().and_then(|()| Project::find());
    let outcome = project.and_then(|project| match task {
        Task::Dev(args) => dev::run(&project, &args),
        Task::Test(args) => test::run(&project, &args),
        Task::Build(args) => build::run(&project, &args),
        Task::Docs => docs::run(&project),
        Task::Bench(args) => bench::run(&project, &args),
        Task::Soak(args) => soak::run(&project, &args),
        Task::Matrix(args) => matrix::run(&project, &args),
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nerror: {error:#}");
            ExitCode::FAILURE
        }
    }
}
