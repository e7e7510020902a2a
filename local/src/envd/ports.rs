//! The way to the sandbox's other ports (see [`crate::handover::PORTS_SOCKET`]).

use super::interpreter::PortMap;
use super::own_ports;
use crate::handover::{PORT_CLOSED, PORT_OPEN};
use crate::joined::join;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UnixListener, UnixStream};

/// Serves the socket for ever. In a `shared_network` it leads only to what the sandbox's own processes listen on.
pub async fn accept(listener: UnixListener, map: PortMap, shared_network: bool) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                let map = map.clone();
                tokio::spawn(async move {
                    if let Err(error) = forward(stream, &map, shared_network).await {
                        tracing::debug!(%error, "a port's stream broke");
                    }
                });
            }
            // Out of file descriptors: connections that end make room.
            Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
}

async fn forward(mut stream: UnixStream, map: &PortMap, shared_network: bool) -> io::Result<()> {
    let port = map.behind(stream.read_u16().await?);
    let addresses = if shared_network {
        tokio::task::spawn_blocking(move || own_ports::addresses(port)).await?
    } else {
        vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]
    };
    let Some(reached) = reach(&addresses, port).await else {
        return stream.write_u8(PORT_CLOSED).await;
    };
    reached.set_nodelay(true)?;
    stream.write_u8(PORT_OPEN).await?;
    join(stream, reached).await
}

/// The first of these addresses that takes a connection.
async fn reach(addresses: &[IpAddr], port: u16) -> Option<TcpStream> {
    for address in addresses {
        if let Ok(reached) = TcpStream::connect((*address, port)).await {
            return Some(reached);
        }
    }
    None
}
