//! The page that shows HTML results: an origin that knows nothing and reaches nothing.

use super::support::Platform;
use serde_json::json;

#[tokio::test]
async fn the_page_of_results_is_sealed_off_and_may_be_embedded_by_the_pages_that_may_call() {
    let platform = Platform::start_with(&["--origin", "https://app.example"]);
    let page = platform.call("GET", "/").host("results.localhost:{port}").send().await;
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    assert!(page.text().contains("postMessage"));
    let policy = page.header("content-security-policy").unwrap();
    for part in [
        "sandbox allow-scripts;",
        "default-src 'none';",
        "base-uri 'none';",
        "form-action 'none';",
        "frame-ancestors http://localhost:* https://localhost:* http://127.0.0.1:* https://127.0.0.1:* https://app.example",
    ] {
        assert!(policy.contains(part), "{policy}");
    }
    assert!(!policy.contains("allow-same-origin") && !policy.contains("connect-src"), "{policy}");
    assert!(page.header("access-control-allow-origin").is_none());
}

#[tokio::test]
async fn the_host_of_results_leads_to_nothing_else_whatever_the_request_says() {
    let console = tempfile::tempdir().unwrap();
    std::fs::write(console.path().join("index.html"), "<!doctype html>console").unwrap();
    let platform = Platform::start_with(&["--console", console.path().to_str().unwrap()]);
    let sandbox = platform.sandbox().await;
    for (method, path) in [
        ("GET", "/index.html"),
        ("GET", "/plotly.min.js"),
        ("GET", "/console/config"),
        ("POST", "/console/session"),
        ("GET", "/sandboxes"),
        ("POST", "/sandboxes"),
        ("GET", "/v2/sandboxes"),
        ("GET", "/health"),
        ("GET", "/code-cells"),
        ("POST", "/"),
        ("OPTIONS", "/sandboxes"),
        ("GET", &format!("/s/{}/49983/health", sandbox.id)),
    ] {
        let call = platform.api(method, path).host("results.localhost:{port}").header("e2b-sandbox-id", &sandbox.id);
        let answer = call.header("e2b-sandbox-port", "49983").json(&json!({ "templateID": "base" })).send().await;
        assert_eq!(answer.status, 404, "{method} {path}");
        assert!(answer.header("access-control-allow-origin").is_none(), "{method} {path}");
    }
    for origin in [format!("http://results.localhost:{}", platform.port()), "null".to_owned()] {
        assert_eq!(platform.api("GET", "/sandboxes").header("origin", &origin).send().await.status, 403, "{origin}");
    }
}
