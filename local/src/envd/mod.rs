//! The envd role.

/// Arguments of the role.
#[derive(clap::Args)]
pub struct Args {}

/// Runs the role.
pub fn run(_args: Args) -> anyhow::Result<()> {
    Ok(())
}
