//! Who runs the platform.

use std::os::unix::fs::{MetadataExt, chown};
use std::path::Path;
use std::process::Command;

/// A user with no rights of its own, nobody's on any machine.
const PLAIN: u32 = 61_234;

/// Who runs the platform.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// Whoever runs the test.
    Me,
    /// A plain user; needs a test that runs as root.
    Plain,
}

impl Who {
    /// Everybody this test can be.
    pub fn all() -> Vec<Self> {
        if Self::am_root() { vec![Self::Me, Self::Plain] } else { vec![Self::Me] }
    }

    /// Whether the test runs as root.
    pub fn am_root() -> bool {
        std::fs::metadata("/proc/self").unwrap().uid() == 0
    }

    /// Whether the platform then runs as root.
    pub fn is_root(self) -> bool {
        self == Self::Me && Self::am_root()
    }

    /// The user to become.
    pub fn uid(self) -> Option<u32> {
        (self == Self::Plain).then_some(PLAIN)
    }

    /// Gives a folder to this user.
    pub fn own(self, folder: &Path) {
        if let Some(uid) = self.uid() {
            chown(folder, Some(uid), Some(uid)).unwrap();
        }
    }
}

/// Runs what follows as that user, on a machine that lets everybody carry packets: some keep `/dev/net/tun` for root, so the user has one of
/// its own, which nobody else sees and which goes with it.
pub fn becoming(uid: u32) -> Command {
    let mut command = Command::new("unshare");
    command.args(["--mount", "/bin/sh", "-ec"]);
    command.arg("mount -t tmpfs -o mode=755 tmpfs /dev/net; mknod -m 666 /dev/net/tun c 10 200; exec setpriv --reuid \"$0\" --regid \"$0\" --clear-groups \"$@\"");
    command.arg(uid.to_string());
    command
}
