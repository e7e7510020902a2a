//! What happens between fork and exec of the processes that make up a sandbox's walls.
//!
//! Everything here runs in the child of a process with threads: only system calls on values that were made before the fork.

use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
use rustix::io;
use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, mount, mount_bind, mount_change, move_mount, open_tree,
};
use rustix::process::{Gid, Pid, Signal, Uid, getppid, set_parent_process_death_signal, setsid};
use rustix::thread::{
    CapabilitySet, LinkNameSpaceType, UnshareFlags, capabilities, configure_capability_in_ambient_set, move_into_link_name_space,
    set_capabilities, set_thread_groups, set_thread_res_gid, set_thread_res_uid, unshare_unsafe,
};
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use tokio::process::Command;

/// The folder over which a private tmpfs is mounted to hold what goes into a sandbox. Every Linux has it, and nothing in a sandbox needs it.
pub const STAGE: &str = "/mnt";

/// The operation of keyctl(2).
const KEYCTL_JOIN_SESSION_KEYRING: libc::c_long = 1;

/// One step of the child's preparation.
pub enum Step {
    /// Leave the platform's session and session keyring, so that its terminal and its keys are out of reach.
    NewSession,
    /// Join the control group whose `cgroup.procs` this is.
    JoinGroup(OwnedFd),
    /// Keep an inherited descriptor open across exec.
    Keep(OwnedFd),
    /// Enter a user namespace, with every capability in it handed through exec.
    EnterUser(OwnedFd),
    /// Enter a network namespace.
    EnterNetwork(OwnedFd),
    /// Make a private mount namespace, with nothing of it visible outside.
    PrivateMounts,
    /// Mount an empty tmpfs over [`STAGE`] and bind things into it, where an unprivileged user reaches them whatever folder they lie in.
    Stage(Box<[Option<Staged>; STAGED]>),
    /// Give a namespace a path, in a private mount namespace.
    Name(Named),
    /// Become an unprivileged user and group for good.
    Become(u32),
    /// Be killed when the platform dies, however it dies. Must follow a change of user, which would clear it.
    DieWithPlatform,
}

/// How many things go into a sandbox at most.
pub const STAGED: usize = 12;

/// A file or folder that is bound below [`STAGE`].
pub struct Staged {
    source: CString,
    target: CString,
    folder: bool,
}

impl Staged {
    /// `path`, to be found as `name`.
    ///
    /// # Errors
    /// For a path that holds a NUL.
    pub fn new(path: &Path, name: &str) -> std::io::Result<Self> {
        let target = CString::new(format!("{STAGE}/{name}"))?;
        Ok(Self { source: CString::new(path.as_os_str().as_bytes())?, target, folder: path.is_dir() })
    }
}

/// A namespace that gets a path.
pub struct Named {
    source: CString,
    target: CString,
    // Keeps the descriptor that `source` names open until exec.
    _namespace: OwnedFd,
}

impl Named {
    /// `namespace`, to be found at `path`, a file.
    ///
    /// # Errors
    /// For a path that holds a NUL.
    pub fn new(namespace: OwnedFd, path: &Path) -> std::io::Result<Self> {
        let source = CString::new(format!("/proc/self/fd/{}", namespace.as_raw_fd()))?;
        Ok(Self { source, target: CString::new(path.as_os_str().as_bytes())?, _namespace: namespace })
    }
}

/// Keeps descriptors that the platform's starter left open from reaching any program that the platform starts. To be called before
/// there is a second thread.
///
/// # Errors
/// When the open descriptors cannot be listed.
pub fn seal_descriptors() -> std::io::Result<()> {
    let open: Vec<i32> =
        std::fs::read_dir("/proc/self/fd")?.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect();
    for number in open.into_iter().filter(|number| *number > 2) {
        // SAFETY: the descriptor is only borrowed for the call, which fails where it is closed by now (the listing's own is).
        let descriptor = unsafe { BorrowedFd::borrow_raw(number) };
        let _closed_by_now = rustix::io::fcntl_setfd(descriptor, rustix::io::FdFlags::CLOEXEC);
    }
    Ok(())
}

/// Has `command`'s child take `steps` in order.
pub fn prepare(command: &mut Command, steps: Vec<Step>) {
    let platform = rustix::process::getpid();
    let child = move || steps.iter().try_for_each(|step| step.take(platform)).map_err(Into::into);
    // SAFETY: the closure makes system calls on descriptors and strings made before the fork; it neither allocates nor locks.
    unsafe { command.pre_exec(child) };
}

impl Step {
    fn take(&self, platform: Pid) -> io::Result<()> {
        match self {
            Self::NewSession => {
                setsid()?;
                leave_keyring();
                Ok(())
            }
            Self::JoinGroup(procs) => rustix::io::write(procs, b"0").map(drop),
            Self::Keep(fd) => rustix::io::fcntl_setfd(fd, rustix::io::FdFlags::empty()),
            Self::EnterUser(fd) => enter_user(fd.as_fd()),
            Self::EnterNetwork(fd) => move_into_link_name_space(fd.as_fd(), Some(LinkNameSpaceType::Network)),
            Self::PrivateMounts => {
                // SAFETY: the child has one thread, and no descriptor table is unshared.
                unsafe { unshare_unsafe(UnshareFlags::NEWNS) }?;
                mount_change(c"/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
            }
            Self::Stage(staged) => stage(staged),
            Self::Name(named) => mount_bind(named.source.as_c_str(), named.target.as_c_str()),
            Self::Become(id) => {
                let (uid, gid) = (Uid::from_raw(*id), Gid::from_raw(*id));
                set_thread_groups(&[])?;
                set_thread_res_gid(gid, gid, gid)?;
                set_thread_res_uid(uid, uid, uid)
            }
            Self::DieWithPlatform => {
                set_parent_process_death_signal(Some(Signal::KILL))?;
                // Where the platform is already gone nobody would send the signal.
                if getppid() == Some(platform) { Ok(()) } else { Err(io::Errno::SRCH) }
            }
        }
    }
}

/// Joins a new, empty session keyring: namespaces do not keep a process from the one that it inherits. A kernel without keyrings, or a
/// container that forbids the call, refuses; then nothing inside can reach a keyring either.
fn leave_keyring() {
    // SAFETY: the call takes a null name and touches no memory of ours.
    unsafe { libc::syscall(libc::SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, std::ptr::null::<libc::c_char>()) };
}

fn enter_user(fd: BorrowedFd<'_>) -> io::Result<()> {
    move_into_link_name_space(fd, Some(LinkNameSpaceType::User))?;
    let mut sets = capabilities(None)?;
    sets.inheritable |= CapabilitySet::NET_ADMIN;
    set_capabilities(None, sets)?;
    configure_capability_in_ambient_set(CapabilitySet::NET_ADMIN, true)
}

/// The things are taken before the tmpfs covers its place, since they may lie below it.
fn stage(staged: &[Option<Staged>; STAGED]) -> io::Result<()> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    let trees = staged.each_ref().map(|item| item.as_ref().map(|item| open_tree(CWD, item.source.as_c_str(), flags)));
    mount(c"tmpfs", c"/mnt", c"tmpfs", MountFlags::NOSUID | MountFlags::NODEV, c"mode=0755")?;
    for (item, tree) in staged.iter().zip(trees) {
        let (Some(item), Some(tree)) = (item, tree) else { continue };
        let target = item.target.as_c_str();
        if item.folder {
            mkdirat(CWD, target, Mode::from_raw_mode(0o755))?;
        } else {
            drop(openat(CWD, target, OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC, Mode::from_raw_mode(0o644))?);
        }
        move_mount(tree?, c"", CWD, target, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
    }
    Ok(())
}
