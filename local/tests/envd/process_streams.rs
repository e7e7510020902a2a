//! Sections 4.2 and 9: streams over time: deadlines, keepalives, slow and leaving readers, several subscribers.

use crate::harness::*;
use agent_sandbox_web::protocol::process::*;
use std::time::{Duration, Instant};

/// Starts a process under a deadline, and does what must be done before it. A slow machine may be too slow for that: it gets more time.
async fn within_a_deadline<T>(
    envd: &Envd,
    codec: Codec,
    request: &StartRequest,
    before: impl AsyncFn(&mut Process) -> Option<T>,
) -> (Process, T) {
    for ms in ["60", "600", "6000", "30000"] {
        let mut events = envd.open(codec, "/process.Process/Start", request, &[("connect-timeout-ms", ms)]).await;
        let Some(Event::Start(start)) = events.event_in_time().await else { continue };
        let mut process = Process { pid: start.pid, events };
        if let Some(done) = before(&mut process).await {
            return (process, done);
        }
    }
    panic!("nothing is done within half a minute");
}

#[tokio::test]
async fn at_its_deadline_the_stream_ends_and_the_process_is_killed() {
    let envd = Envd::start().await;
    for codec in BOTH {
        let (mut process, ()) = within_a_deadline(&envd, codec, &program("sleep", &["100"]), async |_| Some(())).await;
        let output = process.events.output().await;
        assert_eq!(output.end, None);
        assert_eq!(output.failure.unwrap().code, "deadline_exceeded");
        until(async || (!is_alive(process.pid)).then_some(())).await;
    }
}

#[tokio::test]
async fn a_deadline_kills_only_the_process_itself() {
    let envd = Envd::start().await;
    let script = sh("sleep 100 & echo $!; wait");
    let told = async |process: &mut Process| match process.events.event_in_time().await? {
        Event::Data(data) => Some(String::from_utf8_lossy(bytes_of(data.output.as_ref().unwrap())).trim().parse::<u32>().unwrap()),
        other => panic!("{other:?}"),
    };
    let (mut process, child) = within_a_deadline(&envd, Codec::Proto, &script, told).await;
    assert_eq!(process.events.failure().await.code, "deadline_exceeded");
    until(async || (!is_alive(process.pid)).then_some(())).await;
    assert!(is_alive(child));
}

#[tokio::test]
async fn at_a_deadline_a_second_subscriber_gets_the_end() {
    let envd = Envd::start().await;
    let (mut process, ()) = within_a_deadline(&envd, Codec::Proto, &program("sleep", &["100"]), async |_| Some(())).await;
    // On a machine that is very slow it comes after the end, of which it hears as well.
    let mut second = envd.connect(Codec::Json, process.pid).await;
    second.start().await;
    assert_eq!(process.events.failure().await.code, "deadline_exceeded");
    assert_eq!(second.output().await.end().status, "signal: killed");
}

#[tokio::test]
async fn the_deadline_holds_when_the_client_has_left() {
    let envd = Envd::start().await;
    let (process, ()) = within_a_deadline(&envd, Codec::Proto, &program("sleep", &["100"]), async |_| Some(())).await;
    let pid = process.pid;
    drop(process);
    until(async || (!is_alive(pid)).then_some(())).await;
}

#[tokio::test]
async fn a_start_without_time_starts_nothing() {
    let envd = Envd::start().await;
    for timeout in ["0", "-5"] {
        let request = sh(&format!("touch started{timeout}"));
        let mut events =
            envd.open::<StartResponse>(Codec::Json, "/process.Process/Start", &request, &[("connect-timeout-ms", timeout)]).await;
        assert!(matches!(events.next().await, Next::End(Some(failure)) if failure.code == "deadline_exceeded"));
        assert!(envd.list().await.is_empty());
        envd.run(Codec::Proto, "true").await;
        assert!(!exists(envd.work().join(format!("started{timeout}"))));
    }
}

#[tokio::test]
async fn a_connects_deadline_ends_only_the_stream() {
    let envd = Envd::start().await;
    let process = envd.follow(Codec::Proto, &program("sleep", &["100"])).await;
    let request = ConnectRequest { process: Some(ProcessSelector::pid(process.pid)) };
    let mut events =
        envd.open::<StartResponse>(Codec::Proto, "/process.Process/Connect", &request, &[("connect-timeout-ms", "50")]).await;
    assert_eq!(events.failure().await.code, "deadline_exceeded");
    assert!(is_alive(process.pid));
}

#[tokio::test]
async fn a_process_outlives_the_client_that_started_it() {
    let envd = Envd::start().await;
    let mut process = envd.follow(Codec::Proto, &sh("echo on; read line; seq 100000; touch done")).await;
    let pid = process.pid;
    process.events.wait_for("on").await;
    drop(process);
    until(async || exists(envd.work().join("done")).then_some(())).await;
    until(async || (!is_alive(pid)).then_some(())).await;
}

#[tokio::test]
async fn an_idle_stream_is_kept_alive() {
    let envd = Envd::start().await;
    let request = StartRequest { stdin: Some(true), ..program("cat", &[]) };
    for codec in BOTH {
        let begun = Instant::now();
        let mut process = envd.follow_with(codec, &request, &[("keepalive-ping-interval", "1")]).await;
        assert_eq!(process.events.event().await, Event::Keepalive(KeepAlive {}));
        assert!(begun.elapsed() >= Duration::from_secs(1));
        envd.close_stdin(process.pid).await.unwrap();
        assert_eq!(process.events.output().await.end().exit_code, 0);
    }
}

#[tokio::test]
async fn a_keepalive_interval_of_zero_or_below_hurts_nobody() {
    let envd = Envd::start().await;
    for interval in ["0", "-1", "9223372037", "99999999999999999999", "1.5", "x"] {
        let mut process = envd.follow_with(Codec::Proto, &sh("echo on"), &[("keepalive-ping-interval", interval)]).await;
        let output = process.events.output().await;
        assert_eq!((output.text().as_str(), output.keepalives), ("on\n", 0), "{interval}");
    }
}

/// How many bytes a process has written.
fn written(pid: u32) -> usize {
    let counters = std::fs::read_to_string(format!("/proc/{pid}/io")).unwrap();
    counters.lines().find_map(|line| line.strip_prefix("wchar: ")).unwrap().parse().unwrap()
}

/// Waits until a process sleeps in the midst of writing because nobody reads, as thirty looks in a row have it. On a machine that is busy
/// elsewhere it may still go on: no test fails when it does.
async fn blocked(pid: u32) {
    let (mut before, mut looks) = (0, 0);
    while looks < 30 {
        let now = until(async || Some(written(pid)).filter(|written| *written > 0)).await;
        looks = if state(pid) == Some('S') && now == before { looks + 1 } else { 0 };
        before = now;
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

#[tokio::test]
async fn an_unread_stream_blocks_the_process_and_fills_no_memory() {
    let envd = Envd::start().await;
    let process = envd.follow(Codec::Proto, &program("head", &["-c", "200000000", "/dev/zero"])).await;
    blocked(process.pid).await;
    let statm = std::fs::read_to_string(format!("/proc/{}/statm", envd.child.id().unwrap())).unwrap();
    let resident: u64 = statm.split(' ').nth(1).unwrap().parse().unwrap();
    assert!(resident * 4096 < 60 << 20, "{resident} pages");
    assert!(is_alive(process.pid));
}

#[tokio::test]
async fn a_slow_reader_loses_nothing() {
    let envd = Envd::start().await;
    let mut process = envd.follow(Codec::Proto, &program("head", &["-c", "20000000", "/dev/zero"])).await;
    blocked(process.pid).await;
    let output = process.events.output().await;
    assert_eq!(output.stdout.len(), 20_000_000);
    assert_eq!(output.end().exit_code, 0);
}

#[tokio::test]
async fn a_blocked_process_can_be_killed() {
    let envd = Envd::start().await;
    let process = envd.follow(Codec::Proto, &program("head", &["-c", "200000000", "/dev/zero"])).await;
    blocked(process.pid).await;
    envd.signal(process.pid, Signal::Sigkill).await.unwrap();
    until(async || (!is_alive(process.pid)).then_some(())).await;
    until(async || envd.list().await.is_empty().then_some(())).await;
    // Its end is known, though the first reader still has output before it.
    let mut second = envd.connect(Codec::Proto, process.pid).await;
    second.start().await;
    assert_eq!(second.output().await.end().status, "signal: killed");
}

#[tokio::test]
async fn what_a_killed_process_had_written_is_delivered() {
    let envd = Envd::start().await;
    // Writes of 4,096 bytes go into a pipe whole or not at all, so a blocked writer has written what its counter says.
    let mut process = envd.follow(Codec::Proto, &program("dd", &["if=/dev/zero", "bs=4096", "status=none"])).await;
    blocked(process.pid).await;
    stop(process.pid).await;
    let written = written(process.pid);
    envd.signal(process.pid, Signal::Sigkill).await.unwrap();
    let output = process.events.output().await;
    assert_eq!((output.stdout.len(), output.end().status.as_str()), (written, "signal: killed"));
}

#[tokio::test]
async fn all_subscribers_get_what_comes_after_they_came() {
    let envd = Envd::start().await;
    let request = StartRequest { stdin: Some(true), ..sh("echo before; while read line; do echo got $line; done") };
    let mut process = envd.follow(Codec::Proto, &request).await;
    process.events.wait_for("before").await;
    let mut followers = Vec::new();
    for codec in [Codec::Json, Codec::Proto, Codec::Json] {
        let mut events = envd.connect(codec, process.pid).await;
        assert_eq!(events.start().await, process.pid);
        followers.push(events);
    }
    envd.input(process.pid, Input::Stdin("x\n".into())).await.unwrap();
    envd.close_stdin(process.pid).await.unwrap();
    assert_eq!(process.events.output().await.text(), "got x\n");
    for events in &mut followers {
        let output = events.output().await;
        assert_eq!((output.text().as_str(), output.end().exit_code), ("got x\n", 0));
    }
}

#[tokio::test]
async fn a_subscriber_that_leaves_holds_up_nobody() {
    let envd = Envd::start().await;
    let mut process =
        envd.follow(Codec::Proto, &StartRequest { stdin: Some(true), ..sh("read x; head -c 20000000 /dev/zero") }).await;
    let mut second = envd.connect(Codec::Proto, process.pid).await;
    second.start().await;
    envd.input(process.pid, Input::Stdin("go\n".into())).await.unwrap();
    drop(second);
    assert_eq!(process.events.output().await.stdout.len(), 20_000_000);
}

#[tokio::test]
async fn the_end_waits_for_the_end_of_the_output() {
    let envd = Envd::start().await;
    let mut process = envd.follow(Codec::Proto, &sh("(read x < fifo; echo late) & exec echo early")).await;
    // The command in the background fails at once without the FIFO; with it, it holds the output open.
    process.events.output().await;
    let made = envd.run(Codec::Proto, "mkfifo fifo").await;
    assert_eq!(made.end().exit_code, 0);
    let mut process = envd.follow(Codec::Proto, &sh("(read x < fifo; echo late) & exec echo early")).await;
    process.events.wait_for("early").await;
    until(async || (!is_alive(process.pid)).then_some(())).await;
    assert_eq!(envd.list().await.len(), 1, "a process whose output is open is still listed");
    std::fs::write(envd.work().join("fifo"), "\n").unwrap();
    let output = process.events.output().await;
    assert_eq!((output.text().as_str(), output.end().exit_code), ("late\n", 0));
}

#[tokio::test]
async fn a_signal_releases_the_end_of_a_process_whose_output_is_held_open() {
    let envd = Envd::start().await;
    let mut process = envd.follow(Codec::Proto, &sh("sleep 100 & echo early; exit 7")).await;
    process.events.wait_for("early").await;
    until(async || (!is_alive(process.pid)).then_some(())).await;
    envd.signal(process.pid, Signal::Sigterm).await.unwrap();
    assert_eq!(process.events.output().await.end().exit_code, 7);
    assert!(envd.list().await.is_empty());
}

#[tokio::test]
async fn the_last_words_after_sigterm_are_not_lost() {
    let envd = Envd::start().await;
    for _ in 0..40 {
        let mut process = envd.follow(Codec::Proto, &sh("trap 'echo bye; exit 0' TERM; echo on; sleep 100 & wait")).await;
        process.events.wait_for("on").await;
        envd.signal(process.pid, Signal::Sigterm).await.unwrap();
        let output = process.events.output().await;
        assert_eq!((output.text().as_str(), output.end().exit_code), ("bye\n", 0));
    }
}

#[tokio::test]
async fn a_process_that_ended_a_moment_ago_can_be_connected_to() {
    let envd = Envd::start().await;
    let mut process = envd.follow(Codec::Proto, &StartRequest { tag: Some("gone".into()), ..sh("echo out; exit 4") }).await;
    process.events.output().await;
    assert!(envd.list().await.is_empty());
    let by_tag = ConnectRequest { process: Some(ProcessSelector { selector: Some(Selector::Tag("gone".into())) }) };
    for codec in BOTH {
        let mut events = envd.connect(codec, process.pid).await;
        assert_eq!(events.start().await, process.pid);
        let output = events.output().await;
        assert_eq!((output.text().as_str(), output.end().exit_code), ("", 4));
        let mut events = envd.open::<StartResponse>(codec, "/process.Process/Connect", &by_tag, &[]).await;
        assert_eq!(events.start().await, process.pid);
    }
}

#[tokio::test]
async fn connecting_to_an_unknown_process_is_not_found() {
    let envd = Envd::start().await;
    let failure = envd.connect(Codec::Json, 999_999_999).await.failure().await;
    assert_eq!((failure.code.as_str(), failure.message.as_str()), ("not_found", "process with pid 999999999 not found"));
    let by_tag = ConnectRequest { process: Some(ProcessSelector { selector: Some(Selector::Tag("x".into())) }) };
    let failure = envd.open::<StartResponse>(Codec::Proto, "/process.Process/Connect", &by_tag, &[]).await.failure().await;
    assert_eq!(failure.message, "process with tag x not found");
}

#[tokio::test]
async fn a_background_process_of_a_terminal_does_not_hold_up_its_end() {
    let envd = Envd::start().await;
    let begun = Instant::now();
    let output = envd.follow(Codec::Proto, &in_terminal("sleep 100 & exit 3", 80, 24)).await.events.output().await;
    assert_eq!(output.end().exit_code, 3);
    assert!(begun.elapsed() < Duration::from_secs(50));
}
