//! The contract with the platform: ready, ports, and the end of everything.

use crate::harness::*;
use std::net::{Ipv4Addr, Ipv6Addr};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, UnixStream};

#[tokio::test]
async fn when_stdin_ends_everything_ends() {
    let mut envd = Envd::start().await;
    let mut plain = envd.follow(Codec::Proto, &sh("sleep 1000 & echo $!; exec sleep 1000")).await;
    let child: u32 = plain.events.wait_for("\n").await.trim().parse().unwrap();
    // One that took leave of its session and of its parent.
    let mut daemon =
        envd.follow(Codec::Proto, &sh("setsid sh -c 'trap \"\" TERM HUP; echo $$; exec >/dev/null 2>&1; sleep 1000' &")).await;
    let escaped: u32 = daemon.events.wait_for("\n").await.trim().parse().unwrap();
    let terminal = envd.follow(Codec::Proto, &in_terminal("trap '' HUP; sleep 1000", 80, 24)).await;
    daemon.events.output().await;
    let pids = [plain.pid, child, escaped, terminal.pid];
    assert!(pids.iter().all(|pid| is_alive(*pid)));
    drop(envd.stdin.take());
    assert!(soon(envd.child.wait()).await.unwrap().success());
    for pid in pids {
        assert!(!is_alive(pid), "{pid} is left of {pids:?}");
    }
}

#[tokio::test]
async fn sigterm_ends_everything_too() {
    let mut envd = Envd::start().await;
    let process = envd.follow(Codec::Proto, &program("sleep", &["1000"])).await;
    send_signal(envd.child.id().unwrap(), rustix::process::Signal::TERM);
    assert!(soon(envd.child.wait()).await.unwrap().success());
    assert!(!is_alive(process.pid));
}

#[tokio::test]
async fn orphans_do_not_stay_as_zombies() {
    let envd = Envd::start().await;
    let mut process = envd.follow(Codec::Proto, &sh("(sleep 0.05; exec 2>&-) & echo $!")).await;
    let orphan: u32 = process.events.wait_for("\n").await.trim().parse().unwrap();
    process.events.output().await;
    until(async || (!exists(format!("/proc/{orphan}"))).then_some(())).await;
}

#[tokio::test]
async fn sockets_left_behind_are_replaced() {
    let run = tempfile::tempdir().unwrap();
    for name in ["envd.sock", "ports.sock"] {
        drop(std::os::unix::net::UnixListener::bind(run.path().join(name)).unwrap());
    }
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_agent-sandbox-local"))
        .args(["envd", "--run-dir"])
        .arg(run.path())
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut stdin, b"{\"envVars\":{},\"defaultUser\":\"\",\"defaultWorkdir\":\"\"}\n").unwrap();
    let mut line = [0; 6];
    std::io::Read::read_exact(&mut child.stdout.take().unwrap(), &mut line).unwrap();
    assert_eq!(&line, b"ready\n");
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[tokio::test]
async fn a_configuration_that_cannot_be_read_is_an_error_without_its_text() {
    let run = tempfile::tempdir().unwrap();
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_agent-sandbox-local"))
        .args(["envd", "--run-dir"])
        .arg(run.path())
        .stdin(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"{\"envVars\":\"secret-1\"}\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(!output.status.success());
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("one line of JSON") && !text.contains("secret-1"), "{text}");
}

async fn through_port(envd: &Envd, port: u16) -> (u8, UnixStream) {
    let mut stream = UnixStream::connect(envd.socket("ports.sock")).await.unwrap();
    stream.write_u16(port).await.unwrap();
    (soon(stream.read_u8()).await.unwrap(), stream)
}

#[tokio::test]
async fn the_ports_socket_reaches_a_listener_on_either_loopback() {
    let envd = Envd::start().await;
    let mut listeners = vec![TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap()];
    // A machine may have no IPv6.
    listeners.extend(TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).await.ok());
    for listener in listeners {
        let (status, mut stream) = through_port(&envd, listener.local_addr().unwrap().port()).await;
        assert_eq!(status, 0);
        let (mut inside, _) = soon(listener.accept()).await.unwrap();
        stream.write_all(b"ping").await.unwrap();
        stream.shutdown().await.unwrap();
        let mut received = String::new();
        soon(inside.read_to_string(&mut received)).await.unwrap();
        assert_eq!(received, "ping");
        // The other direction is still open.
        inside.write_all(b"pong").await.unwrap();
        drop(inside);
        received.clear();
        soon(stream.read_to_string(&mut received)).await.unwrap();
        assert_eq!(received, "pong");
    }
}

/// A port of both loopbacks that nobody listens on, nor can for as long as what comes with it is kept.
fn closed_port() -> (u16, Vec<TcpSocket>) {
    loop {
        let four = TcpSocket::new_v4().unwrap();
        four.bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
        let port = four.local_addr().unwrap().port();
        let six = TcpSocket::new_v6().and_then(|six| six.bind((Ipv6Addr::LOCALHOST, port).into()).map(|()| six));
        match six {
            Ok(six) => return (port, vec![four, six]),
            Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {}
            // A machine may have no IPv6.
            Err(_) => return (port, vec![four]),
        }
    }
}

#[tokio::test]
async fn a_port_that_nobody_listens_on_is_closed() {
    let envd = Envd::start().await;
    let (port, _kept) = closed_port();
    let (status, mut stream) = through_port(&envd, port).await;
    assert_eq!(status, 1);
    assert_eq!(soon(stream.read(&mut [0; 8])).await.unwrap(), 0);
}
