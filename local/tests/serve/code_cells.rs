//! What the platform tells of the runtime of code cells.

use super::support::{Platform, Who};
use serde_json::json;
use std::time::Duration;

/// How long Python may take to make an environment and pip to ask its index, on a machine of any speed.
const SET_UP: Duration = Duration::from_secs(600);

#[tokio::test]
async fn what_is_going_to_be_installed_is_said_beforehand_to_whoever_has_the_key() {
    let platform = Platform::start();
    assert_eq!(platform.call("GET", "/code-cells").send().await.status, 401);
    let foreign = platform.api("GET", "/code-cells").header("origin", "https://evil.example").send().await;
    assert_eq!(foreign.status, 403);
    let mut status = platform.api("GET", "/code-cells").send().await.value();
    assert!(status["packages"].take().as_u64().is_some_and(|packages| packages > 20));
    assert_eq!(status, json!({ "state": "absent", "packages": null, "megabytes": 600, "minutes": "1 to 4" }));
}

#[tokio::test]
async fn progress_and_failure_of_the_set_up_are_told() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let index = format!("http://name:secret@{}/simple", silent.local_addr().expect("an address"));
    let platform = Platform::start_in(Who::Me, "PIP_RETRIES", "0", &["--pip-index", &index]);
    let create = platform.api("POST", "/sandboxes").json(&json!({ "templateID": "code-interpreter-v1" }));
    // On a slow machine it is told to come back before anything has failed: what it hears is no matter here.
    let create = tokio::spawn(create.send());
    let connection = tokio::time::timeout(SET_UP, silent.accept()).await.expect("pip asks").expect("a connection");
    let making = platform.api("GET", "/code-cells").send().await.value();
    assert_eq!(making["state"], "making");
    assert!(making["detail"].as_str().is_some_and(|line| !line.contains("secret")), "{making}");
    // The index goes away, and with it pip's hope.
    drop((connection, silent));
    let failed = tokio::time::timeout(SET_UP, async {
        loop {
            let status = platform.api("GET", "/code-cells").send().await.value();
            if status["state"] != "making" {
                return status;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    });
    let failed = failed.await.expect("an end");
    assert_eq!(failed["state"], "failed");
    let detail = failed["detail"].as_str().unwrap_or_default();
    assert!(detail.contains("could not be installed") && !detail.contains("secret"), "{detail}");
    create.abort();
}
