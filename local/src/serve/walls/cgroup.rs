//! A control group for each sandbox, where the platform may make one: what is in it can be frozen without noticing.

use rustix::fd::OwnedFd;
use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What the names of the groups begin with; the sandbox's id follows.
const PREFIX: &str = "agent-sandbox-";

/// How long a group's last process may take to go once it was killed.
const EMPTIES: Duration = Duration::from_secs(2);

/// How often a group is looked at while something is waited for.
const LOOK: Duration = Duration::from_millis(2);

/// The group of one sandbox. It is removed by [`Cgroup::remove`], or by the next platform on the data folder.
pub struct Cgroup {
    folder: PathBuf,
}

impl Cgroup {
    /// A new group below the platform's own. `None` where the hierarchy is not there, cannot be written, or cannot freeze.
    pub fn create(id: &str) -> Option<Self> {
        let folder = parent()?.join(format!("{PREFIX}{id}"));
        fs::create_dir(&folder).ok()?;
        let group = Self { folder };
        if group.folder.join("cgroup.freeze").exists() {
            return Some(group);
        }
        drop(fs::remove_dir(&group.folder));
        None
    }

    /// The file into which a process writes `0` to join.
    ///
    /// # Errors
    /// When the group is gone.
    pub fn entrance(&self) -> io::Result<OwnedFd> {
        Ok(OpenOptions::new().write(true).open(self.folder.join("cgroup.procs"))?.into())
    }

    /// Freezes or thaws the group without waiting.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn set_frozen(&self, frozen: bool) -> io::Result<()> {
        fs::write(self.folder.join("cgroup.freeze"), if frozen { "1" } else { "0" })
    }

    /// Whether everything in the group has come to a stop.
    pub fn is_frozen(&self) -> bool {
        fs::read_to_string(self.folder.join("cgroup.events")).is_ok_and(|events| events.lines().any(|line| line == "frozen 1"))
    }

    /// Removes the group once the processes in it are gone.
    pub async fn remove(&self) {
        let removed = async {
            while fs::remove_dir(&self.folder).is_err_and(|error| error.kind() != io::ErrorKind::NotFound) {
                tokio::time::sleep(LOOK).await;
            }
        };
        if tokio::time::timeout(EMPTIES, removed).await.is_err() {
            tracing::warn!(group = %self.folder.display(), "cannot remove a sandbox's control group");
        }
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // Only an empty group goes; one whose processes are just being killed goes with `remove`, or with the next platform.
        drop(fs::remove_dir(&self.folder));
    }
}

/// Removes the group that a platform left which did not end by itself.
pub fn remove_stale(id: &str) {
    if let Some(parent) = parent() {
        // Mostly there is none.
        drop(fs::remove_dir(parent.join(format!("{PREFIX}{id}"))));
    }
}

/// The platform's own group in the hierarchy of version 2.
fn parent() -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let own = fs::read_to_string("/proc/self/cgroup").ok()?;
    let path = own.lines().find_map(|line| line.strip_prefix("0::/"))?;
    Some(mount_of_v2(&mounts)?.join(path))
}

fn mount_of_v2(mounts: &str) -> Option<&Path> {
    mounts.lines().find_map(|line| {
        let (front, back) = line.split_once(" - ")?;
        back.starts_with("cgroup2 ").then(|| front.split(' ').nth(4).map(Path::new))?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hierarchy_is_found_beside_others() {
        let mounts = "31 23 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
                      42 23 0:37 / /sys/fs/cgroup/unified rw,nosuid shared:9 - cgroup2 cgroup2 rw\n";
        assert_eq!(mount_of_v2(mounts), Some(Path::new("/sys/fs/cgroup/unified")));
        assert_eq!(mount_of_v2("23 1 0:26 / / rw - ext4 /dev/a rw\n"), None);
    }
}
