//! Making the runtime: said beforehand, made once, and with a reason when it fails.

use super::role::{PROGRAM, python_env, runtime_dir};
use std::io::Read;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};

fn prepare(folder: &Path, index: &str) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(["prepare", "--runtime-dir"]).arg(folder).args(["--pip-index", index]);
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("PIP_")) {
        command.env_remove(name);
    }
    command.env("PIP_CONFIG_FILE", "/dev/null").env("PIP_RETRIES", "0").env("PIP_NO_PROXY", "*");
    command
}

#[test]
fn a_runtime_that_is_there_is_found_without_a_word() {
    let made = python_env();
    let again = Command::new(PROGRAM).args(["prepare", "--runtime-dir"]).arg(runtime_dir()).output().expect("prepare runs");
    assert_eq!(String::from_utf8_lossy(&again.stdout).trim(), made.display().to_string());
    assert!(again.stderr.is_empty(), "{}", String::from_utf8_lossy(&again.stderr));
}

#[test]
fn what_is_installed_and_how_long_it_takes_is_said_and_a_failure_has_its_reason_without_addresses() {
    let folder = tempfile::tempdir().expect("a folder");
    let refused = prepare(folder.path(), "http://name:secret@127.0.0.1:9/simple").output().expect("prepare runs");
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && refused.stdout.is_empty());
    assert!(said.contains("600 MB") && said.contains("minutes"), "{said}");
    assert!(said.contains("could not be installed") && said.contains("bash_kernel") && said.contains("--pip-index"), "{said}");
    assert!(!said.contains("secret") && !said.contains("127.0.0.1"), "{said}");
}

#[test]
fn pip_ends_with_whoever_started_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let index = format!("http://{}/simple", silent.local_addr().expect("an address"));
    let mut role = prepare(folder.path(), &index).stderr(Stdio::null()).spawn().expect("prepare runs");
    let (mut connection, _) = silent.accept().expect("pip connects");
    role.kill().expect("prepare runs");
    role.wait().expect("prepare ends");
    // The connection ends when pip does.
    connection.set_read_timeout(Some(super::role::PATIENCE)).expect("a limit");
    let mut sent = Vec::new();
    assert!(connection.read_to_end(&mut sent).is_ok());
}
