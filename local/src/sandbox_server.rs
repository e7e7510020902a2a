//! `agent-sandbox-server` for sandboxes: a Python environment made once together with the runtime of code cells, and shared read-only.
//!
//! Every sandbox that starts after it was made has the program on its PATH.

use crate::interpreter::runtime::{Bind, Options, RuntimeError, fingerprint, install, make_environment, python_version};
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The packages, each at one version.
const REQUIREMENTS: &str = "agent-sandbox-server==0.4.0a6\nwebsockets==17.4\n";

/// The file that says that an environment is complete.
const COMPLETE: &str = "agent-sandbox-complete";

/// Where it lies inside the walls.
const INSIDE: &str = "/opt/agent-sandbox/server";

/// The folder that goes onto PATH: the environment's own would hide the system's Python.
const PROGRAMS: &str = "programs";

/// Starts the server wherever the environment is seen: the program that pip writes names its place on the host.
const LAUNCHER: &str =
    "#!/bin/sh\nexec \"$(dirname \"$(dirname \"$(readlink -f \"$0\")\")\")/bin/python\" -m agent_sandbox.server \"$@\"\n";

/// Finds the environment in `folder`, or makes it there.
///
/// # Errors
/// When Python or pip fails.
pub fn ensure(folder: &Path, options: &Options, progress: &mut dyn FnMut(&str)) -> Result<PathBuf, RuntimeError> {
    let environment = folder.join(name()?);
    if environment.join(COMPLETE).is_file() {
        return Ok(environment);
    }
    let failed = |source| RuntimeError::Io { folder: environment.clone(), source };
    fs::create_dir_all(folder).map_err(failed)?;
    let lock = File::create(folder.join("server-lock")).map_err(failed)?;
    lock.lock().map_err(failed)?;
    // Whoever was waited for may have made it.
    if environment.join(COMPLETE).is_file() {
        return Ok(environment);
    }
    progress("Making the Python environment of agent-sandbox-server");
    make_environment(&environment)?;
    install(&environment, REQUIREMENTS, options, progress)?;
    let programs = environment.join(PROGRAMS);
    fs::create_dir_all(&programs).map_err(failed)?;
    let launcher = programs.join("agent-sandbox-server");
    fs::write(&launcher, LAUNCHER).map_err(failed)?;
    fs::set_permissions(&launcher, fs::Permissions::from_mode(0o755)).map_err(failed)?;
    fs::write(environment.join(COMPLETE), REQUIREMENTS).map_err(failed)?;
    Ok(environment)
}

/// The environment in `folder`, if it is complete. Every new sandbox asks, so Python is asked for its version once.
pub fn find(folder: &Path) -> Option<PathBuf> {
    static NAME: OnceLock<Option<String>> = OnceLock::new();
    let environment = folder.join(NAME.get_or_init(|| name().ok()).as_ref()?);
    environment.join(COMPLETE).is_file().then_some(environment)
}

/// What walls must show of it, and the folder inside that goes onto PATH.
pub fn inside_walls(environment: &Path) -> (Bind, PathBuf) {
    let bind = Bind { host: environment.to_owned(), inside: INSIDE.into() };
    (bind, Path::new(INSIDE).join(PROGRAMS))
}

/// The folder that goes onto PATH without walls.
pub fn without_walls(environment: &Path) -> PathBuf {
    environment.join(PROGRAMS)
}

fn name() -> Result<String, RuntimeError> {
    Ok(format!("server-{}", fingerprint(&python_version()?, REQUIREMENTS)))
}
