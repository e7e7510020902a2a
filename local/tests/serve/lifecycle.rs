//! Pausing and resuming, and what is asked of a sandbox meanwhile.

use super::support::{Answer, PATIENCE, Platform, Sandbox, Who, until};
use http_body_util::BodyExt;
use serde_json::{Value, json};

/// Counts in a file for as long as it runs, and keeps a number that only its memory knows.
const COUNTER: &str = "secret=$RANDOM$RANDOM; echo $secret > secret; trap 'echo $secret > told' USR1; \
    echo $BASHPID > pid; n=0; while true; do n=$((n+1)); echo $n > count.new; mv count.new count; sleep 0.01; done";

async fn start_counter(sandbox: &Sandbox) {
    let start = "setsid bash counter.sh </dev/null >/dev/null 2>&1 & until [ -e count ]; do sleep 0.01; done";
    sandbox.succeed(&format!("cat > counter.sh <<'END'\n{COUNTER}\nEND\n{start}")).await;
}

async fn post(platform: &Platform, sandbox: &Sandbox, what: &str, body: Value) -> Answer {
    platform.api("POST", &format!("/sandboxes/{}/{what}", sandbox.id)).json(&body).send().await
}

async fn detail(platform: &Platform, sandbox: &Sandbox) -> Value {
    platform.api("GET", &format!("/sandboxes/{}", sandbox.id)).send().await.value()
}

/// What the counter has written, read on the host: nobody inside has to run for it.
fn count(platform: &Platform, sandbox: &Sandbox) -> u64 {
    let file = platform.data().join("sandboxes").join(&sandbox.id).join("home/count");
    std::fs::read_to_string(file).unwrap().trim().parse().unwrap()
}

async fn pauses_with_memory(who: Who, isolation: &str) {
    let platform = Platform::start_as(who, &["--isolation", isolation]);
    let sandbox = platform.sandbox_of(json!({"secure": true, "metadata": {"a": "b"}})).await;
    start_counter(&sandbox).await;
    let mut stream = sandbox.start("echo first; exec sleep 600").open().await;
    assert!(stream.frame().await.unwrap().is_ok());

    assert_eq!(post(&platform, &sandbox, "pause", json!({})).await.status, 204);
    let stopped = count(&platform, &sandbox);
    // The stream breaks off: it neither ends well nor waits.
    let rest = tokio::time::timeout(PATIENCE, stream.collect()).await.expect("the stream of a paused sandbox goes on");
    assert!(rest.is_err(), "{who:?} {isolation}: a cut must not look like an end");
    assert_eq!(post(&platform, &sandbox, "pause", json!({})).await.status, 409);
    let paused = detail(&platform, &sandbox).await;
    assert_eq!((&paused["state"], &paused["pauseMode"]), (&json!("paused"), &json!("full")));
    assert_eq!(paused["envdAccessToken"], sandbox.created["envdAccessToken"]);
    let refused = sandbox.call("GET", 49983, "/health").send().await;
    assert_eq!(refused.status, 502);
    let said = json!({"sandboxId": sandbox.id, "message": "The sandbox was not found", "code": 502, "state": "paused"});
    assert_eq!(refused.value(), said);
    for (what, status) in [("timeout", 404), ("refreshes", 404)] {
        assert_eq!(post(&platform, &sandbox, what, json!({"timeout": 1})).await.status, status, "{what}");
    }
    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    assert_eq!(count(&platform, &sandbox), stopped, "{who:?} {isolation}: nothing runs");

    let resumed = post(&platform, &sandbox, "connect", json!({"timeout": 500})).await;
    assert_eq!((resumed.status, &resumed.value()["sandboxID"]), (201, &json!(sandbox.id)));
    until("the counter going on", || count(&platform, &sandbox) > stopped + 3).await;
    let secret = sandbox.succeed("kill -USR1 $(cat pid); until [ -e told ]; do sleep 0.01; done; cat secret told").await;
    let mut lines = secret.lines();
    assert_eq!(lines.next(), lines.next(), "{who:?} {isolation}: its memory is the same");
    assert!(count(&platform, &sandbox) > stopped);
    let running = detail(&platform, &sandbox).await;
    assert_eq!(running["state"], "running");
    assert!(running["startedAt"].as_str() > paused["startedAt"].as_str());
    assert_eq!(post(&platform, &sandbox, "connect", json!({"timeout": 1})).await.status, 200);
    assert_eq!(post(&platform, &sandbox, "resume", json!({})).await.status, 409);
    // The command behind the broken stream has survived, too.
    sandbox.succeed("pgrep -f 'sleep 60[0]'").await;
    assert_eq!(post(&platform, &sandbox, "pause", json!({"memory": true})).await.status, 204);
    assert_eq!(platform.api("DELETE", &format!("/sandboxes/{}", sandbox.id)).send().await.status, 204);
    assert!(platform.sandbox_folders().is_empty());
}

#[tokio::test]
async fn a_pause_with_memory_keeps_what_runs() {
    for who in Who::all() {
        pauses_with_memory(who, "bwrap").await;
    }
}

#[tokio::test]
async fn a_pause_with_memory_needs_no_walls() {
    pauses_with_memory(Who::Me, "none").await;
}

#[tokio::test]
async fn a_pause_without_memory_keeps_files_alone() {
    let platform = Platform::start();
    let sandbox = platform.sandbox_of(json!({"secure": true, "envVars": {"X": "kept"}})).await;
    start_counter(&sandbox).await;
    sandbox.succeed("echo mine > .bashrc; echo a > /tmp/b").await;
    assert_eq!(post(&platform, &sandbox, "pause", json!({"memory": false})).await.status, 204);
    assert_eq!(detail(&platform, &sandbox).await["pauseMode"], "filesystem");
    let v2 = platform.api("POST", &format!("/v2/sandboxes/{}/connect", sandbox.id)).send().await;
    assert_eq!((v2.status, &v2.value()["envdAccessToken"]), (201, &sandbox.created["envdAccessToken"]));
    let seen = sandbox.succeed("pgrep -f 'count[e]r' || echo none; cat .bashrc /tmp/b; echo $X; hostname").await;
    assert_eq!(seen, format!("none\nmine\na\nkept\n{}\n", sandbox.id));
}

#[tokio::test]
async fn a_shells_jobs_do_not_notice_a_pause() {
    for who in Who::all() {
        let platform = Platform::start_as(who, &[]);
        let sandbox = platform.sandbox().await;
        // A shell with job control goes on when the job in front of it stops; its status tells so then.
        let jobs = "set -m; sleep 3; echo $? > status";
        sandbox
            .succeed(&format!(
                "setsid bash -c '{jobs}' </dev/null >/dev/null 2>&1 & until [ -e status ] || pgrep -f 'sleep [3]$'; do sleep 0.01; done"
            ))
            .await;
        for _ in 0..5 {
            assert_eq!(post(&platform, &sandbox, "pause", json!({})).await.status, 204);
            assert_eq!(post(&platform, &sandbox, "connect", json!({"timeout": 500})).await.status, 201);
        }
        assert_eq!(sandbox.succeed("until [ -e status ]; do sleep 0.05; done; cat status").await, "0\n", "{who:?}");
    }
}

#[tokio::test]
async fn calls_on_one_sandbox_at_once_follow_one_another() {
    let platform = Platform::start();
    let sandbox = platform.sandbox().await;
    start_counter(&sandbox).await;
    for round in 0..4 {
        let calls = ["pause", "connect", "pause", "resume", "connect", "pause"].map(|what| {
            let body = json!({"timeout": 500, "memory": round % 2 == 0 || what != "pause"});
            let call = platform.api("POST", &format!("/sandboxes/{}/{what}", sandbox.id)).json(&body);
            tokio::spawn(async move { call.send().await.status })
        });
        for call in calls {
            let status = call.await.unwrap();
            assert!([200, 201, 204, 409].contains(&status), "{status}");
        }
        assert!([200, 201].contains(&post(&platform, &sandbox, "connect", json!({"timeout": 500})).await.status));
        assert_eq!(detail(&platform, &sandbox).await["state"], "running");
        assert_eq!(sandbox.succeed("echo alive").await, "alive\n");
    }
    let pause = platform.api("POST", &format!("/sandboxes/{}/pause", sandbox.id));
    let pausing = tokio::spawn(async move { pause.send().await.status });
    assert_eq!(platform.api("DELETE", &format!("/sandboxes/{}", sandbox.id)).send().await.status, 204);
    assert!([204, 404].contains(&pausing.await.unwrap()));
    assert!(platform.sandbox_folders().is_empty());
}

#[tokio::test]
async fn the_end_of_a_lifetime_pauses_where_that_was_asked_and_paused_ones_have_no_end() {
    let platform = Platform::start();
    for (members, mode) in
        [(json!({"autoPause": true}), "full"), (json!({"autoPause": true, "autoPauseMemory": false}), "filesystem")]
    {
        let sandbox = platform.sandbox_of(members).await;
        assert_eq!(detail(&platform, &sandbox).await["lifecycle"], json!({"autoResume": false, "onTimeout": "pause"}));
        assert_eq!(post(&platform, &sandbox, "timeout", json!({"timeout": 0})).await.status, 204);
        loop {
            let seen = detail(&platform, &sandbox).await;
            if seen.get("pauseMode").is_some() {
                assert_eq!(seen["pauseMode"], mode);
                assert!(seen["endAt"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap() <= jiff::Timestamp::now());
                break;
            }
        }
        // The time that was over is not what resuming brings back.
        assert_eq!(post(&platform, &sandbox, "connect", json!({"timeout": 300})).await.status, 201);
        assert_eq!(sandbox.succeed("echo up").await, "up\n");
    }
}

#[tokio::test]
async fn traffic_wakes_what_was_made_so() {
    let platform = Platform::start();
    let wakes = json!({"autoPause": true, "autoResume": {"enabled": true}, "secure": true});
    let sandbox = platform.sandbox_of(wakes).await;
    start_counter(&sandbox).await;
    let state = async || detail(&platform, &sandbox).await["state"].clone();
    assert_eq!(post(&platform, &sandbox, "pause", json!({})).await.status, 204);
    // Neither a preflight, which carries no token, nor a wrong token.
    let preflight = platform.call("OPTIONS", &format!("/s/{}/49983/files", sandbox.id)).header("origin", "https://any.example");
    assert_eq!(preflight.header("access-control-request-method", "GET").send().await.status, 204);
    let stranger = platform.call("GET", &format!("/s/{}/49983/envs", sandbox.id));
    assert_eq!(stranger.header("x-access-token", "wrong").send().await.status, 403);
    assert_eq!(state().await, "paused");
    let before = count(&platform, &sandbox);
    assert_eq!(sandbox.succeed("echo awake").await, "awake\n");
    assert_eq!(state().await, "running");
    let left =
        detail(&platform, &sandbox).await["endAt"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap() - jiff::Timestamp::now();
    assert!(left.as_secs() > 200, "{left}");
    until("the counter going on", || count(&platform, &sandbox) > before).await;
    // Many at once wake it once.
    assert_eq!(post(&platform, &sandbox, "pause", json!({})).await.status, 204);
    let calls: Vec<_> = (0..5).map(|_| tokio::spawn(sandbox.call("GET", 49983, "/health").send())).collect();
    for call in calls {
        assert_eq!(call.await.unwrap().status, 204);
    }
    // What has no memory is started by nobody but the API.
    assert_eq!(post(&platform, &sandbox, "pause", json!({"memory": false})).await.status, 204);
    assert_eq!(sandbox.call("GET", 49983, "/health").send().await.status, 502);
    assert_eq!(state().await, "paused");
}

#[tokio::test]
async fn paused_sandboxes_outlive_the_platform_as_files() {
    for (who, signal) in Who::all().into_iter().flat_map(|who| [(who, "TERM"), (who, "KILL")]) {
        let platform = Platform::start_as(who, &[]);
        let (kept, files, running) = (
            platform.sandbox_of(json!({"secure": true, "metadata": {"which": "kept"}, "envVars": {"X": "1"}})).await,
            platform.sandbox().await,
            platform.sandbox().await,
        );
        start_counter(&kept).await;
        files.succeed("echo file > a").await;
        assert_eq!(post(&platform, &kept, "pause", json!({})).await.status, 204);
        assert_eq!(post(&platform, &files, "pause", json!({"memory": false})).await.status, 204);
        let before = count(&platform, &kept);
        platform.signal(signal);
        let platform = platform.restart_as(who, &[]);
        let (kept, files) = (kept.on(platform.port()), files.on(platform.port()));
        let mut ids = platform.sandbox_folders();
        ids.sort();
        let mut wanted = vec![kept.id.clone(), files.id.clone()];
        wanted.sort();
        assert_eq!(ids, wanted, "{who:?} {signal}: {} was running", running.id);
        let seen = detail(&platform, &kept).await;
        // Its processes went with the platform, and it says so.
        assert_eq!((&seen["state"], &seen["pauseMode"]), (&json!("paused"), &json!("filesystem")));
        assert_eq!(seen["metadata"], json!({"which": "kept"}));
        assert_eq!(count(&platform, &kept), before);
        for sandbox in [&kept, &files] {
            assert_eq!(post(&platform, sandbox, "connect", json!({"timeout": 500})).await.status, 201);
        }
        assert_eq!(kept.succeed("cat count; echo $X").await, format!("{before}\n1\n"));
        assert_eq!(files.succeed("cat a").await, "file\n");
    }
}

#[tokio::test]
async fn a_paused_sandbox_whose_processes_are_killed_keeps_its_files() {
    let platform = Platform::start();
    let sandbox = platform.sandbox().await;
    sandbox.succeed("echo file > a").await;
    assert_eq!(post(&platform, &sandbox, "pause", json!({})).await.status, 204);
    platform.kill_first_process_of(&sandbox);
    while detail(&platform, &sandbox).await["pauseMode"] != "filesystem" {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    assert_eq!(post(&platform, &sandbox, "connect", json!({"timeout": 500})).await.status, 201);
    assert_eq!(sandbox.succeed("cat a").await, "file\n");
}

#[tokio::test]
async fn lists_show_paused_ones_where_they_are_asked_for() {
    let platform = Platform::start();
    let (running, paused) = (platform.sandbox().await, platform.sandbox().await);
    assert_eq!(post(&platform, &paused, "pause", json!({})).await.status, 204);
    let list = async |path: &str| {
        let answer = platform.api("GET", path).send().await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        let ids = answer.value().as_array().unwrap().iter().map(|item| item["sandboxID"].as_str().unwrap().to_owned()).collect();
        (ids, answer.header("x-total-running").map(str::to_owned))
    };
    let ids = |sandboxes: &[&Sandbox]| sandboxes.iter().map(|sandbox| sandbox.id.clone()).collect::<Vec<_>>();
    let one = Some("1".to_owned());
    assert_eq!(list("/sandboxes").await, (ids(&[&running]), None));
    assert_eq!(list("/sandboxes?status=paused").await, (ids(&[&paused]), None));
    assert_eq!(list("/sandboxes?status=running,paused&limit=1&offset=1").await, (ids(&[&running]), None));
    assert_eq!(list("/sandboxes?status=stopped").await, (ids(&[]), None));
    assert_eq!(list("/v2/sandboxes").await, (ids(&[&paused, &running]), one.clone()));
    assert_eq!(list("/v2/sandboxes?state=paused").await, (ids(&[&paused]), None));
    assert_eq!(list("/v2/sandboxes?state=running,paused&order=asc").await, (ids(&[&running, &paused]), one));
}

#[tokio::test]
async fn kill_minus_one_inside_does_not_end_the_sandbox() {
    for who in Who::all() {
        let platform = Platform::start_as(who, &[]);
        let sandbox = platform.sandbox().await;
        for signal in ["KILL", "TERM", "INT", "SEGV", "STOP"] {
            // The shell that kills is spared, its own children are not.
            sandbox.run(&format!("kill -{signal} -1; kill -{signal} 1")).await;
            assert_eq!(sandbox.succeed("echo alive").await, "alive\n", "{who:?} {signal}");
        }
    }
}
