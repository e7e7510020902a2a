//! Section 4.2: how a process is started, and how its end is told.

use crate::harness::*;
use agent_sandbox_web::protocol::process::*;

async fn refused(envd: &Envd, request: &StartRequest) -> Failure {
    envd.open::<StartResponse>(Codec::Json, "/process.Process/Start", request, &[]).await.failure().await
}

#[tokio::test]
async fn events_come_as_start_then_data_then_end_then_success() {
    let envd = Envd::start().await;
    for codec in BOTH {
        let mut process = envd.follow(codec, &sh("echo out")).await;
        assert!(process.pid > 1);
        let Event::Data(data) = process.events.event().await else { panic!("no data") };
        assert_eq!(data.output, Some(agent_sandbox_web::protocol::process::Output::Stdout("out\n".into())));
        let Event::End(end) = process.events.event().await else { panic!("no end") };
        assert_eq!(end, EndEvent { exit_code: 0, exited: true, status: "exit status 0".into(), error: None });
        assert_eq!(process.events.next().await, Next::End(None));
        assert_eq!(process.events.next().await, Next::Broken);
    }
}

#[tokio::test]
async fn the_command_is_executed_without_a_shell() {
    let envd = Envd::start().await;
    let output = envd.follow(Codec::Proto, &program("printf", &["%s|", "$HOME", "a b", "*"])).await.events.output().await;
    assert_eq!(output.text(), "$HOME|a b|*|");
}

#[tokio::test]
async fn the_pid_is_that_of_the_command_itself() {
    let envd = Envd::start().await;
    let mut process = envd.follow(Codec::Proto, &sh("echo $$")).await;
    let (pid, output) = (process.pid, process.events.output().await);
    assert_eq!(output.text().trim(), pid.to_string());
}

#[tokio::test]
async fn a_missing_program_is_exit_127_with_a_line_on_stderr() {
    let envd = Envd::start().await;
    for codec in BOTH {
        let output = envd.follow(codec, &program("/no/such", &[])).await.events.output().await;
        assert_eq!(String::from_utf8_lossy(&output.stderr), "exec: '/no/such': No such file or directory\n");
        assert_eq!((output.end().exit_code, output.end().exited, output.failure), (127, true, None));
    }
}

#[tokio::test]
async fn a_file_that_cannot_be_executed_is_exit_126() {
    let envd = Envd::start().await;
    let path = envd.path("plain");
    std::fs::write(&path, "x").unwrap();
    assert_eq!(envd.follow(Codec::Proto, &program(&path, &[])).await.events.output().await.end().exit_code, 126);
}

#[tokio::test]
async fn an_empty_command_ends_with_an_error_code() {
    let envd = Envd::start().await;
    assert_ne!(envd.follow(Codec::Proto, &program("", &[])).await.events.output().await.end().exit_code, 0);
}

#[tokio::test]
async fn without_cwd_it_runs_in_the_default_working_directory() {
    let envd = Envd::start().await;
    assert_eq!(envd.run(Codec::Json, "pwd").await.text().trim(), envd.work().to_str().unwrap());
}

#[tokio::test]
async fn without_a_default_working_directory_it_runs_in_the_home() {
    let envd = Envd::with(serde_json::json!({ "defaultWorkdir": "" })).await;
    assert_eq!(envd.run(Codec::Json, "pwd").await.text().trim(), envd.user.home);
}

fn in_directory(cwd: &str) -> StartRequest {
    let mut request = sh("pwd");
    request.process.as_mut().unwrap().cwd = Some(cwd.to_owned());
    request
}

#[tokio::test]
async fn a_relative_cwd_starts_at_the_home() {
    let envd = Envd::start().await;
    let output = envd.follow(Codec::Proto, &in_directory(".")).await.events.output().await;
    assert_eq!(output.text().trim(), envd.user.home);
}

#[tokio::test]
async fn a_missing_cwd_is_invalid() {
    let envd = Envd::start().await;
    let failure = refused(&envd, &in_directory("/no/such/folder")).await;
    assert_eq!((failure.code.as_str(), failure.message.as_str()), ("invalid_argument", "cwd '/no/such/folder' does not exist"));
}

#[tokio::test]
async fn a_cwd_that_is_a_file_is_invalid() {
    let envd = Envd::start().await;
    assert_eq!(refused(&envd, &in_directory("/etc/passwd")).await.code, "invalid_argument");
}

#[tokio::test]
async fn another_users_home_as_cwd_is_invalid() {
    let envd = Envd::start().await;
    let failure = refused(&envd, &in_directory("~daemon/x")).await;
    assert_eq!(failure.code, "invalid_argument");
    assert!(failure.message.contains("cannot expand user-specific home dir"), "{}", failure.message);
}

#[tokio::test]
async fn the_environment_is_path_and_the_user_then_the_sandboxs_then_the_requests() {
    let envd = Envd::start().await;
    let mut request = sh("env");
    request.process.as_mut().unwrap().envs = [("SANDBOX_WIDE", "two"), ("MINE", "x=y"), ("HOME", "/elsewhere")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
    let text = envd.follow(Codec::Json, &request).await.events.output().await.text();
    let mut names: Vec<&str> = text.lines().filter_map(|line| line.split('=').next()).filter(|name| *name != "_").collect();
    names.sort_unstable();
    assert_eq!(names, ["E2B_SANDBOX", "HOME", "LOGNAME", "MINE", "PATH", "PWD", "SANDBOX_WIDE", "USER"]);
    let path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    for line in [path, "SANDBOX_WIDE=two", "MINE=x=y", "HOME=/elsewhere", "E2B_SANDBOX=true", &format!("USER={}", envd.user.name)] {
        assert!(text.lines().any(|found| found == line), "{line} is not in {text}");
    }
}

#[tokio::test]
async fn stdin_is_a_pipe_unless_it_is_refused() {
    let envd = Envd::start().await;
    let script = "readlink /proc/self/fd/0";
    assert_eq!(envd.run(Codec::Json, script).await.text().trim(), "/dev/null");
    for stdin in [None, Some(true)] {
        let output = envd.follow(Codec::Proto, &StartRequest { stdin, ..sh(script) }).await.events.output().await;
        assert!(output.text().starts_with("pipe:"), "{}", output.text());
    }
}

#[tokio::test]
async fn a_terminal_has_the_size_asked_for_and_its_output_is_pty() {
    let envd = Envd::start().await;
    for codec in BOTH {
        let output =
            envd.follow(codec, &in_terminal("stty size; tty >/dev/null && echo err >&2", 100, 30)).await.events.output().await;
        assert_eq!(String::from_utf8_lossy(&output.pty), "30 100\r\nerr\r\n");
        assert!(output.stdout.is_empty() && output.stderr.is_empty());
        assert_eq!(output.end().exit_code, 0);
    }
}

#[tokio::test]
async fn a_terminal_without_a_size_is_0_by_0_and_sizes_are_cut_to_16_bits() {
    let envd = Envd::start().await;
    let request = StartRequest { pty: Some(Pty { size: None }), ..sh("stty size") };
    assert_eq!(envd.follow(Codec::Proto, &request).await.events.output().await.pty, b"0 0\r\n");
    let output = envd.follow(Codec::Proto, &in_terminal("stty size", 65537, 70000)).await.events.output().await;
    assert_eq!(output.pty, b"4464 1\r\n");
}

#[tokio::test]
async fn a_tag_is_a_label_that_need_not_be_unique() {
    let envd = Envd::start().await;
    let tagged = |tag: &str| StartRequest { tag: Some(tag.to_owned()), stdin: Some(true), ..program("cat", &[]) };
    let _first = envd.follow(Codec::Proto, &tagged("same")).await;
    let _second = envd.follow(Codec::Json, &tagged("same")).await;
    let _empty = envd.follow(Codec::Proto, &tagged("")).await;
    let tags: Vec<_> = envd.list().await.into_iter().map(|process| process.tag).collect();
    assert_eq!(tags, [Some("same".into()), Some("same".into()), Some(String::new())]);
}

#[tokio::test]
async fn output_comes_in_chunks_of_at_most_32_kib() {
    let envd = Envd::start().await;
    std::fs::write(envd.path("big"), vec![b'x'; 1 << 20]).unwrap();
    let mut process = envd.follow(Codec::Proto, &program("cat", &[&envd.path("big")])).await;
    let mut total = 0;
    let mut largest = 0;
    while let Event::Data(data) = process.events.event().await {
        let len = bytes_of(data.output.as_ref().unwrap()).len();
        total += len;
        largest = largest.max(len);
    }
    assert_eq!(total, 1 << 20);
    assert!(largest <= 32 * 1024, "{largest}");
    // More than that is there before envd looks: it comes in a chunk of that size first.
    envd.run(Codec::Proto, "mkfifo go").await;
    let mut process = envd.follow(Codec::Proto, &sh("read x < go; head -c 40000 big; touch done")).await;
    stop(envd.child.id().unwrap()).await;
    std::fs::write(envd.path("go"), "\n").unwrap();
    until(async || exists(envd.path("done")).then_some(())).await;
    send_signal(envd.child.id().unwrap(), rustix::process::Signal::CONT);
    let Event::Data(data) = process.events.event().await else { panic!("no data") };
    assert_eq!(bytes_of(data.output.as_ref().unwrap()).len(), 32 * 1024);
}

#[tokio::test]
async fn any_bytes_come_through_in_both_codecs() {
    let envd = Envd::start().await;
    let bytes: Vec<u8> = (0..=255u8).cycle().take(100_003).collect();
    std::fs::write(envd.path("bytes"), &bytes).unwrap();
    for codec in BOTH {
        let output = envd.run(codec, "cat bytes; cat bytes >&2").await;
        assert!(output.stdout == bytes && output.stderr == bytes, "{codec:?}");
    }
}

#[tokio::test]
async fn a_command_line_that_is_too_long_is_invalid_and_not_repeated() {
    let envd = Envd::start().await;
    let failure = refused(&envd, &program("true", &[&"x".repeat(200_000)])).await;
    assert_eq!(failure.code, "invalid_argument");
    assert!(failure.message.starts_with("error starting process 'true': "), "{}", failure.message);
    assert!(failure.message.len() < 200);
}

#[tokio::test]
async fn a_nul_in_an_argument_or_variable_is_invalid() {
    let envd = Envd::start().await;
    assert_eq!(refused(&envd, &program("true", &["a\0b"])).await.code, "invalid_argument");
    let mut request = program("true", &[]);
    request.process.as_mut().unwrap().envs.insert("A".into(), "a\0b".into());
    assert_eq!(refused(&envd, &request).await.code, "invalid_argument");
}

async fn end_of(script: &str) -> EndEvent {
    let envd = Envd::start().await;
    let ends = [envd.run(Codec::Json, script).await.end().clone(), envd.run(Codec::Proto, script).await.end().clone()];
    assert_eq!(ends[0], ends[1]);
    ends[0].clone()
}

fn end(exit_code: i32, exited: bool, status: &str) -> EndEvent {
    EndEvent { exit_code, exited, status: status.to_owned(), error: (exit_code != 0).then(|| status.to_owned()) }
}

#[tokio::test]
async fn success_is_exit_status_0_without_an_error() {
    assert_eq!(end_of("exit 0").await, end(0, true, "exit status 0"));
}

#[tokio::test]
async fn exit_3_is_exit_status_3_as_status_and_error() {
    assert_eq!(end_of("exit 3").await, end(3, true, "exit status 3"));
}

#[tokio::test]
async fn sigkill_is_code_minus_1_and_signal_killed() {
    assert_eq!(end_of("kill -KILL $$").await, end(-1, false, "signal: killed"));
}

#[tokio::test]
async fn sigterm_is_code_minus_1_and_signal_terminated() {
    assert_eq!(end_of("kill -TERM $$").await, end(-1, false, "signal: terminated"));
}

#[tokio::test]
async fn a_process_has_the_usual_reactions_to_signals() {
    let envd = Envd::start().await;
    let output = envd.run(Codec::Proto, "cat /proc/self/status").await;
    for line in output.text().lines().filter(|line| ["SigBlk", "SigIgn", "SigCgt"].iter().any(|set| line.starts_with(set))) {
        let set = u64::from_str_radix(line.rsplit('\t').next().unwrap(), 16).unwrap();
        // Those above 31 are the C library's own.
        assert_eq!(set & 0x7fff_ffff, 0, "{line}");
    }
}

#[tokio::test]
async fn a_process_signals_its_own_group_and_not_envd() {
    let envd = Envd::start().await;
    assert_eq!(envd.run(Codec::Proto, "kill -TERM 0").await.end().status, "signal: terminated");
    assert_eq!(envd.run(Codec::Proto, "echo on").await.text(), "on\n");
}
