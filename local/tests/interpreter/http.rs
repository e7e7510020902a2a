//! Statuses, headers and error bodies.

use super::role::Role;
use hyper::Method;
use serde_json::{Value, json};

#[tokio::test]
async fn answers_have_the_forms_that_clients_know() {
    let role = Role::start_with(&[], None);
    assert_eq!(role.call(Method::GET, "/health", None).await.2, "\"OK\"");
    for (method, path, status, body) in [
        (Method::HEAD, "/health", 405, ""),
        (Method::GET, "/nothing", 404, r#"{"detail":"Not Found"}"#),
        (Method::GET, "/execute", 405, r#"{"detail":"Method Not Allowed"}"#),
        (Method::GET, "/contexts/x", 405, r#"{"detail":"Method Not Allowed"}"#),
    ] {
        let (given, _, text) = role.call(method, path, None).await;
        assert_eq!((given, text.as_str()), (status, body), "{path}");
    }
    let (status, headers, _) = role.call(Method::GET, "/health/", None).await;
    assert_eq!((status, headers["location"].to_str().expect("text")), (307, "/health"));

    let (status, headers, body) =
        role.call(Method::POST, "/execute", Some(json!({ "code": "1", "context_id": "a", "language": "b" }))).await;
    assert_eq!((status, body.as_str()), (400, "Only one of context_id or language can be provided"));
    assert!(headers["content-type"].to_str().expect("text").starts_with("text/plain"));
    let (status, _, body) = role.call(Method::POST, "/execute", Some(json!({ "code": "1", "context_id": "a" }))).await;
    assert_eq!((status, body.as_str()), (404, "Context a not found"));
}

#[tokio::test]
async fn bodies_that_are_wrong_are_422_with_the_place() {
    let role = Role::start_with(&[], None);
    for (path, body, kind, place) in [
        ("/execute", Some(json!({})), "missing", json!(["body", "code"])),
        ("/execute", Some(json!({ "code": 1 })), "string_type", json!(["body", "code"])),
        ("/execute", Some(json!({ "code": "1", "env_vars": [] })), "dict_type", json!(["body", "env_vars"])),
        ("/contexts", None, "missing", json!(["body"])),
        ("/contexts", Some(json!({ "cwd": 1 })), "string_type", json!(["body", "cwd"])),
    ] {
        let (status, _, text) = role.call(Method::POST, path, body).await;
        let answer: Value = serde_json::from_str(&text).expect("JSON");
        let item = &answer["detail"][0];
        assert_eq!((status, item["type"].as_str(), &item["loc"]), (422, Some(kind), &place));
        assert!(item["msg"].is_string() && item.get("input").is_some());
    }
    let plain = [("content-type", "text/plain")];
    assert_eq!(role.call_with(Method::POST, "/execute", Some(json!({ "code": "1" })), &plain).await.0, 422);
}

#[tokio::test]
async fn pages_of_every_origin_may_read_the_answers() {
    let role = Role::start_with(&[], None);
    assert!(!role.call(Method::GET, "/health", None).await.1.contains_key("access-control-allow-origin"));
    let origin = ("origin", "http://page.example");
    for (method, path) in
        [(Method::GET, "/health"), (Method::GET, "/nothing"), (Method::POST, "/execute"), (Method::DELETE, "/contexts/x")]
    {
        let (_, headers, _) = role.call_with(method, path, None, &[origin]).await;
        assert_eq!(headers["access-control-allow-origin"], "*", "{path}");
        assert!(!headers.contains_key("access-control-allow-credentials"));
    }
    let asked =
        [origin, ("access-control-request-method", "POST"), ("access-control-request-headers", "x-access-token,content-type")];
    let (status, headers, _) = role.call_with(Method::OPTIONS, "/execute", None, &asked).await;
    assert_eq!(status, 200);
    assert_eq!(headers["access-control-allow-headers"], "x-access-token,content-type");
    assert_eq!(headers["access-control-max-age"], "600");
    let (status, _, body) =
        role.call_with(Method::OPTIONS, "/execute", None, &[origin, ("access-control-request-method", "BREW")]).await;
    assert_eq!((status, body.as_str()), (400, "Disallowed CORS method"));
}
