//! What sandboxes use: processor time and memory of their processes, and the space of their files. Measured every few seconds while they
//! run, and kept in memory.

use super::data::Folders;
use super::keys::lock;
use super::platform::Platform;
use super::sandbox::{Sandbox, Status};
use super::walls::Processes;
use jiff::Timestamp;
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, statat};
use std::collections::{HashSet, VecDeque};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How often running sandboxes are measured.
const INTERVAL: Duration = Duration::from_secs(5);
/// A measurement of this age is new enough for whoever asks.
const FRESH: Duration = Duration::from_secs(1);
/// How many measurements are kept: four hours.
const KEPT: usize = 4 * 60 * 60 / 5;
/// Of the time, files are counted at most one part in so many.
const DISK_SHARE: u32 = 20;
/// How deep folders are followed when files are counted.
const DEPTH: usize = 256;

/// One measurement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// When.
    pub at: Timestamp,
    /// Processor time since the measurement before, in per cent of all processors.
    pub cpu_pct: f64,
    /// Memory that its processes have for themselves, in bytes.
    pub memory: u64,
    /// Space of its files, in bytes.
    pub disk: u64,
}

/// The measurements of one sandbox.
#[derive(Default)]
pub struct History(Mutex<State>);

#[derive(Default)]
struct State {
    samples: VecDeque<Sample>,
    /// The first process and its descendants' ticks at the last measurement, and when that was.
    last: Option<(u32, u64, Timestamp)>,
    disk: u64,
    /// When files may be counted again.
    disk_due: Option<Instant>,
}

impl History {
    /// The measurements between two times, both included, oldest first.
    pub fn between(&self, start: Timestamp, end: Timestamp) -> Vec<Sample> {
        lock(&self.0).samples.iter().filter(|sample| (start..=end).contains(&sample.at)).copied().collect()
    }

    /// The newest measurement.
    pub fn newest(&self) -> Option<Sample> {
        lock(&self.0).samples.back().copied()
    }

    fn is_fresh(&self) -> bool {
        self.newest().is_some_and(|sample| Timestamp::now().duration_since(sample.at).unsigned_abs() < FRESH)
    }

    /// Measures now. Reads files: not for the threads that serve requests.
    fn measure(&self, status: &Status, root: u32, processes: &Processes, folders: &Folders) {
        let members = processes.below(root);
        let ticks: u64 = members.iter().map(|member| member.ticks).sum();
        let memory = members.iter().map(|member| private_memory(member.pid)).sum();
        let disk_due = lock(&self.0).disk_due.is_none_or(|due| due <= Instant::now());
        let disk = disk_due.then(|| {
            let begun = Instant::now();
            let mut seen = HashSet::new();
            let used = [&folders.home, &folders.tmp].into_iter().map(|folder| space(CWD, folder, &mut seen, DEPTH)).sum();
            (used, Instant::now() + begun.elapsed() * DISK_SHARE)
        });
        let now = Timestamp::now();
        let mut state = lock(&self.0);
        if let Some((used, due)) = disk {
            state.disk = used;
            state.disk_due = Some(due);
        }
        let (before, since) = match state.last {
            // The time of a pause is no time in which it could have worked.
            Some((of, before, at)) if of == root => (before, at.max(status.started)),
            _ => (0, status.started),
        };
        state.last = Some((root, ticks, now));
        let elapsed = now.duration_since(since).as_secs_f64().max(0.01);
        let seconds = ticks.saturating_sub(before) as f64 / rustix::param::clock_ticks_per_second() as f64;
        let processors = std::thread::available_parallelism().map_or(1, usize::from) as f64;
        let cpu_pct = (seconds / elapsed / processors * 100.0).min(100.0);
        if state.samples.len() == KEPT {
            state.samples.pop_front();
        }
        let disk = state.disk;
        state.samples.push_back(Sample { at: now, cpu_pct: (cpu_pct * 100.0).round() / 100.0, memory, disk });
    }
}

/// Measures every running sandbox for as long as the platform runs.
pub async fn watch(platform: Arc<Platform>) {
    let mut ticks = tokio::time::interval(INTERVAL);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        measure(&platform, platform.sandboxes()).await;
    }
}

/// Measures those of these sandboxes that run and have not been measured just now.
pub async fn refresh(platform: &Platform, mut sandboxes: Vec<Arc<Sandbox>>) {
    sandboxes.retain(|sandbox| !sandbox.history.is_fresh());
    measure(platform, sandboxes).await;
}

async fn measure(platform: &Platform, sandboxes: Vec<Arc<Sandbox>>) {
    let running: Vec<_> = sandboxes
        .into_iter()
        .filter(|sandbox| sandbox.is_running())
        .map(|sandbox| (platform.data.folders(&sandbox.id), sandbox))
        .collect();
    if running.is_empty() {
        return;
    }
    let measured = tokio::task::spawn_blocking(move || {
        let processes = Processes::scan();
        for (folders, sandbox) in running {
            let status = sandbox.status();
            if let Some(root) = status.root {
                sandbox.history.measure(&status, root, &processes, &folders);
            }
        }
    });
    if measured.await.is_err() {
        tracing::error!("the task that measures sandboxes failed");
    }
}

/// The pages of a process that it shares with no file, in bytes.
fn private_memory(pid: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/statm")).unwrap_or_default();
    let mut pages = text.split(' ').skip(1).filter_map(|field| field.parse::<u64>().ok());
    let (resident, shared) = (pages.next().unwrap_or(0), pages.next().unwrap_or(0));
    resident.saturating_sub(shared) * rustix::param::page_size() as u64
}

/// The space that a file or folder takes, each file once. No link is followed, also not one that takes the place of a folder meanwhile.
fn space(at: impl rustix::fd::AsFd + Copy, name: &Path, seen: &mut HashSet<(u64, u64)>, depth: usize) -> u64 {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let Ok(folder) = openat(at, name, flags, Mode::empty()) else { return 0 };
    space_in(&folder, seen, depth)
}

fn space_in(folder: &OwnedFd, seen: &mut HashSet<(u64, u64)>, depth: usize) -> u64 {
    let mut used = 0;
    for entry in Dir::read_from(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let Ok(about) = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        if about.st_nlink == 1 || seen.insert((about.st_dev, about.st_ino)) {
            used += about.st_blocks.unsigned_abs() * 512;
        }
        if FileType::from_raw_mode(about.st_mode) == FileType::Directory && depth > 0 {
            let name = <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(name.to_bytes());
            used += space(folder, Path::new(name), seen, depth - 1);
        }
    }
    used
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_counted_once_and_links_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        std::fs::create_dir(path.join("a")).unwrap();
        std::fs::write(path.join("a/big"), vec![1; 1 << 20]).unwrap();
        std::fs::hard_link(path.join("a/big"), path.join("twin")).unwrap();
        std::os::unix::fs::symlink("/usr", path.join("a/usr")).unwrap();
        let used = space(CWD, path, &mut HashSet::new(), DEPTH);
        assert!((1 << 20..(1 << 20) + 65_536).contains(&used), "{used}");
    }
}
