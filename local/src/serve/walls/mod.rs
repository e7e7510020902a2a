//! What stands between a sandbox and the machine, and the processes that make it stand.
//!
//! With walls, envd runs under bubblewrap: namespaces of its own for users, mounts, processes, IPC, host name and network, no
//! capabilities, an empty environment, and a file system that holds the host's `/usr` read-only and otherwise only the sandbox's own
//! folders. A platform that runs as root gives every sandbox an unprivileged host user of its own first, because inside a user namespace
//! whoever started it is still that user to the kernel. Without walls (`--isolation none`) envd runs as the platform's user.

mod bwrap;
mod cgroup;
mod etc;
mod freeze;
mod jail;
mod network;
mod owner;
mod process;
mod routes;
mod tree;
mod unwalled;

pub use cgroup::remove_stale as remove_stale_group;
pub use etc::furnish;
pub use jail::Jail;
pub use network::tool;
pub use process::{Step, prepare, seal_descriptors};
pub use tree::Processes;

use super::data::{DataDir, Folders};
use super::error::is_full;
use super::journal::Journal;
use crate::handover::EnvdConfig;
use crate::interpreter::runtime::Bind;
use anyhow::bail;
use network::NoTun;
use std::path::PathBuf;
use std::sync::Arc;

/// Where helper programs lie; the platform's own PATH is not trusted, and often lacks the sbin folders.
pub const TOOL_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// What to do when the kernel refuses a wall.
const NAMESPACES_ADVICE: &str = "Unprivileged user namespaces must be allowed (see kernel.unprivileged_userns_clone, \
    user.max_user_namespaces and kernel.apparmor_restrict_unprivileged_userns)";

/// What to do for [`NoTun`].
const TUN_ADVICE: &str = "`sudo chmod 666 /dev/net/tun` lets every user open it, as most systems do when they start; where there is no \
    such file, `sudo modprobe tun` makes it";

/// The value of `--isolation`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Choice {
    /// bubblewrap; never less.
    Auto,
    /// bubblewrap.
    Bwrap,
    /// No walls: sandboxes are ordinary processes of this user.
    None,
}

/// How sandboxes are kept apart from the machine.
pub enum Walls {
    /// bubblewrap and pasta.
    Bwrap(bwrap::Bwrap),
    /// Nothing.
    None,
}

/// What a sandbox is started with.
pub struct Launch<'a> {
    /// The sandbox's id; its host name inside.
    pub id: &'a str,
    /// Its folders, made by [`DataDir::create`] and [`Folders::renew`] for the owner that [`Walls::owner`] named.
    pub folders: &'a Folders,
    /// That owner.
    pub owner: Option<u32>,
    /// Whether it may reach the internet.
    pub internet: bool,
    /// What else it sees of the host, read-only.
    pub binds: &'a [Bind],
    /// What envd is told.
    pub config: &'a EnvdConfig,
    /// Where envd's own log goes.
    pub journal: &'a Arc<Journal>,
}

impl Walls {
    /// Makes the chosen walls, once they were tried on a sandbox that nobody uses.
    ///
    /// # Errors
    /// When something is missing or the kernel refuses; the text says what to do and names `--isolation none`.
    pub async fn raise(choice: Choice, allow_private: bool, data: &DataDir) -> anyhow::Result<Self> {
        if choice == Choice::None {
            return Ok(Self::None);
        }
        let missing: Vec<&str> = [("bwrap", "bubblewrap"), ("pasta", "passt"), ("ip", "iproute2")]
            .into_iter()
            .filter(|(program, _)| find(program).is_none())
            .map(|(_, package)| package)
            .collect();
        if !missing.is_empty() {
            bail!(
                "the walls around sandboxes need {0}, which this machine lacks. Install them (Debian and Ubuntu: `apt install {0}`), or run \
                 sandboxes without walls, as ordinary processes of this user, with `--isolation none`.",
                missing.join(" ")
            );
        }
        let bwrap = bwrap::Bwrap::new(allow_private)?;
        match bwrap.try_out(data).await {
            Ok(()) => Ok(Self::Bwrap(bwrap)),
            Err(error) if is_full(&error) => {
                Err(error.context("the walls cannot be tried out: there is no room in the data folder"))
            }
            Err(error) => bail!(
                "the walls around sandboxes do not stand on this machine: {error:#}. {}; `--isolation none` runs sandboxes without \
                 walls, as ordinary processes of this user.",
                if error.is::<NoTun>() { TUN_ADVICE } else { NAMESPACES_ADVICE }
            ),
        }
    }

    /// The name that the JSON line carries.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Bwrap(_) => "bwrap",
            Self::None => "none",
        }
    }

    /// The host user for a new sandbox's files and processes, where that is not the platform's own.
    pub fn owner(&self) -> Option<u32> {
        match self {
            Self::Bwrap(bwrap) => bwrap.owner(),
            Self::None => None,
        }
    }

    /// Whether a sandbox can be kept from the internet.
    pub fn cut_network(&self) -> bool {
        matches!(self, Self::Bwrap(_))
    }

    /// The user inside who runs what names no user, and where it starts.
    pub fn default_user(&self, folders: &Folders) -> (String, String) {
        match self {
            Self::Bwrap(_) => (bwrap::USER.to_owned(), bwrap::HOME.to_owned()),
            Self::None => (unwalled::user_name(), folders.home.display().to_string()),
        }
    }

    /// Starts envd and waits until it answers.
    ///
    /// # Errors
    /// When it does not come up; nothing of it is left then.
    pub async fn launch(&self, launch: Launch<'_>) -> anyhow::Result<Jail> {
        match self {
            Self::Bwrap(bwrap) => bwrap.launch(launch).await,
            Self::None => unwalled::launch(launch).await,
        }
    }
}

/// Where a helper program lies.
fn find(program: &str) -> Option<PathBuf> {
    TOOL_PATH.split(':').map(|folder| PathBuf::from(folder).join(program)).find(|path| path.is_file())
}
