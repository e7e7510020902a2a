//! What a task leaves behind when it is told to end while it works: nothing.

use rustix::process::{Pid, Signal, kill_process};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

/// The first program that every task asks something. This one starts another and answers nothing; both hold the pipe open.
const NODE: &str = "#!/bin/sh\nexec 3>\"$HELD_OPEN\"\nsleep 300 &\necho started >&3\nwait\n";

#[test]
fn a_signal_to_the_task_alone_ends_what_it_started_and_what_that_started() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let folder = tempfile::tempdir().unwrap();
        let (node, pipe) = (folder.path().join("node"), folder.path().join("pipe"));
        std::fs::write(&node, NODE).unwrap();
        std::fs::set_permissions(&node, PermissionsExt::from_mode(0o755)).unwrap();
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
        let mut task = Command::new(env!("CARGO_BIN_EXE_xtask"))
            .arg("build")
            .env("PATH", path)
            .env("HELD_OPEN", &pipe)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut reader = BufReader::new(File::open(&pipe).unwrap());
        let mut first = String::new();
        reader.read_line(&mut first).unwrap();
        assert_eq!(first, "started\n");
        kill_process(Pid::from_child(&task), signal).unwrap();
        assert!(!task.wait().unwrap().success());
        let (ended, has_ended) = channel();
        std::thread::spawn(move || ended.send(reader.read_to_end(&mut Vec::new())));
        let left = has_ended.recv_timeout(Duration::from_secs(30)).expect("what the task started still runs");
        assert_eq!(left.unwrap(), 0);
    }
}
