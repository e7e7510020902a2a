//! Who may call under which name, from which page.

use super::support::Platform;

#[tokio::test]
async fn a_foreign_host_is_refused_and_the_flag_named() {
    let platform = Platform::start_with(&["--allow-host", "box.lan"]);
    let sandbox = platform.sandbox().await;
    for path in ["/sandboxes".to_owned(), "/health".to_owned(), "/".to_owned(), format!("/s/{}/49983/health", sandbox.id)] {
        for host in ["evil.example:{port}", "localhost.evil.example", "10.0.0.1:{port}", "127.0.0.1.nip.io"] {
            let answer = platform.api("GET", &path).host(host).send().await;
            assert_eq!(answer.status, 403, "{host}{path}");
            assert!(answer.message().contains("--allow-host"), "{}", answer.message());
        }
    }
    let routed = platform.call("GET", "/health").host("evil.example").header("e2b-sandbox-id", &sandbox.id);
    assert_eq!(routed.header("e2b-sandbox-port", "49983").send().await.status, 403);
    for host in ["localhost:{port}", "127.0.0.1:9", "[::1]:{port}", "box.lan"] {
        assert_eq!(platform.api("GET", "/sandboxes").host(host).send().await.status, 200, "{host}");
    }
}

#[tokio::test]
async fn a_foreign_origin_is_refused_also_with_the_key_and_the_flag_named() {
    let platform = Platform::start_with(&["--origin", "https://app.example"]);
    let sandbox = platform.sandbox().await;
    let own = format!("http://3000-{}.localhost:{}", sandbox.id, platform.port());
    for origin in ["https://evil.example", "null", "http://localhost.evil.example", own.as_str()] {
        for (method, path) in
            [("GET", "/sandboxes"), ("OPTIONS", "/sandboxes"), ("DELETE", "/sandboxes/iabc"), ("POST", "/console/session")]
        {
            let answer =
                platform.api(method, path).header("origin", origin).header("access-control-request-method", "GET").send().await;
            assert_eq!(answer.status, 403, "{origin} {method} {path}");
            assert!(answer.message().contains("--origin"), "{}", answer.message());
            assert!(answer.header("access-control-allow-origin").is_none());
        }
    }
    for origin in ["http://localhost:5173", "http://127.0.0.1:1", "https://app.example"] {
        let answer = platform.api("GET", "/v2/sandboxes").header("origin", origin).send().await;
        assert_eq!((answer.status, answer.header("access-control-allow-origin")), (200, Some(origin)));
        assert!(answer.header("access-control-expose-headers").unwrap().contains("x-next-token"));
        let preflight = platform.call("OPTIONS", "/v2/sandboxes").header("origin", origin);
        let preflight =
            preflight.header("access-control-request-method", "DELETE").header("access-control-request-headers", "x-api-key,x-new");
        let preflight = preflight.header("access-control-request-private-network", "true").send().await;
        assert_eq!(preflight.status, 200);
        assert_eq!(preflight.header("access-control-allow-origin"), Some(origin));
        assert_eq!(preflight.header("access-control-allow-headers"), Some("x-api-key,x-new"));
        assert_eq!(preflight.header("access-control-allow-private-network"), Some("true"));
        let wrong_key = platform.call("GET", "/sandboxes").header("origin", origin).send().await;
        assert_eq!((wrong_key.status, wrong_key.header("access-control-allow-origin")), (401, Some(origin)), "a page can read why");
    }
}

#[tokio::test]
async fn console_and_sandboxes_by_path_are_each_refused_on_the_others_host() {
    let console = tempfile::tempdir().unwrap();
    std::fs::write(console.path().join("index.html"), "<!doctype html>console").unwrap();
    let platform = Platform::start_with(&["--console", console.path().to_str().unwrap()]);
    let sandbox = platform.sandbox().await;
    let path = format!("/s/{}/49983/health", sandbox.id);
    assert_eq!(platform.call("GET", &path).send().await.status, 204);
    let refused = platform.call("GET", &path).host("localhost:{port}").send().await;
    assert_eq!(refused.status, 403);
    assert!(refused.message().contains("127.0.0.1"), "{}", refused.message());
    assert_eq!(platform.call("GET", "/").host("localhost:{port}").send().await.text(), "<!doctype html>console");
    for asked in ["/", "/index.html", "/assets/x.js", "/console/config"] {
        let refused = platform.call("GET", asked).send().await;
        assert_eq!(refused.status, 403, "{asked}");
        assert!(refused.message().contains("http://localhost:"), "{}", refused.message());
    }
    assert_eq!(platform.call("GET", "/").host(&format!("49983-{}.localhost:{{port}}", sandbox.id)).send().await.status, 404);
}
