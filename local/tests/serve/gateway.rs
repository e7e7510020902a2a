//! The gateway: three forms, errors, tokens and headers.

use super::support::{Answer, KEY, Platform, Sandbox};
use serde_json::json;

/// Answers every request with its own head.
const MIRROR: &str = "while (my $client = $server->accept) { my $head = ''; while (my $line = <$client>) { last if $line eq \"\\r\\n\"; $head .= $line } \
    print $client \"HTTP/1.1 200 OK\\r\\nConnection: close\\r\\nSet-Cookie: a=1; Domain=localhost; Path=/\\r\\nContent-Length: \" . length($head) . \"\\r\\n\\r\\n$head\"; close $client }";

async fn mirror(platform: &Platform) -> (Sandbox, u16) {
    let sandbox = platform.sandbox().await;
    let port = sandbox.serve(MIRROR).await;
    (sandbox, port)
}

fn first_line(answer: &Answer) -> String {
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.text().lines().next().unwrap().to_owned()
}

#[tokio::test]
async fn a_port_is_reached_by_path_by_host_and_by_headers() {
    let platform = Platform::start();
    let (sandbox, port) = mirror(&platform).await;
    let id = &sandbox.id;
    let by_path = platform.call("GET", &format!("/s/{id}/{port}/a%2Fb//c?q=%3F")).send().await;
    assert_eq!(first_line(&by_path), "GET /a%2Fb//c?q=%3F HTTP/1.1");
    assert_eq!(by_path.header("content-security-policy"), Some("sandbox"));
    assert_eq!(by_path.header("set-cookie"), Some(format!("a=1; Path=/s/{id}/{port}/").as_str()));
    for host in [format!("{port}-{id}.localhost:{{port}}"), format!("s7.{port}-{id}.localhost:{{port}}")] {
        let by_host = platform.call("GET", "/s/x?y").host(&host).send().await;
        assert_eq!(first_line(&by_host), "GET /s/x?y HTTP/1.1");
        assert!(by_host.header("content-security-policy").is_none());
        assert_eq!(by_host.header("set-cookie"), Some("a=1; Path=/"));
    }
    for family in ["e2b", "agentbox"] {
        let by_headers = |host: &str| {
            let call = platform.call("GET", "/sandboxes").host(host).header(&format!("{family}-sandbox-id"), id);
            call.header(&format!("{family}-sandbox-port"), &port.to_string())
        };
        for host in ["localhost:{port}", "127.0.0.1:{port}"] {
            let answer = by_headers(host).send().await;
            assert_eq!(first_line(&answer), "GET /sandboxes HTTP/1.1");
            assert_eq!(answer.header("content-security-policy"), Some("sandbox"));
        }
        // Sandbox content never shares the console's origin; programs have none.
        for (name, value) in [("origin", "http://localhost:1"), ("sec-fetch-mode", "navigate"), ("sec-fetch-site", "same-origin")] {
            let on_console = by_headers("localhost:{port}").header(name, value).send().await;
            assert_eq!(on_console.status, 403, "{name}");
            assert!(on_console.message().contains("127.0.0.1"), "{}", on_console.text());
            assert_eq!(by_headers("127.0.0.1:{port}").header(name, value).send().await.status, 200, "{name}");
        }
    }
    let other_port =
        platform.call("GET", &format!("/s/{id}/49983/execute")).header("e2b-sandbox-port", &port.to_string()).send().await;
    assert_eq!(first_line(&other_port), "GET /execute HTTP/1.1", "a port header that differs wins");
}

#[tokio::test]
async fn servers_inside_see_the_client_but_neither_keys_nor_routing() {
    let platform = Platform::start();
    let (sandbox, port) = mirror(&platform).await;
    let call = platform.api("GET", &format!("/s/{}/{port}/", sandbox.id)).header("authorization", &format!("Bearer {KEY}"));
    let call = call
        .header("e2b-traffic-access-token", "t")
        .header("agentbox-sandbox-id", &sandbox.id)
        .header("x-forwarded-for", "1.2.3.4")
        .header("x-api-key", KEY)
        .header("cookie", &format!("key={KEY}"));
    let seen =
        call.header("connection", "x-private").header("x-private", "p").header("x-kept", "k").send().await.text().to_lowercase();
    for absent in [KEY, "cookie", "traffic-access-token", "sandbox-id", "x-private", "1.2.3.4"] {
        assert!(!seen.contains(absent), "{absent}: {seen}");
    }
    for present in
        ["x-kept: k", "x-forwarded-for: 127.0.0.1", "x-forwarded-proto: http", &format!("host: 127.0.0.1:{}", platform.port())]
    {
        assert!(seen.contains(present), "{present}: {seen}");
    }
}

#[tokio::test]
async fn errors_are_json_that_pages_can_read() {
    let platform = Platform::start();
    let sandbox = platform.sandbox().await;
    let id = &sandbox.id;
    let page = |method: &str, path: &str| platform.call(method, path).header("origin", "https://any.example");
    let unknown = page("GET", "/s/iunknown/3000/").send().await;
    assert_eq!(unknown.status, 502);
    assert_eq!(unknown.value(), json!({"sandboxId": "iunknown", "message": "The sandbox was not found", "code": 502}));
    let closed = page("GET", &format!("/s/{id}/49999/execute")).send().await;
    assert_eq!(closed.status, 502);
    let message = "The sandbox is running but port is not open";
    assert_eq!(closed.value(), json!({"sandboxId": id, "message": message, "port": 49999, "code": 502}));
    let control = page("POST", &format!("/s/{id}/49983/init?x")).send().await;
    assert_eq!((control.status, &control.value()["path"], &control.value()["code"]), (404, &json!("/init"), &json!(404)));
    for answer in [&unknown, &closed, &control] {
        assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
    }
    for path in ["/s/iunknown/3000/".to_owned(), format!("/s/{id}/3000/")] {
        let call =
            page("OPTIONS", &path).header("access-control-request-method", "PUT").header("access-control-request-headers", "x-a");
        let preflight = call.header("access-control-request-private-network", "true").send().await;
        assert_eq!(preflight.status, 204);
        assert_eq!(preflight.header("access-control-allow-methods"), Some("PUT"));
        assert_eq!(preflight.header("access-control-allow-headers"), Some("x-a"));
        assert_eq!(preflight.header("access-control-allow-private-network"), Some("true"));
    }
    for (path, text) in [
        (format!("/s/{id}/0/"), "Invalid sandbox port"),
        (format!("/s/{id}/x/"), "Invalid sandbox port"),
        ("/s/A/80/".into(), "Invalid sandbox ID"),
    ] {
        let bad = page("GET", &path).send().await;
        assert_eq!((bad.status, bad.value()), (400, json!({"code": 400, "message": text})));
    }
    let half = platform.call("GET", "/").header("e2b-sandbox-id", id).send().await;
    assert_eq!((half.status, half.message().as_str()), (400, "missing header"));
    let host = platform.call("GET", "/").host("nonsense.localhost:{port}").send().await;
    assert_eq!((host.status, host.message().as_str()), (400, "Invalid host"));
}

#[tokio::test]
async fn a_server_that_breaks_off_is_told_apart_from_a_closed_port() {
    let platform = Platform::start();
    let sandbox = platform.sandbox().await;
    let port = sandbox.serve("while (my $client = $server->accept) { <$client>; close $client }").await;
    let answer = sandbox.call("GET", port, "/").send().await;
    assert_eq!(answer.status, 502);
    assert!(answer.message().contains("closed the connection"), "{}", answer.message());
}

#[tokio::test]
async fn without_walls_only_a_sandboxes_own_ports_are_reached() {
    let platform = Platform::start_with(&["--isolation", "none"]);
    let stranger = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let (one, two) = (platform.sandbox().await, platform.sandbox().await);
    // In the sandbox's own home: /tmp is the host's.
    let listen = "use IO::Socket::INET; my $server = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 5) or die; \
        open(my $file, '>', 'port.new'); print $file $server->sockport; close $file; rename 'port.new', 'port';";
    let start = "setsid perl server.pl </dev/null >/dev/null 2>&1 & until [ -e port ]; do sleep 0.02; done; cat port";
    let port = one.succeed(&format!("cat > server.pl <<'END'\n{listen}\n{MIRROR}\nEND\n{start}")).await.trim().parse().unwrap();
    assert_eq!(one.call("GET", port, "/").send().await.status, 200);
    for (sandbox, port) in [(&two, port), (&one, stranger.local_addr().unwrap().port()), (&one, platform.port())] {
        let answer = sandbox.call("GET", port, "/").send().await;
        assert_eq!((answer.status, answer.message().as_str()), (502, "The sandbox is running but port is not open"));
    }
}

#[tokio::test]
async fn a_port_that_is_not_public_asks_for_the_traffic_token() {
    let platform = Platform::start();
    let sandbox = platform.sandbox_of(json!({"secure": true, "network": {"allowPublicTraffic": false}})).await;
    let port = sandbox.serve(MIRROR).await;
    let token = sandbox.created["trafficAccessToken"].as_str().unwrap();
    let refused = sandbox.call("GET", port, "/").send().await;
    assert_eq!((refused.status, &refused.value()["code"]), (403, &json!(403)));
    assert!(!refused.text().contains(token));
    assert_eq!(sandbox.call("GET", port, "/").header("e2b-traffic-access-token", "wrong").send().await.status, 403);
    assert_eq!(sandbox.call("OPTIONS", port, "/").send().await.status, 403);
    for name in ["e2b-traffic-access-token", "Agentbox-Traffic-Access-Token"] {
        assert_eq!(sandbox.call("GET", port, "/").header(name, token).send().await.status, 200);
    }
    let detail = platform.api("GET", &format!("/sandboxes/{}", sandbox.id)).send().await.value();
    assert!(detail.get("trafficAccessToken").is_none());
    assert_eq!(detail["network"], json!({"allowPublicTraffic": false}));
}

#[tokio::test]
async fn who_is_refused_while_a_large_body_is_still_being_sent_reads_why() {
    let platform = Platform::start();
    let sandbox = platform.sandbox().await;
    // More than the buffers on the way hold.
    let large = vec![0; 16 << 20];
    let no_type = sandbox.call("POST", 49983, "/files?path=/tmp/large").body(large.clone()).send().await;
    assert_eq!(no_type.status, 400, "{}", no_type.text());
    assert_eq!(platform.call("POST", "/sandboxes").header("x-api-key", "wrong").body(large).send().await.status, 401);
}
