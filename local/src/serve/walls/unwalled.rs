//! envd without walls: an ordinary process of the platform's user, with an environment of its own.

use super::process::{Step, prepare};
use super::{Jail, Launch};
use anyhow::Context;
use std::process::Stdio;
use tokio::process::Command;

/// Starts envd and waits until it answers.
///
/// # Errors
/// When it does not come up.
pub async fn launch(launch: Launch<'_>) -> anyhow::Result<Jail> {
    let mut command = Command::new(std::env::current_exe().context("cannot find the platform's own program")?);
    command.arg("envd").arg("--run-dir").arg(&launch.folders.run);
    command.env_clear().env("PATH", super::TOOL_PATH).env("HOME", &launch.folders.home).env("LANG", "C.UTF-8");
    command.env("USER", user_name()).current_dir(&launch.folders.home);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    prepare(&mut command, vec![Step::NewSession]);
    let mut jail = Jail::unwalled(command.spawn().context("cannot start envd")?);
    let ready = jail.hand_over(&launch).await;
    jail.or_end(ready).await
}

/// The name of the platform's user, or its number where it has none.
pub fn user_name() -> String {
    let uid = rustix::process::getuid().as_raw().to_string();
    let passwd = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let entry = passwd.lines().find(|line| line.split(':').nth(2) == Some(uid.as_str()));
    entry.and_then(|line| line.split(':').next()).map_or(uid.clone(), str::to_owned)
}
