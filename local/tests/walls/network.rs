//! The host's listeners, private networks and metadata services.
//!
//! Connections go only to listeners of the test's own. For every other address the kernel inside is asked for its route, which sends
//! nothing.

use super::support::{Platform, Sandbox, Who, until};
use serde_json::json;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A server inside that greets whoever asks.
const GREET: &str = "while (my $client = $server->accept) { while (<$client>) { last if $_ eq \"\\r\\n\" } \
    print $client \"HTTP/1.0 200 OK\\r\\n\\r\\nreached\"; close $client }";

/// A listener on every address of the host that greets whoever comes.
struct Everywhere {
    ports: Vec<u16>,
    greeted: Arc<AtomicUsize>,
}

impl Everywhere {
    fn open() -> Self {
        let greeted = Arc::new(AtomicUsize::new(0));
        let places = [SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)), SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0))];
        let open = places.into_iter().filter_map(|place| TcpListener::bind(place).ok()).map(|listener| {
            let (port, greeted) = (listener.local_addr().unwrap().port(), Arc::clone(&greeted));
            std::thread::spawn(move || {
                for client in listener.incoming() {
                    greeted.fetch_add(1, Ordering::SeqCst);
                    drop(client.and_then(|mut client| client.write_all(b"reached")));
                }
            });
            port
        });
        Self { ports: open.collect(), greeted }
    }
}

/// Every address of the host's interfaces.
fn host_addresses() -> Vec<IpAddr> {
    let output = Command::new("ip").args(["-json", "address", "show"]).output().unwrap();
    let links: Vec<serde_json::Value> = serde_json::from_slice(&output.stdout).unwrap();
    let infos = links.iter().flat_map(|link| link["addr_info"].as_array().unwrap());
    infos.map(|info| info["local"].as_str().unwrap().parse().unwrap()).collect()
}

async fn has_way_out(sandbox: &Sandbox) -> bool {
    sandbox.run("ip route get 1.1.1.1 || ip route get 2606:4700::1111").await.code == 0
}

#[tokio::test]
async fn no_listener_of_the_host_is_reached_on_any_address() {
    let host = Everywhere::open();
    let addresses = host_addresses();
    assert!(addresses.contains(&IpAddr::from(Ipv4Addr::LOCALHOST)));
    for who in Who::all() {
        let platform = Platform::start_as(who, &[]);
        let sandbox = platform.sandbox().await;
        for address in addresses.iter().filter(|address| !matches!(address, IpAddr::V6(v6) if v6.is_unicast_link_local())) {
            for port in &host.ports {
                let attack = format!("exec 3<>/dev/tcp/{address}/{port} && head -c 7 <&3");
                let outcome = sandbox.run(&format!("timeout 10 bash -c '{attack}'")).await;
                assert!(outcome.code != 0 && !outcome.output.contains("reached"), "{who:?} {address}:{port}: {}", outcome.output);
            }
        }
    }
    assert_eq!(host.greeted.load(Ordering::SeqCst), 0);
    // The listeners are there: the test itself reaches them.
    for port in &host.ports {
        drop(
            std::net::TcpStream::connect(("localhost", *port))
                .or_else(|_| std::net::TcpStream::connect((Ipv6Addr::LOCALHOST, *port)))
                .unwrap(),
        );
    }
    until("the listeners' answer to the test", || host.greeted.load(Ordering::SeqCst) >= host.ports.len()).await;
}

/// Sends to every address in `argv[1:]` as `FAMILY ADDRESS PORT`, by TCP and UDP, in each way in which a socket can name its interface, and
/// prints what was answered. Python's standard library is all it needs.
const AROUND_ROUTES: &str = r#"
import socket, struct, sys
index = socket.if_nametoindex("eth0")
def bind(s, six): s.setsockopt(socket.SOL_SOCKET, 25, b"eth0")
def unicast(s, six): s.setsockopt(*((41, 76) if six else (0, 50)), struct.pack("!I", index))
def nothing(s, six): pass
def information(six):
    return [(41, 50, bytes(16) + struct.pack("=I", index))] if six else [(0, 8, struct.pack("=III", index, 0, 0))]
for target in sys.argv[1:]:
    address, port = target.rsplit("/", 1)
    six = ":" in address
    family = socket.AF_INET6 if six else socket.AF_INET
    for scope in ([0, index] if six else [None]):
        to = (address, int(port)) if scope is None else (address, int(port), 0, scope)
        for name in (bind, unicast, nothing):
            for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
                s = socket.socket(family, kind)
                s.settimeout(1)
                try:
                    name(s, six)
                    if kind == socket.SOCK_STREAM: s.connect(to)
                    elif name is nothing: s.sendmsg([b"knock"], information(six), 0, to)
                    else: s.sendto(b"knock", to)
                    print("SENT", name.__name__, kind, to)
                except OSError: pass
                finally: s.close()
"#;

#[tokio::test]
async fn a_socket_that_names_its_interface_reaches_nothing_more() {
    let host = Everywhere::open();
    let datagrams = std::net::UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap();
    datagrams.set_nonblocking(true).unwrap();
    let port = datagrams.local_addr().unwrap().port();
    let ports: Vec<u16> = host.ports.iter().copied().chain([port]).collect();
    let addresses = host_addresses();
    let mut targets: Vec<String> =
        ports.iter().flat_map(|port| addresses.iter().map(move |address| format!("{address}/{port}"))).collect();
    // Nothing may even leave for these, so that nothing is there does not matter.
    targets
        .extend(["10.1.2.3/9", "172.16.0.9/9", "192.168.1.9/9", "169.254.169.254/9", "fd00::9/9", "fe80::9/9"].map(String::from));
    for who in Who::all() {
        let platform = Platform::start_as(who, &[]);
        let sandbox = platform.sandbox().await;
        if !has_way_out(&sandbox).await {
            continue;
        }
        let attack = format!("cat > around.py <<'END'\n{AROUND_ROUTES}END\n/usr/bin/python3 around.py {}", targets.join(" "));
        let sent = sandbox.succeed(&attack).await;
        // A datagram to loopback without an interface's name goes to the sandbox itself, where nobody listens.
        let sent: Vec<&str> = sent.lines().filter(|line| line.starts_with("SENT")).collect();
        assert!(sent.is_empty(), "{who:?}: {sent:#?}");
        // The walls leave the sandbox's own addresses and its names open.
        let port = sandbox.serve(GREET).await;
        let own = sandbox.run(&format!("exec 3<>/dev/tcp/127.0.0.1/{port} && ip route get 10.0.2.3")).await;
        assert_eq!(own.code, 0, "{who:?}: {}", own.output);
    }
    assert_eq!(host.greeted.load(Ordering::SeqCst), 0);
    assert!(datagrams.recv(&mut [0; 8]).is_err(), "a datagram arrived");
}

/// Whether it is a sandbox's server that answers at a port of the host, and not a stranger's that has the same number there.
fn greets(port: u16) -> bool {
    let Ok(mut stream) = std::net::TcpStream::connect(("127.0.0.1", port)) else { return false };
    stream.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    let mut answer = Vec::new();
    let _ = stream.write_all(b"GET / HTTP/1.0\r\n\r\n").and_then(|()| stream.read_to_end(&mut answer));
    answer.ends_with(b"reached")
}

#[tokio::test]
async fn no_listener_of_a_sandbox_is_reached_on_the_host() {
    for who in Who::all() {
        let platform = Platform::start_as(who, &[]);
        let sandbox = platform.sandbox().await;
        let port = sandbox.serve(GREET).await;
        assert_eq!(sandbox.call("GET", port, "/").send().await.text(), "reached");
        // pasta can look for new listeners every second and open their ports on the host: for two of its looks nothing may appear.
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(2500) {
            assert!(!greets(port), "{who:?}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

#[tokio::test]
async fn private_carrier_link_local_and_metadata_addresses_have_no_route() {
    for who in Who::all() {
        let platform = Platform::start_as(who, &[]);
        let sandbox = platform.sandbox().await;
        let mut closed: Vec<IpAddr> = host_addresses().into_iter().filter(|address| !address.is_loopback()).collect();
        for address in [
            "10.0.0.1",
            "10.0.2.2",
            "10.255.255.254",
            "172.16.0.1",
            "172.31.255.254",
            "192.168.0.1",
            "192.168.255.254",
            "100.64.0.1",
            "100.127.255.254",
            "169.254.169.254",
            "169.254.170.2",
            "169.254.0.1",
            "100.100.100.200",
            "192.0.0.192",
            "168.63.129.16",
            "198.18.0.1",
            "240.0.0.1",
            "fd00::1",
            "fd00:ec2::254",
            "fc00::1",
            "fe80::1",
            "fec0::1",
            "2002:a00:1::1",
            "64:ff9b:1::a00:1",
        ] {
            closed.push(address.parse().unwrap());
        }
        for address in closed {
            let outcome = sandbox.run(&format!("ip route get {address}")).await;
            assert!(outcome.code != 0 || outcome.output.contains("unreachable"), "{who:?} {address}: {}", outcome.output);
        }
        for attack in ["ip route del unreachable 10.0.0.0/8", "ip link set eth0 down", "ip address add 10.9.9.9/8 dev lo"] {
            assert_ne!(sandbox.run(attack).await.code, 0, "{who:?} {attack}");
        }
        let flag = Platform::start_as(who, &["--allow-private"]);
        let open = flag.sandbox().await;
        if has_way_out(&open).await {
            assert_eq!(open.run("ip route get 192.168.0.1").await.code, 0, "{who:?}: the flag opens them");
        }
    }
}

#[tokio::test]
async fn a_sandbox_without_internet_has_only_itself() {
    for who in Who::all() {
        let platform = Platform::start_as(who, &[]);
        for members in [json!({"allow_internet_access": false}), json!({"network": {"denyOut": ["0.0.0.0/0"]}})] {
            let sandbox = platform.sandbox_of(members.clone()).await;
            assert!(!has_way_out(&sandbox).await, "{who:?} {members}");
            assert_eq!(
                sandbox.succeed("ls /proc/sys/net/ipv4/conf | grep -v -e all -e default; cat /etc/resolv.conf").await,
                "lo\n",
                "{who:?}"
            );
            let port = sandbox.serve(GREET).await;
            assert_eq!(sandbox.call("GET", port, "/").send().await.text(), "reached", "the gateway needs no network");
        }
        let online = platform.sandbox().await;
        let host = Command::new("ip").args(["route", "get", "1.1.1.1"]).output().unwrap().status.success();
        assert_eq!(has_way_out(&online).await, host, "{who:?}: others have what the host has");
    }
}

/// Connects to itself by its address on the interface, for as long as there is one, and counts.
const FLOW: &str =
    "n=0; while ip route get 1.1.1.1 >/dev/null 2>&1; do n=$((n+1)); echo $n > flow; sleep 0.02; done; echo cut > flow";

#[tokio::test]
async fn the_network_is_cut_and_opened_while_the_sandbox_runs() {
    let host = Command::new("ip").args(["route", "get", "1.1.1.1"]).output().unwrap().status.success();
    for who in Who::all() {
        let platform = Platform::start_as(who, &[]);
        let sandbox = platform.sandbox_of(json!({"network": {"allowPublicTraffic": false}, "secure": true})).await;
        let put = async |body: serde_json::Value| {
            platform.api("PUT", &format!("/sandboxes/{}/network", sandbox.id)).json(&body).send().await
        };
        let detail = async || platform.api("GET", &format!("/sandboxes/{}", sandbox.id)).send().await.value();
        assert_eq!(has_way_out(&sandbox).await, host);
        let resolvers = sandbox.succeed("cat /etc/resolv.conf").await;
        if host {
            sandbox
                .succeed(&format!("setsid bash -c '{FLOW}' </dev/null >/dev/null 2>&1 & until [ -e flow ]; do sleep 0.01; done"))
                .await;
        }
        for body in [json!({"denyOut": ["0.0.0.0/0"]}), json!({"allow_internet_access": false})] {
            assert_eq!(put(body.clone()).await.status, 204, "{who:?} {body}");
            assert!(!has_way_out(&sandbox).await, "{who:?} {body}");
            assert_eq!(
                sandbox.succeed("ls /proc/sys/net/ipv4/conf | grep -v -e all -e default; cat /etc/resolv.conf").await,
                "lo\n"
            );
            if host {
                sandbox.succeed("until [ \"$(cat flow)\" = cut ]; do sleep 0.01; done").await;
            }
            // What is cut once more stays cut.
            assert_eq!(put(body.clone()).await.status, 204);
            assert!(!has_way_out(&sandbox).await);
            assert_eq!(put(json!({})).await.status, 204, "what is left out is open");
            assert_eq!(has_way_out(&sandbox).await, host, "{who:?}");
            assert_eq!(sandbox.succeed("cat /etc/resolv.conf").await, resolvers);
        }
        let seen = detail().await;
        assert_eq!(seen["network"], json!({"allowPublicTraffic": false}));
        assert_eq!(seen["allowInternetAccess"], false, "the flag stays as it was last given");
        for (body, part) in [
            (json!({"denyOut": ["10.0.0.0/8"]}), "denyOut"),
            (json!({"allowOut": ["1.1.1.1"], "denyOut": ["0.0.0.0/0"]}), "allowOut"),
            (json!({"rules": {"a.b": []}}), "rules"),
            (json!({"egressProxy": {"address": "a:1"}}), "egressProxy"),
            (json!({"allowPublicTraffic": true}), "allowPublicTraffic"),
            (json!({"allow_internet_access": "no"}), "allow_internet_access"),
        ] {
            let answer = put(body.clone()).await;
            assert_eq!(answer.status, 400, "{body}");
            assert!(answer.message().contains(part), "{}", answer.message());
        }
        // A pause keeps what was switched, with its processes and without.
        assert_eq!(put(json!({"denyOut": ["0.0.0.0/0"]})).await.status, 204);
        for memory in [true, false] {
            let post = async |what: &str, body: serde_json::Value| {
                platform.api("POST", &format!("/sandboxes/{}/{what}", sandbox.id)).json(&body).send().await.status
            };
            assert_eq!(post("pause", json!({"memory": memory})).await, 204);
            assert_eq!(put(json!({})).await.status, 409);
            assert_eq!(post("connect", json!({"timeout": 600})).await, 201);
            assert!(!has_way_out(&sandbox).await, "{who:?} {memory}");
        }
        assert_eq!(detail().await["network"], json!({"allowPublicTraffic": false, "denyOut": ["0.0.0.0/0"]}));
        // The closed ranges are closed as before.
        assert_eq!(put(json!({})).await.status, 204);
        let closed = sandbox.run("ip route get 192.168.0.1").await;
        assert!(closed.code != 0 || closed.output.contains("unreachable"), "{}", closed.output);
    }
    let open = Platform::start_with(&["--isolation", "none"]);
    let sandbox = open.sandbox().await;
    let path = format!("/sandboxes/{}/network", sandbox.id);
    let refused = open.api("PUT", &path).json(&json!({"denyOut": ["0.0.0.0/0"]})).send().await;
    assert_eq!((refused.status, refused.message().contains("without walls")), (400, true));
    assert_eq!(open.api("PUT", &path).json(&json!({})).send().await.status, 204);
    let create = json!({"templateID": "base", "allow_internet_access": false});
    assert_eq!(open.api("POST", "/sandboxes").json(&create).send().await.status, 400);
}

#[tokio::test]
async fn abstract_sockets_of_the_host_are_out_of_sight() {
    let name = format!("abstract-{}", std::process::id());
    let address = <std::os::unix::net::SocketAddr as std::os::linux::net::SocketAddrExt>::from_abstract_name(&name).unwrap();
    let _listener = std::os::unix::net::UnixListener::bind_addr(&address).unwrap();
    for who in Who::all() {
        let platform = Platform::start_as(who, &[]);
        let sandbox = platform.sandbox().await;
        assert!(!sandbox.succeed("cat /proc/net/unix").await.contains(&name), "{who:?}");
    }
}
