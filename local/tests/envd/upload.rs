//! Sections 6.2, 6.3 and 9.1: POST /files and /files/compose.

use crate::entries::stat;
use crate::harness::*;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;

const RAW: (&str, &str) = ("content-type", "application/octet-stream");
const FORM: (&str, &str) = ("content-type", "multipart/form-data; boundary=xyz");

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A form of parts with the parameters of their disposition.
fn form(parts: &[(&str, &str)]) -> String {
    let mut body = String::new();
    for (parameters, content) in parts {
        body.push_str(&format!("--xyz\r\nContent-Disposition: form-data; {parameters}\r\n\r\n{content}\r\n"));
    }
    body + "--xyz--\r\n"
}

fn target(envd: &Envd, name: &str) -> String {
    format!("/files?path={}", envd.path(name))
}

fn content(envd: &Envd, name: &str) -> String {
    std::fs::read_to_string(envd.path(name)).unwrap()
}

#[tokio::test]
async fn a_raw_body_becomes_the_file_and_parents_are_made() {
    let envd = Envd::start().await;
    let answer = envd.post(&target(&envd, "x/y/a.bin"), &[RAW], "hello").await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.json(), json!([{ "path": envd.path("x/y/a.bin"), "name": "a.bin", "type": "file" }]));
    assert_eq!(answer.header("content-type"), "text/plain; charset=utf-8");
    assert_eq!(content(&envd, "x/y/a.bin"), "hello");
    assert_eq!(std::fs::metadata(envd.path("x/y/a.bin")).unwrap().permissions().mode() & 0o777, 0o644);
}

#[tokio::test]
async fn an_existing_file_is_truncated() {
    let envd = Envd::start().await;
    std::fs::write(envd.path("a"), "something longer").unwrap();
    envd.post(&target(&envd, "a"), &[RAW], "short").await;
    assert_eq!(content(&envd, "a"), "short");
}

#[tokio::test]
async fn large_bodies_come_through_exactly_in_both_modes() {
    let envd = Envd::start().await;
    let bytes: String = (0..1_000_003u32).map(|at| char::from(b'a' + (at * 7 % 26) as u8)).collect();
    envd.post(&target(&envd, "raw"), &[RAW], bytes.clone()).await;
    envd.post(&target(&envd, "form"), &[FORM], form(&[(r#"name="file"; filename="x""#, &bytes)])).await;
    assert!(content(&envd, "raw") == bytes && content(&envd, "form") == bytes);
}

#[tokio::test]
async fn a_raw_body_needs_a_path() {
    let envd = Envd::start().await;
    envd.post("/files", &[RAW], "x").await.message(400);
}

#[tokio::test]
async fn a_form_names_its_files_with_their_directories_and_other_parts_are_ignored() {
    let envd = Envd::start().await;
    let (one, two) = (envd.path("d/one"), envd.path("two"));
    let body = form(&[
        (&format!(r#"name="file"; filename="{one}""#), "1"),
        (r#"name="other"; filename="/no/such""#, "ignored"),
        (&format!(r#"name="file"; filename="{two}""#), "2"),
    ]);
    let answer = envd.post("/files", &[FORM], body).await;
    let names: Vec<Value> = answer.json().as_array().unwrap().iter().map(|file| file["path"].clone()).collect();
    assert_eq!(names, [json!(one), json!(two)]);
    assert_eq!((content(&envd, "d/one"), content(&envd, "two")), ("1".into(), "2".into()));
}

#[tokio::test]
async fn the_query_path_wins_over_the_parts_name() {
    let envd = Envd::start().await;
    let answer = envd.post(&target(&envd, "real"), &[FORM], form(&[(r#"name="file"; filename="/no/such/dir""#, "x")])).await;
    assert_eq!((answer.status.as_u16(), content(&envd, "real")), (200, "x".into()));
}

#[tokio::test]
async fn a_form_without_files_is_an_empty_list() {
    let envd = Envd::start().await;
    let answer = envd.post("/files", &[FORM], form(&[(r#"name="other""#, "x")])).await;
    assert_eq!((answer.status.as_u16(), answer.json()), (200, json!([])));
}

#[tokio::test]
async fn names_with_quotes_go_in_every_form() {
    let envd = Envd::start().await;
    let work = envd.work().display().to_string();
    for (parameters, name) in [
        (format!(r#"name="file"; filename="{work}/a \"b\"""#), "a \"b\""),
        (format!(r#"name="file"; filename*=utf-8''{}%2F%C3%A4%20%22"#, work.replace('/', "%2F")), "ä \""),
        (format!(r#"name="file"; filename="{work}/%22""#), "%22"),
    ] {
        assert_eq!(envd.post("/files", &[FORM], form(&[(&parameters, name)])).await.status, 200, "{parameters}");
        assert_eq!(content(&envd, name), name);
    }
}

#[tokio::test]
async fn another_content_type_is_400() {
    let envd = Envd::start().await;
    let message = envd.post(&target(&envd, "a"), &[("content-type", "text/plain")], "x").await.message(400);
    assert!(message.starts_with("unsupported content type: text/plain"), "{message}");
    assert!(!exists(envd.path("a")));
}

#[tokio::test]
async fn a_packed_body_is_unpacked() {
    let envd = Envd::start().await;
    let packed = ("content-encoding", "gzip");
    let text = "some text ".repeat(50_000);
    assert_eq!(envd.post(&target(&envd, "raw"), &[RAW, packed], gzip(text.as_bytes())).await.status, 200);
    let body = gzip(form(&[(r#"name="file"; filename="x""#, &text)]).as_bytes());
    assert_eq!(envd.post(&target(&envd, "form"), &[FORM, packed], body).await.status, 200);
    assert!(content(&envd, "raw") == text && content(&envd, "form") == text);
}

#[tokio::test]
async fn another_encoding_is_400() {
    let envd = Envd::start().await;
    envd.post(&target(&envd, "a"), &[RAW, ("content-encoding", "br")], "x").await.message(400);
    envd.post(&target(&envd, "a"), &[RAW, ("content-encoding", "gzip")], "no gzip at all").await.message(400);
    assert!(!exists(envd.path("a")));
}

#[tokio::test]
async fn gzip_that_breaks_later_is_500_and_leaves_a_part() {
    let envd = Envd::start().await;
    let noise: Vec<u8> = (0..400_000u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let packed = gzip(&noise);
    let answer = envd.post(&target(&envd, "a"), &[RAW, ("content-encoding", "gzip")], packed[..packed.len() / 2].to_vec()).await;
    answer.message(500);
    let left = std::fs::read(envd.path("a")).unwrap();
    assert!(!left.is_empty() && noise.starts_with(&left));
}

#[tokio::test]
async fn a_truncated_form_is_500() {
    let envd = Envd::start().await;
    let body = form(&[(r#"name="file"; filename="x""#, "content")]);
    envd.post(&target(&envd, "a"), &[FORM], body[..body.len() - 20].to_owned()).await.message(500);
    envd.post("/files", &[("content-type", "multipart/form-data")], "").await.message(500);
}

#[tokio::test]
async fn a_directory_as_target_is_400() {
    let envd = Envd::start().await;
    envd.post("/files?path=/etc", &[RAW], "x").await.message(400);
    envd.post("/files?path=", &[RAW], "x").await.message(400);
}

#[tokio::test]
async fn the_same_target_twice_is_400_and_the_first_stays_written() {
    let envd = Envd::start().await;
    let parts = [(r#"name="file"; filename="x""#, "first"), (r#"name="file"; filename="y""#, "second")];
    envd.post(&target(&envd, "a"), &[FORM], form(&parts)).await.message(400);
    assert_eq!(content(&envd, "a"), "first");
}

#[tokio::test]
async fn a_part_without_any_name_is_400() {
    let envd = Envd::start().await;
    envd.post("/files", &[FORM], form(&[(r#"name="file""#, "x")])).await.message(400);
}

#[tokio::test]
async fn an_unknown_user_is_401() {
    let envd = Envd::start().await;
    envd.post(&format!("{}&username=ghost", target(&envd, "a")), &[RAW], "x").await.message(401);
}

#[tokio::test]
async fn a_parent_that_is_a_file_is_500() {
    let envd = Envd::start().await;
    std::fs::write(envd.path("file"), "").unwrap();
    envd.post(&target(&envd, "file/a"), &[RAW], "x").await.message(500);
}

#[tokio::test]
async fn a_full_disk_is_507() {
    let envd = Envd::start().await;
    // The kernel's own full disk; only root may open it for writing in every setting.
    if !exists("/dev/full") {
        return;
    }
    envd.post("/files?path=/dev/full", &[RAW], "x").await.message(507);
}

#[tokio::test]
async fn metadata_replaces_the_whole_set_each_time() {
    let envd = Envd::start().await;
    let metadata = async |headers: &[(&str, &str)]| {
        let answer = envd.post(&target(&envd, "a"), &[&[RAW], headers].concat(), "x").await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        (answer.json()[0]["metadata"].clone(), json!(stat(&envd, Codec::Json, &envd.path("a")).await.unwrap().metadata))
    };
    let first = json!({ "author": "Me", "kind": "x y" });
    assert_eq!(metadata(&[("X-Metadata-Author", "Me"), ("x-metadata-kind", "x y")]).await, (first.clone(), first));
    let second = json!({ "kind": "z" });
    assert_eq!(metadata(&[("x-metadata-kind", "z")]).await, (second.clone(), second));
    assert_eq!(metadata(&[]).await, (Value::Null, json!({})));
}

#[tokio::test]
async fn all_files_of_a_form_get_the_same_metadata() {
    let envd = Envd::start().await;
    let parts = ["one", "two"].map(|name| format!(r#"name="file"; filename="{}""#, envd.path(name)));
    let body = form(&[(&parts[0], "1"), (&parts[1], "2")]);
    envd.post("/files", &[FORM, ("x-metadata-k", "v")], body).await;
    for name in ["one", "two"] {
        assert_eq!(stat(&envd, Codec::Proto, &envd.path(name)).await.unwrap().metadata["k"], "v");
    }
}

#[tokio::test]
async fn metadata_that_cannot_be_kept_is_400_before_anything_is_written() {
    let envd = Envd::start().await;
    let (long_key, long_value) = (format!("x-metadata-{}", "k".repeat(247)), "v".repeat(4090));
    for (name, value) in [(&*long_key, "v"), ("x-metadata-k", &*long_value), ("x-metadata-k", "ä"), ("x-metadata-k", "a\tb")] {
        envd.post(&target(&envd, "a"), &[RAW, (name, value)], "x").await.message(400);
    }
    assert!(!exists(envd.path("a")));
}

async fn compose(envd: &Envd, plan: Value) -> Answer {
    envd.post("/files/compose", &[("content-type", "application/json")], plan.to_string()).await
}

/// Files named and filled alike.
fn plant(envd: &Envd, names: &[&str]) {
    for name in names {
        std::fs::write(envd.path(name), name).unwrap();
    }
}

#[tokio::test]
async fn compose_joins_in_order_and_deletes_the_sources() {
    let envd = Envd::start().await;
    plant(&envd, &["b", "a", "c"]);
    let sources = ["b", "a", "c"].map(|name| envd.path(name));
    let answer = compose(&envd, json!({ "source_paths": sources, "destination": envd.path("new/joined") })).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.json(), json!({ "path": envd.path("new/joined"), "name": "joined", "type": "file" }));
    assert_eq!(content(&envd, "new/joined"), "bac");
    assert!(sources.iter().all(|source| !exists(source)));
    assert_eq!(std::fs::read_dir(envd.path("new")).unwrap().count(), 1);
}

#[tokio::test]
async fn compose_replaces_the_destination_and_takes_a_source_twice() {
    let envd = Envd::start().await;
    plant(&envd, &["a", "old"]);
    let answer = compose(&envd, json!({ "source_paths": [envd.path("a"), envd.path("a")], "destination": envd.path("old") })).await;
    assert_eq!((answer.status.as_u16(), content(&envd, "old")), (200, "aa".into()));
}

#[tokio::test]
async fn compose_with_an_empty_plan_or_one_that_cannot_be_read_is_400() {
    let envd = Envd::start().await;
    plant(&envd, &["a"]);
    compose(&envd, json!({ "source_paths": [], "destination": "x" })).await.message(400);
    compose(&envd, json!({ "source_paths": [envd.path("a")], "destination": "" })).await.message(400);
    compose(&envd, json!({ "source_paths": "a" })).await.message(400);
    envd.post("/files/compose", &[], "{").await.message(400);
}

#[tokio::test]
async fn compose_into_one_of_its_sources_is_400_however_it_is_spelled() {
    let envd = Envd::start().await;
    plant(&envd, &["a", "b"]);
    std::fs::create_dir(envd.path("dir")).unwrap();
    for destination in ["a", "dir/../a", "./a"] {
        let plan = json!({ "source_paths": [envd.path("a"), envd.path("b")], "destination": envd.path(destination) });
        compose(&envd, plan).await.message(400);
        assert_eq!((content(&envd, "a"), content(&envd, "b")), ("a".into(), "b".into()));
    }
}

#[tokio::test]
async fn compose_of_something_else_than_files_is_400() {
    let envd = Envd::start().await;
    compose(&envd, json!({ "source_paths": ["/etc"], "destination": envd.path("x") })).await.message(400);
}

#[tokio::test]
async fn compose_of_a_missing_source_is_404_and_keeps_the_others() {
    let envd = Envd::start().await;
    plant(&envd, &["a"]);
    compose(&envd, json!({ "source_paths": [envd.path("a"), envd.path("none")], "destination": envd.path("x") }))
        .await
        .message(404);
    assert!(exists(envd.path("a")) && !exists(envd.path("x")));
}

#[tokio::test]
async fn compose_onto_a_directory_is_500_and_keeps_the_sources() {
    let envd = Envd::start().await;
    plant(&envd, &["a"]);
    std::fs::create_dir(envd.path("dir")).unwrap();
    compose(&envd, json!({ "source_paths": [envd.path("a")], "destination": envd.path("dir") })).await.message(500);
    assert!(exists(envd.path("a")));
}

#[tokio::test]
async fn compose_for_an_unknown_user_is_401() {
    let envd = Envd::start().await;
    let plan = json!({ "source_paths": ["a"], "destination": "b", "username": "ghost" });
    compose(&envd, plan).await.message(401);
}
