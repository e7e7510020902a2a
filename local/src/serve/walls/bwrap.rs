//! bubblewrap: the arguments that make the walls, and the order in which they are put up.

use super::network::{Namespace, look_at_host};
use super::process::{STAGE, Staged, Step, prepare};
use super::routes::HostNetwork;
use super::{DataDir, Folders, Jail, Launch, etc, network};
use anyhow::{Context, ensure};
use rand::RngExt;
use rustix::fd::{AsRawFd, OwnedFd};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::process::Child;

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
const BUILD: Duration = Duration::from_secs(30);

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
}

/// A started bubblewrap with its namespaces built.
struct Built {
    child: Child,
    init: u32,
    pasta: Option<Child>,
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

    /// Builds the walls around a program that prints its version, to find out at the start what would fail later.
    ///
    /// # Errors
    /// Says which part failed.
    pub async fn try_out(&self, data: &DataDir) -> anyhow::Result<()> {
        let owner = self.owner();
        let folders = data.create("trial", owner)?;
        let outcome = self.trial(&folders, owner).await;
        folders.remove();
        outcome
    }

    async fn trial(&self, folders: &Folders, owner: Option<u32>) -> anyhow::Result<()> {
        let built = self.build("trial", folders, owner, true, &[OsStr::new(RUNTIME), OsStr::new("--version")]).await?;
        let output = built.child.wait_with_output().await?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr).trim());
        Ok(())
    }

    /// Starts envd inside the walls.
    ///
    /// # Errors
    /// When a wall does not stand or envd does not come up.
    pub async fn launch(&self, launch: Launch<'_>) -> anyhow::Result<Jail> {
        let program = [RUNTIME, "envd", "--run-dir", RUN].map(OsStr::new);
        let built = self.build(launch.id, launch.folders, launch.owner, launch.internet, &program).await?;
        let mut jail = Jail::new(built.child);
        if let Some(pasta) = built.pasta {
            jail.set_pasta(pasta);
        }
        jail.set_init(built.init)?;
        jail.hand_over(launch.id, launch.config).await?;
        Ok(jail)
    }

    async fn build(
        &self,
        name: &str,
        folders: &Folders,
        owner: Option<u32>,
        internet: bool,
        program: &[&OsStr],
    ) -> anyhow::Result<Built> {
        let host = look_at_host().await?;
        let online = internet && (host.v4 || host.v6);
        if internet && !online {
            tracing::warn!(sandbox = name, "the host has no default route: the sandbox starts without network");
        }
        let nameservers = if online { host.nameservers() } else { Vec::new() };
        etc::fill(&folders.etc, &folders.home, name, &nameservers, owner).context("cannot write the sandbox's /etc")?;
        match owner {
            Some(owner) => self.build_as_root(name, folders, owner, online.then_some(&host), &host, program).await,
            None => self.build_as_user(name, folders, online.then_some(&host), &host, program).await,
        }
    }

    /// As root: the namespace and its routes first, then bubblewrap in it, as a host user who is nobody else.
    async fn build_as_root(
        &self,
        name: &str,
        folders: &Folders,
        owner: u32,
        online: Option<&HostNetwork>,
        host: &HostNetwork,
        program: &[&OsStr],
    ) -> anyhow::Result<Built> {
        let namespace = Namespace::create()?;
        namespace.configure(&host.closing(self.allow_private)).await?;
        let pasta = connect(&namespace, online, folders).await?;
        let sources = Sources::staged();
        let staged = [
            Staged::new(&folders.home, "home")?,
            Staged::new(&folders.tmp, "tmp")?,
            Staged::new(&folders.etc, "etc")?,
            Staged::new(&folders.run, "run")?,
            Staged::new(&self.program, "program")?,
        ];
        let steps = vec![Step::NewSession, Step::PrivateMounts, Step::Stage(staged), namespace.entering()?, Step::Become(owner)];
        let (child, init) = start(arguments(name, &sources, false, program), steps).await?;
        Ok(Built { child, init, pasta })
    }

    /// As a plain user: bubblewrap makes the namespace, without any way out of it; routes and pasta come from outside.
    async fn build_as_user(
        &self,
        name: &str,
        folders: &Folders,
        online: Option<&HostNetwork>,
        host: &HostNetwork,
        program: &[&OsStr],
    ) -> anyhow::Result<Built> {
        let sources = Sources::direct(folders, &self.program);
        let (child, init) = start(arguments(name, &sources, true, program), vec![Step::NewSession]).await?;
        let namespace = Namespace::of_process(init)?;
        namespace.configure(&host.closing(self.allow_private)).await?;
        let pasta = connect(&namespace, online, folders).await?;
        Ok(Built { child, init, pasta })
    }
}

async fn connect(namespace: &Namespace, online: Option<&HostNetwork>, folders: &Folders) -> anyhow::Result<Option<Child>> {
    let Some(host) = online else { return Ok(None) };
    let pasta = namespace.connect(host, &folders.root).await?;
    namespace.configure(&host.opening()).await?;
    Ok(Some(pasta))
}

/// Starts bubblewrap and waits until the namespaces are built: gives the process id of the first process inside.
async fn start(mut arguments: Vec<OsString>, mut steps: Vec<Step>) -> anyhow::Result<(Child, u32)> {
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
        Some(pid) => Ok((child, pid)),
        None => {
            let output = child.wait_with_output().await?;
            anyhow::bail!("{}", String::from_utf8_lossy(&output.stderr).trim())
        }
    }
}

impl Sources {
    fn direct(folders: &Folders, program: &Path) -> Self {
        Self {
            home: folders.home.clone(),
            tmp: folders.tmp.clone(),
            etc: folders.etc.clone(),
            run: folders.run.clone(),
            program: program.to_owned(),
        }
    }

    fn staged() -> Self {
        let at = |name| Path::new(STAGE).join(name);
        Self { home: at("home"), tmp: at("tmp"), etc: at("etc"), run: at("run"), program: at("program") }
    }
}

/// bubblewrap's arguments, up to and with the program to run.
fn arguments(name: &str, sources: &Sources, own_network: bool, program: &[&OsStr]) -> Vec<OsString> {
    let mut list: Vec<OsString> = Vec::new();
    let mut add = |arguments: &[&OsStr]| list.extend(arguments.iter().map(OsString::from));
    let text = OsStr::new;
    for flag in [
        "--unshare-user",
        "--unshare-pid",
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
    add(&[text("--symlink"), text("/tmp"), text("/var/tmp"), text("--remount-ro"), text("/")]);
    add(&[text("--")]);
    add(program);
    list
}
