//! Section 4.3: the other calls about processes.

use crate::harness::*;
use agent_sandbox_web::protocol::process::*;
use bytes::Bytes;
use futures_util::StreamExt;
use http_body_util::{BodyExt, StreamBody};
use serde_json::json;

fn cat() -> StartRequest {
    StartRequest { stdin: Some(true), ..program("cat", &[]) }
}

#[tokio::test]
async fn list_tells_what_runs_with_its_configuration() {
    let envd = Envd::start().await;
    for codec in BOTH {
        let list = || envd.call::<ListResponse>(codec, "/process.Process/List", &ListRequest {});
        assert_eq!(list().await.unwrap(), ListResponse::default());
        let mut request = StartRequest { tag: Some("t".into()), ..cat() };
        request.process.as_mut().unwrap().cwd = Some("/".into());
        let mut process = envd.follow(codec, &request).await;
        let terminal = envd.follow(codec, &in_terminal("sleep 100", 80, 24)).await;
        let expected = ProcessInfo { config: request.process.clone(), pid: process.pid, tag: Some("t".into()) };
        let listed = list().await.unwrap().processes;
        assert_eq!(listed[0], expected);
        assert_eq!(listed[1].pid, terminal.pid);
        envd.close_stdin(process.pid).await.unwrap();
        process.events.output().await;
        envd.signal(terminal.pid, Signal::Sigkill).await.unwrap();
        until(async || list().await.unwrap().processes.is_empty().then_some(())).await;
    }
}

#[tokio::test]
async fn list_needs_no_user() {
    let envd = Envd::with(json!({ "defaultUser": "no-such-user" })).await;
    assert!(envd.list().await.is_empty());
}

#[tokio::test]
async fn update_resizes_a_terminal() {
    let envd = Envd::start().await;
    let mut process =
        envd.follow(Codec::Proto, &in_terminal("trap 'stty size' WINCH; echo on; while :; do sleep 0.02; done", 80, 24)).await;
    process.events.wait_for("on").await;
    let selector = Some(ProcessSelector::pid(process.pid));
    for (size, shown) in [(Some(PtySize { cols: 120, rows: 40 }), "40 120"), (None, "0 0")] {
        let request = UpdateRequest { process: selector.clone(), pty: Some(Pty { size }) };
        envd.call::<UpdateResponse>(Codec::Json, "/process.Process/Update", &request).await.unwrap();
        process.events.wait_for(shown).await;
    }
}

#[tokio::test]
async fn update_without_a_terminals_size_changes_nothing() {
    let envd = Envd::start().await;
    let process = envd.follow(Codec::Proto, &cat()).await;
    let request = UpdateRequest { process: Some(ProcessSelector::pid(process.pid)), pty: None };
    envd.call::<UpdateResponse>(Codec::Proto, "/process.Process/Update", &request).await.unwrap();
}

#[tokio::test]
async fn update_of_a_process_without_a_terminal_is_internal() {
    let envd = Envd::start().await;
    let process = envd.follow(Codec::Proto, &cat()).await;
    let request = UpdateRequest { process: Some(ProcessSelector::pid(process.pid)), pty: Some(Pty { size: None }) };
    let failure = envd.call::<UpdateResponse>(Codec::Proto, "/process.Process/Update", &request).await.unwrap_err();
    assert_eq!((failure.code.as_str(), failure.status), ("internal", 500));
    assert_eq!(failure.message, "error resizing tty: tty not assigned to process");
}

#[tokio::test]
async fn input_reaches_a_process_and_closing_ends_it() {
    let envd = Envd::start().await;
    let mut process = envd.follow(Codec::Json, &cat()).await;
    envd.input(process.pid, Input::Stdin("one ".into())).await.unwrap();
    envd.input(process.pid, Input::Stdin("two".into())).await.unwrap();
    envd.close_stdin(process.pid).await.unwrap();
    let output = process.events.output().await;
    assert_eq!((output.text().as_str(), output.end().exit_code), ("one two", 0));
}

#[tokio::test]
async fn input_reaches_a_terminal() {
    let envd = Envd::start().await;
    let request =
        StartRequest { pty: Some(Pty::default()), ..program("/bin/sh", &["-c", "stty -echo; echo on; read x; echo \"<$x>\""]) };
    let mut process = envd.follow(Codec::Proto, &request).await;
    process.events.wait_for("on").await;
    envd.input(process.pid, Input::Pty("äö\n".into())).await.unwrap();
    process.events.wait_for("<äö>").await;
}

#[tokio::test]
async fn ctrl_c_in_a_terminal_interrupts() {
    let envd = Envd::start().await;
    let mut process = envd.follow(Codec::Proto, &in_terminal("echo on; exec sleep 100", 80, 24)).await;
    process.events.wait_for("on").await;
    envd.input(process.pid, Input::Pty(Bytes::from_static(b"\x03"))).await.unwrap();
    assert_eq!(process.events.output().await.end().status, "signal: interrupt");
}

#[tokio::test]
async fn stdin_for_a_terminal_and_pty_for_a_pipe_are_internal() {
    let envd = Envd::start().await;
    let process = envd.follow(Codec::Proto, &cat()).await;
    let failure = envd.input(process.pid, Input::Pty("x".into())).await.unwrap_err();
    assert_eq!((failure.code.as_str(), failure.message.contains("tty not assigned")), ("internal", true));
    let terminal = envd.follow(Codec::Proto, &in_terminal("sleep 100", 80, 24)).await;
    let failure = envd.input(terminal.pid, Input::Stdin("x".into())).await.unwrap_err();
    assert_eq!((failure.code.as_str(), failure.message.contains("tty assigned")), ("internal", true));
}

#[tokio::test]
async fn input_for_a_refused_or_closed_stdin_is_internal() {
    let envd = Envd::start().await;
    let without = envd.follow(Codec::Proto, &program("sleep", &["100"])).await;
    let closed = envd.follow(Codec::Proto, &StartRequest { stdin: Some(true), ..program("sleep", &["100"]) }).await;
    envd.close_stdin(closed.pid).await.unwrap();
    for pid in [without.pid, closed.pid] {
        let failure = envd.input(pid, Input::Stdin("x".into())).await.unwrap_err();
        assert_eq!(failure.code, "internal");
        assert!(failure.message.ends_with("stdin not enabled or closed"), "{}", failure.message);
    }
}

#[tokio::test]
async fn input_without_a_choice_is_unimplemented() {
    let envd = Envd::start().await;
    let process = envd.follow(Codec::Proto, &cat()).await;
    for input in [None, Some(ProcessInput { input: None })] {
        let request = SendInputRequest { process: Some(ProcessSelector::pid(process.pid)), input };
        let failure = envd.call::<SendInputResponse>(Codec::Proto, "/process.Process/SendInput", &request).await.unwrap_err();
        assert_eq!((failure.code.as_str(), failure.status), ("unimplemented", 501));
    }
}

#[tokio::test]
async fn input_for_a_process_that_reads_no_more_is_a_broken_pipe() {
    let envd = Envd::start().await;
    let mut process =
        envd.follow(Codec::Proto, &StartRequest { stdin: Some(true), ..sh("exec <&-; echo on; exec sleep 100") }).await;
    process.events.wait_for("on").await;
    let failure = envd.input(process.pid, Input::Stdin("x".into())).await.unwrap_err();
    assert_eq!(failure.code, "internal");
    assert!(failure.message.ends_with("broken pipe"), "{}", failure.message);
}

#[tokio::test]
async fn input_waits_for_a_full_pipe_and_the_deadline_ends_the_waiting() {
    let envd = Envd::start().await;
    let process = envd.follow(Codec::Proto, &StartRequest { stdin: Some(true), ..program("sleep", &["100"]) }).await;
    let input = Some(ProcessInput { input: Some(Input::Stdin(vec![0; 1 << 20].into())) });
    let request = SendInputRequest { process: Some(ProcessSelector::pid(process.pid)), input };
    let headers = [("content-type", "application/proto"), ("connect-timeout-ms", "100")];
    let answer = envd.post("/process.Process/SendInput", &headers, Codec::Proto.encode(&request)).await;
    assert_eq!((answer.status.as_u16(), answer.json()["code"].as_str()), (504, Some("deadline_exceeded")));
    envd.close_stdin(process.pid).await.unwrap();
}

#[tokio::test]
async fn large_input_comes_through_whole() {
    let envd = Envd::start().await;
    let mut process = envd.follow(Codec::Proto, &StartRequest { stdin: Some(true), ..sh("sha256sum; wc -c < /dev/null") }).await;
    let bytes: Vec<u8> = (0..3_000_000u32).map(|at| (at % 253) as u8).collect();
    std::fs::write(envd.path("same"), &bytes).unwrap();
    envd.input(process.pid, Input::Stdin(bytes.into())).await.unwrap();
    envd.close_stdin(process.pid).await.unwrap();
    let text = process.events.output().await.text();
    let expected = envd.run(Codec::Proto, "sha256sum < same").await.text();
    assert!(text.starts_with(&expected), "{text}");
}

#[tokio::test]
async fn calls_about_an_unknown_process_are_not_found() {
    let envd = Envd::start().await;
    let gone = 999_999_999;
    let message = "process with pid 999999999 not found".to_owned();
    let expected = Failure { code: "not_found".into(), message, status: 404 };
    assert_eq!(envd.input(gone, Input::Stdin("x".into())).await.unwrap_err(), expected);
    assert_eq!(envd.close_stdin(gone).await.unwrap_err(), expected);
    for signal in [Signal::Sigkill, Signal::Sigterm] {
        assert_eq!(envd.signal(gone, signal).await.unwrap_err(), expected);
    }
    let request = UpdateRequest { process: Some(ProcessSelector::pid(gone)), pty: None };
    assert_eq!(envd.call::<UpdateResponse>(Codec::Proto, "/process.Process/Update", &request).await.unwrap_err(), expected);
}

#[tokio::test]
async fn a_call_that_names_no_process_is_unimplemented() {
    let envd = Envd::start().await;
    for process in [None, Some(ProcessSelector { selector: None })] {
        let request = CloseStdinRequest { process };
        let failure = envd.call::<CloseStdinResponse>(Codec::Json, "/process.Process/CloseStdin", &request).await.unwrap_err();
        assert_eq!(failure.code, "unimplemented");
    }
}

#[tokio::test]
async fn a_call_with_two_selectors_is_invalid_and_a_pid_may_be_text() {
    let envd = Envd::start().await;
    let process = envd.follow(Codec::Proto, &program("sleep", &["100"])).await;
    let close = async |process| {
        let body = json!({ "process": process }).to_string();
        envd.post("/process.Process/CloseStdin", &[("content-type", "application/json")], body).await.status.as_u16()
    };
    assert_eq!(close(json!({ "pid": process.pid, "tag": "x" })).await, 400);
    assert_eq!(close(json!({ "pid": process.pid.to_string() })).await, 200);
    assert_eq!(close(json!({ "pid": f64::from(process.pid) })).await, 200);
}

#[tokio::test]
async fn a_tag_finds_its_process_among_several_tagged_ones() {
    let envd = Envd::start().await;
    for tag in ["a", "b", "c"] {
        let mut process = envd.follow(Codec::Proto, &StartRequest { tag: Some(tag.into()), ..program("sleep", &["100"]) }).await;
        let other =
            envd.follow(Codec::Proto, &StartRequest { tag: Some(format!("other-{tag}")), ..program("sleep", &["100"]) }).await;
        let selector = Some(ProcessSelector { selector: Some(Selector::Tag(tag.into())) });
        let request = SendSignalRequest { process: selector, signal: Signal::Sigkill as i32 };
        envd.call::<SendSignalResponse>(Codec::Json, "/process.Process/SendSignal", &request).await.unwrap();
        assert_eq!(process.events.output().await.end().status, "signal: killed");
        assert!(is_alive(other.pid));
    }
}

#[tokio::test]
async fn sigkill_and_sigterm_are_delivered_to_the_process_alone() {
    let envd = Envd::start().await;
    for (signal, status) in [(Signal::Sigkill, "signal: killed"), (Signal::Sigterm, "signal: terminated")] {
        let mut process = envd.follow(Codec::Proto, &sh("sleep 100 & echo $!; wait")).await;
        let child: u32 = process.events.wait_for("\n").await.trim().parse().unwrap();
        envd.signal(process.pid, signal).await.unwrap();
        assert_eq!(process.events.output().await.end().status, status);
        assert!(is_alive(child));
    }
}

#[tokio::test]
async fn any_other_signal_is_unimplemented() {
    let envd = Envd::start().await;
    let process = envd.follow(Codec::Proto, &cat()).await;
    for signal in [json!("SIGNAL_SIGHUP"), json!("9"), json!(null), json!(0), json!(1)] {
        let body = json!({ "process": { "pid": process.pid }, "signal": signal }).to_string();
        let answer = envd.post("/process.Process/SendSignal", &[("content-type", "application/json")], body).await;
        assert_eq!((answer.status.as_u16(), answer.json()["code"].as_str()), (501, Some("unimplemented")), "{signal}");
        assert!(answer.json()["message"].as_str().unwrap().starts_with("invalid signal: "));
    }
    assert!(is_alive(process.pid));
}

#[tokio::test]
async fn an_interactive_bash_ignores_sigterm() {
    let envd = Envd::start().await;
    let request = StartRequest { pty: Some(Pty::default()), stdin: None, ..program("/bin/bash", &["--norc", "-i"]) };
    let mut process = envd.follow(Codec::Proto, &request).await;
    envd.input(process.pid, Input::Pty("echo o''n\n".into())).await.unwrap();
    process.events.wait_for("on\r\n").await;
    envd.signal(process.pid, Signal::Sigterm).await.unwrap();
    envd.input(process.pid, Input::Pty("echo st''ill\n".into())).await.unwrap();
    process.events.wait_for("still").await;
}

#[tokio::test]
async fn closing_the_stdin_of_a_terminal_is_unknown_and_says_what_to_do() {
    let envd = Envd::start().await;
    let process = envd.follow(Codec::Proto, &in_terminal("sleep 100", 80, 24)).await;
    let failure = envd.close_stdin(process.pid).await.unwrap_err();
    assert_eq!((failure.code.as_str(), failure.status), ("unknown", 500));
    assert!(failure.message.contains("Ctrl+D (0x04)"));
}

#[tokio::test]
async fn closing_a_closed_or_refused_stdin_succeeds() {
    let envd = Envd::start().await;
    let process = envd.follow(Codec::Proto, &program("sleep", &["100"])).await;
    envd.close_stdin(process.pid).await.unwrap();
    envd.close_stdin(process.pid).await.unwrap();
}

fn stream_input(codec: Codec, messages: &[StreamInput]) -> Vec<u8> {
    let mut body = Vec::new();
    for event in messages {
        let message = StreamInputRequest { event: Some(event.clone()) };
        agent_sandbox_web::protocol::envelope::write_envelope(&mut body, 0, &codec.encode(&message));
    }
    body
}

fn named(pid: u32) -> StreamInput {
    StreamInput::Start(StreamInputStart { process: Some(ProcessSelector::pid(pid)) })
}

fn data(text: &'static str) -> StreamInput {
    StreamInput::Data(StreamInputData { input: Some(ProcessInput { input: Some(Input::Stdin(text.into())) }) })
}

#[tokio::test]
async fn a_stream_of_input_reaches_the_process_in_order() {
    let envd = Envd::start().await;
    for codec in BOTH {
        let mut process = envd.follow(codec, &cat()).await;
        let messages = [named(process.pid), data("a"), StreamInput::Keepalive(KeepAlive {}), data("b"), data("c")];
        let body = stream_input(codec, &messages);
        let mut answer = envd.open_raw::<StreamInputResponse>(codec, "/process.Process/StreamInput", &[], body).await;
        assert_eq!(answer.message().await, StreamInputResponse {});
        assert_eq!(answer.next().await, Next::End(None));
        envd.close_stdin(process.pid).await.unwrap();
        assert_eq!(process.events.output().await.text(), "abc");
    }
}

#[tokio::test]
async fn a_stream_of_input_is_delivered_while_it_is_open() {
    let envd = Envd::start().await;
    let mut process = envd.follow(Codec::Proto, &cat()).await;
    let (sender, receiver) = open_stream(stream_input(Codec::Proto, &[named(process.pid), data("first")]));
    let body = BodyExt::boxed(StreamBody::new(receiver.map(|chunk| Ok(http_body::Frame::data(Bytes::from(chunk))))));
    let request = http::Request::post("/process.Process/StreamInput").header("host", "envd");
    let request = request.header("content-type", "application/connect+proto").body(body).unwrap();
    let (_, ()) = tokio::join!(envd.send(request), async {
        process.events.wait_for("first").await;
        drop(sender);
    });
}

/// A stream that gives one chunk and stays open as long as the sender lives.
fn open_stream(first: Vec<u8>) -> (tokio::sync::mpsc::Sender<Vec<u8>>, impl futures_util::Stream<Item = Vec<u8>> + Send + Sync) {
    let (sender, mut receiver) = tokio::sync::mpsc::channel(1);
    sender.try_send(first).unwrap();
    (sender, futures_util::stream::poll_fn(move |task| receiver.poll_recv(task)))
}

#[tokio::test]
async fn data_before_the_start_of_a_stream_of_input_is_invalid() {
    let envd = Envd::start().await;
    let body = stream_input(Codec::Json, &[data("x")]);
    let mut answer = envd.open_raw::<StreamInputResponse>(Codec::Json, "/process.Process/StreamInput", &[], body).await;
    assert_eq!(answer.failure().await.code, "invalid_argument");
}

#[tokio::test]
async fn a_stream_of_input_for_an_unknown_process_is_not_found() {
    let envd = Envd::start().await;
    let body = stream_input(Codec::Json, &[named(999_999_999)]);
    let mut answer = envd.open_raw::<StreamInputResponse>(Codec::Json, "/process.Process/StreamInput", &[], body).await;
    assert_eq!(answer.failure().await.code, "not_found");
}
