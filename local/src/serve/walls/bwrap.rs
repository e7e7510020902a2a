//! bubblewrap: the arguments that make the walls, and the order in which they are put up.

use super::cgroup::Cgroup;
use super::network::{Egress, Namespace};
use super::process::{STAGE, STAGED, Staged, Step, prepare};
use super::{DataDir, Jail, Launch, etc, network};
use crate::handover::EnvdConfig;
use crate::interpreter::runtime::Bind;
use anyhow::Context;
use rand::RngExt;
use rustix::fd::{AsRawFd, OwnedFd};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;

/// The user inside.
pub const USER: &str = "user";
/// The home of [`USER`].
pub const HOME: &str = "/home/user";
/// The platform's own runtime folder inside: its program, read-only.
const RUNTIME: &str = "/opt/agent-sandbox/agent-sandbox-local";
/// Where envd puts its sockets.
const RUN: &str = "/run/agent-sandbox";
/// What `PATH` is before anyone sets another.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// The links and folders beside `/usr` that programs expect.
const USR_LINKS: [&str; 6] = ["bin", "sbin", "lib", "lib32", "lib64", "libx32"];
/// Host users for sandboxes of a platform that runs as root: far from what distributions, containers and directories hand out.
const OWNERS: std::ops::Range<u32> = 1_900_000_000..2_100_000_000;
/// How long bubblewrap may take to make the namespaces.
const BUILD: Duration = Duration::from_secs(60);

/// bubblewrap on this machine.
pub struct Bwrap {
    allow_private: bool,
    program: PathBuf,
    root: bool,
}

/// Where the sandbox's folders are for the user who runs bubblewrap.
struct Sources {
    home: PathBuf,
    tmp: PathBuf,
    etc: PathBuf,
    run: PathBuf,
    program: PathBuf,
    binds: Vec<Bind>,
}

impl Bwrap {
    /// Takes the flag and looks at who we are.
    ///
    /// # Errors
    /// When the platform's own program cannot be found.
    pub fn new(allow_private: bool) -> anyhow::Result<Self> {
        let program = std::env::current_exe().context("cannot find the platform's own program")?;
        Ok(Self { allow_private, program, root: rustix::process::geteuid().is_root() })
    }

    /// See [`super::Walls::owner`].
    pub fn owner(&self) -> Option<u32> {
        self.root.then(|| rand::rng().random_range(OWNERS))
    }

    /// Starts and ends a sandbox, to find out at the start of the platform what would fail later.
    ///
    /// # Errors
    /// Says which part failed.
    pub async fn try_out(&self, data: &DataDir) -> anyhow::Result<()> {
        let owner = self.owner();
        let folders = data.create("trial", owner)?;
        folders.renew(owner)?;
        let journal = Arc::default();
        let config = EnvdConfig { default_user: USER.into(), default_workdir: HOME.into(), ..EnvdConfig::default() };
        let launched = self
            .launch(Launch {
                id: "trial",
                folders: &folders,
                owner,
                internet: true,
                binds: &[],
                config: &config,
                journal: &journal,
            })
            .await;
        let outcome = match launched {
            Ok(jail) => {
                jail.end().await;
                Ok(())
            }
            Err(error) => Err(error),
        };
        folders.remove();
        outcome
    }

    /// Starts envd inside the walls.
    ///
    /// # Errors
    /// When a wall does not stand or envd does not come up.
    pub async fn launch(&self, launch: Launch<'_>) -> anyhow::Result<Jail> {
        etc::fill(&launch.folders.etc, launch.id).context("cannot write the sandbox's /etc")?;
        let group = Cgroup::create(launch.id);
        match launch.owner {
            Some(owner) => self.launch_as_root(&launch, owner, group).await,
            None => self.launch_as_user(&launch, group).await,
        }
    }

    /// As root: the namespace and its routes first, then bubblewrap in it, as a host user who is nobody else.
    async fn launch_as_root(&self, launch: &Launch<'_>, owner: u32, group: Option<Cgroup>) -> anyhow::Result<Jail> {
        let namespace = Namespace::create()?;
        let entering = namespace.entering()?;
        let egress = self.egress(namespace, launch).await?;
        let folders = launch.folders;
        let mut things = vec![
            Staged::new(&folders.home, "home")?,
            Staged::new(&folders.tmp, "tmp")?,
            Staged::new(&folders.etc, "etc")?,
            Staged::new(&folders.run, "run")?,
            Staged::new(&self.program, "program")?,
        ];
        for (number, bind) in launch.binds.iter().enumerate() {
            things.push(Staged::new(&bind.host, &bind_name(number))?);
        }
        anyhow::ensure!(things.len() <= STAGED, "a sandbox cannot show that many things of the host");
        let mut things = things.into_iter();
        let staged = Box::new(std::array::from_fn(|_| things.next()));
        let steps =
            vec![Step::NewSession, Step::PrivateMounts, Step::Stage(staged), entering, Step::Become(owner), Step::DieWithPlatform];
        let (mut jail, _) = start(arguments(launch.id, &Sources::staged(launch.binds), false), steps, group).await?;
        jail.set_egress(egress);
        let ready = jail.hand_over(launch).await;
        jail.or_end(ready).await
    }

    /// As a plain user: bubblewrap makes the namespace, without any way out of it; routes and pasta come from outside. Only once envd
    /// runs may pasta look at the namespace; nothing else runs inside before the client has its answer.
    async fn launch_as_user(&self, launch: &Launch<'_>, group: Option<Cgroup>) -> anyhow::Result<Jail> {
        let sources = Sources::direct(launch, &self.program);
        let steps = vec![Step::NewSession, Step::DieWithPlatform];
        let (mut jail, init) = start(arguments(launch.id, &sources, true), steps, group).await?;
        let ready = async {
            jail.hand_over(launch).await?;
            jail.set_egress(self.egress(Namespace::of_process(init)?, launch).await?);
            Ok(())
        };
        let ready = ready.await;
        jail.or_end(ready).await
    }

    /// The sandbox's way out, open where it may reach the internet.
    async fn egress(&self, namespace: Namespace, launch: &Launch<'_>) -> anyhow::Result<Egress> {
        let mut egress = Egress::close(namespace, self.allow_private, &launch.folders.root).await?;
        if launch.internet {
            egress.open(&launch.folders.etc).await?;
            if !egress.is_open() {
                tracing::warn!(sandbox = launch.id, "the host has no default route: the sandbox starts without network");
            }
        }
        Ok(egress)
    }
}

/// Starts bubblewrap and waits until the namespaces are built: gives also the process id of the first process inside.
async fn start(mut arguments: Vec<OsString>, mut steps: Vec<Step>, group: Option<Cgroup>) -> anyhow::Result<(Jail, u32)> {
    if let Some(group) = &group {
        steps.insert(0, Step::JoinGroup(group.entrance()?));
    }
    let (reader, writer) = std::io::pipe()?;
    let writer = OwnedFd::from(writer);
    let mut command = network::tool("bwrap");
    let mut first: Vec<OsString> = vec!["--info-fd".into(), writer.as_raw_fd().to_string().into()];
    first.append(&mut arguments);
    command.args(first).env_clear();
    steps.insert(0, Step::Keep(writer));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true).current_dir("/");
    prepare(&mut command, steps);
    let child = command.spawn().context("cannot start bwrap")?;
    // Our copy of the writing end goes with the command, so that the pipe ends when bubblewrap does.
    drop(command);
    let mut info = Vec::new();
    let mut reader = pipe::Receiver::from_owned_fd(reader.into())?;
    let read = async {
        while !info.contains(&b'}') {
            if reader.read_buf(&mut info).await? == 0 {
                break;
            }
        }
        std::io::Result::Ok(())
    };
    tokio::time::timeout(BUILD, read).await.context("bubblewrap did not build the namespaces in time")??;
    let pid =
        serde_json::from_slice::<serde_json::Value>(&info).ok().and_then(|info| u32::try_from(info["child-pid"].as_u64()?).ok());
    match pid {
        Some(pid) => {
            let jail = Jail::walled(child, pid, group)?;
            Ok((jail, pid))
        }
        None => {
            let output = child.wait_with_output().await?;
            if let Some(group) = group {
                group.remove().await;
            }
            anyhow::bail!("{}", String::from_utf8_lossy(&output.stderr).trim())
        }
    }
}

impl Sources {
    fn direct(launch: &Launch<'_>, program: &Path) -> Self {
        let folders = launch.folders;
        Self {
            home: folders.home.clone(),
            tmp: folders.tmp.clone(),
            etc: folders.etc.clone(),
            run: folders.run.clone(),
            program: program.to_owned(),
            binds: launch.binds.to_vec(),
        }
    }

    fn staged(binds: &[Bind]) -> Self {
        let at = |name: &str| Path::new(STAGE).join(name);
        let binds =
            binds.iter().enumerate().map(|(number, bind)| Bind { host: at(&bind_name(number)), inside: bind.inside.clone() });
        Self { home: at("home"), tmp: at("tmp"), etc: at("etc"), run: at("run"), program: at("program"), binds: binds.collect() }
    }
}

fn bind_name(number: usize) -> String {
    format!("bind-{number}")
}

/// bubblewrap's arguments, up to and with envd's.
fn arguments(name: &str, sources: &Sources, own_network: bool) -> Vec<OsString> {
    let mut list: Vec<OsString> = Vec::new();
    let mut add = |arguments: &[&OsStr]| list.extend(arguments.iter().map(OsString::from));
    let text = OsStr::new;
    for flag in [
        "--unshare-user",
        "--unshare-pid",
        // The first process of a namespace is the one that `kill -9 -1` inside does not reach.
        "--as-pid-1",
        "--unshare-ipc",
        "--unshare-uts",
        "--unshare-cgroup-try",
        "--die-with-parent",
        "--clearenv",
    ] {
        add(&[text(flag)]);
    }
    if own_network {
        add(&[text("--unshare-net")]);
    }
    for (flag, value) in [("--uid", "1000"), ("--gid", "1000"), ("--hostname", name), ("--cap-drop", "ALL"), ("--chdir", HOME)] {
        add(&[text(flag), text(value)]);
    }
    for (variable, value) in [("PATH", PATH), ("HOME", HOME), ("USER", USER), ("LANG", "C.UTF-8")] {
        add(&[text("--setenv"), text(variable), text(value)]);
    }
    add(&[text("--ro-bind"), text("/usr"), text("/usr")]);
    for link in USR_LINKS {
        let path = Path::new("/").join(link);
        match path.read_link() {
            Ok(target) => add(&[text("--symlink"), target.as_os_str(), path.as_os_str()]),
            Err(_) => add(&[text("--ro-bind-try"), path.as_os_str(), path.as_os_str()]),
        }
    }
    add(&[text("--ro-bind"), sources.etc.as_os_str(), text("/etc")]);
    for bound in etc::BOUND {
        let path = Path::new("/etc").join(bound);
        add(&[text("--ro-bind-try"), path.as_os_str(), path.as_os_str()]);
    }
    add(&[text("--proc"), text("/proc"), text("--dev"), text("/dev")]);
    add(&[text("--bind"), sources.tmp.as_os_str(), text("/tmp")]);
    add(&[text("--bind"), sources.home.as_os_str(), text(HOME)]);
    add(&[text("--bind"), sources.run.as_os_str(), text(RUN)]);
    add(&[text("--ro-bind"), sources.program.as_os_str(), text(RUNTIME)]);
    for bind in &sources.binds {
        add(&[text("--ro-bind"), bind.host.as_os_str(), bind.inside.as_os_str()]);
    }
    add(&[text("--symlink"), text("/tmp"), text("/var/tmp"), text("--remount-ro"), text("/")]);
    add(&[text("--"), text(RUNTIME), text("envd"), text("--run-dir"), text(RUN)]);
    list
}
