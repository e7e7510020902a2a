//! Where the service that the wire comes from hangs or fails without a word.

use super::role::{Role, main_text, of_type};
use hyper::Method;
use serde_json::json;

#[tokio::test]
async fn odd_messages_do_not_silence_the_context() {
    let role = Role::start();
    let events =
        role.python("from IPython.display import display\ndisplay({'text/plain': {'not': ['text']}}, raw=True)\n'after'").await;
    let texts: Vec<_> =
        of_type(&events, "result").iter().map(|result| result["text"].as_str().unwrap_or_default().to_owned()).collect();
    assert_eq!(texts.len(), 2, "{events:?}");
    assert!(texts[0].contains("not") && texts[1] == "after");
    assert_eq!(main_text(&role.python("1").await), "1");
}

#[tokio::test]
async fn a_removed_default_context_is_made_anew() {
    let role = Role::start();
    role.python("x = 1").await;
    let (_, _, list) = role.call(Method::GET, "/contexts", None).await;
    let list: serde_json::Value = serde_json::from_str(&list).expect("JSON");
    let id = list[0]["id"].as_str().expect("an id").to_owned();
    assert_eq!(role.call(Method::DELETE, &format!("/contexts/{id}"), None).await.0, 200);
    assert_eq!(main_text(&role.python("'x' in globals()").await), "False");
    assert_eq!(main_text(&role.run(json!({ "code": "2", "language": "python" })).await), "2");
    assert_eq!(main_text(&role.run(json!({ "code": "3", "context_id": "default" })).await), "3");
}

#[tokio::test]
async fn languages_without_a_kernel_are_refused_with_the_reason() {
    let role = Role::start_with(&[], None);
    for path in ["/contexts", "/execute"] {
        let (status, _, body) = role.call(Method::POST, path, Some(json!({ "code": "1", "language": "r" }))).await;
        assert_eq!(status, 500);
        assert!(body.starts_with("Failed to create context: ") && body.contains("\"r\""), "{body}");
        let (status, _, body) = role.call(Method::POST, path, Some(json!({ "code": "1", "language": "js" }))).await;
        assert!(status == 500 && body.starts_with("Failed to create context: ") && body.contains("npm install deno"), "{body}");
    }
}

#[tokio::test]
async fn a_folder_too_deep_for_sockets_is_no_obstacle() {
    let deep = tempfile::Builder::new().prefix(&"deep".repeat(25)).tempdir().expect("a folder");
    let role = Role::start_in(deep);
    assert_eq!(main_text(&role.python("1").await), "1");
}
