//! Bodies and connections through the gateway: they flow, switch protocols and end when either side goes.

use super::support::{PATIENCE, Platform, Sandbox, until};
use http_body_util::BodyExt;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Sends one chunk, then waits for the client to go and notes it.
const PATIENT: &str = "my $client = $server->accept; while (<$client>) { last if $_ eq \"\\r\\n\" } \
    print $client \"HTTP/1.1 200 OK\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n5\\r\\nfirst\\r\\n\"; \
    my $more = <$client>; open(my $file, '>', '/tmp/gone'); close $file;";

/// Waits for the client to go without ever answering.
const SILENT: &str = "my $client = $server->accept; while (<$client>) { last if $_ eq \"\\r\\n\" } open(my $seen, '>', '/tmp/seen'); close $seen; \
    my $more = <$client>; open(my $file, '>', '/tmp/gone'); close $file;";

/// Switches protocols and answers every line in capitals.
const CAPITALS: &str = "my $client = $server->accept; $client->autoflush(1); my $key = ''; while (<$client>) { $key = $1 if /^sec-websocket-key: (.*)\\r/i; last if $_ eq \"\\r\\n\" } \
    print $client \"HTTP/1.1 101 Switching Protocols\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket\\r\\nX-Key: $key\\r\\n\\r\\n\"; \
    while (my $line = <$client>) { print $client uc $line } open(my $file, '>', '/tmp/gone'); close $file;";

/// Agrees to five WebSockets and hears none of them end. It ends the fourth itself, and tells the fifth something every four seconds, for longer
/// than anybody may keep silent.
const CARELESS: &str = "my @kept; for (1..5) { my $client = $server->accept; $client->autoflush(1); while (<$client>) { last if $_ eq \"\\r\\n\" } \
    print $client \"HTTP/1.1 101 Switching Protocols\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket\\r\\n\\r\\n\"; push @kept, $client } \
    close $kept[3]; my $talk = $kept[4]; for (1..10) { sleep 4; print $talk \"$_\\n\" } close $talk; sleep 86400";

const WAIT: &str = "until [ -e /tmp/gone ]; do sleep 0.02; done";

#[tokio::test]
async fn an_answer_comes_as_it_is_written_and_ends_inside_when_the_client_goes() {
    let platform = Platform::start();
    let sandbox = platform.sandbox().await;
    let port = sandbox.serve(PATIENT).await;
    let mut answer = sandbox.call("GET", port, "/").open().await;
    let first = timeout(PATIENCE, answer.frame()).await.expect("the first chunk does not come").unwrap().unwrap();
    assert_eq!(first.into_data().unwrap().as_ref(), b"first");
    assert_ne!(sandbox.run("[ -e /tmp/gone ]").await.code, 0);
    drop(answer);
    timeout(PATIENCE, sandbox.succeed(WAIT)).await.expect("the server does not see that its client has gone");
}

#[tokio::test]
async fn a_request_that_has_no_answer_yet_ends_inside_when_the_client_goes() {
    let platform = Platform::start();
    let sandbox = platform.sandbox().await;
    let port = sandbox.serve(SILENT).await;
    let mut client = TcpStream::connect(("127.0.0.1", platform.port())).await.unwrap();
    let head = format!("GET /s/{}/{port}/ HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", sandbox.id, platform.port());
    client.write_all(head.as_bytes()).await.unwrap();
    sandbox.succeed("until [ -e /tmp/seen ]; do sleep 0.02; done").await;
    drop(client);
    timeout(PATIENCE, sandbox.succeed(WAIT)).await.expect("the server does not see that its client has gone");
}

#[tokio::test]
async fn a_websocket_reaches_a_server_inside_in_every_form() {
    let platform = Platform::start();
    for form in ["path", "host", "headers"] {
        let sandbox = platform.sandbox().await;
        let port = sandbox.serve(CAPITALS).await;
        let call = match form {
            "path" => sandbox.call("GET", port, "/socket"),
            "host" => platform.call("GET", "/socket").host(&format!("{port}-{}.localhost:{{port}}", sandbox.id)),
            _ => {
                platform.call("GET", "/socket").header("e2b-sandbox-id", &sandbox.id).header("e2b-sandbox-port", &port.to_string())
            }
        };
        let call = call.header("connection", "Upgrade").header("upgrade", "websocket").header("sec-websocket-key", "abc");
        let mut answer = call.open().await;
        assert_eq!(answer.status(), 101, "{form}");
        assert_eq!(answer.headers()["upgrade"], "websocket");
        assert_eq!(answer.headers()["x-key"], "abc");
        let mut socket = TokioIo::new(hyper::upgrade::on(&mut answer).await.unwrap());
        for line in ["one\n", "two\n"] {
            socket.write_all(line.as_bytes()).await.unwrap();
            let mut back = [0; 4];
            timeout(PATIENCE, socket.read_exact(&mut back)).await.expect("nothing comes back").unwrap();
            assert_eq!(std::str::from_utf8(&back).unwrap(), line.to_uppercase());
        }
        drop(socket);
        timeout(PATIENCE, sandbox.succeed(WAIT)).await.expect("the server does not see that its client has gone");
    }
}

#[tokio::test]
async fn killing_a_sandbox_ends_its_streams() {
    let platform = Platform::start();
    let sandbox = platform.sandbox().await;
    let mut answer = sandbox.start("echo one; exec sleep 86400").open().await;
    timeout(PATIENCE, answer.frame()).await.expect("the first frame does not come").unwrap().unwrap();
    assert_eq!(platform.api("DELETE", &format!("/sandboxes/{}", sandbox.id)).send().await.status, 204);
    let end = async { while let Some(Ok(_)) = answer.frame().await {} };
    timeout(PATIENCE, end).await.expect("the stream of a killed sandbox goes on");
    assert_eq!(sandbox.call("GET", 49983, "/health").send().await.message(), "The sandbox was not found");
}

#[tokio::test]
async fn large_bodies_pass_in_both_directions() {
    let platform = Platform::start();
    let sandbox = platform.sandbox().await;
    let sent: Vec<u8> = (0..8_000_000_u32).map(|n| (n % 251) as u8).collect();
    let upload =
        sandbox.call("POST", 49983, "/files?path=big").header("content-type", "application/octet-stream").body(sent.clone());
    assert_eq!(upload.send().await.status, 200);
    assert!(sandbox.call("GET", 49983, "/files?path=big").send().await.body == sent);
}

/// Opens a WebSocket as a client whose connection is all the test's.
async fn switch(platform: &Platform, sandbox: &Sandbox, port: u16) -> TcpStream {
    let mut client = TcpStream::connect(("127.0.0.1", platform.port())).await.unwrap();
    let (id, own) = (&sandbox.id, platform.port());
    let head =
        format!("GET /s/{id}/{port}/ HTTP/1.1\r\nHost: 127.0.0.1:{own}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
    client.write_all(head.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        answer.push(timeout(PATIENCE, client.read_u8()).await.expect("no answer").unwrap());
    }
    assert!(answer.starts_with(b"HTTP/1.1 101 "), "{}", String::from_utf8_lossy(&answer));
    client
}

/// What the system knows of the platform's end of a client's connection. The tenth column is 0 when it is no process's any more.
fn connection(platform: &Platform, client: u16) -> Option<Vec<String>> {
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let ends = [format!(":{:04X}", platform.port()), format!(":{client:04X}")];
    let mut rows = table.lines().map(|row| row.split_ascii_whitespace().map(str::to_owned).collect::<Vec<_>>());
    rows.find(|row| row[1].ends_with(&ends[0]) && row[2].ends_with(&ends[1]))
}

#[tokio::test]
async fn a_peer_that_ends_nothing_holds_a_connection_that_the_other_has_ended_for_a_while_only() {
    let platform = Platform::start();
    let sandbox = platform.sandbox().await;
    let port = sandbox.serve(CARELESS).await;
    let held = |port| connection(&platform, port).is_some_and(|row| row[9] != "0");
    let port_of = |client: &TcpStream| client.local_addr().unwrap().port();
    let reset = switch(&platform, &sandbox, port).await;
    let was_reset = port_of(&reset);
    assert!(held(was_reset));
    reset.set_zero_linger().unwrap();
    drop(reset);
    until("a reset ends both sides at once", || !held(was_reset)).await;
    let gone = switch(&platform, &sandbox, port).await;
    let mut half = switch(&platform, &sandbox, port).await;
    let mut left = switch(&platform, &sandbox, port).await;
    let mut talk = switch(&platform, &sandbox, port).await;
    let ports = [&gone, &half, &left, &talk].map(port_of);
    drop(gone);
    half.shutdown().await.unwrap();
    talk.shutdown().await.unwrap();

    let mut rest = String::new();
    timeout(PATIENCE, left.read_to_string(&mut rest)).await.expect("the server's end is not passed on").unwrap();
    assert!(ports.into_iter().all(held), "all have time");
    let ends = async { (half.read_to_string(&mut String::new()).await, talk.read_to_string(&mut rest).await) };
    let (ended, heard) = timeout(PATIENCE, ends).await.expect("a connection stays half open");
    assert_eq!((ended.unwrap(), heard.unwrap()), (0, 21));
    assert_eq!(rest, "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n", "who still speaks may finish");
    until("the platform lets go of all", || !ports.into_iter().any(held)).await;
    // The ends of envd that are still somebody's: their peer is the server's port.
    let inside = format!("awk '$3 ~ /:{port:04X}$/ && $10 != 0' /proc/net/tcp");
    let gone = format!("until [ -z \"$({inside})\" ]; do sleep 0.02; done");
    timeout(PATIENCE, sandbox.succeed(&gone)).await.expect("envd keeps what the platform has let go of");
    drop((half, left, talk));
}

#[tokio::test]
async fn a_connection_that_a_client_keeps_for_later_ends_when_it_is_not_used() {
    let platform = Platform::start();
    let mut client = TcpStream::connect(("127.0.0.1", platform.port())).await.unwrap();
    let head = format!("GET /health HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", platform.port());
    client.write_all(head.as_bytes()).await.unwrap();
    let mut answer = String::new();
    timeout(PATIENCE, client.read_to_string(&mut answer)).await.expect("it is held for ever").unwrap();
    assert!(answer.starts_with("HTTP/1.1 20") && !answer.to_lowercase().contains("connection: close"), "{answer}");
}

#[tokio::test]
async fn a_client_that_says_nothing_is_asked_by_the_system_whether_it_is_still_there() {
    let platform = Platform::start();
    let client = TcpStream::connect(("127.0.0.1", platform.port())).await.unwrap();
    let port = client.local_addr().unwrap().port();
    // Which timer runs, 02 is the one of silence, and for how many hundredths of a second yet.
    until("the timer of silence runs for a minute", || {
        let row = connection(&platform, port);
        let timer = row.as_ref().and_then(|row| row[5].split_once(':'));
        timer.is_some_and(|(kind, left)| kind == "02" && u32::from_str_radix(left, 16).unwrap() <= 6_000)
    })
    .await;
}
