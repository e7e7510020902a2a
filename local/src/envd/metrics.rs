//! What the sandbox uses, as `/metrics` tells it.

use serde_json::json;
use std::fs;
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// Remembers the processor times of the last call, from which the next call's share is counted.
#[derive(Default)]
pub struct Sampler {
    last: Mutex<Option<CpuTimes>>,
}

#[derive(Clone, Copy, Default, PartialEq, Debug)]
struct CpuTimes {
    busy: u64,
    total: u64,
}

impl Sampler {
    /// The figures of now: bytes, per cent of all processors since the last call (since boot for the first), Unix seconds.
    pub fn sample(&self) -> serde_json::Value {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let (total, available) = (kilobytes(&memory, "MemTotal"), kilobytes(&memory, "MemAvailable"));
        let used = total.saturating_sub(available);
        let (disk_total, disk_used) = disk();
        json!({
            "ts": now,
            "cpu_count": std::thread::available_parallelism().map_or(1, usize::from),
            "cpu_used_pct": self.cpu_share(),
            "mem_total": total,
            "mem_used": used,
            "mem_cache": kilobytes(&memory, "Cached"),
            "mem_total_mib": total >> 20,
            "mem_used_mib": used >> 20,
            "disk_used": disk_used,
            "disk_total": disk_total,
        })
    }

    fn cpu_share(&self) -> f64 {
        let now = fs::read_to_string("/proc/stat").ok().as_deref().and_then(cpu_times).unwrap_or_default();
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner).replace(now).unwrap_or_default();
        let total = now.total.saturating_sub(last.total);
        if total == 0 {
            return 0.0;
        }
        let share = now.busy.saturating_sub(last.busy) as f64 / total as f64 * 100.0;
        (share.min(100.0) * 100.0).round() / 100.0
    }
}

/// The first line of `/proc/stat`, in ticks: user, nice, system, idle, iowait, irq, softirq, steal.
fn cpu_times(stat: &str) -> Option<CpuTimes> {
    let fields = stat.lines().next()?.strip_prefix("cpu ")?.split_ascii_whitespace();
    let ticks: Vec<u64> = fields.take(8).map_while(|field| field.parse().ok()).collect();
    let total = ticks.iter().sum();
    let idle: u64 = ticks.get(3..5)?.iter().sum();
    Some(CpuTimes { busy: total - idle, total })
}

/// A line of `/proc/meminfo`, in bytes.
fn kilobytes(meminfo: &str, name: &str) -> u64 {
    let line = meminfo.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.and_then(|line| line.split_ascii_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) * 1024
}

/// Total and used bytes of the root file system.
fn disk() -> (u64, u64) {
    rustix::fs::statvfs("/").map_or((0, 0), |fs| (fs.f_blocks * fs.f_frsize, (fs.f_blocks - fs.f_bfree) * fs.f_frsize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processor_line_is_split_into_busy_and_all() {
        assert_eq!(cpu_times("cpu  10 1 5 80 4 0 0 0 0 0\ncpu0 1 2"), Some(CpuTimes { busy: 16, total: 100 }));
        assert_eq!(cpu_times("cpu  10"), None);
        assert_eq!(cpu_times(""), None);
    }

    #[test]
    fn memory_is_told_in_bytes() {
        assert_eq!(kilobytes("MemTotal:  2 kB\nCached: 3 kB\n", "Cached"), 3072);
        assert_eq!(kilobytes("", "Cached"), 0);
    }
}
