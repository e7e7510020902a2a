//! Environment variables: of the sandbox, and of one cell.

use super::role::{Role, main_text, of_type, text};
use hyper::Method;
use serde_json::json;

const ODD: &str = "it's \"odd\"\n$HOME `ls` \\n \\ é😀 {x} %s \\";

#[tokio::test]
async fn variables_of_a_cell_hold_anything_and_are_gone_afterwards() {
    let role = Role::start_with(&[("SANDBOX_WIDE", "wide"), ("OVERRIDDEN", "before")], None);
    let variables = json!({ "ODD": ODD, "OVERRIDDEN": "inside", "HOME": "/elsewhere" });
    let look =
        "import os, json; print(json.dumps([os.environ.get(name) for name in ['ODD', 'OVERRIDDEN', 'SANDBOX_WIDE', 'HOME']]))";
    let seen = |events: &[serde_json::Value]| serde_json::from_str::<serde_json::Value>(&text(events, "stdout")).expect("a list");
    let events = role.run(json!({ "code": look, "env_vars": variables })).await;
    assert_eq!(seen(&events), json!([ODD, "inside", "wide", "/elsewhere"]));
    let home = role.home().display().to_string();
    let events = role.python(look).await;
    assert_eq!(seen(&events), json!([null, "before", "wide", home]));
    // Neither counts nor shows, and a cell that is a magic works.
    assert_eq!(events[0]["execution_count"], 2);
    let events = role.run(json!({ "code": "%%bash\nprintf '%s' \"$ODD\"", "env_vars": variables })).await;
    assert_eq!(text(&events, "stdout"), ODD);
    // After an error too.
    role.run(json!({ "code": "1/0", "env_vars": { "OVERRIDDEN": "x" } })).await;
    assert_eq!(main_text(&role.python("os.environ['OVERRIDDEN']").await), "before");
}

#[tokio::test]
async fn variables_reach_bash_cells_whatever_they_hold() {
    let role = Role::start_with(&[("KEPT", "kept")], None);
    let run = async |code: &str, variables| role.run(json!({ "code": code, "language": "bash", "env_vars": variables })).await;
    let events = run(
        "python3 -c 'import os, sys; sys.stdout.write(os.environ[\"ODD\"] + os.environ[\"KEPT\"])'",
        json!({ "ODD": ODD, "KEPT": "new" }),
    )
    .await;
    assert_eq!(text(&events, "stdout").trim_end_matches('\n'), format!("{ODD}new"));
    let events = run("echo \"[$ODD$KEPT]\"", json!({})).await;
    assert_eq!(text(&events, "stdout"), "[kept]\n");
    assert!(of_type(&events, "error").is_empty());
}

#[tokio::test]
async fn variables_that_cannot_be_set_are_refused() {
    let role = Role::start_with(&[], None);
    for (language, variables) in [
        ("python", json!({ "": "x" })),
        ("python", json!({ "A=B": "x" })),
        ("python", json!({ "A": "\0" })),
        ("bash", json!({ "A B": "x" })),
    ] {
        let body = json!({ "code": "1", "language": language, "env_vars": variables });
        let (status, _, text) = role.call(Method::POST, "/execute", Some(body)).await;
        assert_eq!(status, 400, "{text}");
    }
}
