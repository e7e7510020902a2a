//! Ending everything that was started here, at the end.

use rustix::process::{Pid, Signal, WaitOptions};
use std::collections::{HashMap, HashSet};
use std::fs;
use std::time::{Duration, Instant};

/// How long to wait for processes that cannot be killed, such as one in the middle of a broken disk's operation.
const PATIENCE: Duration = Duration::from_secs(5);

/// Kills all descendants of this process until there are none. Orphans count, because this process adopts them.
pub fn kill_all() {
    // A process may start another while it is looked at; the next round finds that one.
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        while let Ok(Some(_)) = rustix::process::wait(WaitOptions::NOHANG) {}
        let alive = descendants();
        if alive.is_empty() {
            return;
        }
        for pid in alive.into_iter().filter_map(Pid::from_raw) {
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The ids of all living descendants.
pub fn descendants() -> HashSet<i32> {
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
        if let Some(parent) = fs::read_to_string(entry.path().join("stat")).ok().as_deref().and_then(living_parent) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut found = HashSet::new();
    let mut todo = vec![std::process::id().cast_signed()];
    while let Some(pid) = todo.pop() {
        for child in children.remove(&pid).unwrap_or_default() {
            found.insert(child);
            todo.push(child);
        }
    }
    found
}

/// The parent in a line of `/proc/<pid>/stat`, unless the process has ended. The name in parentheses may hold anything.
fn living_parent(stat: &str) -> Option<i32> {
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    match fields.next()? {
        "Z" | "X" => None,
        _ => fields.next()?.parse().ok(),
    }
}
