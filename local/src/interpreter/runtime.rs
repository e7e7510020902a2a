//! The runtime of code cells on the host: a Python environment made once and shared read-only by all sandboxes, and Deno if there is one.

use super::environment::{FONT_CACHE, SYSTEM_PYTHON};
use rustix::process::{Signal, set_parent_process_death_signal};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The packages, each at one version.
const REQUIREMENTS: &str = include_str!("requirements.txt");

/// The file that says that an environment is complete.
const COMPLETE: &str = "agent-sandbox-complete";

/// Where the runtime lies inside the walls.
const INSIDE: &str = "/opt/agent-sandbox";

/// What the packages need, in megabytes and minutes, as measured; said before the first use.
pub const SIZE_MB: u32 = 600;
/// See [`SIZE_MB`].
pub const USUAL_MINUTES: &str = "1 to 4";

/// The host's settings.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The package index for pip; pip's own settings without it.
    pub pip_index: Option<String>,
    /// Certificate authorities (PEM) for pip and for programs in sandboxes.
    pub ca_file: Option<PathBuf>,
    /// Deno 2; without it JavaScript and TypeScript cells say what is missing.
    pub deno: Option<PathBuf>,
}

/// Why there is no runtime.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    /// The system's Python is missing or too old.
    #[error("Python 3.11 or later is needed at {SYSTEM_PYTHON}: apt-get install python3 python3-venv")]
    NoPython,
    /// Python cannot make virtual environments.
    #[error("Python's venv module is needed: apt-get install python3-venv")]
    NoVenv,
    /// pip failed.
    #[error("Python packages could not be installed: {reason}. Is the package index reachable? --pip-index and --ca-file set it")]
    Pip {
        /// pip's own last words, without addresses that may hold secrets.
        reason: String,
    },
    /// A program that makes the environment could not be run, or a file not be written.
    #[error("the folder {} could not be filled: {source}", folder.display())]
    Io {
        /// Where.
        folder: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// A complete runtime.
#[derive(Debug, Clone)]
pub struct Runtime {
    python_env: PathBuf,
    options: Options,
}

/// A host path and where it appears inside the walls, read-only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bind {
    /// On the host.
    pub host: PathBuf,
    /// Inside.
    pub inside: PathBuf,
}

/// How a sandbox gets the runtime.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// What its walls must show read-only; nothing without walls.
    pub binds: Vec<Bind>,
    /// Arguments of the interpreter role, `--listen` excepted.
    pub arguments: Vec<String>,
    /// Variables for the role and every process of the sandbox.
    pub variables: Vec<(String, String)>,
}

/// How many packages are installed.
pub fn package_count() -> usize {
    packages_in(REQUIREMENTS)
}

fn packages_in(requirements: &str) -> usize {
    requirements.lines().filter(|line| line.contains("==")).count()
}

/// Whether the runtime is in `folder` and complete.
///
/// # Errors
/// When the machine's Python is missing or too old.
pub fn is_made(folder: &Path) -> Result<bool, RuntimeError> {
    Ok(Runtime::of(folder, Options::default())?.is_complete())
}

/// Finds the runtime in `folder`, or makes it there, telling `progress` what happens, a line at a time. Blocks for minutes the first
/// time; a second caller waits for the first.
pub fn ensure(folder: &Path, options: &Options, progress: &mut dyn FnMut(&str)) -> Result<Runtime, RuntimeError> {
    let runtime = Runtime::of(folder, options.clone())?;
    if runtime.is_complete() {
        return Ok(runtime);
    }
    let failed = |source| RuntimeError::Io { folder: folder.to_owned(), source };
    fs::create_dir_all(folder).map_err(failed)?;
    let lock = File::create(folder.join("lock")).map_err(failed)?;
    if lock.try_lock().is_err() {
        progress("Waiting for another process that makes the runtime of code cells");
        lock.lock().map_err(failed)?;
    }
    if !runtime.is_complete() {
        runtime.make(progress)?;
    }
    Ok(runtime)
}

impl Runtime {
    /// The runtime whose Python environment is in `python_env`, as [`ensure`] has made it.
    pub fn new(python_env: PathBuf, options: Options) -> Runtime {
        Runtime { python_env, options }
    }

    /// The runtime that belongs into `folder` by the version of the machine's Python and by the packages.
    fn of(folder: &Path, options: Options) -> Result<Runtime, RuntimeError> {
        let version = python_version()?;
        Ok(Runtime::new(folder.join(format!("python-{}", fingerprint(&version, REQUIREMENTS))), options))
    }

    /// The folder of the shared Python environment on the host.
    pub fn python_env(&self) -> &Path {
        &self.python_env
    }

    /// The script that draws plotly's figures in a browser, as the package brings it along.
    pub fn plotly_script(&self) -> Option<PathBuf> {
        let packages = fs::read_dir(self.python_env.join("lib")).ok()?.filter_map(Result::ok);
        let scripts = packages.map(|entry| entry.path().join("site-packages/plotly/package_data/plotly.min.js"));
        scripts.into_iter().find(|file| file.is_file())
    }

    /// How a sandbox inside walls gets the runtime: everything at fixed places, whatever the host's folders are called.
    pub fn inside_walls(&self) -> Layout {
        let inside = |name: &str| Path::new(INSIDE).join(name);
        let mut binds = vec![Bind { host: self.python_env.clone(), inside: inside("python") }];
        let mut seen_inside = |host: &Option<PathBuf>, name: &str| {
            host.clone().map(|host| {
                binds.push(Bind { host, inside: inside(name) });
                inside(name)
            })
        };
        let deno = seen_inside(&self.options.deno, "deno");
        let ca_file = seen_inside(&self.options.ca_file, "ca.pem");
        Layout { arguments: arguments(&inside("python"), deno.as_deref()), variables: self.variables(ca_file.as_deref()), binds }
    }

    /// How a sandbox without walls gets it.
    pub fn without_walls(&self) -> Layout {
        Layout {
            binds: Vec::new(),
            arguments: arguments(&self.python_env, self.options.deno.as_deref()),
            variables: self.variables(self.options.ca_file.as_deref()),
        }
    }

    fn variables(&self, ca_file: Option<&Path>) -> Vec<(String, String)> {
        let mut variables = Vec::new();
        if let Some(index) = &self.options.pip_index {
            variables.push(("PIP_INDEX_URL".to_owned(), index.clone()));
        }
        if let Some(file) = ca_file {
            let file = file.to_string_lossy();
            let names = ["SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "DENO_CERT"];
            variables.extend(names.map(|name| (name.to_owned(), file.clone().into_owned())));
        }
        variables
    }

    fn is_complete(&self) -> bool {
        self.python_env.join(COMPLETE).is_file()
    }

    fn make(&self, progress: &mut dyn FnMut(&str)) -> Result<(), RuntimeError> {
        let failed = |source| RuntimeError::Io { folder: self.python_env.clone(), source };
        progress(&format!(
            "First use of code cells: making a Python environment of {} packages in {} (about {SIZE_MB} MB, usually {USUAL_MINUTES} \
             minutes, once)",
            package_count(),
            self.python_env.display()
        ));
        make_environment(&self.python_env)?;
        install(&self.python_env, REQUIREMENTS, &self.options, progress)?;
        progress("Listing fonts for matplotlib");
        // A missing list costs each sandbox seconds, nothing else.
        let _ = self
            .python()
            .args(["-c", "import matplotlib.font_manager"])
            .env("MPLCONFIGDIR", self.python_env.join(FONT_CACHE))
            .stderr(Stdio::null())
            .status();
        fs::write(self.python_env.join(COMPLETE), REQUIREMENTS).map_err(failed)?;
        progress("The Python environment for code cells is ready");
        Ok(())
    }

    fn python(&self) -> Command {
        program(self.python_env.join("bin/python"))
    }
}

/// Makes an empty Python environment. What an interrupted attempt has left goes away.
pub fn make_environment(environment: &Path) -> Result<(), RuntimeError> {
    let failed = |source| RuntimeError::Io { folder: environment.to_owned(), source };
    if environment.exists() {
        fs::remove_dir_all(environment).map_err(failed)?;
    }
    let made = program(SYSTEM_PYTHON).args(["-m", "venv"]).arg(environment).output().map_err(failed)?;
    if made.status.success() { Ok(()) } else { Err(RuntimeError::NoVenv) }
}

/// Installs packages, each named with its version, telling `progress` how far it is.
pub fn install(environment: &Path, packages: &str, options: &Options, progress: &mut dyn FnMut(&str)) -> Result<(), RuntimeError> {
    let failed = |source| RuntimeError::Io { folder: environment.to_owned(), source };
    let requirements = environment.join("requirements.txt");
    fs::write(&requirements, packages).map_err(failed)?;
    // What pip unpacks goes where it ends, and away with it should pip be killed.
    let temporary = environment.join("tmp");
    fs::create_dir_all(&temporary).map_err(failed)?;
    let mut pip = program(environment.join("bin/python"));
    pip.args(["-m", "pip", "install", "--no-input", "--disable-pip-version-check", "--progress-bar", "off", "-r"])
        .arg(&requirements);
    pip.env("TMPDIR", &temporary);
    if let Some(index) = &options.pip_index {
        pip.env("PIP_INDEX_URL", index);
    }
    if let Some(file) = &options.ca_file {
        pip.arg("--cert").arg(file);
    }
    let mut child = pip.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(failed)?;
    let errors = child.stderr.take().map(|mut stderr| {
        std::thread::spawn(move || {
            let mut text = Vec::new();
            let _ = stderr.read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        })
    });
    let total = packages_in(packages);
    let mut collected = 0;
    for line in child.stdout.take().into_iter().flat_map(|stdout| BufReader::new(stdout).lines().map_while(Result::ok)) {
        if let Some(package) = line.strip_prefix("Collecting ") {
            collected += 1;
            let package = package.split_whitespace().next().unwrap_or_default();
            progress(&format!("Package {collected} of {total}: {package}"));
        } else if line.starts_with("Installing collected packages") {
            progress("Unpacking and compiling the packages");
        }
    }
    let errors = errors.and_then(|reader| reader.join().ok()).unwrap_or_default();
    let ended = child.wait().map_err(failed)?;
    fs::remove_dir_all(&temporary).map_err(failed)?;
    if ended.success() {
        return Ok(());
    }
    Err(RuntimeError::Pip { reason: reason(&errors) })
}

/// A program that ends when this process does, however that ends.
fn program(path: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(path);
    command.stdin(Stdio::null());
    // SAFETY: the closure makes one system call and neither allocates nor locks.
    unsafe { command.pre_exec(|| Ok(set_parent_process_death_signal(Some(Signal::KILL))?)) };
    command
}

fn arguments(python_env: &Path, deno: Option<&Path>) -> Vec<String> {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let mut arguments = vec!["--python-env".to_owned(), text(python_env)];
    if let Some(deno) = deno {
        arguments.extend(["--deno".to_owned(), text(deno)]);
    }
    arguments
}

/// Deno's program: from the npm package in `node_modules` of the working directory or of one above it, else on PATH. A script that only
/// starts it is no use inside a sandbox.
pub fn find_deno() -> Option<PathBuf> {
    let package = if cfg!(target_arch = "aarch64") { "linux-arm64-glibc" } else { "linux-x64-glibc" };
    let working_directory = std::env::current_dir().ok()?;
    let installed = working_directory.ancestors().map(|folder| folder.join("node_modules/@deno").join(package).join("deno"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).map(|folder| folder.join("deno")).collect::<Vec<_>>();
    installed.chain(on_path).filter_map(|file| file.canonicalize().ok()).find(|file| is_program(file))
}

fn is_program(file: &Path) -> bool {
    let mut start = [0; 4];
    File::open(file).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == *b"\x7fELF"
}

/// `3.x` of the system's Python, if code cells can use it.
pub fn python_version() -> Result<String, RuntimeError> {
    let program = "import sys; print('%d.%d' % sys.version_info[:2]); sys.exit(sys.version_info < (3, 11))";
    let output = Command::new(SYSTEM_PYTHON)
        .args(["-I", "-c", program])
        .stdin(Stdio::null())
        .output()
        .map_err(|_| RuntimeError::NoPython)?;
    if !output.status.success() {
        return Err(RuntimeError::NoPython);
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Names an environment by what is in it, so that a newer platform makes its own beside it.
pub fn fingerprint(version: &str, packages: &str) -> String {
    let mut hasher = DefaultHasher::new();
    (version, packages).hash(&mut hasher);
    format!("{version}-{:016x}", hasher.finish())
}

/// The first line in which pip says what went wrong; addresses may hold names and passwords, so they are left out.
fn reason(errors: &str) -> String {
    let line =
        errors.lines().find(|line| line.starts_with("ERROR:")).or_else(|| errors.lines().last()).unwrap_or("pip gave no reason");
    let words = line.trim_start_matches("ERROR:").split_whitespace();
    words.map(|word| if word.contains("://") { "(address)" } else { word }).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walls_show_fixed_places_only() {
        let options =
            Options { deno: Some("/host/deno".into()), ca_file: Some("/host/ca".into()), pip_index: Some("http://i/".into()) };
        let runtime = Runtime { python_env: "/host/python-1".into(), options };
        let layout = runtime.inside_walls();
        assert_eq!(layout.binds.len(), 3);
        assert!(layout.arguments.iter().all(|argument| !argument.contains("/host")));
        assert!(layout.variables.iter().all(|(_, value)| !value.contains("/host")));
        assert!(layout.variables.contains(&("PIP_INDEX_URL".into(), "http://i/".into())));
        assert!(runtime.without_walls().binds.is_empty());
    }

    #[test]
    fn reasons_hold_no_addresses() {
        let errors = "WARNING: Retrying https://user:secret@index/simple\nERROR: No matching distribution for x at https://user:secret@index/\n";
        assert_eq!(reason(errors), "No matching distribution for x at (address)");
    }
}
