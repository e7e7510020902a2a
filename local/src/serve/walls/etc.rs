//! The sandbox's own `/etc`: what programs look up there, and nothing of the host's.

use std::fs::Permissions;
use std::io;
use std::net::IpAddr;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::Path;

const PASSWD: &str = "root:x:0:0:root:/root:/bin/bash\nuser:x:1000:1000:user:/home/user:/bin/bash\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n";
const GROUP: &str = "root:x:0:\ntty:x:5:\nuser:x:1000:\nnogroup:x:65534:\n";
const NSSWITCH: &str =
    "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\nnetworks: files\nprotocols: files\nservices: files\n";
const SHELLS: &str = "/bin/sh\n/bin/bash\n";
const PROFILE: &str = "export PATH=\"${PATH:-/usr/local/bin:/usr/bin:/bin}\"\n[ -n \"$BASH\" ] && [ -n \"$PS1\" ] && [ -r ~/.bashrc ] && . ~/.bashrc\n:\n";
const BASHRC: &str = "[ -z \"$PS1\" ] && return\nPS1='\\[\\e[32m\\]\\u@sandbox\\[\\e[0m\\]:\\[\\e[34m\\]\\w\\[\\e[0m\\]\\$ '\nalias ls='ls --color=auto'\nshopt -s checkwinsize\n";
const SERVICES: &str = "ssh 22/tcp\ndomain 53/tcp\ndomain 53/udp\nhttp 80/tcp\nhttps 443/tcp\n";
const PROTOCOLS: &str = "icmp 1 ICMP\ntcp 6 TCP\nudp 17 UDP\n";

/// What of the host's `/etc` is bound read-only over ours: programs of the host's `/usr` need it, and none of it is secret.
pub const BOUND: [&str; 4] = ["alternatives", "ssl/certs", "ld.so.cache", "localtime"];

/// Fills `etc` for a sandbox that resolves no names yet.
///
/// # Errors
/// When a file cannot be written.
pub fn fill(etc: &Path, hostname: &str) -> io::Result<()> {
    let hosts = format!("127.0.0.1 localhost {hostname}\n::1 localhost ip6-localhost\n");
    let files: [(&str, &str); 11] = [
        ("passwd", PASSWD),
        ("group", GROUP),
        ("nsswitch.conf", NSSWITCH),
        ("shells", SHELLS),
        ("profile", PROFILE),
        ("bash.bashrc", ""),
        ("services", SERVICES),
        ("protocols", PROTOCOLS),
        ("hostname", &format!("{hostname}\n")),
        ("hosts", &hosts),
        ("resolv.conf", ""),
    ];
    for (name, text) in files {
        write(&etc.join(name), text)?;
    }
    // Where the host's files are bound: bubblewrap cannot make the places itself once the folder around them is read-only.
    for folder in ["alternatives", "ssl", "ssl/certs"] {
        std::fs::create_dir(etc.join(folder))?;
        std::fs::set_permissions(etc.join(folder), Permissions::from_mode(0o755))?;
    }
    write(&etc.join("ld.so.cache"), "")?;
    write(&etc.join("localtime"), "")?;
    symlink("/proc/self/mounts", etc.join("mtab"))
}

/// Names the resolvers of a sandbox, also one that runs: its `/etc` is read-only to itself, but not to us.
///
/// # Errors
/// When the file cannot be written.
pub fn set_resolvers(etc: &Path, nameservers: &[IpAddr]) -> io::Result<()> {
    let resolv: String = nameservers.iter().map(|address| format!("nameserver {address}\n")).collect();
    write(&etc.join("resolv.conf"), &resolv)
}

/// Gives a new, empty home a shell's start file. Never to be called on a home that a sandbox has written in: there may be a link in place
/// of the file.
///
/// # Errors
/// When it cannot be written.
pub fn furnish(home: &Path, owner: Option<u32>) -> io::Result<()> {
    let bashrc = home.join(".bashrc");
    write(&bashrc, BASHRC)?;
    chown(bashrc, owner, owner)
}

/// Writes a file that everyone may read, whatever umask the platform was started with.
fn write(path: &Path, text: &str) -> io::Result<()> {
    std::fs::write(path, text)?;
    std::fs::set_permissions(path, Permissions::from_mode(0o644))
}
