//! Drives the real binary: a platform of its own for each test, on a free port, in a folder of its own.

#![allow(dead_code, unused_imports, reason = "each test binary uses its own part")]

mod http;
mod sandbox;
mod user;

pub use http::{Answer, Call};
pub use sandbox::Sandbox;
pub use user::Who;

use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long anything may take before a test gives up; only a broken platform takes it.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// The key of every test's platform.
pub const KEY: &str = "e2b_00112233445566778899aabbccddeeff00112233";

/// A running platform.
pub struct Platform {
    child: Child,
    /// The line that it printed.
    pub ready: Value,
    folder: TempDir,
}

impl Platform {
    /// Starts one with walls, as the user who runs the test.
    pub fn start() -> Self {
        Self::start_as(Who::Me, &[])
    }

    /// Starts one with further arguments.
    pub fn start_with(arguments: &[&str]) -> Self {
        Self::start_as(Who::Me, arguments)
    }

    /// Starts one as somebody.
    pub fn start_as(who: Who, arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        who.own(folder.path());
        Self::start_on(who, folder, arguments)
    }

    fn start_on(who: Who, folder: TempDir, arguments: &[&str]) -> Self {
        let mut command = command(who, folder.path());
        command.args(["serve", "--json", "--listen", "127.0.0.1:0", "--api-key", KEY, "--data-dir"]);
        command.arg(folder.path().join("data")).args(arguments);
        Self::run(command, folder)
    }

    /// Starts one with a variable in its environment, and further arguments.
    pub fn start_in(who: Who, variable: &str, value: &str, arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        who.own(folder.path());
        let mut command = command(who, folder.path());
        command
            .args(["serve", "--json", "--listen", "127.0.0.1:0", "--api-key", KEY, "--data-dir"])
            .arg(folder.path().join("data"))
            .args(arguments);
        command.env(variable, value);
        Self::run(command, folder)
    }

    /// Starts one without walls whose data folder is a disk of that size, which nobody else sees and which goes with it.
    pub fn start_on_disk(size: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self::run(on_disk(folder.path(), size, &["--isolation", "none"]), folder)
    }

    fn run(mut command: Command, folder: TempDir) -> Self {
        let mut child = command.stdout(Stdio::piped()).stdin(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let ready = serde_json::from_str(&line).unwrap_or_else(|_| panic!("the platform printed no line of JSON but {line:?}"));
        Self { child, ready, folder }
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        let url = self.ready["apiUrl"].as_str().unwrap();
        url.rsplit(':').next().unwrap().parse().unwrap()
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// A folder that goes with the platform, beside its data.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Where sandboxes keep their files.
    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// The names of the sandboxes' folders.
    pub fn sandbox_folders(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.data().join("sandboxes")).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    /// A call to `127.0.0.1`, without a key.
    pub fn call(&self, method: &str, path: &str) -> Call {
        Call::new(self.port(), method, path)
    }

    /// The same with the key.
    pub fn api(&self, method: &str, path: &str) -> Call {
        self.call(method, path).header("x-api-key", KEY)
    }

    /// A sandbox that lives as long as a test.
    pub async fn sandbox(&self) -> Sandbox {
        self.sandbox_of(json!({})).await
    }

    /// The same with further members of the body.
    pub async fn sandbox_of(&self, members: Value) -> Sandbox {
        let mut body = json!({ "templateID": "base", "timeout": 600 });
        body.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        let answer = self.api("POST", "/sandboxes").json(&body).send().await;
        assert_eq!(answer.status, 201, "{}", answer.text());
        Sandbox::new(self.port(), answer.value())
    }

    /// Kills the first process inside a sandbox's walls from outside: its parent is the bubblewrap that names the sandbox.
    pub fn kill_first_process_of(&self, sandbox: &Sandbox) {
        let read = |path: String| std::fs::read_to_string(path).unwrap_or_default();
        let entries = std::fs::read_dir("/proc").unwrap();
        let pids = entries.filter_map(|entry| entry.unwrap().file_name().to_str()?.parse::<u32>().ok());
        let first = pids.filter(|pid| {
            let stat = read(format!("/proc/{pid}/stat"));
            let parent = stat.rsplit(')').next().unwrap().split_ascii_whitespace().nth(1).unwrap_or("0").to_owned();
            let names = |pid: &str| read(format!("/proc/{pid}/cmdline")).split('\0').any(|word| word == sandbox.id);
            names(&parent) && !names(&pid.to_string())
        });
        let first: Vec<String> = first.map(|pid| pid.to_string()).collect();
        assert_eq!(first.len(), 1, "{first:?}");
        assert!(Command::new("kill").args(["-s", "KILL", &first[0]]).status().unwrap().success());
    }

    /// Starts another platform on the same folder, once this one has ended.
    pub fn restart_as(mut self, who: Who, arguments: &[&str]) -> Self {
        self.wait();
        let folder = std::mem::replace(&mut self.folder, tempfile::tempdir().unwrap());
        Self::start_on(who, folder, arguments)
    }

    /// Sends a signal.
    pub fn signal(&self, name: &str) {
        assert!(Command::new("kill").args(["-s", name, &self.pid().to_string()]).status().unwrap().success());
    }

    /// Waits for its end.
    pub fn wait(&mut self) -> ExitStatus {
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(start.elapsed() < PATIENCE, "the platform does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Gives up the folder, for another platform to use, once this one has ended.
    pub fn into_folder(mut self) -> TempDir {
        self.wait();
        std::mem::replace(&mut self.folder, tempfile::tempdir().unwrap())
    }
}

impl Drop for Platform {
    fn drop(&mut self) {
        if self.child.try_wait().unwrap().is_none() {
            self.signal("TERM");
            self.wait();
        }
    }
}

/// The binary, to be run by somebody who may not see the folder it was built in. It inherits the host's root as descriptor 9, as it may
/// from a careless starter. Files that grow too large are errors to it, as on a full disk, and no signal.
pub fn command(who: Who, folder: &Path) -> Command {
    let mut program = PathBuf::from(env!("CARGO_BIN_EXE_agent-sandbox-local"));
    let mut command = Command::new("/bin/sh");
    if let Some(uid) = who.uid() {
        command = user::becoming(uid);
        let copy = folder.join("agent-sandbox-local");
        if !copy.exists() {
            // Not by this process: what another test starts right now would hold the copy open for writing, and it could not be run.
            let copied = Command::new("cp").arg(&program).arg(&copy).status().unwrap();
            assert!(copied.success(), "cp: {copied}");
        }
        program = copy;
        command.current_dir("/").env("HOME", folder).arg("/bin/sh");
    }
    command.args(["-c", "trap '' XFSZ; exec 9</; exec \"$0\" \"$@\""]).arg(program);
    command
}

/// The command of a platform whose data folder is a disk of that size, as tmpfs takes it. It may mount one because it is root in a user
/// namespace of its own.
pub fn on_disk(folder: &Path, size: &str, arguments: &[&str]) -> Command {
    let data = folder.join("data");
    std::fs::create_dir(&data).unwrap();
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "/bin/sh", "-c"]);
    command.args(["mount -t tmpfs -o \"$1\" tmpfs \"$2\" && shift 2 && exec \"$@\"", "sh", size]).arg(&data);
    command.args([env!("CARGO_BIN_EXE_agent-sandbox-local"), "serve", "--json", "--listen", "127.0.0.1:0", "--api-key", KEY]);
    command.arg("--data-dir").arg(&data).args(arguments);
    command
}

/// Waits until something holds.
pub async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "{what} does not come true");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
