//! Other sandboxes of the same platform.

use super::support::{Platform, Who};

#[tokio::test]
async fn files_processes_and_ports_of_another_sandbox_are_out_of_reach() {
    for who in Who::all() {
        let platform = Platform::start_as(who, &[]);
        let (one, two) = (platform.sandbox().await, platform.sandbox().await);
        one.succeed("echo mine | tee ~/own /tmp/own /dev/shm/own; chmod 777 ~ ~/own; (exec -a marked-process sleep 86400) </dev/null >/dev/null 2>&1 &").await;
        let port = one.serve("while (my $client = $server->accept) { print $client 'reached'; close $client }").await;

        assert_eq!(one.succeed(&format!("exec 3<>/dev/tcp/127.0.0.1/{port}; cat <&3")).await, "reached");
        for address in ["127.0.0.1", "10.0.2.15"] {
            let outcome = two.run(&format!("exec 3<>/dev/tcp/{address}/{port}; cat <&3")).await;
            assert!(outcome.code != 0 && !outcome.output.contains("reached"), "{who:?} {address}: {}", outcome.output);
        }
        assert_eq!(two.call("GET", port, "/").send().await.status, 502);
        assert_eq!(two.succeed("ls ~ /tmp /dev/shm | grep own; grep -la 'marked-[p]rocess' /proc/[0-9]*/cmdline; true").await, "");
        let folder = platform.data().join("sandboxes").join(&one.id).join("home/own");
        let up = "../".repeat(12);
        for path in [folder.display().to_string(), format!("{up}{}", folder.display()), format!("/proc/1/root{}", folder.display())]
        {
            assert_ne!(two.run(&format!("cat {path}")).await.code, 0, "{who:?} {path}");
        }
        let host_wide = two.succeed("cat /proc/net/unix; ipcs -m 2>/dev/null; true").await;
        assert!(!host_wide.contains(&one.id), "{host_wide}");
    }
}

#[tokio::test]
async fn a_token_of_one_sandbox_does_not_open_another() {
    let platform = Platform::start();
    let secure = serde_json::json!({ "secure": true });
    let (one, two) = (platform.sandbox_of(secure.clone()).await, platform.sandbox_of(secure).await);
    let token = one.created["envdAccessToken"].as_str().unwrap();
    let with = |id: &str| platform.call("GET", &format!("/s/{id}/49983/envs")).header("x-access-token", token);
    assert_eq!(with(&one.id).send().await.status, 200);
    assert_eq!(with(&two.id).send().await.status, 401);
}
