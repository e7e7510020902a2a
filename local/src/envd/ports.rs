//! The way to the sandbox's other ports (see [`crate::handover::PORTS_SOCKET`]).

use super::interpreter::PortMap;
use crate::handover::{PORT_CLOSED, PORT_OPEN};
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional_with_sizes};
use tokio::net::{TcpStream, UnixListener, UnixStream};

/// What is carried at a time in either direction, in bytes.
const BUFFER: usize = 64 * 1024;

/// Serves the socket for ever.
pub async fn accept(listener: UnixListener, map: PortMap) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                let map = map.clone();
                tokio::spawn(async move {
                    if let Err(error) = forward(stream, &map).await {
                        tracing::debug!(%error, "a port's stream broke");
                    }
                });
            }
            // Out of file descriptors: connections that end make room.
            Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
}

async fn forward(mut stream: UnixStream, map: &PortMap) -> io::Result<()> {
    let port = map.behind(stream.read_u16().await?);
    let reached = match TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await {
        Ok(reached) => Ok(reached),
        Err(_) => TcpStream::connect((Ipv6Addr::LOCALHOST, port)).await,
    };
    let Ok(mut reached) = reached else {
        return stream.write_u8(PORT_CLOSED).await;
    };
    reached.set_nodelay(true)?;
    stream.write_u8(PORT_OPEN).await?;
    copy_bidirectional_with_sizes(&mut stream, &mut reached, BUFFER, BUFFER).await?;
    Ok(())
}
