//! The host's files.

use super::support::{Platform, Who};
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// A file beside the platform's data that everybody on the host may read.
fn secret(platform: &Platform) -> String {
    let path = platform.folder().join("secret");
    fs::write(&path, "of the host").unwrap();
    fs::set_permissions(platform.folder(), fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    path.to_str().unwrap().to_owned()
}

#[tokio::test]
async fn neither_dots_nor_links_lead_out() {
    for who in Who::all() {
        let platform = Platform::start_as(who, &[]);
        let secret = secret(&platform);
        let sandbox = platform.sandbox().await;
        let up = "..%2F".repeat(12);
        sandbox.succeed(&format!("ln -s {secret} link; ln -s / root; ln -s {} folder", platform.folder().display())).await;
        for path in [
            secret.clone(),
            format!("{up}{}", &secret[1..]),
            format!("/home/user/{up}{}", &secret[1..]),
            "link".to_owned(),
            "folder/secret".to_owned(),
            format!("root{secret}"),
            format!("/proc/1/root{secret}"),
            format!("/proc/self/root{secret}"),
            format!("/proc/self/cwd/{up}{}", &secret[1..]),
        ] {
            let answer = sandbox.call("GET", 49983, &format!("/files?path={path}")).send().await;
            assert!(answer.status >= 400, "{who:?} {path}: {} {}", answer.status, answer.text());
            assert!(!answer.text().contains("of the host"));
        }
        for path in ["link", "folder/new", "../../../../../../usr/new-file"] {
            let answer =
                sandbox.call("POST", 49983, &format!("/files?path={path}")).header("content-type", "application/octet-stream");
            drop(answer.body("from inside").send().await);
        }
        assert_eq!(fs::read_to_string(&secret).unwrap(), "of the host", "{who:?}");
        assert!(!platform.folder().join("new").exists() && !std::path::Path::new("/usr/new-file").exists());
    }
}

#[tokio::test]
async fn nothing_of_the_hosts_root_home_var_and_run_is_there() {
    for who in Who::all() {
        let platform = Platform::start_as(who, &[]);
        let sandbox = platform.sandbox().await;
        assert_eq!(sandbox.succeed("ls /home; ls -A /var /run; ls -d /root /srv /mnt /boot /sys 2>/dev/null; true").await, {
            "user\n/run:\nagent-sandbox\n\n/var:\ntmp\n"
        });
        let etc = sandbox
            .succeed("cd /etc; ls -A | sort | tr '\\n' ' '; cat passwd; ls -d shadow gshadow sudoers ssh 2>/dev/null; true")
            .await;
        assert!(etc.contains("user:x:1000:1000:") && !etc.contains("shadow") && !etc.contains("sudoers"), "{etc}");
        let host = fs::read_to_string("/etc/passwd").unwrap();
        assert!(
            host.lines().filter(|line| !line.starts_with("root:") && !line.starts_with("nobody:")).all(|line| !etc.contains(line))
        );
    }
}

/// A file in /usr that is removed again, should a wall be down.
struct Trace(&'static str);

impl Drop for Trace {
    fn drop(&mut self) {
        drop(fs::remove_file(self.0));
    }
}

#[tokio::test]
async fn usr_cannot_be_written_or_mounted_anew() {
    let trace = Trace("/usr/trace-of-a-sandbox");
    for who in Who::all() {
        let platform = Platform::start_as(who, &[]);
        let sandbox = platform.sandbox().await;
        for attack in [
            "true",
            "mount -o remount,rw /usr",
            "mount -o remount,bind,rw /usr",
            "unshare --user --map-root-user --mount sh -c 'mount -o remount,bind,rw /usr; touch /usr/trace-of-a-sandbox'",
            "unshare --user --map-root-user --mount sh -c 'umount /usr; umount -l /etc; touch /usr/trace-of-a-sandbox'",
            "mount -o remount,bind,rw /",
            "chmod u+w /usr",
        ] {
            let outcome = sandbox.run(&format!("{attack}; touch {}", trace.0)).await;
            assert_ne!(outcome.code, 0, "{who:?} {attack}: {}", outcome.output);
            assert!(!fs::exists(trace.0).unwrap(), "{who:?} {attack}");
        }
        // Not only for want of rights: the mounts themselves are read-only.
        for place in ["/usr", "/usr/bin", "/etc", "/etc/alternatives", "/opt/agent-sandbox", "/"] {
            let outcome = sandbox.run(&format!("touch {place}/new-file")).await;
            assert!(outcome.output.contains("Read-only file system"), "{who:?} {place}: {}", outcome.output);
        }
        for place in ["/etc/passwd", "/opt/agent-sandbox/agent-sandbox-local", "/etc/ssl/certs/new", "/new"] {
            assert_ne!(sandbox.run(&format!("echo >> {place}")).await.code, 0, "{who:?} {place}");
        }
        assert_ne!(sandbox.run("mknod /tmp/disk b 8 0").await.code, 0);
        sandbox.succeed("touch /home/user/x /tmp/x /var/tmp/y /dev/shm/x").await;
    }
}

#[tokio::test]
async fn a_socket_of_the_host_behind_a_link_in_the_run_folder_is_not_reached() {
    for who in Who::all() {
        let platform = Platform::start_as(who, &[]);
        let sandbox = platform.sandbox().await;
        let path = platform.folder().join("host.sock");
        let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        fs::set_permissions(platform.folder(), fs::Permissions::from_mode(0o755)).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
        listener.set_nonblocking(true).unwrap();
        sandbox
            .succeed(&format!(
                "cd /run/agent-sandbox && rm -f *.sock && for s in envd ports; do ln -s {} $s.sock; done",
                path.display()
            ))
            .await;
        assert_eq!(sandbox.call("GET", 49983, "/health").send().await.status, 204, "{who:?}: envd itself is still reached");
        assert_eq!(sandbox.call("GET", 3000, "/").send().await.status, 502);
        assert!(listener.accept().is_err(), "{who:?}: the gateway came to a socket of the host");
    }
}
