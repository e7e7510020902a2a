//! `cargo xtask test`: every check that a change must pass, in the order in which they fail fastest. The first ones compile beside the set-up
//! of packages; what runs tests waits until nothing else goes on.

use crate::build;
use crate::project::Project;
use crate::run::{run as run_command, run_silent, say, seconds, step};
use crate::setup::{self, Needs};
use anyhow::{Result, anyhow, bail};
use std::time::{Duration, Instant};

/// Arguments of the task.
#[derive(clap::Args)]
pub struct Args {
    /// Run only the checks whose names contain one of these words.
    filters: Vec<String>,
    /// Run the checks after a failing one too.
    #[arg(long)]
    keep_going: bool,
    /// Arguments for vitest, such as the name of a test file.
    #[arg(last = true)]
    vitest: Vec<String>,
}

/// A named part of the task.
struct Check {
    name: &'static str,
    /// Whether it goes on beside the set-up of packages: it compiles alone, and measures no time.
    is_early: bool,
    /// Set-up that can begin when it has passed, and goes on beside the next ones too.
    leads_to: Option<fn(&Project) -> Result<()>>,
    run: fn(&Project, &Args) -> Result<()>,
}

impl Check {
    const fn early(name: &'static str, run: fn(&Project, &Args) -> Result<()>) -> Self {
        Self { name, is_early: true, leads_to: None, run }
    }

    const fn late(name: &'static str, run: fn(&Project, &Args) -> Result<()>) -> Self {
        Self { name, is_early: false, leads_to: None, run }
    }
}

const CHECKS: &[Check] = &[
    Check::early("fmt", |project, _| run_command(project.cargo().args(["fmt", "--all", "--check"]))),
    // In front of the linter, which takes less time: the platform makes the environment of code cells, which takes minutes of waiting.
    Check {
        leads_to: Some(setup::runtime),
        ..Check::early("compile", |project, _| run_silent(build::compile_tests(project).arg("--quiet")))
    },
    Check::early("clippy", |project, _| {
        run_silent(project.cargo().args(["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"]))
    }),
    Check::early("clippy-wasm", |project, _| {
        let client = ["--package", "agent-sandbox-web", "--target", "wasm32-unknown-unknown"];
        run_silent(project.cargo().args(["clippy", "--quiet"]).args(client).args(["--", "-D", "warnings"]))
    }),
    Check::late("rust", |project, _| run_silent(project.cargo().args(["test", "--quiet", "--workspace"]))),
    Check::late("build", |project, _| build::for_tests(project)),
    Check::late("types", types),
    Check::late("biome", |project, _| run_command(project.npm_tool("biome").args(["ci", "--error-on-warnings"]))),
    Check::late("vitest", |project, args| {
        let mut vitest = project.npm_tool("vitest");
        vitest.args(["run", "--config", "tests/vitest.config.ts"]).args(&args.vitest);
        vitest.env("AGENT_SANDBOX_LOCAL", project.unoptimized_platform_binary());
        run_command(vitest.env("PEER_ENVIRONMENTS", project.peers()))
    }),
];

/// Type-checks every npm workspace that has a tsconfig.json.
fn types(project: &Project, _: &Args) -> Result<()> {
    for workspace in ["pkg", "www", "tests"] {
        let config = project.path(workspace).join("tsconfig.json");
        if config.is_file() {
            run_command(project.npm_tool("tsc").args(["--noEmit", "--strict", "--project"]).arg(&config))?;
        }
    }
    Ok(())
}

/// How one check went.
struct Outcome {
    name: &'static str,
    error: Option<anyhow::Error>,
    took: Duration,
}

/// Runs the task.
pub fn run(project: &Project, args: &Args) -> Result<()> {
    let checks: Vec<&Check> = CHECKS.iter().filter(|check| is_selected(check.name, &args.filters)).collect();
    if checks.is_empty() {
        let names: Vec<&str> = CHECKS.iter().map(|check| check.name).collect();
        bail!("no check is named like that; there are {}", names.join(", "));
    }
    let started = Instant::now();
    setup::machine(project, Needs::Tests)?;
    let outcomes = std::thread::scope(|scope| -> Result<Vec<Outcome>> {
        let mut beside = vec![scope.spawn(|| setup::packages(project, Needs::Tests))];
        let mut outcomes = Vec::new();
        for check in checks {
            if !check.is_early {
                for set_up in beside.drain(..) {
                    set_up.join().map_err(|_| anyhow!("a set-up panicked"))??;
                }
            }
            let begun = Instant::now();
            let error = step(check.name, || (check.run)(project, args)).err();
            let failed = error.is_some();
            outcomes.push(Outcome { name: check.name, error, took: begun.elapsed() });
            if failed && !args.keep_going {
                break;
            }
            if let Some(set_up) = check.leads_to.filter(|_| !failed) {
                beside.push(scope.spawn(move || set_up(project)));
            }
        }
        Ok(outcomes)
    })?;
    summarize(&outcomes, started.elapsed())
}

fn is_selected(name: &str, filters: &[String]) -> bool {
    filters.is_empty() || filters.iter().any(|filter| name.contains(filter.as_str()))
}

fn summarize(outcomes: &[Outcome], took: Duration) -> Result<()> {
    say("\nChecks:");
    for outcome in outcomes {
        let result = if outcome.error.is_some() { "FAILED" } else { "ok" };
        say(&format!("    {:<12} {:<7} {}", outcome.name, result, seconds(outcome.took)));
    }
    let failed = outcomes.iter().filter(|outcome| outcome.error.is_some()).count();
    say(&format!("    {:<12} {:<7} {}", "all", "", seconds(took)));
    say(&format!("{} passed, {} failed", outcomes.len() - failed, failed));
    match outcomes.iter().find_map(|outcome| outcome.error.as_ref().map(|error| (outcome.name, error))) {
        Some((name, error)) => bail!("{name}: {error:#}"),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_selects_by_part_of_the_name_and_none_selects_all() {
        assert!(is_selected("clippy-wasm", &[]));
        assert!(is_selected("clippy-wasm", &["clippy".to_owned()]));
        assert!(!is_selected("fmt", &["clippy".to_owned(), "types".to_owned()]));
    }

    #[test]
    fn one_failed_check_fails_the_task_and_is_named() {
        let outcome = |name, error| Outcome { name, error, took: Duration::ZERO };
        let outcomes = [outcome("fmt", None), outcome("types", Some(anyhow::anyhow!("no such type")))];
        assert_eq!(summarize(&outcomes, Duration::ZERO).unwrap_err().to_string(), "types: no such type");
    }
}
