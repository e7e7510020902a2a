//! What a sandbox can reach: the lines that `ip -batch` takes inside its network namespace.
//!
//! pasta carries every packet that leaves the namespace as if the platform itself had sent it, so what must stay out of reach is closed
//! inside, where the sandbox has no right to change it. Routes alone would not do: a socket that names its interface (`SO_BINDTODEVICE`,
//! `IP_UNICAST_IF`, packet information, an IPv6 scope) goes around them, and so even loopback addresses would lead to the host's. Policies
//! of the kernel's packet transformation (xfrm) hold for every socket; the routes stay for their quicker and clearer refusal. The default
//! route names no gateway: pasta answers for every address, and so not even the host's gateway needs an exception.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The sandbox's own addresses and those at which it asks for names; pasta takes questions to the latter to the host's resolver.
pub const ADDRESS_V4: Ipv4Addr = Ipv4Addr::new(10, 0, 2, 15);
/// See [`ADDRESS_V4`].
pub const RESOLVER_V4: Ipv4Addr = Ipv4Addr::new(10, 0, 2, 3);
/// See [`ADDRESS_V4`].
pub const ADDRESS_V6: Ipv6Addr = Ipv6Addr::new(0xfd0a, 0x6e75, 0, 0, 0, 0, 0, 0x15);
/// See [`ADDRESS_V4`].
pub const RESOLVER_V6: Ipv6Addr = Ipv6Addr::new(0xfd0a, 0x6e75, 0, 0, 0, 0, 0, 3);

/// The interface inside the namespace.
pub const INTERFACE: &str = "eth0";

/// Private, carrier, link-local and metadata ranges, and what is no address of a single machine elsewhere.
const CLOSED_V4: [&str; 12] = [
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "168.63.129.16/32",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "224.0.0.0/4",
    "240.0.0.0/4",
    "255.255.255.255/32",
];

/// The same for IPv6, with the ranges that carry IPv4 addresses inside.
const CLOSED_V6: [&str; 6] = ["::ffff:0:0/96", "64:ff9b:1::/48", "2002::/16", "fc00::/7", "fe80::/10", "fec0::/10"];

/// What is known of the host's network when a sandbox starts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostNetwork {
    /// Every address of the host's interfaces, and of its IPv4 gateways: what runs on those is the host's business.
    pub addresses: Vec<IpAddr>,
    /// Whether the host has a default route for IPv4.
    pub v4: bool,
    /// Whether the host has a default route for IPv6.
    pub v6: bool,
    /// Whether its kernel knows IPv6 at all.
    pub kernel_v6: bool,
    /// The families of the resolvers that the host names in resolv.conf.
    pub resolvers: Vec<IpAddr>,
}

impl HostNetwork {
    /// At which addresses a sandbox asks for names.
    pub fn nameservers(&self) -> Vec<IpAddr> {
        let v4 = self.v4 && self.resolvers.iter().any(IpAddr::is_ipv4);
        let v6 = self.v6 && self.resolvers.iter().any(IpAddr::is_ipv6);
        v4.then_some(RESOLVER_V4.into()).into_iter().chain(v6.then_some(RESOLVER_V6.into())).collect()
    }

    /// Before there is an interface: loopback up, and everything closed that stays closed.
    pub fn closing(&self, allow_private: bool) -> String {
        let mut lines = String::from("link set lo up\n");
        if allow_private {
            return lines;
        }
        let ranges = CLOSED_V4.iter().chain(CLOSED_V6.iter().filter(|_| self.kernel_v6)).map(|range| (*range).to_owned());
        let own = self.addresses.iter().filter(|address| self.kernel_v6 || address.is_ipv4());
        let own = own.filter(|address| !address.is_loopback()).map(|address| match address {
            IpAddr::V4(address) => format!("{address}/32"),
            IpAddr::V6(address) => format!("{address}/128"),
        });
        let mut closed: Vec<String> = ranges.chain(own).collect();
        if self.kernel_v6 {
            // Where the network translates to IPv4, every closed IPv4 range has a twin.
            let twins = closed.iter().filter_map(|range| nat64(range)).collect::<Vec<_>>();
            closed.extend(twins);
        }
        closed.sort_unstable();
        closed.dedup();
        for range in closed {
            lines.push_str(&format!("route add unreachable {range}\nxfrm policy add dir out dst {range} {BLOCK}\n"));
        }
        for own in self.own_addresses() {
            lines.push_str(&format!("xfrm policy add dir out dst {own} action allow priority 1\n"));
        }
        lines
    }

    /// The sandbox's own addresses and its resolvers, which lie in closed ranges.
    fn own_addresses(&self) -> Vec<IpAddr> {
        let v6 = self.kernel_v6.then_some([ADDRESS_V6, RESOLVER_V6]).into_iter().flatten().map(IpAddr::from);
        [ADDRESS_V4, RESOLVER_V4].map(IpAddr::from).into_iter().chain(v6).collect()
    }

    /// Once pasta made the interface: addresses, the way out and the way to the resolver.
    pub fn opening(&self) -> String {
        // Loopback is the sandbox's own only on its own interface: through pasta's it would be the host's.
        let mut lines: String =
            self.loopback().map(|range| format!("xfrm policy add dir out dst {range} dev {INTERFACE} {BLOCK}\n")).collect();
        // Without a link-local address of its own the interface brings no route to link-local neighbours.
        lines.push_str(&format!("link set {INTERFACE} addrgenmode none\nlink set {INTERFACE} mtu 65520 up\n"));
        if self.v4 {
            lines.push_str(&format!("address add {ADDRESS_V4}/32 dev {INTERFACE}\n"));
            lines.push_str(&format!("route add default dev {INTERFACE}\nroute add {RESOLVER_V4}/32 dev {INTERFACE}\n"));
        }
        if self.v6 {
            lines.push_str(&format!("address add {ADDRESS_V6}/128 dev {INTERFACE} nodad\n"));
            lines.push_str(&format!("route add ::/0 dev {INTERFACE}\nroute add {RESOLVER_V6}/128 dev {INTERFACE}\n"));
        }
        lines
    }
}

impl HostNetwork {
    /// Before pasta is ended: the interface goes down, and then what names it, since policies outlive their interface.
    pub fn taking_down(&self) -> String {
        let policies = self.loopback().map(|range| format!("xfrm policy delete dir out dst {range} dev {INTERFACE}\n"));
        std::iter::once(format!("link set {INTERFACE} down\n")).chain(policies).collect()
    }

    fn loopback(&self) -> impl Iterator<Item = &'static str> {
        ["127.0.0.0/8"].into_iter().chain(self.kernel_v6.then_some("::1/128"))
    }
}

/// What a policy that closes a range ends with.
const BLOCK: &str = "action block priority 2";

/// The range under the well-known NAT64 prefix that stands for a range of IPv4.
fn nat64(range: &str) -> Option<String> {
    let (address, length) = range.split_once('/')?;
    let (address, length): (Ipv4Addr, u8) = (address.parse().ok()?, length.parse().ok()?);
    Some(format!("64:ff9b::{address}/{}", 96 + length))
}

/// Reads the addresses out of what `ip -json address show` prints.
pub fn parse_addresses(json: &[u8]) -> Option<Vec<IpAddr>> {
    let links: Vec<serde_json::Value> = serde_json::from_slice(json).ok()?;
    let infos = links.iter().filter_map(|link| link["addr_info"].as_array()).flatten();
    Some(infos.filter_map(|info| info["local"].as_str()?.parse().ok()).collect())
}

/// Whether `/proc/net/route` has a default route.
pub fn has_default_v4(table: &str) -> bool {
    table.lines().skip(1).any(|line| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        fields.get(1) == Some(&"00000000") && fields.get(7) == Some(&"00000000")
    })
}

/// The gateways in `/proc/net/route`, which the kernel writes as hexadecimal numbers of its own byte order.
pub fn gateways_v4(table: &str) -> impl Iterator<Item = IpAddr> {
    let fields = table.lines().skip(1).filter_map(|line| line.split_ascii_whitespace().nth(2));
    let numbers = fields.filter_map(|field| u32::from_str_radix(field, 16).ok()).filter(|number| *number != 0);
    numbers.map(|number| IpAddr::from(number.to_ne_bytes()))
}

/// Whether `/proc/net/ipv6_route` has a default route that leads out.
pub fn has_default_v6(table: &str) -> bool {
    table.lines().any(|line| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        fields.first().is_some_and(|to| to.bytes().all(|digit| digit == b'0'))
            && fields.get(1) == Some(&"00")
            && fields.last() != Some(&"lo")
    })
}

/// The resolvers that a resolv.conf names.
pub fn parse_resolvers(text: &str) -> Vec<IpAddr> {
    let lines = text.lines().filter_map(|line| line.trim().strip_prefix("nameserver"));
    lines.filter_map(|rest| rest.trim().split('%').next()?.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_address_of_the_host_is_closed_once() {
        let host = HostNetwork {
            addresses: vec!["127.0.0.1".parse().unwrap(), "203.0.113.9".parse().unwrap(), "2001:db8::9".parse().unwrap()],
            kernel_v6: true,
            ..HostNetwork::default()
        };
        let lines = host.closing(false);
        assert!(lines.contains("route add unreachable 203.0.113.9/32\n"));
        assert!(lines.contains("route add unreachable 2001:db8::9/128\n"));
        assert!(!lines.contains("127.0.0.1"));
        assert_eq!(lines.matches("route add unreachable 169.254.0.0/16\n").count(), 1);
        assert!(lines.contains("xfrm policy add dir out dst 203.0.113.9/32 action block"));
        assert!(lines.contains("route add unreachable 64:ff9b::169.254.0.0/112\n"));
        assert_eq!(host.closing(true), "link set lo up\n");
    }

    #[test]
    fn tables_of_the_kernel_are_read() {
        assert!(has_default_v4(
            "Iface Destination Gateway Flags RefCnt Use Metric Mask\neth0 00000000 010200C0 0003 0 0 0 00000000 0\n"
        ));
        assert!(!has_default_v4("Iface Destination\neth0 000200C0 00000000 0001 0 0 0 00FFFFFF\n"));
        assert_eq!(gateways_v4("head\neth0 00000000 010200C0 0003\neth0 000200C0 00000000 0001\n").count(), 1);
        let zeros = "00000000000000000000000000000000";
        assert!(has_default_v6(&format!("{zeros} 00 {zeros} 00 fd000000000000000000000000000001 00000400 1 0 3 eth0\n")));
        assert!(!has_default_v6(&format!("{zeros} 00 {zeros} 00 {zeros} ffffffff 1 0 200200 lo\n")));
        assert_eq!(parse_resolvers("# x\nnameserver 10.0.0.1\nnameserver fe80::1%eth0\n").len(), 2);
    }
}
