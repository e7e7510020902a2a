//! `agent-sandbox-server` for sandboxes: a Python environment made once, shared read-only, and a launcher that waits for it.
//!
//! Every sandbox sees the folder from its start, whether or not the environment is made yet: what is made later appears in it. Opening the
//! launcher is what tells the platform that somebody wants the server (see `serve/server_setup.rs`); it then says how far the set-up is in
//! the folder's `state` file, from where the launcher repeats it.

use crate::interpreter::runtime::{Bind, Options, RuntimeError, fingerprint, install, make_environment, python_version};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The packages, each at one version.
const REQUIREMENTS: &str = "agent-sandbox-server==0.4.0a6\nwebsockets==17.4\n";

/// The file that says that the environment is complete.
const COMPLETE: &str = "complete";

/// The file that says how far the set-up is; its text begins with [`FAILED`] when it has ended without the environment.
const STATE: &str = "state";

/// See [`STATE`].
const FAILED: &str = "failed: ";

/// Where the folder lies inside the walls.
const INSIDE: &str = "/opt/agent-sandbox/server";

/// The folder that goes onto PATH: the environment's own would hide the system's Python.
const PROGRAMS: &str = "programs";

/// The program's name.
const PROGRAM: &str = "agent-sandbox-server";

/// Starts the server wherever the folder is seen; the program that pip writes names its place on the host. Exit code 69 is "unavailable".
const LAUNCHER: &str = r#"#!/bin/sh
here=$(dirname "$(dirname "$(readlink -f "$0")")")
said=
failures=0
while [ ! -e "$here/complete" ]; do
  state=$(cat "$here/state" 2>/dev/null)
  case $state in
    "" | failed:*)
      # That may be of an earlier attempt: the platform has seen that this file was opened, and begins a new one.
      failures=$((failures + 1))
      if [ "$failures" -gt 15 ]; then
        echo "agent-sandbox-server: ${state:-failed: no platform sets it up; run agent-sandbox-local prepare --server-only}" >&2
        exit 69
      fi
      ;;
    "$said") failures=0 ;;
    *)
      said=$state
      failures=0
      echo "agent-sandbox-server: $said" >&2
      ;;
  esac
  sleep 0.2
done
exec "$here/python/bin/python" -m agent_sandbox.server "$@"
"#;

/// The folder that all sandboxes see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerFolder(PathBuf);

impl ServerFolder {
    /// The folder's place in the runtime folder. Python is asked for its version once.
    ///
    /// # Errors
    /// Without a Python that can make it.
    pub fn new(runtime: &Path) -> Result<Self, RuntimeError> {
        static NAME: OnceLock<String> = OnceLock::new();
        let name = match NAME.get() {
            Some(name) => name,
            None => {
                // With the launcher in its name, one that is there is this one: see `furnish`.
                let name = ["server-", &fingerprint(&python_version()?, &[REQUIREMENTS, LAUNCHER].concat())].concat();
                NAME.get_or_init(|| name)
            }
        };
        Ok(Self(runtime.join(name)))
    }

    /// Puts the launcher there.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn furnish(&self) -> Result<(), RuntimeError> {
        let launcher = self.launcher();
        let failed = |source| self.failed(source);
        let readable = |path: &Path| readable_by_all(path).map_err(failed);
        let programs = self.0.join(PROGRAMS);
        fs::create_dir_all(&programs).map_err(failed)?;
        readable(&self.0)?;
        readable(&programs)?;
        // Another platform may watch it, for which reading it would mean that a sandbox wants the server.
        if launcher.is_file() {
            return Ok(());
        }
        let new = programs.join(format!(".{PROGRAM}-{}", std::process::id()));
        fs::write(&new, LAUNCHER).map_err(failed)?;
        readable(&new)?;
        fs::rename(&new, &launcher).map_err(failed)
    }

    /// The launcher on the host.
    pub fn launcher(&self) -> PathBuf {
        self.0.join(PROGRAMS).join(PROGRAM)
    }

    /// Whether the environment is complete.
    pub fn is_complete(&self) -> bool {
        self.0.join(COMPLETE).is_file()
    }

    /// Tells launchers how far the set-up is.
    pub fn say(&self, progress: &str) {
        // Whoever cannot read it waits in silence, which is no reason to stop.
        let _ = fs::write(self.0.join(STATE), progress);
    }

    /// Tells launchers that there will be no environment.
    pub fn give_up(&self, reason: &str) {
        self.say(&[FAILED, reason].concat());
    }

    /// Makes the environment unless it is there.
    ///
    /// # Errors
    /// When Python or pip fails.
    pub fn ensure(&self, options: &Options, progress: &mut dyn FnMut(&str)) -> Result<(), RuntimeError> {
        self.furnish()?;
        if self.is_complete() {
            return Ok(());
        }
        let failed = |source| self.failed(source);
        let lock = File::create(self.0.join("lock")).map_err(failed)?;
        lock.lock().map_err(failed)?;
        // Whoever was waited for may have made it.
        if self.is_complete() {
            return Ok(());
        }
        progress("Making the Python environment of agent-sandbox-server");
        let environment = self.0.join("python");
        make_environment(&environment)?;
        install(&environment, REQUIREMENTS, options, progress)?;
        fs::write(self.0.join(COMPLETE), REQUIREMENTS).map_err(failed)
    }

    /// What walls must show of it, and the folder inside that goes onto PATH.
    pub fn inside_walls(&self) -> (Bind, PathBuf) {
        let bind = Bind { host: self.0.clone(), inside: INSIDE.into() };
        (bind, Path::new(INSIDE).join(PROGRAMS))
    }

    /// The folder that goes onto PATH without walls.
    pub fn without_walls(&self) -> PathBuf {
        self.0.join(PROGRAMS)
    }

    fn failed(&self, source: std::io::Error) -> RuntimeError {
        RuntimeError::Io { folder: self.0.clone(), source }
    }
}

/// Lets everybody read a file or folder and enter or run it. What somebody else made so is left alone: only its owner may change it.
fn readable_by_all(path: &Path) -> io::Result<()> {
    const WANTED: u32 = 0o755;
    if fs::metadata(path)?.permissions().mode() & WANTED == WANTED {
        return Ok(());
    }
    fs::set_permissions(path, fs::Permissions::from_mode(WANTED))
}
