//! Forks and snapshots.

use super::support::{Answer, Platform, Sandbox, Who};
use serde_json::{Value, json};

async fn post(platform: &Platform, sandbox: &Sandbox, what: &str, body: Value) -> Answer {
    platform.api("POST", &format!("/sandboxes/{}/{what}", sandbox.id)).json(&body).send().await
}

/// What a copy must keep: odd names, links of both kinds, holes, modes, attributes; and something that runs.
const FILL: &str = "mkdir -p 'a b/ü'; echo deep > 'a b/ü/file'; ln 'a b/ü/file' twin; ln -s /etc/passwd link; truncate -s 64M hole; \
    echo x > x; chmod 640 x; touch -d 2001-02-03T04:05:06Z x; mkdir sealed; chmod 555 sealed; echo t > /tmp/t; mkfifo pipe; \
    (while true; do date >> busy; sleep 0.01; done) </dev/null >/dev/null 2>&1 &";

const LOOK: &str = "cat 'a b/ü/file' /tmp/t; stat -c '%h %s' twin; readlink link; stat -c '%s %b' hole | awk '{print $1, $2 < 1000}'; \
    stat -c '%a %U %Y' x; stat -c %a sealed; [ -p pipe ] && echo pipe; touch mine && echo writable; pgrep -f bus[y] || echo nothing runs";

const SEEN: &str = "deep\nt\n2 5\n/etc/passwd\n67108864 1\n640 user 981173106\n555\npipe\nwritable\nnothing runs\n";

#[tokio::test]
async fn forks_have_the_files_and_a_life_of_their_own() {
    for who in Who::all() {
        let platform = Platform::start_as(who, &[]);
        let members = json!({"secure": true, "metadata": {"a": "b"}, "envVars": {"X": "1"}, "allow_internet_access": false});
        let source = platform.sandbox_of(members).await;
        source.succeed(FILL).await;
        let answer = post(&platform, &source, "fork", json!({"timeout": 600, "count": 2})).await;
        assert_eq!(answer.status, 201, "{}", answer.text());
        let forks = answer.value();
        let forks: Vec<Sandbox> = forks
            .as_array()
            .unwrap()
            .iter()
            .map(|item| {
                assert_eq!(item["sandbox"]["contents"], "filesystem only");
                assert!(item.get("error").is_none());
                Sandbox::new(platform.port(), item["sandbox"].clone())
            })
            .collect();
        assert_eq!(forks.len(), 2);
        assert_ne!(forks[0].created["envdAccessToken"], source.created["envdAccessToken"]);
        for fork in &forks {
            assert_eq!(fork.succeed(LOOK).await, SEEN, "{who:?}");
            assert_eq!(fork.succeed("echo $X; ls /proc/sys/net/ipv4/conf | grep -v -e all -e default").await, "1\nlo\n");
            let detail = platform.api("GET", &format!("/sandboxes/{}", fork.id)).send().await.value();
            assert_eq!((&detail["metadata"], &detail["allowInternetAccess"]), (&json!({"a": "b"}), &json!(false)));
        }
        forks[0].succeed("echo changed > x").await;
        assert_eq!(forks[1].succeed("cat x").await, "x\n");
        // The source went on.
        source.succeed("n=$(wc -l < busy); until [ $(wc -l < busy) -gt $n ]; do sleep 0.01; done").await;
        for bad in [json!({"count": 0}), json!({"count": 101}), json!({"timeout": 0}), json!({"count": "2"})] {
            assert_eq!(post(&platform, &source, "fork", bad.clone()).await.status, 400, "{bad}");
        }
        assert_eq!(post(&platform, &source, "pause", json!({})).await.status, 204);
        assert_eq!(post(&platform, &source, "fork", json!({})).await.status, 409);
        assert_eq!(platform.api("POST", "/sandboxes/iunknown/fork").send().await.status, 404);
    }
}

#[tokio::test]
async fn snapshots_outlive_their_sandbox_and_the_platform() {
    for who in Who::all() {
        let platform = Platform::start_as(who, &[]);
        let source = platform.sandbox_of(json!({"envVars": {"KEPT": "1", "CHANGED": "1"}})).await;
        source.succeed(FILL).await;
        let made = post(&platform, &source, "snapshots", json!({"name": "Mine:v1"})).await;
        assert_eq!(made.status, 201, "{}", made.text());
        let wanted = json!({"snapshotID": "local/mine:v1", "names": ["local/mine"], "contents": "filesystem only"});
        assert_eq!(made.value(), wanted);
        let bare = platform.api("POST", &format!("/sandboxes/{}/snapshots", source.id)).send().await;
        let unnamed = bare.value();
        let id = unnamed["snapshotID"].as_str().unwrap().to_owned();
        assert!(id.ends_with(":default"), "{id}");
        assert_eq!(unnamed["names"], json!([]));
        assert_eq!(platform.api("DELETE", &format!("/sandboxes/{}", source.id)).send().await.status, 204);
        platform.signal("TERM");
        let platform = platform.restart_as(who, &[]);
        for template in [id.as_str(), "mine:v1"] {
            let sandbox = platform.sandbox_of(json!({"templateID": template, "envVars": {"CHANGED": "2"}})).await;
            assert_eq!(sandbox.succeed(LOOK).await, SEEN, "{who:?} {template}");
            assert_eq!(sandbox.succeed("echo $KEPT $CHANGED").await, "1 2\n");
        }
        assert_eq!(platform.api("POST", "/sandboxes").json(&json!({"templateID": "mine"})).send().await.status, 404);
    }
}

#[tokio::test]
async fn snapshots_are_listed_in_pages_and_deleted() {
    let platform = Platform::start();
    let (one, two) = (platform.sandbox().await, platform.sandbox().await);
    let mut made = Vec::new();
    for (sandbox, body) in
        [(&one, json!({})), (&one, json!({"name": "named"})), (&one, json!({"name": "named:b"})), (&two, json!({}))]
    {
        let answer = post(&platform, sandbox, "snapshots", body).await;
        made.insert(0, answer.value()["snapshotID"].as_str().unwrap().to_owned());
    }
    let list = async |path: &str| {
        let answer = platform.api("GET", path).send().await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        let ids: Vec<String> =
            answer.value().as_array().unwrap().iter().map(|item| item["snapshotID"].as_str().unwrap().to_owned()).collect();
        (ids, answer.header("x-next-token").map(str::to_owned))
    };
    assert_eq!(list("/snapshots").await, (made.clone(), None));
    let (first, token) = list("/snapshots?limit=3").await;
    assert_eq!(first, made[..3]);
    assert_eq!(list(&format!("/snapshots?limit=3&nextToken={}", token.unwrap())).await, (made[3..].to_vec(), None));
    assert_eq!(list(&format!("/snapshots?sandboxID={}", two.id)).await.0, made[..1]);
    assert_eq!(list("/snapshots?name=named").await.0, made[1..3]);
    assert_eq!(list("/snapshots?name=local/named:b").await.0, made[1..2]);
    for bad in ["limit=0", "limit=101", "nextToken=x", "name=a/../b", "name=..", "sandboxID=.."] {
        assert_eq!(platform.api("GET", &format!("/snapshots?{bad}")).send().await.status, 400, "{bad}");
    }
    for bad in ["../x", "..", "a b", "other/name", "base", "a:..", "/etc"] {
        let answer = post(&platform, &one, "snapshots", json!({"name": bad})).await;
        assert_eq!(answer.status, 400, "{bad}: {}", answer.text());
    }
    let delete = async |id: &str| {
        let id = id.replace('/', "%2F").replace(':', "%3A");
        platform.api("DELETE", &format!("/templates/{id}")).send().await.status
    };
    let user = platform.sandbox_of(json!({"templateID": "named"})).await;
    assert_eq!(delete("local/named:b").await, 400, "a sandbox was made from it");
    assert_eq!(platform.api("DELETE", &format!("/sandboxes/{}", user.id)).send().await.status, 204);
    assert_eq!(delete("local/named:b").await, 204);
    assert_eq!(list("/snapshots").await.0, [made[0].clone(), made[3].clone()], "the tag is ignored");
    for (bad, status) in [("local/named", 404), ("base", 400), ("..", 400), ("../sandboxes", 400), ("a/b/c", 400)] {
        assert_eq!(delete(bad).await, status, "{bad}");
    }
    assert_eq!(post(&platform, &one, "pause", json!({})).await.status, 204);
    assert_eq!(post(&platform, &one, "snapshots", json!({})).await.status, 404);
    assert_eq!(std::fs::read_dir(platform.data().join("snapshots")).unwrap().count(), 2);
}

#[tokio::test]
async fn a_copy_that_does_not_fit_leaves_nothing_behind() {
    let platform = Platform::start();
    let source = platform.sandbox().await;
    source.succeed("head -c 3000000 /dev/zero | tr '\\0' x > big; echo up > small").await;
    // From here on the platform, and what it starts, can write no file of more than a megabyte: as good as a full disk.
    let limit = |bytes: &str| {
        let limited = std::process::Command::new("prlimit")
            .args(["--pid", &platform.pid().to_string(), &format!("--fsize={bytes}:")])
            .status();
        assert!(limited.unwrap().success());
    };
    limit("1000000");
    let forks = post(&platform, &source, "fork", json!({"count": 2})).await;
    assert_eq!(forks.status, 201, "partial failure is told in the array");
    for item in forks.value().as_array().unwrap() {
        assert_eq!(item["error"]["code"], 500);
        assert!(!item["error"]["message"].as_str().unwrap().contains('/'), "no path of the host: {item}");
        assert!(item.get("sandbox").is_none());
    }
    assert_eq!(post(&platform, &source, "snapshots", json!({})).await.status, 500);
    assert_eq!(platform.sandbox_folders(), std::slice::from_ref(&source.id));
    assert_eq!(std::fs::read_dir(platform.data().join("snapshots")).unwrap().count(), 0);
    assert_eq!(platform.api("GET", "/snapshots").send().await.value(), json!([]));
    // The source goes on.
    assert_eq!(source.succeed("cat small").await, "up\n");
    // A pause that cannot be written down does not happen.
    limit("10");
    assert_eq!(post(&platform, &source, "pause", json!({})).await.status, 500);
    limit("unlimited");
    assert_eq!(source.succeed("cat small").await, "up\n");
    assert_eq!(post(&platform, &source, "pause", json!({})).await.status, 204);
}
