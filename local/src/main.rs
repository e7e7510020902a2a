//! `agent-sandbox-local`: a sandbox platform on one Linux machine.
//!
//! One binary, three roles: `serve` is the control plane, the gateway and the console's web server; `envd` runs inside each sandbox, and
//! beside it, where the template has one, `interpreter`.

mod envd;
mod handover;
mod interpreter;
mod joined;
mod received;
mod sandbox_server;
mod serve;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

#[derive(Parser)]
#[command(version, about)]
struct Cli {
    #[command(subcommand)]
    role: Role,
}

#[derive(Subcommand)]
enum Role {
    /// Run the platform: control plane, gateway and console on one port.
    Serve(serve::Args),
    /// Run inside a sandbox; started by `serve`, which hands over what it needs on stdin.
    Envd(envd::Args),
    /// Run code cells inside a sandbox; started beside envd.
    Interpreter(interpreter::Args),
    /// Make the runtime of code cells ahead of its first use.
    Prepare(interpreter::prepare::Args),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().role {
        Role::Serve(args) => serve::run(args),
        Role::Envd(args) => envd::run(args),
        Role::Interpreter(args) => interpreter::run(args),
        Role::Prepare(args) => interpreter::prepare::run(args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        // With its causes in one line: where in the program it came from helps nobody who only runs it.
        Err(error) => {
            eprintln!("Error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
