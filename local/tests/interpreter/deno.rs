//! JavaScript and TypeScript, where Deno is installed with the workspace's npm packages.

use super::role::{Role, deno, error, main_text, of_type, text};
use serde_json::json;

#[tokio::test]
async fn javascript_and_typescript_keep_their_state_apart() {
    if deno().is_none() {
        eprintln!("skipped: no deno in node_modules");
        return;
    }
    let role = Role::start();
    let run = async |language: &str, code: &str| role.run(json!({ "code": code, "language": language })).await;
    let events = run("js", "const n = 20; console.log('out'); console.error('err'); n + 1").await;
    assert_eq!(
        (text(&events, "stdout"), text(&events, "stderr"), main_text(&events)),
        ("out\n".into(), "err\n".into(), "21".into())
    );
    assert_eq!(main_text(&run("javascript", "n * 2").await), "40");
    assert_eq!(main_text(&run("ts", "const s: string = 'typed'; s").await), "typed");
    assert_eq!(error(&run("ts", "n").await)["name"], "ReferenceError");
    assert_eq!(error(&run("js", "throw new TypeError('no')").await)["value"], "no");
    // Deno says that it is idle before it sends values; none may be lost or slip into the next cell.
    for number in 0..50 {
        assert_eq!(main_text(&run("js", &format!("await Promise.resolve({number})")).await), number.to_string());
    }
    let events = role.run(json!({ "code": "process.env.ODD", "language": "js", "env_vars": { "ODD": "it's `odd`\n\"é\\" } })).await;
    assert!(main_text(&events).contains("odd"), "{events:?}");
    assert!(of_type(&run("js", "process.env.ODD").await, "result").is_empty());
}

#[tokio::test]
async fn an_abandoned_cell_is_stopped() {
    if deno().is_none() {
        eprintln!("skipped: no deno in node_modules");
        return;
    }
    let role = Role::start();
    let mut cell = role.cell(json!({ "code": "console.log('go'); while (true) {}", "language": "js" })).await;
    cell.until("stdout").await;
    drop(cell);
    assert_eq!(main_text(&role.run(json!({ "code": "1 + 1", "language": "js" })).await), "2");
}
