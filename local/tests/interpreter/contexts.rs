//! Contexts: making, listing, restarting, removing; their folders and languages.

use super::role::{Role, deno, error, main_text, of_type, text};
use hyper::Method;
use serde_json::{Value, json};

async fn list(role: &Role) -> Vec<Value> {
    let (status, _, body) = role.call(Method::GET, "/contexts", None).await;
    assert_eq!(status, 200);
    serde_json::from_str(&body).expect("a list")
}

#[tokio::test]
async fn defaults_are_listed_from_the_start_and_run_what_names_no_context() {
    let role = Role::start();
    let home = role.home().display().to_string();
    let before = list(&role).await;
    assert_eq!(before.len(), if deno().is_some() { 2 } else { 1 });
    assert_eq!((&before[0]["language"], &before[0]["cwd"]), (&json!("python"), &json!(home)));
    role.python("x = 1").await;
    for body in [
        json!({ "language": " Python " }),
        json!({ "context_id": "default" }),
        json!({ "context_id": before[0]["id"] }),
        json!({ "language": "", "context_id": "" }),
    ] {
        let mut body = body;
        body["code"] = json!("x");
        assert_eq!(main_text(&role.run(body).await), "1");
    }
    assert_eq!(list(&role).await, before);
}

#[tokio::test]
async fn contexts_are_apart_and_start_in_their_folders() {
    let role = Role::start();
    std::fs::create_dir(role.home().join("work")).expect("a folder");
    let folder = role.home().join("work").display().to_string();
    let (status, _, body) = role.call(Method::POST, "/contexts", Some(json!({ "cwd": folder, "language": null }))).await;
    assert_eq!(status, 200);
    let context: Value = serde_json::from_str(&body).expect("a context");
    assert_eq!((&context["language"], &context["cwd"]), (&json!("python"), &json!(folder)));
    let id = context["id"].as_str().expect("an id");
    assert_eq!(main_text(&role.run(json!({ "code": "import os; y = 1; os.getcwd()", "context_id": id })).await), folder);
    assert_eq!(error(&role.python("y").await)["name"], "NameError");
    assert!(list(&role).await.contains(&context));

    // A folder that does not exist is echoed, and the kernel starts at home.
    let (status, _, body) = role.call(Method::POST, "/contexts", Some(json!({ "cwd": "/does/not/exist" }))).await;
    assert!(status == 200 && body.contains("/does/not/exist"), "{body}");
    let context: Value = serde_json::from_str(&body).expect("a context");
    let events = role
        .run(json!({ "code": "os.getcwd() if 'os' in globals() else __import__('os').getcwd()", "context_id": context["id"] }))
        .await;
    assert_eq!(main_text(&events), role.home().display().to_string());
}

#[tokio::test]
async fn restart_keeps_the_id_and_loses_the_state() {
    let role = Role::start();
    let id = role.context(json!({})).await;
    role.run(json!({ "code": "z = 1", "context_id": id })).await;
    let (status, _, body) = role.call(Method::POST, &format!("/contexts/{id}/restart"), None).await;
    assert_eq!((status, body.as_str()), (200, "null"));
    let events = role.run(json!({ "code": "z", "context_id": id })).await;
    assert_eq!(error(&events)["name"], "NameError");
    assert_eq!(events[0]["execution_count"], 1);

    for (method, path) in [(Method::POST, "/contexts/none/restart"), (Method::DELETE, "/contexts/none")] {
        let (status, headers, body) = role.call(method, path, None).await;
        assert_eq!((status, body.as_str()), (404, "Context none not found"));
        assert!(headers["content-type"].to_str().expect("text").starts_with("text/plain"));
    }
}

#[tokio::test]
async fn bash_keeps_its_state_and_reports_failures() {
    let role = Role::start();
    let events = role.run(json!({ "code": "cd /usr\nname=world\necho out; echo err >&2", "language": "bash" })).await;
    assert!(text(&events, "stdout").contains("out"), "{events:?}");
    let events = role.run(json!({ "code": "echo \"hello $name in $PWD\"", "language": "BASH" })).await;
    assert_eq!(text(&events, "stdout"), "hello world in /usr\n");
    let events = role.run(json!({ "code": "false", "language": "bash" })).await;
    assert_eq!(*error(&events), json!({ "type": "error", "name": "", "value": "1", "traceback": "" }));
    // The second is deaf to its first interrupt, as bash itself is while it starts a program.
    let deaf = "bash -c 'trap \"trap - INT\" INT; echo deaf; while :; do sleep 0.1; done'";
    for code in ["echo go; sleep 1000", deaf] {
        let mut cell = role.cell(json!({ "code": code, "language": "bash" })).await;
        cell.until("stdout").await;
        drop(cell);
        for word in ["first", "second"] {
            let events = role.run(json!({ "code": format!("echo $name {word}"), "language": "bash" })).await;
            assert_eq!(text(&events, "stdout"), format!("world {word}\n"));
            assert!(of_type(&events, "error").is_empty());
        }
    }
}
