//! Starting: what is printed, and what is said when it cannot start.

use super::support::{KEY, Platform, Who, command};
use std::net::TcpListener;
use std::process::{Command, Output};

fn attempt(arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let mut command = command(Who::Me, folder.path());
    command.args(["serve", "--json", "--data-dir"]).arg(folder.path().join("data")).args(arguments);
    command.env("RUST_BACKTRACE", "1").output().unwrap()
}

#[tokio::test]
async fn the_line_has_exactly_the_documented_members() {
    let platform = Platform::start();
    let line = platform.ready.as_object().unwrap();
    let mut names: Vec<_> = line.keys().map(String::as_str).collect();
    names.sort_unstable();
    assert_eq!(names, ["apiKey", "apiUrl", "consoleUrl", "isolation", "pid", "sandboxHostUrl", "sandboxUrl"]);
    let port = platform.port();
    assert_eq!(line["apiUrl"], format!("http://127.0.0.1:{port}"));
    assert_eq!(line["sandboxUrl"], format!("http://127.0.0.1:{port}/s/{{sandboxId}}/{{port}}"));
    assert_eq!(line["sandboxHostUrl"], format!("http://{{port}}-{{sandboxId}}.localhost:{port}"));
    assert_eq!(line["consoleUrl"], serde_json::Value::Null);
    assert_eq!(line["apiKey"], KEY);
    assert_eq!(line["isolation"], "bwrap");
    assert_eq!(line["pid"], platform.pid());
    assert_eq!(platform.call("GET", "/health").send().await.status, 204);
}

#[test]
fn a_port_in_use_is_said() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let output = attempt(&["--listen", &taken.local_addr().unwrap().to_string()]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && output.stdout.is_empty());
    assert!(said.contains("in use") && said.contains("--listen"), "{said}");
    // In one line, also for whoever asks programs for backtraces.
    assert_eq!(said.trim_end().lines().count(), 1, "{said}");
}

#[test]
fn a_data_folder_in_use_is_said() {
    let platform = Platform::start();
    let data = platform.data();
    let mut second = Command::new(env!("CARGO_BIN_EXE_agent-sandbox-local"));
    let output = second.args(["serve", "--listen", "127.0.0.1:0", "--data-dir"]).arg(data).output().unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("--data-dir"));
}

#[test]
fn a_console_folder_without_a_page_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let output = attempt(&["--listen", "127.0.0.1:0", "--console", folder.path().to_str().unwrap()]);
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("index.html"));
}

/// Hides a program from the platform by an empty file in its place, in a mount namespace of the platform's own.
#[test]
fn without_a_program_for_the_walls_it_does_not_start_and_says_what_to_install() {
    if !Who::am_root() {
        return;
    }
    for (program, package) in [("bwrap", "bubblewrap"), ("pasta", "passt")] {
        let folder = tempfile::tempdir().unwrap();
        let script = format!(
            "mkdir \"$1/hidden\" && for f in /usr/local/sbin /usr/local/bin /usr/sbin /usr/bin; do [ -e $f/{program} ] && mount --bind \"$1/hidden\" $f; done; \
             exec \"$0\" serve --json --isolation auto --listen 127.0.0.1:0 --data-dir \"$1/data\""
        );
        let mut shell = Command::new("unshare");
        shell.args(["--mount", "/bin/sh", "-c", &script, env!("CARGO_BIN_EXE_agent-sandbox-local")]).arg(folder.path());
        let output = shell.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && output.stdout.is_empty(), "{program}: {said}");
        assert!(said.contains(package) && said.contains("--isolation none"), "{program}: {said}");
    }
}

/// On a machine with a way to the internet, for which the test makes a network of its own.
#[test]
fn without_a_device_for_packets_it_does_not_start_and_says_which() {
    if !Who::am_root() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let script = "mount -t tmpfs tmpfs /dev/net && ip link set lo up && ip route add default dev lo && \
        exec \"$0\" serve --json --isolation auto --listen 127.0.0.1:0 --data-dir \"$1/data\"";
    let mut shell = Command::new("unshare");
    shell.args(["--mount", "--net", "/bin/sh", "-c", script, env!("CARGO_BIN_EXE_agent-sandbox-local")]).arg(folder.path());
    let output = shell.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && output.stdout.is_empty(), "{said}");
    assert!(said.contains("/dev/net/tun") && said.contains("modprobe") && said.contains("--isolation none"), "{said}");
    assert!(!said.contains("namespaces must be allowed"), "{said}");
}

#[tokio::test]
async fn without_walls_it_says_so_in_the_line_and_works() {
    let platform = Platform::start_with(&["--isolation", "none"]);
    assert_eq!(platform.ready["isolation"], "none");
    let sandbox = platform.sandbox().await;
    assert_eq!(sandbox.succeed("echo hello").await, "hello\n");
}

#[tokio::test]
async fn without_walls_relative_paths_stay_in_the_sandboxs_own_home() {
    let platform = Platform::start_with(&["--isolation", "none"]);
    let (one, other) = (platform.sandbox().await, platform.sandbox().await);
    let written = one.call("POST", 49983, "/files?path=mine.txt").header("content-type", "application/octet-stream").body("mine");
    assert_eq!(written.send().await.status, 200);
    assert_eq!(one.succeed("cat ~/mine.txt && cat mine.txt").await, "minemine");
    assert_eq!(other.call("GET", 49983, "/files?path=mine.txt").send().await.status, 404);
    let home = one.succeed("cd && pwd -P").await;
    let data = platform.data().canonicalize().unwrap();
    assert!(home.starts_with(data.to_str().unwrap()), "{home}");
}
