//! The control plane.

use super::support::{KEY, Platform, until};
use serde_json::json;
use std::collections::HashSet;

#[tokio::test]
async fn without_the_key_there_is_nothing_but_health() {
    let platform = Platform::start();
    let sandbox = platform.sandbox().await;
    for (method, path) in [
        ("GET", "/sandboxes".to_owned()),
        ("POST", "/sandboxes".to_owned()),
        ("POST", "/v2/sandboxes".to_owned()),
        ("GET", format!("/sandboxes/{}", sandbox.id)),
        ("DELETE", format!("/sandboxes/{}", sandbox.id)),
        ("POST", format!("/v2/sandboxes/{}/connect", sandbox.id)),
    ] {
        for wrong in [None, Some("e2b_00"), Some(""), Some(&KEY[..KEY.len() - 1])] {
            let mut call = platform.call(method, &path).body(r#"{"templateID":"base"}"#);
            if let Some(wrong) = wrong {
                call = call.header("x-api-key", wrong).header("authorization", &format!("Bearer {wrong}"));
            }
            let answer = call.send().await;
            assert_eq!(answer.status, 401, "{method} {path} {wrong:?}");
            assert_eq!(answer.value()["code"], 401);
            assert!(!answer.text().contains(KEY));
        }
    }
    assert_eq!(platform.call("GET", "/health").send().await.status, 204);
    let bearer = platform.call("GET", "/sandboxes").header("authorization", &format!("Bearer {KEY}")).send().await;
    assert_eq!(bearer.status, 200);
    assert_eq!(bearer.value().as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_sandbox_is_created_read_connected_to_and_killed() {
    let platform = Platform::start();
    let port = platform.port();
    let body = json!({"templateID": "base", "timeout": 100, "secure": true, "metadata": {"a": "b"}, "envVars": {"X": "y z"}});
    let created = platform.api("POST", "/sandboxes").json(&body).send().await;
    assert_eq!(created.status, 201, "{}", created.text());
    let created = created.value();
    let id = created["sandboxID"].as_str().unwrap();
    assert!(id.len() == 21 && id.starts_with('i') && id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()), "{id}");
    assert_eq!(created["envdVersion"], "0.6.13");
    assert_eq!(created["clientID"], "6532622b");
    assert_eq!(created["envdUrl"], format!("http://127.0.0.1:{port}/s/{id}/49983"));
    assert!(created["envdAccessToken"].as_str().unwrap().len() >= 32);
    assert!(created.get("trafficAccessToken").is_none());

    let detail = platform.api("GET", &format!("/sandboxes/{id}")).send().await.value();
    assert_eq!(detail["state"], "running");
    assert_eq!(detail["metadata"], json!({"a": "b"}));
    assert_eq!(detail["envdAccessToken"], created["envdAccessToken"]);
    assert_eq!(detail["lifecycle"], json!({"autoResume": false, "onTimeout": "kill"}));
    let end = detail["endAt"].as_str().unwrap().to_owned();

    let connect = |path: String, body: serde_json::Value| platform.api("POST", &path).json(&body).send();
    let shorter = connect(format!("/sandboxes/{id}/connect"), json!({"timeout": 1})).await;
    assert_eq!((shorter.status, &shorter.value()["sandboxID"]), (200, &created["sandboxID"]));
    assert_eq!(
        platform.api("GET", &format!("/sandboxes/{id}")).send().await.value()["endAt"],
        end.as_str(),
        "connect never shortens"
    );
    assert_eq!(connect(format!("/v2/sandboxes/{id}/connect"), json!({})).await.status, 200);
    let later = platform.api("GET", &format!("/v2/sandboxes/{id}")).send().await.value()["endAt"].as_str().unwrap().to_owned();
    assert!(later > end, "v2 extends to 300 s without being told: {later} after {end}");
    assert_eq!(connect(format!("/sandboxes/{id}/connect"), json!({})).await.status, 400);
    assert_eq!(connect(format!("/sandboxes/{id}/resume"), json!({})).await.status, 409);

    assert_eq!(platform.api("DELETE", &format!("/sandboxes/{id}")).send().await.status, 204);
    for (method, path) in [("DELETE", ""), ("GET", ""), ("POST", "/connect"), ("POST", "/timeout"), ("POST", "/refreshes")] {
        let answer = platform.api(method, &format!("/sandboxes/{id}{path}")).json(&json!({"timeout": 10})).send().await;
        assert_eq!(answer.status, 404, "{method} {path}");
        assert_eq!(answer.message(), format!("Sandbox \"{id}\" doesn't exist or you don't have access to it"));
    }
    assert!(platform.sandbox_folders().is_empty(), "nothing of a killed sandbox is left when the answer is there");
}

#[tokio::test]
async fn variables_reach_processes_and_v2_is_always_secure() {
    let platform = Platform::start();
    let sandbox = platform.sandbox_of(json!({"envVars": {"X": "y z"}})).await;
    assert_eq!(sandbox.succeed("printf %s \"$X\"").await, "y z");
    assert!(sandbox.created.get("envdAccessToken").is_none());
    let v2 = platform.api("POST", "/v2/sandboxes").json(&json!({"templateID": "base"})).send().await.value();
    let path = format!("/s/{}/49983/envs", v2["sandboxID"].as_str().unwrap());
    assert_eq!(platform.call("GET", &path).send().await.status, 401);
    let token = v2["envdAccessToken"].as_str().unwrap();
    assert_eq!(platform.call("GET", &path).header("x-access-token", token).send().await.status, 200);
}

#[tokio::test]
async fn bad_requests_say_what_is_wrong() {
    let platform = Platform::start();
    for (body, status, part) in [
        (json!({}), 400, "validation error: "),
        (json!({"templateID": "base", "timeout": 0}), 400, "Timeout must be greater than 0"),
        (json!({"templateID": "base", "timeout": 86_401}), 400, "86400"),
        (json!({"templateID": "nope"}), 404, "nope"),
        (json!({"templateID": "base", "autoPauseMemory": false}), 400, "autoPause"),
        (json!({"templateID": "../base"}), 400, "templateID"),
        (json!({"templateID": "base", "volumeMounts": [{"name": "a", "path": "/a"}]}), 400, "volumeMounts"),
        (json!({"templateID": "base", "network": {"allowOut": ["1.1.1.1"]}}), 400, "allowOut"),
    ] {
        let answer = platform.api("POST", "/sandboxes").json(&body).send().await;
        assert_eq!((answer.status, answer.value()["code"].as_u64()), (status, Some(status.into())), "{body}");
        assert!(answer.message().contains(part), "{body}: {}", answer.message());
    }
    let broken = platform.api("POST", "/sandboxes").body("{").send().await;
    assert!(broken.status == 400 && broken.message().starts_with("validation error: "));
    let large = platform.api("POST", "/sandboxes").body(" ".repeat((16 << 20) + 1)).send().await;
    assert_eq!((large.status, large.value()["code"].as_u64()), (413, Some(413)));
    assert_eq!(large.message(), "the body is larger than 16 MiB");
    for (method, path, status) in [
        ("GET", "/sandboxes/%ff", 400),
        ("GET", "/sandboxes/a-b-c", 400),
        ("GET", "/sandboxes/UPPER", 400),
        ("GET", "/sandboxes/iunknown", 404),
        ("GET", "/sandboxes/iunknown-client", 404),
        ("PATCH", "/sandboxes", 405),
        ("GET", "/sandboxes/iunknown/nonsense", 404),
        ("POST", "/sandboxes/iunknown/pause", 404),
        ("POST", "/sandboxes/../pause", 400),
        ("POST", "/sandboxes/%2e%2e/pause", 400),
        ("GET", "/v2/templates", 501),
        ("GET", "/nothing", 404),
    ] {
        let answer = platform.api(method, path).send().await;
        assert_eq!((answer.status, answer.value()["code"].as_u64()), (status, Some(status.into())), "{method} {path}");
        assert!(!answer.message().is_empty());
    }
    assert!(platform.sandbox_folders().is_empty());
}

#[tokio::test]
async fn timeouts_are_set_extended_and_kept() {
    let platform = Platform::start();
    let sandbox = platform.sandbox().await;
    let path = format!("/sandboxes/{}", sandbox.id);
    let end = async || {
        let detail = platform.api("GET", &path).send().await.value();
        detail["endAt"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap()
    };
    let post = |what: &str, body: serde_json::Value| platform.api("POST", &format!("{path}/{what}")).json(&body).send();
    let first = end().await;
    assert_eq!(post("timeout", json!({"timeout": 60})).await.status, 204);
    let shortened = end().await;
    assert!(shortened < first);
    assert_eq!(post("refreshes", json!({"duration": 1})).await.status, 204);
    assert_eq!(end().await, shortened, "a refresh never shortens");
    assert_eq!(post("refreshes", json!({"duration": 3600})).await.status, 204);
    assert!(end().await > first);
    for (what, body) in [
        ("refreshes", json!({"duration": 3601})),
        ("timeout", json!({"timeout": -1})),
        ("timeout", json!({"timeout": 86_401})),
        ("timeout", json!({})),
    ] {
        assert_eq!(post(what, body.clone()).await.status, 400, "{what} {body}");
    }
    assert_eq!(post("timeout", json!({"timeout": 0})).await.status, 204);
    until("the end of a sandbox without time left", || platform.sandbox_folders().is_empty()).await;
    assert_eq!(platform.api("GET", &path).send().await.status, 404);
}

#[tokio::test]
async fn a_sandbox_whose_processes_end_is_gone() {
    let platform = Platform::start();
    let sandbox = platform.sandbox().await;
    platform.kill_first_process_of(&sandbox);
    until("the end of a sandbox without envd", || platform.sandbox_folders().is_empty()).await;
    assert_eq!(platform.api("GET", &format!("/sandboxes/{}", sandbox.id)).send().await.status, 404);
}

#[tokio::test]
async fn lists_filter_and_page() {
    let platform = Platform::start();
    let mut made = Vec::new();
    for n in 0..3 {
        let labels = json!({"metadata": {"n": n.to_string(), "odd key&=": "ü +%"}});
        made.push(platform.sandbox_of(labels).await.id);
    }
    let ids = |answer: &super::support::Answer| -> Vec<String> {
        answer.value().as_array().unwrap().iter().map(|item| item["sandboxID"].as_str().unwrap().to_owned()).collect()
    };
    let newest_first: Vec<String> = made.iter().rev().cloned().collect();
    let get = |path: String| platform.api("GET", &path).send();
    let v1 = get("/sandboxes".into()).await;
    assert_eq!(ids(&v1), newest_first);
    assert!(v1.header("x-next-token").is_none());
    assert!(v1.value()[0].get("envdAccessToken").is_none());
    assert_eq!(ids(&get("/sandboxes?limit=1&offset=1&status=running".into()).await), newest_first[1..2]);
    assert!(ids(&get("/sandboxes?status=paused".into()).await).is_empty());

    let (mut seen, mut token) = (Vec::new(), None::<String>);
    loop {
        let query = token.as_ref().map(|token| format!("&nextToken={token}")).unwrap_or_default();
        let page = get(format!("/v2/sandboxes?limit=2{query}")).await;
        assert_eq!(page.header("x-total-running"), Some("3"));
        assert!(ids(&page).len() <= 2);
        seen.extend(ids(&page));
        token = page.header("x-next-token").map(str::to_owned);
        if token.is_none() {
            break;
        }
    }
    assert_eq!(seen, newest_first);
    assert_eq!(seen.iter().collect::<HashSet<_>>().len(), 3);
    assert_eq!(ids(&get("/v2/sandboxes?order=asc".into()).await), made);

    // Each part percent-encoded, the pairs joined, and the whole percent-encoded again.
    let twice = "n%3D1%26odd%2520key%2526%253D%3D%25C3%25BC%2520%252B%2525";
    assert_eq!(ids(&get(format!("/v2/sandboxes?metadata={twice}")).await), made[1..2]);
    assert_eq!(ids(&get(format!("/sandboxes?metadata={twice}")).await), made[1..2]);
    assert!(ids(&get("/v2/sandboxes?metadata=n%3D9".into()).await).is_empty());
    let paused = get("/v2/sandboxes?state=paused".into()).await;
    assert!(ids(&paused).is_empty() && paused.header("x-total-running").is_none());
    assert_eq!(ids(&get("/v2/sandboxes?state=running,paused&template=base".into()).await).len(), 3);
    assert!(ids(&get("/v2/sandboxes?template=unknown".into()).await).is_empty());
    for bad in ["limit=0", "limit=101", "metadata=a", "state=dead", "nextToken=x", "template=base:v1", "order=up", "startedAfter=x"]
    {
        assert_eq!(get(format!("/v2/sandboxes?{bad}")).await.status, 400, "{bad}");
    }
}

#[tokio::test]
async fn metrics_are_measured_and_asked_for_by_time() {
    let platform = Platform::start();
    let (busy, idle) = (platform.sandbox().await, platform.sandbox().await);
    let metrics = async |id: &str, query: &str| {
        let answer = platform.api("GET", &format!("/sandboxes/{id}/metrics{query}")).send().await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.value().as_array().unwrap().clone()
    };
    let newest = async |id: &str| metrics(id, "").await.pop().unwrap();
    let first = newest(&busy.id).await;
    for (name, least) in [("cpuCount", 1), ("memUsed", 100_000), ("memTotal", 1 << 20), ("diskUsed", 0), ("diskTotal", 1 << 20)] {
        assert!(first[name].as_i64().unwrap() >= least, "{name}: {first}");
    }
    // A process that holds memory and never rests, and a file.
    busy.succeed("perl -e '$x = \"x\" x 50_000_000; print STDERR 1; 1 while 1' </dev/null >/dev/null 2>begun & until [ -s begun ]; do sleep 0.01; done").await;
    busy.succeed("head -c 20000000 /dev/zero | tr '\\0' x > big").await;
    loop {
        let now = newest(&busy.id).await;
        let more = |name: &str| now[name].as_i64().unwrap() - first[name].as_i64().unwrap();
        if more("memUsed") > 40_000_000 && more("diskUsed") >= 20_000_000 && now["cpuUsedPct"].as_f64().unwrap() > 0.0 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    }
    let last = newest(&busy.id).await["timestampUnix"].as_i64().unwrap();
    assert!(newest(&idle.id).await["memUsed"].as_i64().unwrap() < 40_000_000, "each has its own");
    assert!(!metrics(&busy.id, &format!("?start={last}")).await.is_empty());
    assert!(metrics(&busy.id, &format!("?start={}", last + 100)).await.is_empty());
    assert!(metrics(&busy.id, "?end=1000").await.is_empty());
    for bad in ["start=2&end=1", "start=x"] {
        assert_eq!(platform.api("GET", &format!("/sandboxes/{}/metrics?{bad}", busy.id)).send().await.status, 400, "{bad}");
    }
    assert_eq!(platform.api("GET", "/sandboxes/iunknown/metrics").send().await.status, 404);
    assert_eq!(platform.api("POST", &format!("/sandboxes/{}/pause", busy.id)).send().await.status, 204);
    let before = metrics(&busy.id, "").await;
    assert!(!before.is_empty(), "those of a paused sandbox can be read");
    let several =
        platform.api("GET", &format!("/sandboxes/metrics?sandbox_ids={},iunknown,{}", busy.id, idle.id)).send().await.value();
    let several = several["sandboxes"].as_object().unwrap();
    assert_eq!(several.len(), 2);
    assert_eq!(several[&busy.id], *before.last().unwrap());
    for bad in ["sandbox_ids=ia,ia", "sandbox_ids=..", "", "sandbox_ids="] {
        assert_eq!(platform.api("GET", &format!("/sandboxes/metrics?{bad}")).send().await.status, 400, "{bad}");
    }
}

#[tokio::test]
async fn the_log_tells_what_happened_in_both_forms() {
    let platform = Platform::start();
    let sandbox = platform.sandbox().await;
    let logs = async |path: &str| {
        let answer = platform.api("GET", &format!("{path}/logs")).send().await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.value()
    };
    sandbox.run("exit 3").await;
    let v2 = format!("/v2/sandboxes/{}", sandbox.id);
    // envd's lines come beside its answers.
    while !logs(&v2).await.to_string().contains("exit status 3") {}
    for what in ["pause", "resume"] {
        assert!(platform.api("POST", &format!("/sandboxes/{}/{what}", sandbox.id)).send().await.status < 300);
    }
    let get = async |path: String| platform.api("GET", &path).send().await;
    let messages = |answer: &serde_json::Value, list: &str| -> Vec<String> {
        answer[list].as_array().unwrap().iter().map(|entry| entry["message"].as_str().unwrap().to_owned()).collect()
    };
    let wanted = ["sandbox started", "process started", "process ended", "paused", "resumed"];
    let v1 = get(format!("/sandboxes/{}/logs", sandbox.id)).await.value();
    assert_eq!(messages(&v1, "logEntries"), wanted);
    let line: serde_json::Value = serde_json::from_str(v1["logs"][1]["line"].as_str().unwrap()).unwrap();
    assert_eq!(line["fields"]["command"], "/bin/bash -c exit 3");
    assert_eq!(v1["logEntries"][1], line);
    let newest_first: Vec<&str> = wanted.iter().rev().copied().collect();
    let back = get(format!("{v2}/logs")).await.value();
    assert_eq!(messages(&back, "logs"), newest_first);
    let ahead = get(format!("{v2}/logs?direction=forward&limit=2&search=process")).await.value();
    assert_eq!(messages(&ahead, "logs"), wanted[1..3]);
    let paused = back["logs"][1]["timestamp"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap().as_millisecond();
    let from = get(format!("{v2}/logs?direction=forward&cursor={paused}")).await.value();
    assert!(messages(&from, "logs").ends_with(&["paused".into(), "resumed".into()]));
    assert_eq!(get(format!("{v2}/logs?level=error")).await.value(), json!({"logs": []}));
    assert_eq!(get(format!("{v2}/logs?limit=0")).await.value(), json!({"logs": []}));
    for bad in ["limit=1001", "direction=up", "level=loud", &format!("search={}", "x".repeat(257))] {
        assert_eq!(get(format!("{v2}/logs?{bad}")).await.status, 400, "{bad}");
    }
    assert_eq!(get("/v2/sandboxes/iunknown/logs".into()).await.status, 404);
}
