//! Which ports the sandbox itself listens on, where it shares its network with the host: only those are led to.

use super::descendants::descendants;
use std::collections::HashSet;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The state of a socket that listens, in the kernel's tables.
const LISTENS: &str = "0A";

/// The loopback addresses at which a process of this sandbox listens on `port`. Somebody else's listener on the other family is not meant.
pub fn addresses(port: u16) -> Vec<IpAddr> {
    let sockets: Vec<(IpAddr, u64)> = ["/proc/net/tcp", "/proc/net/tcp6"]
        .into_iter()
        .flat_map(|table| listeners(&fs::read_to_string(table).unwrap_or_default(), port))
        .collect();
    if sockets.is_empty() {
        return Vec::new();
    }
    let own = open_sockets();
    let mut addresses: Vec<IpAddr> = sockets.into_iter().filter(|(_, inode)| own.contains(inode)).map(|(at, _)| at).collect();
    addresses.dedup();
    addresses
}

/// The sockets that listen on a port, each with the loopback address that leads to it, from a table of the kernel's.
fn listeners(table: &str, port: u16) -> Vec<(IpAddr, u64)> {
    let lines = table.lines().skip(1).filter_map(|line| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let (address, at) = fields.get(1)?.split_once(':')?;
        if fields.get(3) != Some(&LISTENS) || u16::from_str_radix(at, 16) != Ok(port) {
            return None;
        }
        Some((reached_at(parse(address)?)?, fields.get(9)?.parse().ok()?))
    });
    lines.collect()
}

/// An address of the tables: words of 32 bits in the machine's own byte order.
fn parse(hex: &str) -> Option<IpAddr> {
    let words = hex.as_bytes().chunks(8).map(|word| u32::from_str_radix(str::from_utf8(word).ok()?, 16).ok());
    let bytes: Vec<u8> = words.collect::<Option<Vec<u32>>>()?.into_iter().flat_map(u32::to_ne_bytes).collect();
    match bytes.len() {
        4 => Some(<[u8; 4]>::try_from(bytes).ok()?.into()),
        16 => Some(<[u8; 16]>::try_from(bytes).ok()?.into()),
        _ => None,
    }
}

/// Where to connect for a socket that is bound to `address`; `None` for one that loopback does not lead to.
fn reached_at(address: IpAddr) -> Option<IpAddr> {
    match address {
        IpAddr::V4(address) if address.is_unspecified() => Some(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(address) if address.is_unspecified() => Some(Ipv6Addr::LOCALHOST.into()),
        IpAddr::V6(address) => match address.to_ipv4_mapped() {
            Some(mapped) => reached_at(mapped.into()),
            None => address.is_loopback().then_some(address.into()),
        },
        IpAddr::V4(_) => address.is_loopback().then_some(address),
    }
}

/// The sockets that processes of this sandbox hold.
fn open_sockets() -> HashSet<u64> {
    let folders = descendants().into_iter().filter_map(|pid| fs::read_dir(format!("/proc/{pid}/fd")).ok());
    let links = folders.flatten().flatten().filter_map(|entry| fs::read_link(entry.path()).ok());
    links.filter_map(|link| link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_tell_who_listens_where() {
        let loopback = u32::from_ne_bytes([127, 0, 0, 1]);
        let table = format!(
            "head\n 0: {loopback:08X}:1F90 00000000:0000 0A 0:0 00:0 0 1000 0 77 1\n 1: 00000000:1F90 00000000:0000 0A 0:0 00:0 0 0 0 78 1\n \
             2: {loopback:08X}:1F90 {loopback:08X}:C000 01 0:0 00:0 0 0 0 79 1\n 3: 0A0A0A0A:1F90 00000000:0000 0A 0:0 00:0 0 0 0 80 1\n"
        );
        assert_eq!(listeners(&table, 8080), [(Ipv4Addr::LOCALHOST.into(), 77), (Ipv4Addr::LOCALHOST.into(), 78)]);
        assert!(listeners(&table, 8081).is_empty());
        let word = format!("{:08X}", u32::from_ne_bytes([0, 0, 0, 1]));
        assert_eq!(parse(&format!("{0}{0}{0}{word}", "00000000")), Some(Ipv6Addr::LOCALHOST.into()));
        assert_eq!(parse("xyz"), None);
    }

    #[test]
    fn a_listener_of_a_stranger_is_not_ours() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        assert!(addresses(listener.local_addr().unwrap().port()).is_empty());
    }
}
