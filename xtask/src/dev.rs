//! `cargo xtask dev`: from a fresh checkout to a console in the browser.

use crate::build;
use crate::children::{Ending, Running};
use crate::project::Project;
use crate::run::{find_program, say, step};
use crate::setup::{self, Needs};
use anyhow::{Context, Result, anyhow, bail};
use serde::Deserialize;
use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Where `agent-sandbox-local serve` looks for its API key.
const KEY_VARIABLE: &str = "AGENT_SANDBOX_API_KEY";

/// Arguments of the task.
#[derive(clap::Args)]
pub struct Args {
    /// Address and port of the platform; port 0 picks a free one.
    #[arg(long, default_value = "127.0.0.1:7300")]
    listen: SocketAddr,
    /// Where sandboxes and snapshots are kept between runs [default: target/dev-data].
    #[arg(long)]
    data_dir: Option<PathBuf>,
    /// Open no browser.
    #[arg(long)]
    no_open: bool,
    /// Further arguments for `agent-sandbox-local serve`, such as `--isolation none`.
    #[arg(last = true)]
    platform: Vec<String>,
}

/// What the platform prints when it is ready, as far as this task uses it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Ready {
    console_url: String,
    api_url: String,
    sandbox_url: String,
    api_key: String,
    isolation: String,
}

/// Runs the task; it ends when the platform does.
pub fn run(project: &Project, args: &Args) -> Result<()> {
    check_address(args.listen)?;
    setup::ensure(project, Needs::Platform)?;
    build::all(project)?;
    let data_dir = args.data_dir.clone().unwrap_or_else(|| project.target().join("dev-data"));
    let key = Key::of(&data_dir, args)?;
    let mut platform = start(project, args, &data_dir, &key)?;
    let ready = match step("start the platform", || wait_until_ready(&mut platform.child)) {
        Ok(ready) => ready,
        Err(error) => {
            platform.terminate();
            let _ = platform.wait();
            return Err(error);
        }
    };
    key.keep(&ready.api_key)?;
    say(&format!(
        "\nThe platform runs (isolation: {}); Ctrl-C stops it, and ends running sandboxes with their files; paused ones stay.\n\nOpen the console (the address connects one browser, once; another takes the apiKey):\n\n    {}\n\nFor code of your own, as README.md shows:\n\n    apiUrl      {}\n    sandboxUrl  {}\n    apiKey      {}\n",
        ready.isolation, ready.console_url, ready.api_url, ready.sandbox_url, ready.api_key
    ));
    if !args.no_open {
        open_browser(&ready.console_url);
    }
    // Keeps the pipe from filling should the platform say more.
    if let Some(mut stdout) = platform.child.stdout.take() {
        std::io::copy(&mut stdout, &mut std::io::sink()).context("reading from the platform")?;
    }
    let status = platform.wait()?;
    match status.success() {
        true => Ok(()),
        false => bail!("the platform ended with {status}"),
    }
}

/// Says that the port is taken before minutes go into a build.
fn check_address(listen: SocketAddr) -> Result<()> {
    match TcpListener::bind(listen) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => bail!(
            "{listen} is in use, perhaps by a platform that still runs. Stop that, or choose another port: cargo xtask dev --listen {}:0",
            listen.ip()
        ),
        Err(error) => Err(error).with_context(|| format!("cannot listen on {listen}")),
    }
}

/// The platform's API key: the same at every start with the same data folder, so that what has been told it goes on working.
enum Key {
    /// One that was kept before.
    Kept(String),
    /// One that the platform is about to draw, and the file to keep it in.
    ToKeep(PathBuf),
    /// One that the person gave; it is theirs to keep.
    Given,
}

impl Key {
    fn of(data_dir: &Path, args: &Args) -> Result<Self> {
        let given = args.platform.iter().any(|arg| arg.starts_with("--api-key"));
        if given || std::env::var(KEY_VARIABLE).is_ok_and(|key| !key.trim().is_empty()) {
            return Ok(Self::Given);
        }
        let file = data_dir.join("api-key");
        match std::fs::read_to_string(&file) {
            Ok(key) if !key.trim().is_empty() => Ok(Self::Kept(key.trim().to_owned())),
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(error).with_context(|| format!("reading {}", file.display()))
            }
            _ => Ok(Self::ToKeep(file)),
        }
    }

    /// Keeps what the platform has drawn, for its owner alone to read.
    fn keep(&self, drawn: &str) -> Result<()> {
        let Self::ToKeep(file) = self else { return Ok(()) };
        let keep = || -> std::io::Result<()> {
            // An empty one may be left of a start that was cut off.
            let _ = std::fs::remove_file(file);
            OpenOptions::new().write(true).create_new(true).mode(0o600).open(file)?.write_all(drawn.as_bytes())
        };
        keep().with_context(|| format!("keeping the API key in {}", file.display()))
    }
}

fn start(project: &Project, args: &Args, data_dir: &Path, key: &Key) -> Result<Running> {
    std::fs::create_dir_all(data_dir).with_context(|| format!("creating {}", data_dir.display()))?;
    let mut command = Command::new(project.platform_binary());
    command.args(["serve", "--json", "--listen", &args.listen.to_string(), "--data-dir"]);
    command.arg(data_dir).arg("--console").arg(project.path("www/dist"));
    if !args.platform.iter().any(|arg| arg.starts_with("--runtime-dir")) {
        command.arg("--runtime-dir").arg(project.runtime());
    }
    command.args(&args.platform);
    // Not as an argument, which every user of the machine could read.
    if let Key::Kept(key) = key {
        command.env(KEY_VARIABLE, key);
    }
    Running::start(command.stdout(Stdio::piped()), Ending::Orderly)
}

/// Reads the one line by which the platform says that it serves. Its errors go to the terminal as they are.
fn wait_until_ready(platform: &mut Child) -> Result<Ready> {
    let stdout = platform.stdout.as_mut().ok_or_else(|| anyhow!("the platform has no output to read"))?;
    let mut text = String::new();
    // Unbuffered past the line: what follows stays in the pipe for the caller.
    BufReader::with_capacity(1, stdout.by_ref()).read_line(&mut text).context("reading from the platform")?;
    if text.is_empty() {
        bail!("the platform ended before it was ready; its own message stands above");
    }
    serde_json::from_str(&text).context("the platform said something else than its JSON line")
}

/// Opens the address where a person would see it; that there is no display or no opener is no error.
fn open_browser(url: &str) {
    let display = ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
    let opener = if cfg!(target_os = "macos") { Some("open") } else { display.then_some("xdg-open") };
    let Some(opener) = opener.and_then(find_program) else { return };
    let _ = Command::new(opener).arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn args(platform: &[&str]) -> Args {
        let platform = platform.iter().map(ToString::to_string).collect();
        Args { listen: SocketAddr::from(([127, 0, 0, 1], 0)), data_dir: None, no_open: true, platform }
    }

    #[test]
    fn a_data_folder_keeps_one_key_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let first = Key::of(folder.path(), &args(&[])).unwrap();
        assert!(matches!(first, Key::ToKeep(_)));
        first.keep("drawn").unwrap();
        let mode = folder.path().join("api-key").metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let second = Key::of(folder.path(), &args(&[])).unwrap();
        assert!(matches!(&second, Key::Kept(key) if key == "drawn"));
        second.keep("another").unwrap();
        assert!(matches!(Key::of(folder.path(), &args(&[])).unwrap(), Key::Kept(key) if key == "drawn"));
        let given = Key::of(folder.path(), &args(&["--api-key", "mine"])).unwrap();
        assert!(matches!(given, Key::Given));
    }

    #[test]
    fn a_file_that_a_start_left_empty_is_written_anew() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("api-key"), "").unwrap();
        Key::of(folder.path(), &args(&[])).unwrap().keep("drawn").unwrap();
        assert!(matches!(Key::of(folder.path(), &args(&[])).unwrap(), Key::Kept(key) if key == "drawn"));
    }
}
