//! The host's listeners, private networks and metadata services.
//!
//! Connections go only to listeners of the test's own. For every other address the kernel inside is asked for its route, which sends
//! nothing.

use super::support::{Platform, Sandbox, Who, until};
use serde_json::json;
use std::io::Write;
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
            assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_err(), "{who:?}");
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
