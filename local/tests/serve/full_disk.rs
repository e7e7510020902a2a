//! A data folder whose disk is full: what needs room says so, everything else goes on, and all is well once there is room again.

use super::support::{Answer, Platform, Sandbox, on_disk};
use serde_json::{Value, json};
use std::process::Stdio;

async fn post(platform: &Platform, sandbox: &Sandbox, what: &str, body: Value) -> Answer {
    platform.api("POST", &format!("/sandboxes/{}/{what}", sandbox.id)).json(&body).send().await
}

fn says_full(answer: &Value) {
    assert_eq!(answer["code"], 507, "{answer}");
    assert!(answer["message"].as_str().unwrap().contains("disk is full"), "{answer}");
}

#[tokio::test]
async fn what_needs_room_says_that_there_is_none_and_all_is_well_when_there_is_again() {
    let platform = Platform::start_on_disk("size=8m");
    let sandbox = platform.sandbox().await;
    sandbox.succeed("echo kept > kept; cat /dev/zero > fill 2>/dev/null || true").await;

    for (what, body) in [("snapshots", json!({})), ("pause", json!({})), ("pause", json!({ "memory": false }))] {
        let answer = post(&platform, &sandbox, what, body).await;
        assert_eq!(answer.status, 507, "{what}: {}", answer.text());
        says_full(&answer.value());
    }
    let forks = post(&platform, &sandbox, "fork", json!({ "count": 2 })).await.value();
    for fork in forks.as_array().unwrap() {
        says_full(&fork["error"]);
    }
    let created = platform.api("POST", "/sandboxes").json(&json!({ "templateID": "base" })).send().await;
    assert_eq!(created.status, 507, "{}", created.text());
    says_full(&created.value());
    let more = sandbox.call("POST", 49983, "/files?path=more").header("content-type", "application/octet-stream");
    let written = more.body("x".repeat(9000)).send().await;
    assert_eq!(written.status, 507, "{}", written.text());

    assert_eq!(sandbox.succeed("rm fill more; cat kept").await, "kept\n");
    let snapshot = post(&platform, &sandbox, "snapshots", json!({})).await;
    assert_eq!(snapshot.status, 201, "{}", snapshot.text());
    // Nothing is left of what did not fit: the room of a copy is there.
    sandbox.succeed("head -c 3500000 /dev/zero > most").await;
    let forks = post(&platform, &sandbox, "fork", json!({})).await.value();
    assert!(forks[0].get("error").is_none(), "{forks}");
    assert_eq!(post(&platform, &sandbox, "pause", json!({})).await.status, 204);
    assert_eq!(post(&platform, &sandbox, "resume", json!({})).await.status, 201);
    assert_eq!(sandbox.succeed("cat kept").await, "kept\n");
}

#[tokio::test]
async fn a_platform_that_starts_on_a_full_disk_does_not_blame_the_walls() {
    let folder = tempfile::tempdir().unwrap();
    // Room for itself, its two folders and its lock, and for nothing of a sandbox.
    let mut command = on_disk(folder.path(), "nr_inodes=4", &[]);
    let output = command.stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(said.contains("there is no room in the data folder") && !said.contains("user namespaces"), "{said}");
}
