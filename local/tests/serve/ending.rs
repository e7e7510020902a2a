//! The end of a platform, by request and by crash: nothing of it stays.

use super::support::{Platform, Who, until};
use serde_json::json;
use std::collections::HashMap;
use std::fs;

/// Processes by id, each with its parent, its start time and whether it has only its exit status left.
fn processes() -> HashMap<u32, (u32, u64, bool)> {
    let entries = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    entries
        .filter_map(|pid| {
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
            Some((pid, (fields[1].parse().ok()?, fields[19].parse().ok()?, fields[0] == "Z")))
        })
        .collect()
}

/// Every process below `pid`, each with its start time.
fn below(pid: u32) -> Vec<(u32, u64)> {
    let all = processes();
    let mut found = vec![pid];
    let mut at = 0;
    while let Some(parent) = found.get(at).copied() {
        found.extend(all.iter().filter(|(_, (of, _, zombie))| *of == parent && !zombie).map(|(pid, _)| *pid));
        at += 1;
    }
    found.into_iter().skip(1).filter_map(|pid| Some((pid, all.get(&pid)?.1))).collect()
}

async fn gone(what: Vec<(u32, u64)>) {
    until("the end of every process", || {
        let all = processes();
        what.iter().all(|(pid, start)| all.get(pid).is_none_or(|(_, began, zombie)| began != start || *zombie))
    })
    .await;
}

fn mounts_of(platform: &Platform) -> usize {
    let folder = platform.folder().to_str().unwrap().to_owned();
    fs::read_to_string("/proc/self/mountinfo").unwrap().lines().filter(|line| line.contains(&folder)).count()
}

/// A command that outlives its shell, in a session of its own, and one that ignores what can be ignored.
const STUBBORN: &str =
    "setsid sleep 86400 </dev/null >/dev/null 2>&1 & (trap '' TERM INT HUP; exec sleep 86400) </dev/null >/dev/null 2>&1 & echo";

async fn ends(who: Who, signal: &str, isolation: &str) {
    let mut platform = Platform::start_as(who, &["--isolation", isolation]);
    for _ in 0..2 {
        platform.sandbox().await.succeed(STUBBORN).await;
    }
    let running = below(platform.pid());
    assert!(running.len() >= 6, "{running:?}");
    platform.signal(signal);
    let status = platform.wait();
    gone(running).await;
    assert_eq!(mounts_of(&platform), 0);
    if signal != "KILL" {
        assert!(status.success(), "{status}");
        assert!(platform.sandbox_folders().is_empty());
        return;
    }
    assert_eq!(platform.sandbox_folders().len(), 2);
    let folder = platform.into_folder();
    let mut command = super::support::command(who, folder.path());
    let data = folder.path().join("data");
    let mut next = command.args(["serve", "--json", "--isolation", isolation, "--listen", "127.0.0.1:0", "--data-dir"]).arg(&data);
    next = next.stdout(std::process::Stdio::piped());
    let mut next = next.spawn().unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(next.stdout.take().unwrap()), &mut line).unwrap();
    assert_eq!(fs::read_dir(data.join("sandboxes")).unwrap().count(), 0, "the next start removes what a crash left");
    next.kill().unwrap();
    next.wait().unwrap();
}

#[tokio::test]
async fn sigterm_leaves_nothing() {
    for who in Who::all() {
        ends(who, "TERM", "bwrap").await;
    }
}

#[tokio::test]
async fn sigint_leaves_nothing() {
    ends(Who::Me, "INT", "bwrap").await;
}

#[tokio::test]
async fn a_crash_leaves_nothing_running() {
    for who in Who::all() {
        ends(who, "KILL", "bwrap").await;
    }
}

#[tokio::test]
async fn without_walls_neither() {
    for signal in ["TERM", "KILL"] {
        ends(Who::Me, signal, "none").await;
    }
}

#[tokio::test]
async fn a_kill_ends_every_process_of_the_sandbox_and_no_other() {
    let platform = Platform::start();
    let kept = platform.sandbox().await;
    kept.succeed(STUBBORN).await;
    let before = below(platform.pid());
    let killed = platform.sandbox().await;
    killed.succeed(STUBBORN).await;
    let of_killed: Vec<_> = below(platform.pid()).into_iter().filter(|process| !before.contains(process)).collect();
    assert!(of_killed.len() >= 4, "{of_killed:?}");
    assert_eq!(platform.api("DELETE", &format!("/sandboxes/{}", killed.id)).send().await.status, 204);
    let all = processes();
    for (pid, start) in &of_killed {
        assert!(all.get(pid).is_none_or(|(_, began, zombie)| began != start || *zombie), "process {pid} is left after the answer");
    }
    assert_eq!(below(platform.pid()).len(), before.len());
}

#[tokio::test]
async fn a_sandbox_that_is_being_made_when_the_platform_stops_leaves_nothing() {
    let mut platform = Platform::start();
    let call = platform.api("POST", "/sandboxes").json(&json!({"templateID": "base"}));
    let creating = tokio::spawn(async move { call.send().await.status });
    let pid = platform.pid();
    until("the start of a sandbox", || !below(pid).is_empty()).await;
    let running = below(pid);
    platform.signal("TERM");
    platform.wait();
    gone(running).await;
    assert!(platform.sandbox_folders().is_empty());
    creating.abort();
}
