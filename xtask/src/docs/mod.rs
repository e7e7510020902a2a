//! `cargo xtask docs`: the documentation's site in `target/docs`, made by TypeDoc from the guides and the package's declarations.

mod links;

use crate::project::Project;
use crate::run::{run as run_command, say, step};
use crate::setup::{self, Needs};
use anyhow::{Result, bail};

/// Runs the task. Anything that TypeDoc warns of fails it, and so does a link inside the site that leads nowhere.
pub fn run(project: &Project) -> Result<()> {
    setup::ensure(project, Needs::Build)?;
    // Where `docs/site/typedoc.mjs` has it made.
    let site = project.path("target/docs");
    step("build the site", || {
        run_command(
            project.npm_tool("typedoc").args(["--logLevel", "Warn", "--options"]).arg(project.path("docs/site/typedoc.mjs")),
        )
    })?;
    step("check its links", || {
        let found = links::check(&site)?;
        if found.dead.is_empty() {
            say(&format!("    {} links on {} pages", found.links, found.pages));
            return Ok(());
        }
        bail!("{} dead links:\n    {}", found.dead.len(), found.dead.join("\n    "))
    })?;
    say(&format!("\nOpen {}", site.join("index.html").display()));
    Ok(())
}
