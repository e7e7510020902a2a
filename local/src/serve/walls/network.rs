//! The network namespace of a sandbox, and pasta, which carries its packets.

use super::process::{Named, Step, prepare};
use super::routes::{ADDRESS_V4, ADDRESS_V6, HostNetwork, INTERFACE, RESOLVER_V4, RESOLVER_V6};
use super::routes::{gateways_v4, has_default_v4, has_default_v6, parse_addresses, parse_resolvers};
use anyhow::{Context, bail, ensure};
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::thread::{UnshareFlags, unshare_unsafe};
use std::collections::HashSet;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};

/// How long pasta may take to connect a namespace. Generous, as all waits of a start: a disk that is busy with something else costs half a minute.
const PASTA_READY: Duration = Duration::from_secs(60);

/// How much of what a failing pasta says is kept, in bytes.
const SAID: u64 = 2048;

/// The device through which pasta carries packets.
const TUN: &str = "/dev/net/tun";

/// Whoever runs the platform cannot open the device, so pasta could not either.
#[derive(Debug, thiserror::Error)]
#[error("{TUN}, which carries the packets of sandboxes, cannot be opened: {0}")]
pub struct NoTun(std::io::Error);

/// The namespace of one sandbox.
pub struct Namespace {
    network: OwnedFd,
    /// Whose it is, when a bubblewrap that does not run as root has made it.
    made_by: Option<Maker>,
}

/// The user namespace through which a platform that is not root acts on a network namespace.
struct Maker {
    owner: OwnedFd,
    /// A process in the network namespace: pasta, once it is in the user namespace, may look into this process and no longer into ours.
    pid: u32,
}

impl Namespace {
    /// A new namespace, as root. It lives as long as this handle or a process in it, and no file of the host names it: nothing stays when
    /// the platform dies.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn create() -> anyhow::Result<Self> {
        let thread = std::thread::Builder::new().spawn(|| -> std::io::Result<OwnedFd> {
            // SAFETY: only this thread's network namespace changes, and the thread ends here.
            unsafe { unshare_unsafe(UnshareFlags::NEWNET) }?;
            Ok(std::fs::File::open("/proc/thread-self/ns/net")?.into())
        })?;
        let network = thread.join().map_err(|_| anyhow::anyhow!("the thread that makes network namespaces failed"))?;
        Ok(Self { network: network.context("cannot make a network namespace")?, made_by: None })
    }

    /// The namespace that an unprivileged bubblewrap made for the process `pid`.
    ///
    /// # Errors
    /// When the process is gone.
    pub fn of_process(pid: u32) -> anyhow::Result<Self> {
        let network: OwnedFd =
            std::fs::File::open(format!("/proc/{pid}/ns/net")).context("the sandbox ended as it started")?.into();
        let owner = super::owner::owner_of(&network).context("cannot find the owner of the sandbox's network namespace")?;
        Ok(Self { network, made_by: Some(Maker { owner, pid }) })
    }

    /// What a child does to be in the namespace.
    ///
    /// # Errors
    /// When no descriptor is free.
    pub fn entering(&self) -> anyhow::Result<Step> {
        Ok(Step::EnterNetwork(self.network.try_clone()?))
    }

    /// Runs `ip` in the namespace on these lines.
    ///
    /// # Errors
    /// When a line is refused: a wall that does not stand is an error, never a warning.
    pub async fn configure(&self, lines: &str) -> anyhow::Result<()> {
        let mut command = tool("ip");
        command.args(["-batch", "-"]);
        let mut steps = Vec::new();
        if let Some(maker) = &self.made_by {
            steps.push(Step::EnterUser(maker.owner.try_clone()?));
        }
        steps.extend([self.entering()?, Step::DieWithPlatform]);
        prepare(&mut command, steps);
        let output = feed(command, lines).await.context("cannot run ip")?;
        ensure!(
            output.status.success(),
            "ip refused a part of the network wall, which needs xfrm policies in the kernel: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
        Ok(())
    }

    /// Starts pasta on the namespace and waits until its interface is there. `scratch` is a folder for its files.
    ///
    /// # Errors
    /// [`NoTun`]; when pasta ends or does not come up.
    pub async fn connect(&self, host: &HostNetwork, scratch: &Path) -> anyhow::Result<Child> {
        // pasta's own words do not name it. Opening it makes no interface.
        std::fs::File::options().read(true).write(true).open(TUN).map_err(NoTun)?;
        let (pid_file, netns_file) = (scratch.join("pasta.pid"), scratch.join("netns"));
        // An earlier pasta of this sandbox has left its own, which would look like this one's.
        match std::fs::remove_file(&pid_file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        let mut command = tool("pasta");
        command.args(["--foreground", "--quiet", "--ns-ifname", INTERFACE, "--no-map-gw", "--no-ra", "--no-dhcp", "--no-dhcpv6"]);
        command.args(["-t", "none", "-u", "none", "-T", "none", "-U", "none"]);
        if host.v4 {
            command.args(["-a", &ADDRESS_V4.to_string(), "-n", "32"]);
        }
        if host.v6 {
            command.args(["-a", &ADDRESS_V6.to_string()]);
        }
        match (host.v4, host.v6) {
            (true, false) => drop(command.arg("-4")),
            (false, true) => drop(command.arg("-6")),
            _ => {}
        }
        for address in host.nameservers() {
            let forward = if address.is_ipv4() { IpAddr::from(RESOLVER_V4) } else { RESOLVER_V6.into() };
            command.args(["--dns-forward", &forward.to_string()]);
        }
        command.arg("--pid").arg(&pid_file);
        match &self.made_by {
            Some(Maker { owner, pid }) => {
                command.arg("--userns").arg(format!("/proc/{}/fd/{}", std::process::id(), owner.as_raw_fd()));
                command.arg("--netns").arg(format!("/proc/{pid}/ns/net"));
                prepare(&mut command, vec![Step::NewSession, Step::DieWithPlatform]);
            }
            None => {
                // pasta takes a namespace by its path and may not look into our descriptors: it gets a file that exists for it alone.
                std::fs::write(&netns_file, "")?;
                command.args(["--runas", "0:0", "--netns-only", "--netns"]).arg(&netns_file);
                let name = Step::Name(Named::new(self.network.try_clone()?, &netns_file)?);
                prepare(&mut command, vec![Step::NewSession, Step::PrivateMounts, name, Step::DieWithPlatform]);
            }
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().context("cannot start pasta")?;
        let ready = async {
            while !std::fs::read(&pid_file).is_ok_and(|text| text.ends_with(b"\n")) {
                tokio::select! {
                    status = child.wait() => {
                        let mut said = String::new();
                        if let Some(stderr) = child.stderr.take() {
                            drop(stderr.take(SAID).read_to_string(&mut said).await);
                        }
                        bail!("pasta ended with {} before the network was there: {}", status?, said.trim())
                    }
                    () = tokio::time::sleep(Duration::from_millis(5)) => {}
                }
            }
            Ok(())
        };
        tokio::time::timeout(PASTA_READY, ready).await.context("pasta did not connect the sandbox in time")??;
        // Nobody reads what pasta says later: writing to a closed pipe fails without consequence.
        drop(child.stderr.take());
        Ok(child)
    }
}

/// The way of one sandbox to the internet: closed first, then open or cut at will.
pub struct Egress {
    namespace: Namespace,
    allow_private: bool,
    /// A folder for pasta's files.
    scratch: PathBuf,
    /// What is closed for good.
    closed: HashSet<String>,
    /// What carries the packets while the way is open, and the host's network as it was found then.
    pasta: Option<(Child, HostNetwork)>,
}

impl Egress {
    /// Closes what stays closed in a new namespace, and opens nothing.
    ///
    /// # Errors
    /// When a wall does not stand.
    pub async fn close(namespace: Namespace, allow_private: bool, scratch: &Path) -> anyhow::Result<Self> {
        let lines = look_at_host().await?.closing(allow_private);
        namespace.configure(&lines).await?;
        let closed = lines.lines().map(str::to_owned).collect();
        Ok(Self { namespace, allow_private, scratch: scratch.to_owned(), closed, pasta: None })
    }

    /// Whether packets leave.
    pub fn is_open(&self) -> bool {
        self.pasta.is_some()
    }

    /// Opens the way, if it is not open and the host itself has one. `etc` is the sandbox's own `/etc`, where programs look for resolvers.
    ///
    /// # Errors
    /// When pasta does not come up or a wall does not stand; the way is closed then.
    pub async fn open(&mut self, etc: &Path) -> anyhow::Result<()> {
        if self.is_open() {
            return Ok(());
        }
        let host = look_at_host().await?;
        if !host.v4 && !host.v6 {
            return Ok(());
        }
        // The host may have got an address since.
        let lines = host.closing(self.allow_private);
        let new: Vec<&str> = lines.lines().filter(|line| !self.closed.contains(*line)).collect();
        self.namespace.configure(&new.iter().map(|line| format!("{line}\n")).collect::<String>()).await?;
        self.closed.extend(new.into_iter().map(str::to_owned));
        let pasta = self.namespace.connect(&host, &self.scratch).await?;
        let opening = host.opening();
        let nameservers = host.nameservers();
        self.pasta = Some((pasta, host));
        let opened = match self.namespace.configure(&opening).await {
            Ok(()) => super::etc::set_resolvers(etc, &nameservers).context("cannot write the sandbox's resolv.conf"),
            Err(error) => Err(error),
        };
        if opened.is_err() {
            self.end_pasta().await;
        }
        opened
    }

    /// Cuts the way: what is under way breaks off, too.
    ///
    /// # Errors
    /// When the sandbox's resolv.conf cannot be written; the way is cut all the same.
    pub async fn cut(&mut self, etc: &Path) -> anyhow::Result<()> {
        if let Some((_, host)) = &self.pasta {
            // Nothing leaves from here on; the policies that name the interface would outlive it.
            let taken_down = self.namespace.configure(&host.taking_down()).await;
            self.end_pasta().await;
            taken_down?;
        }
        super::etc::set_resolvers(etc, &[]).context("cannot write the sandbox's resolv.conf")
    }

    /// Ends what carries the packets.
    pub async fn end(mut self) {
        self.end_pasta().await;
    }

    async fn end_pasta(&mut self) {
        if let Some((mut pasta, _)) = self.pasta.take() {
            drop(pasta.kill().await);
        }
    }
}

/// What the host's network looks like now.
///
/// # Errors
/// When its addresses cannot be read: without them they could not be closed.
async fn look_at_host() -> anyhow::Result<HostNetwork> {
    let mut command = tool("ip");
    command.args(["-json", "address", "show"]);
    let output = feed(command, "").await.context("cannot run ip")?;
    ensure!(output.status.success(), "ip cannot list the host's addresses");
    let read = |path| std::fs::read_to_string(path).unwrap_or_default();
    let routes = read("/proc/net/route");
    let mut addresses = parse_addresses(&output.stdout).context("ip lists the host's addresses in an unknown form")?;
    addresses.extend(gateways_v4(&routes));
    Ok(HostNetwork {
        addresses,
        v4: has_default_v4(&routes),
        v6: has_default_v6(&read("/proc/net/ipv6_route")),
        kernel_v6: Path::new("/proc/sys/net/ipv6").exists(),
        resolvers: parse_resolvers(&read("/etc/resolv.conf")),
    })
}

/// A helper program of the host with an empty environment but for the places where such programs lie.
pub fn tool(name: &str) -> Command {
    let mut command = Command::new(super::find(name).unwrap_or_else(|| name.into()));
    command.env_clear().env("PATH", super::TOOL_PATH);
    command
}

async fn feed(mut command: Command, input: &str) -> anyhow::Result<Output> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A child that refuses an early line stops reading; its own words say why.
        drop(stdin.write_all(input.as_bytes()).await);
    }
    Ok(child.wait_with_output().await?)
}
