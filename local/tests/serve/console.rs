//! The console's pages, its policy and its token.

use super::support::{KEY, Platform};
use serde_json::json;
use std::fs;
use tempfile::TempDir;

fn pages() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("assets")).unwrap();
    fs::write(folder.path().join("index.html"), "<!doctype html>").unwrap();
    fs::write(folder.path().join("assets/app.wasm"), b"\0asm").unwrap();
    fs::write(folder.path().join("assets/app.js"), "plain").unwrap();
    fs::write(folder.path().join("assets/app.js.br"), "smaller").unwrap();
    fs::write(folder.path().join("assets/app.js.gz"), "small").unwrap();
    folder
}

fn start(pages: &TempDir) -> Platform {
    Platform::start_with(&["--console", pages.path().to_str().unwrap()])
}

#[tokio::test]
async fn the_code_is_exchanged_once_for_a_token_of_the_console_alone() {
    let pages = pages();
    let platform = start(&pages);
    let port = platform.port();
    let url = platform.ready["consoleUrl"].as_str().unwrap();
    let (page, code) = url.split_once("#code=").unwrap();
    assert_eq!(page, format!("http://localhost:{port}/"));
    assert!(code.len() >= 32 && !url.contains(KEY));
    let own = format!("http://localhost:{port}");
    let exchange = |code: &str| platform.call("POST", "/console/session").host("localhost:{port}").json(&json!({ "code": code }));

    assert_eq!(exchange(code).send().await.status, 403, "without an Origin");
    assert_eq!(exchange(code).header("origin", "http://localhost:1").send().await.status, 403, "another port of localhost");
    assert_eq!(exchange("wrong").header("origin", &own).send().await.status, 401);
    let answer = exchange(code).header("origin", &own).send().await;
    assert_eq!((answer.status, answer.header("cache-control")), (200, Some("no-store")));
    let token = answer.value()["token"].as_str().unwrap().to_owned();
    assert_ne!(token, KEY);
    assert_eq!(exchange(code).header("origin", &own).send().await.status, 401, "the code is spent");

    let list = |host: &str| platform.call("GET", "/sandboxes").host(host).header("x-api-key", &token);
    assert_eq!(list("localhost:{port}").send().await.status, 200);
    assert_eq!(list("127.0.0.1:{port}").header("origin", &own).send().await.status, 200);
    assert_eq!(list("127.0.0.1:{port}").send().await.status, 401, "not from elsewhere");
    assert_eq!(list("localhost:{port}").header("origin", "http://localhost:1").send().await.status, 401);
}

#[tokio::test]
async fn files_come_with_their_types_and_a_strict_policy() {
    let pages = pages();
    let platform = start(&pages);
    let get = |path: &str| platform.call("GET", path).host("localhost:{port}");
    let page = get("/").send().await;
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html")));
    assert_eq!(page.header("cache-control"), Some("no-cache"));
    let policy = page.header("content-security-policy").unwrap();
    for part in ["default-src 'none'", "script-src 'self' 'wasm-unsafe-eval';", "frame-ancestors 'none'", "object-src 'none'"] {
        assert!(policy.contains(part), "{policy}");
    }
    assert!(policy.contains(&format!("frame-src http://*.localhost:{};", platform.port())), "{policy}");
    assert!(policy.contains("require-trusted-types-for 'script'; trusted-types lit-html sandbox-inert"), "{policy}");
    let script = policy.split(';').find(|part| part.trim().starts_with("script-src")).unwrap();
    assert!(!script.contains("unsafe-inline") && !script.contains("'unsafe-eval'"));
    let wasm = get("/assets/app.wasm").send().await;
    assert_eq!((wasm.header("content-type"), wasm.body.as_ref()), (Some("application/wasm"), b"\0asm".as_slice()));
    assert!(wasm.header("cache-control").unwrap().contains("immutable"));
    assert_eq!(get("/sandbox/iabc").header("accept", "text/html").send().await.text(), "<!doctype html>");
    for missing in ["/missing.js", "/assets/missing.js", "/../Cargo.toml", "/%2e%2e/secret", "/assets/%2e%2e/%2e%2e/secret"] {
        assert_eq!(get(missing).send().await.status, 404, "{missing}");
    }
    assert_eq!(get("/missing.js").send().await.header("x-content-type-options"), Some("nosniff"));
}

#[tokio::test]
async fn a_file_comes_in_the_smallest_form_that_the_browser_takes_and_is_kept() {
    let pages = pages();
    let platform = start(&pages);
    let get =
        |accepted: &str| platform.call("GET", "/assets/app.js").host("localhost:{port}").header("accept-encoding", accepted).send();
    for (accepted, encoding, content) in [
        ("gzip, deflate, br, zstd", Some("br"), "smaller"),
        ("gzip, deflate", Some("gzip"), "small"),
        ("br;q=0, gzip;q=0", None, "plain"),
        ("identity", None, "plain"),
    ] {
        let script = get(accepted).await;
        assert_eq!((script.header("content-encoding"), script.text().as_str()), (encoding, content), "{accepted}");
        assert_eq!(script.header("content-type"), Some("text/javascript"), "{accepted}");
        assert_eq!(script.header("vary"), Some("accept-encoding"), "{accepted}");
        assert_eq!(script.header("cache-control"), Some("public, max-age=31536000, immutable"), "{accepted}");
    }
    // What has no hash in its name is asked for again, and then not sent again.
    let page = platform.call("GET", "/").host("localhost:{port}").send().await;
    assert_eq!(page.header("cache-control"), Some("no-cache"));
    let tag = page.header("etag").unwrap();
    let again = platform.call("GET", "/").host("localhost:{port}").header("if-none-match", tag).send().await;
    assert_eq!((again.status, again.header("cache-control"), again.body.len()), (304, Some("no-cache"), 0));
}

#[tokio::test]
async fn the_configuration_has_no_secret() {
    let pages = pages();
    let platform = start(&pages);
    let port = platform.port();
    let answer = platform.call("GET", "/console/config").host("localhost:{port}").send().await;
    assert_eq!(
        answer.value(),
        json!({
            "apiUrl": format!("http://localhost:{port}"),
            "sandboxUrl": format!("http://127.0.0.1:{port}/s/{{sandboxId}}/{{port}}"),
            "sandboxHostUrl": format!("http://{{port}}-{{sandboxId}}.localhost:{port}"),
            "resultsUrl": format!("http://results.localhost:{port}/"),
            "version": env!("CARGO_PKG_VERSION"),
            "isolation": "bwrap",
            "elsewhere": [],
        })
    );
}
