//! Bodies and connections through the gateway: they flow, switch protocols and end when either side goes.

use super::support::{PATIENCE, Platform};
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
