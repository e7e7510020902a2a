//! The host's kernel settings, processes and secrets.

use super::support::{KEY, Platform, Who};

#[tokio::test]
async fn kernel_settings_cannot_be_written() {
    for who in Who::all() {
        let platform = Platform::start_as(who, &[]);
        let sandbox = platform.sandbox().await;
        // The value that is there already: harmless, should the wall be down.
        for setting in ["/proc/sys/vm/swappiness", "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/panic"] {
            let outcome = sandbox.run(&format!("v=$(cat {setting}) && echo \"$v\" > {setting}")).await;
            assert_ne!(outcome.code, 0, "{who:?} {setting}");
        }
        // `h` only prints help into the kernel's log.
        assert_ne!(sandbox.run("echo h > /proc/sysrq-trigger").await.code, 0, "{who:?}");
        assert_ne!(sandbox.run("dmesg -C").await.code, 0, "{who:?}");
    }
}

#[tokio::test]
async fn nobody_inside_is_root_or_can_do_what_root_can() {
    for who in Who::all() {
        let platform = Platform::start_as(who, &[]);
        let (one, two) = (platform.sandbox().await, platform.sandbox().await);
        let status = one.succeed("cat /proc/1/status /proc/self/status | grep -E '^Cap(Prm|Eff|Bnd|Amb)'").await;
        assert!(status.lines().all(|line| line.ends_with("0000000000000000")), "{who:?}: {status}");
        assert_eq!(one.succeed("id -u; id -g; id -un").await, "1000\n1000\nuser\n");
        if who.is_root() {
            // Inside the user namespace the map names the host's number only to those outside: the files tell it.
            let owner = |id: &str| {
                std::os::unix::fs::MetadataExt::uid(
                    &std::fs::metadata(platform.data().join("sandboxes").join(id).join("home")).unwrap(),
                )
            };
            let (first, second) = (owner(&one.id), owner(&two.id));
            assert!(first >= 1_900_000_000 && second >= 1_900_000_000 && first != second, "{first} {second}");
            one.succeed("sleep 86400 </dev/null >/dev/null 2>&1 &").await;
            let uids = std::fs::read_dir("/proc").unwrap().filter_map(|entry| std::fs::metadata(entry.ok()?.path()).ok());
            assert!(uids.filter(|process| std::os::unix::fs::MetadataExt::uid(process) == first).count() >= 3);
        }
    }
}

#[tokio::test]
async fn the_platforms_environment_and_key_are_nowhere_inside() {
    let mark = "mark-in-the-platforms-environment";
    for who in Who::all() {
        let platform = Platform::start_in(who, "MARK", mark, &[]);
        let sandbox = platform.sandbox().await;
        let found = sandbox
            .succeed("env; cat /proc/*/environ /proc/*/task/*/environ /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n'; true")
            .await;
        assert!(found.contains("E2B_SANDBOX="), "the search finds what is there");
        assert!(!found.contains(mark) && !found.contains(KEY), "{who:?}");
        assert!(!found.contains("RUST_") && !found.contains("CARGO_"), "{who:?}: {found}");
    }
}

#[tokio::test]
async fn the_hosts_processes_and_terminal_are_out_of_sight() {
    for who in Who::all() {
        let platform = Platform::start_as(who, &[]);
        let sandbox = platform.sandbox().await;
        let processes = sandbox.succeed("cat /proc/[0-9]*/comm | sort -u").await;
        for name in processes.lines() {
            assert!(["bwrap", "agent-sandbox-l", "bash", "cat", "sort"].contains(&name), "{who:?}: {processes}");
        }
        assert_ne!(sandbox.run(&format!("kill -0 {}", platform.pid())).await.code, 0);
        assert_ne!(sandbox.run("exec 3<>/dev/tty").await.code, 0, "{who:?}: no terminal of the platform's");
        assert_eq!(sandbox.succeed("hostname").await.trim(), sandbox.id);
        assert_eq!(sandbox.succeed("ls /proc/self/fd | wc -l").await.trim(), "4", "{who:?}: no descriptor is handed on");
    }
}

#[tokio::test]
async fn the_platforms_session_keyring_is_left_behind() {
    // A login's session keyring, which the platform inherits from this thread. (Perl prints its number.)
    // SAFETY: the call takes a null name and touches no memory of ours.
    let joined = unsafe { libc::syscall(libc::SYS_keyctl, 1, std::ptr::null::<libc::c_char>()) };
    let ask = format!("print syscall({}, 0, -3, 0)", libc::SYS_keyctl);
    let host = std::process::Command::new("perl").args(["-e", &ask]).output().unwrap();
    let host = String::from_utf8(host.stdout).unwrap();
    for who in Who::all() {
        let platform = Platform::start_as(who, &[]);
        let (one, two) = (platform.sandbox().await, platform.sandbox().await);
        let inside = [one.succeed(&format!("perl -e '{ask}'")).await, two.succeed(&format!("perl -e '{ask}'")).await];
        if joined > 0 {
            assert_eq!(host, joined.to_string());
            assert!(inside[0] != host && inside[1] != host && inside[0] != inside[1], "{who:?}: {inside:?}, outside {host}");
        }
    }
}

#[tokio::test]
async fn common_tools_work() {
    for who in Who::all() {
        let platform = Platform::start_as(who, &[]);
        let sandbox = platform.sandbox().await;
        sandbox
            .succeed(
                "for tool in awk pager which vi; do p=$(command -v $tool) && [ -x \"$(readlink -f $p)\" ] || echo no $tool; done",
            )
            .await;
        assert_eq!(
            sandbox.succeed("echo a b | awk '{print $2}'; date +%Z >/dev/null; ls /etc/ssl/certs >/dev/null && echo ok").await,
            "b\nok\n"
        );
        assert_eq!(sandbox.succeed("bash -l -c 'echo $HOME; cd ~; pwd'").await, "/home/user\n/home/user\n");
    }
}
