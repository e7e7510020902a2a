//! Sections 3 and 9.1: the Connect protocol.

use crate::harness::*;
use agent_sandbox_web::protocol::envelope::write_envelope;
use agent_sandbox_web::protocol::filesystem::{StatRequest, StatResponse};
use agent_sandbox_web::protocol::process::*;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use http::Method;
use serde_json::json;
use std::io::{Read, Write};

const LIST: &str = "/process.Process/List";
const START: &str = "/process.Process/Start";

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn gunzip(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    GzDecoder::new(bytes).read_to_end(&mut plain).unwrap();
    plain
}

fn enveloped(messages: &[&[u8]]) -> Vec<u8> {
    let mut body = Vec::new();
    for message in messages {
        write_envelope(&mut body, 0, message);
    }
    body
}

#[tokio::test]
async fn a_unary_call_answers_in_the_codec_of_its_request() {
    let envd = Envd::start().await;
    for codec in BOTH {
        envd.call::<ListResponse>(codec, LIST, &ListRequest {}).await.unwrap();
    }
}

#[tokio::test]
async fn a_unary_error_has_the_status_of_its_code_and_is_json_in_both_codecs() {
    let envd = Envd::start().await;
    let request = StatRequest { path: "/no/such".into() };
    for codec in BOTH {
        let failure = envd.call::<StatResponse>(codec, "/filesystem.Filesystem/Stat", &request).await.unwrap_err();
        assert_eq!((failure.code.as_str(), failure.status), ("not_found", 404));
    }
}

#[tokio::test]
async fn a_wrong_content_type_is_415_with_the_right_ones() {
    let envd = Envd::start().await;
    for (target, given, accepted) in [
        (LIST, "application/connect+json", "application/json"),
        (LIST, "text/plain", "application/proto"),
        (START, "application/json", "application/connect+json"),
        (START, "application/proto", "application/connect+proto"),
    ] {
        let answer = envd.post(target, &[("content-type", given)], "{}").await;
        assert_eq!(answer.status, 415, "{target} {given}");
        assert!(answer.header("accept-post").contains(accepted));
        assert!(answer.body.is_empty());
    }
}

#[tokio::test]
async fn a_charset_of_utf_8_is_accepted() {
    let envd = Envd::start().await;
    let answer = envd.post(LIST, &[("content-type", "application/json; charset=utf-8")], "{}").await;
    assert_eq!((answer.status.as_u16(), answer.text().as_str()), (200, "{}"));
}

#[tokio::test]
async fn another_method_than_post_is_405_with_allow() {
    let envd = Envd::start().await;
    for target in [LIST, START] {
        let answer = envd.get(target, &[]).await;
        assert_eq!((answer.status.as_u16(), answer.header("allow")), (405, "POST"));
    }
}

#[tokio::test]
async fn the_protocol_version_is_optional_but_only_1_is_known() {
    let envd = Envd::start().await;
    for (version, status) in [("1", 200), ("2", 400), ("x", 400)] {
        let answer = envd.post(LIST, &[("content-type", "application/json"), ("connect-protocol-version", version)], "{}").await;
        assert_eq!(answer.status, status, "{version}");
    }
    let headers = [("connect-protocol-version", "2")];
    let failure = envd.open::<StartResponse>(Codec::Proto, START, &sh("true"), &headers).await.failure().await;
    assert_eq!(failure.code, "invalid_argument");
}

#[tokio::test]
async fn unknown_fields_and_both_spellings_are_accepted_in_json() {
    let envd = Envd::start().await;
    let body = json!({ "path": envd.work(), "later": [1, { "x": null }], "include_entry": true }).to_string();
    let answer = envd.post("/filesystem.Filesystem/CreateWatcher", &[("content-type", "application/json")], body).await;
    assert_eq!(answer.status, 200);
    assert!(answer.json()["watcherId"].is_string());
}

#[tokio::test]
async fn a_body_that_is_no_message_is_invalid() {
    let envd = Envd::start().await;
    for (codec, body) in [(Codec::Json, "["), (Codec::Json, ""), (Codec::Json, "{\"path\":1}"), (Codec::Proto, "\x0a\x7f")] {
        let answer = envd.post("/filesystem.Filesystem/Stat", &[("content-type", codec.unary())], body).await;
        assert_eq!((answer.status.as_u16(), answer.json()["code"].as_str()), (400, Some("invalid_argument")), "{body}");
    }
}

#[tokio::test]
async fn a_stream_needs_exactly_one_request() {
    let envd = Envd::start().await;
    let message = Codec::Json.encode(&sh("true"));
    for messages in [vec![], vec![&message[..], &message[..]]] {
        let mut events = envd.open_raw::<StartResponse>(Codec::Json, START, &[], enveloped(&messages)).await;
        assert_eq!(events.failure().await.code, "unimplemented");
    }
}

#[tokio::test]
async fn a_stream_without_envelopes_is_invalid() {
    let envd = Envd::start().await;
    let message = Codec::Json.encode(&sh("true"));
    for body in [message.clone(), enveloped(&[&message])[..20].to_vec()] {
        let mut events = envd.open_raw::<StartResponse>(Codec::Json, START, &[], body).await;
        assert!(matches!(events.next().await, Next::End(Some(failure)) if failure.code != "internal" && failure.code != "unknown"));
    }
}

#[tokio::test]
async fn an_envelope_without_content_is_an_empty_message() {
    let envd = Envd::start().await;
    for codec in BOTH {
        let mut events = envd.open_raw::<StartResponse>(codec, "/process.Process/Connect", &[], enveloped(&[b""])).await;
        assert_eq!(events.failure().await.code, "unimplemented", "no selector");
    }
}

#[tokio::test]
async fn an_envelope_that_announces_4_gib_is_refused() {
    let envd = Envd::start().await;
    let body = vec![0, 0xff, 0xff, 0xff, 0xff, 1, 2, 3];
    let mut events = envd.open_raw::<StartResponse>(Codec::Proto, START, &[], body).await;
    assert_eq!(events.failure().await.code, "resource_exhausted");
}

#[tokio::test]
async fn a_unary_deadline_of_zero_is_504() {
    let envd = Envd::start().await;
    let answer = envd.post(LIST, &[("content-type", "application/json"), ("connect-timeout-ms", "0")], "{}").await;
    assert_eq!((answer.status.as_u16(), answer.json()["code"].as_str()), (504, Some("deadline_exceeded")));
}

#[tokio::test]
async fn a_timeout_that_is_no_number_of_ten_digits_is_invalid() {
    let envd = Envd::start().await;
    for timeout in ["12345678901", "1.5", "soon"] {
        let answer = envd.post(LIST, &[("content-type", "application/json"), ("connect-timeout-ms", timeout)], "{}").await;
        assert_eq!((answer.status.as_u16(), answer.json()["code"].as_str()), (400, Some("invalid_argument")), "{timeout}");
        let headers = [("connect-timeout-ms", timeout)];
        let mut events = envd.open::<StartResponse>(Codec::Json, START, &sh("true"), &headers).await;
        assert_eq!(events.failure().await.code, "invalid_argument");
    }
}

#[tokio::test]
async fn a_packed_unary_request_gets_a_packed_answer() {
    let envd = Envd::start().await;
    for codec in BOTH {
        let body = gzip(&codec.encode(&StatRequest { path: "/etc".into() }));
        let headers = [("content-type", codec.unary()), ("content-encoding", "gzip")];
        let answer = envd.post("/filesystem.Filesystem/Stat", &headers, body).await;
        assert_eq!((answer.status.as_u16(), answer.header("content-encoding")), (200, "gzip"));
        let stat: StatResponse = codec.decode(&gunzip(&answer.body));
        assert_eq!(stat.entry.unwrap().path, "/etc");
    }
}

#[tokio::test]
async fn a_large_unary_answer_is_packed_for_those_who_accept_it() {
    let envd = Envd::start().await;
    for at in 0..50 {
        std::fs::write(envd.path(&format!("file-{at}")), "").unwrap();
    }
    let body = json!({ "path": envd.work() }).to_string();
    let headers = [("content-type", "application/json"), ("accept-encoding", "gzip, deflate, br")];
    let answer = envd.post("/filesystem.Filesystem/ListDir", &headers, body.clone()).await;
    assert_eq!(answer.header("content-encoding"), "gzip");
    let plain = envd.post("/filesystem.Filesystem/ListDir", &headers[..1], body).await;
    assert_eq!((plain.header("content-encoding"), gunzip(&answer.body)), ("", plain.body.to_vec()));
}

#[tokio::test]
async fn an_unknown_compression_is_unimplemented() {
    let envd = Envd::start().await;
    let answer = envd.post(LIST, &[("content-type", "application/json"), ("content-encoding", "br")], "{}").await;
    assert_eq!((answer.status.as_u16(), answer.json()["code"].as_str()), (501, Some("unimplemented")));
    let headers = [("connect-content-encoding", "br")];
    let failure = envd.open::<StartResponse>(Codec::Json, START, &sh("true"), &headers).await.failure().await;
    assert_eq!(failure.code, "unimplemented");
}

#[tokio::test]
async fn a_packed_stream_request_gets_packed_envelopes_and_a_packed_end() {
    let envd = Envd::start().await;
    for codec in BOTH {
        let mut body = Vec::new();
        write_envelope(&mut body, 1, &gzip(&codec.encode(&sh("echo out"))));
        let headers = [("connect-content-encoding", "gzip")];
        let mut events = envd.open_raw::<StartResponse>(codec, START, &headers, body).await;
        let mut output = Vec::new();
        loop {
            let (flags, payload) = events.envelope().await.expect("the stream has an end");
            let plain = gunzip(&payload);
            if flags == 3 {
                assert_eq!(plain, b"{}");
                break;
            }
            assert_eq!(flags, 1);
            if let Some(Event::Data(data)) = codec.decode::<StartResponse>(&plain).event.unwrap().event {
                output.extend_from_slice(bytes_of(data.output.as_ref().unwrap()));
            }
        }
        assert_eq!(output, b"out\n");
    }
}

#[tokio::test]
async fn a_packed_envelope_that_was_not_announced_is_invalid() {
    let envd = Envd::start().await;
    let mut body = Vec::new();
    write_envelope(&mut body, 1, &gzip(&Codec::Json.encode(&sh("true"))));
    let mut events = envd.open_raw::<StartResponse>(Codec::Json, START, &[], body).await;
    assert_eq!(events.failure().await.code, "invalid_argument");
}

#[tokio::test]
async fn a_bomb_of_gzip_is_refused() {
    let envd = Envd::start().await;
    let body = gzip(&vec![b' '; 80 << 20]);
    let answer = envd.post(LIST, &[("content-type", "application/json"), ("content-encoding", "gzip")], body).await;
    assert_eq!(answer.json()["code"], "resource_exhausted");
}

#[tokio::test]
async fn unknown_routes_and_methods_are_404_in_plain_text() {
    let envd = Envd::start().await;
    for target in ["/nothing", "/process.Process/Nothing", "/filesystem.Filesystem/", "/terminal"] {
        let answer = envd.post(target, &[("content-type", "application/json")], "{}").await;
        assert_eq!((answer.status.as_u16(), answer.header("content-type")), (404, "text/plain; charset=utf-8"), "{target}");
    }
}

#[tokio::test]
async fn another_method_on_a_plain_endpoint_is_405_without_a_body() {
    let envd = Envd::start().await;
    for (method, target) in [
        (Method::POST, "/health"),
        (Method::DELETE, "/files"),
        (Method::GET, "/files/compose"),
        (Method::PUT, "/metrics"),
        (Method::HEAD, "/files"),
    ] {
        let answer = envd.http(method, target, &[], "").await;
        assert_eq!((answer.status.as_u16(), answer.body.len()), (405, 0), "{target}");
    }
}

#[tokio::test]
async fn health_is_204_and_never_stored() {
    let envd = Envd::start().await;
    let answer = envd.get("/health", &[]).await;
    assert_eq!((answer.status.as_u16(), answer.header("cache-control"), answer.body.len()), (204, "no-store", 0));
}

#[tokio::test]
async fn metrics_are_numbers_of_this_machine() {
    let envd = Envd::start().await;
    let metrics = envd.get("/metrics", &[]).await.json();
    for name in
        ["ts", "cpu_count", "mem_total", "mem_used", "mem_cache", "mem_total_mib", "mem_used_mib", "disk_used", "disk_total"]
    {
        assert!(metrics[name].as_u64().is_some_and(|value| value > 0), "{name}: {metrics}");
    }
    let share = metrics["cpu_used_pct"].as_f64().unwrap();
    assert!((0.0..=100.0).contains(&share));
    assert!(metrics["mem_used"].as_u64() < metrics["mem_total"].as_u64());
}

#[tokio::test]
async fn envs_are_the_sandboxs_variables() {
    let envd = Envd::start().await;
    assert_eq!(envd.get("/envs", &[]).await.json(), json!({ "SANDBOX_WIDE": "one", "E2B_SANDBOX": "true" }));
}
