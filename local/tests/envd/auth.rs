//! Sections 2 and 9.1: who may call, as whom, and how a refusal looks in each layer.

use crate::harness::*;
use agent_sandbox_web::protocol::process::*;
use agent_sandbox_web::protocol::signature::{Operation, sign};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::Method;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::json;

const LIST: &str = "/process.Process/List";
const START: &str = "/process.Process/Start";
const JSON: (&str, &str) = ("content-type", "application/json");

fn basic(name: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{name}:")))
}

#[tokio::test]
async fn without_a_token_everything_is_open() {
    let envd = Envd::start().await;
    for target in ["/metrics", "/envs", "/health"] {
        assert!(envd.get(target, &[]).await.status.is_success());
    }
    assert_eq!(envd.post(LIST, &[JSON], "{}").await.status, 200);
}

#[tokio::test]
async fn with_a_token_all_but_health_and_files_want_it() {
    let envd = Envd::secure().await;
    let message = "unauthorized access, please provide a valid access token or method signing if supported";
    for (method, target) in [
        (Method::GET, "/metrics"),
        (Method::GET, "/envs"),
        (Method::POST, "/files/compose"),
        (Method::POST, LIST),
        (Method::POST, START),
        (Method::POST, "/health"),
        (Method::DELETE, "/files"),
        (Method::GET, "/nothing"),
    ] {
        for headers in [&[][..], &[("x-access-token", "wrong")], &[("x-access-token", "")]] {
            assert_eq!(envd.http(method.clone(), target, headers, "").await.message(401), message, "{target}");
        }
    }
    assert_eq!(envd.get("/health", &[]).await.status, 204);
    assert_eq!(envd.post(LIST, &[JSON, ("x-access-token", TOKEN)], "{}").await.status, 200);
}

#[tokio::test]
async fn an_unknown_user_is_a_connect_error_everywhere() {
    let envd = Envd::start().await;
    for (method, target) in [(Method::GET, "/health"), (Method::GET, "/files"), (Method::POST, "/files"), (Method::POST, LIST)] {
        let answer = envd.http(method, target, &[("authorization", &basic("ghost"))], "").await;
        assert_eq!(answer.status, 401, "{target}");
        assert_eq!(answer.json(), json!({ "code": "unauthenticated", "message": "invalid username: 'ghost'" }));
    }
}

#[tokio::test]
async fn an_unknown_user_of_a_stream_is_told_in_its_end() {
    let envd = Envd::start().await;
    for codec in BOTH {
        let headers = [("authorization", &*basic("ghost"))];
        let mut events = envd.open::<StartResponse>(codec, START, &sh("true"), &headers).await;
        let expected = Failure { code: "unauthenticated".into(), message: "invalid username: 'ghost'".into(), status: 200 };
        assert_eq!(events.next().await, Next::End(Some(expected)));
    }
}

#[tokio::test]
async fn a_missing_token_comes_before_an_unknown_user() {
    let envd = Envd::secure().await;
    envd.post(LIST, &[JSON, ("authorization", &basic("ghost"))], "{}").await.message(401);
    let answer = envd.get("/files?path=x", &[("authorization", &basic("ghost"))]).await;
    assert_eq!(answer.json()["code"], "unauthenticated");
}

#[tokio::test]
async fn an_empty_user_is_an_unknown_one() {
    let envd = Envd::start().await;
    let answer = envd.post(LIST, &[JSON, ("authorization", "Basic Og==")], "{}").await;
    assert_eq!(answer.json()["message"], "invalid username: ''");
}

#[tokio::test]
async fn bearer_and_unreadable_basic_count_as_absent() {
    let envd = Envd::start().await;
    for value in ["Bearer x", "Basic !!", "Basic eA==", "Basic"] {
        assert_eq!(envd.post(LIST, &[JSON, ("authorization", value)], "{}").await.status, 200, "{value}");
    }
}

#[tokio::test]
async fn the_named_user_runs_the_process() {
    let envd = Envd::with(json!({ "defaultUser": "" })).await;
    let name = envd.user.name.clone();
    let headers = [("authorization", &*basic(&name))];
    let output = envd.follow_with(Codec::Proto, &sh("id -un; echo $HOME"), &headers).await.events.output().await;
    assert_eq!(output.text(), format!("{name}\n{}\n", envd.user.home));
}

#[tokio::test]
async fn as_root_a_process_drops_to_the_named_user_and_files_become_its_own() {
    let envd = Envd::start().await;
    if envd.user.uid != 0 {
        // Another user than one's own cannot be used then, which is a test of its own.
        return;
    }
    let headers = [("authorization", &*basic("nobody"))];
    let mut request = sh("id -un; id -G; echo $USER");
    request.process.as_mut().unwrap().cwd = Some("/".into());
    let output = envd.follow_with(Codec::Proto, &request, &headers).await.events.output().await;
    assert_eq!(output.text(), "nobody\n65534\nnobody\n");
    request.pty = Some(Pty::default());
    let output = envd.follow_with(Codec::Proto, &request, &headers).await.events.output().await;
    assert!(String::from_utf8_lossy(&output.pty).starts_with("nobody\r\n"));
    let target = format!("/files?username=nobody&path={}", envd.path("new/file"));
    assert_eq!(envd.post(&target, &[("content-type", "application/octet-stream")], "x").await.status, 200);
    let owner = |path: &str| std::os::unix::fs::MetadataExt::uid(&std::fs::metadata(envd.path(path)).unwrap());
    assert_eq!((owner("new"), owner("new/file")), (65534, 65534));
}

#[tokio::test]
async fn not_as_root_another_user_than_ones_own_is_unknown() {
    let envd = Envd::start().await;
    if envd.user.uid == 0 {
        return;
    }
    let answer = envd.post(LIST, &[JSON, ("authorization", &basic("root"))], "{}").await;
    assert_eq!(answer.json()["message"], "invalid username: 'root'");
}

#[tokio::test]
async fn an_unknown_default_user_is_told_by_the_operation() {
    let envd = Envd::with(json!({ "defaultUser": "ghost" })).await;
    let failure = envd.open::<StartResponse>(Codec::Json, START, &sh("true"), &[]).await.failure().await;
    assert_eq!((failure.code.as_str(), failure.message.as_str()), ("unauthenticated", "invalid default user: 'ghost'"));
    assert_eq!(envd.get("/files?path=x", &[]).await.message(401), "invalid default user: 'ghost'");
}

#[tokio::test]
async fn without_any_user_operations_are_refused() {
    let envd = Envd::with(json!({ "defaultUser": "" })).await;
    let failure = envd.open::<StartResponse>(Codec::Proto, START, &sh("true"), &[]).await.failure().await;
    assert_eq!((failure.code.as_str(), failure.message.as_str()), ("unauthenticated", "no user specified"));
    assert_eq!(envd.get("/files?path=x", &[]).await.message(400), "no user specified");
}

/// A signed target of `/files`.
fn signed(path: &str, operation: Operation, user: &str, expiration: Option<u64>) -> String {
    let encode = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
    let mut target = format!("/files?path={}&signature={}", encode(path), encode(&sign(path, operation, user, TOKEN, expiration)));
    if !user.is_empty() {
        target.push_str(&format!("&username={}", encode(user)));
    }
    if let Some(expiration) = expiration {
        target.push_str(&format!("&signature_expiration={expiration}"));
    }
    target
}

fn now() -> u64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs()
}

#[tokio::test]
async fn a_signature_opens_one_path_for_one_operation() {
    let envd = Envd::secure().await;
    let path = envd.path("ä +%.txt");
    let write = signed(&path, Operation::Write, "", None);
    let raw = [("content-type", "application/octet-stream")];
    assert_eq!(envd.post(&write, &raw, "x").await.status, 200);
    assert_eq!(envd.get(&signed(&path, Operation::Read, "", None), &[]).await.text(), "x");
    assert_eq!(envd.get(&signed(&path, Operation::Read, &envd.user.name, Some(now() + 60)), &[]).await.text(), "x");
    assert_eq!(envd.get(&write, &[]).await.message(401), "invalid signature");
    let other = signed(&path, Operation::Read, "", None).replace("txt", "tx");
    assert_eq!(envd.get(&other, &[]).await.message(401), "invalid signature");
}

#[tokio::test]
async fn files_without_a_signature_or_token_are_refused() {
    let envd = Envd::secure().await;
    assert_eq!(envd.get("/files?path=x", &[]).await.message(401), "missing signature query parameter");
    assert_eq!(envd.post("/files?path=x", &[], "").await.message(401), "missing signature query parameter");
    std::fs::write(envd.path("x"), "x").unwrap();
    let answer = envd.get(&format!("/files?path={}", envd.path("x")), &[("x-access-token", TOKEN)]).await;
    assert_eq!(answer.text(), "x");
}

#[tokio::test]
async fn a_wrong_token_is_not_rescued_by_a_signature() {
    let envd = Envd::secure().await;
    std::fs::write(envd.path("x"), "x").unwrap();
    let target = signed(&envd.path("x"), Operation::Read, "", None);
    let answer = envd.get(&target, &[("x-access-token", "wrong")]).await;
    assert_eq!(answer.message(401), "access token present in header but does not match");
}

#[tokio::test]
async fn an_expired_signature_is_refused_and_its_time_cannot_be_changed() {
    let envd = Envd::secure().await;
    std::fs::write(envd.path("x"), "x").unwrap();
    let target = signed(&envd.path("x"), Operation::Read, "", Some(now() - 5));
    assert_eq!(envd.get(&target, &[]).await.message(401), "signature is already expired");
    let later = target.replace(&(now() - 5).to_string(), &(now() + 500).to_string());
    if later != target {
        assert_eq!(envd.get(&later, &[]).await.message(401), "invalid signature");
    }
}

#[tokio::test]
async fn compose_takes_no_signature() {
    let envd = Envd::secure().await;
    let target = signed("", Operation::Write, "", None).replace("/files", "/files/compose");
    envd.post(&target, &[JSON], "{}").await.message(401);
}
