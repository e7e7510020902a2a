//! Connections into a sandbox.
//!
//! The sandbox may write in the folder that holds its sockets, and could put a link to a socket of the host there. So the sockets are
//! opened once, before anything but envd runs inside, and later connections go to those very sockets whatever the folder then holds.

use super::streams::{Stream, Streams};
use crate::handover::{ENVD_SOCKET, PORT_CLOSED, PORT_OPEN, PORTS_SOCKET};
use anyhow::Context as _;
use http::Uri;
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::TokioIo;
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::fs::{FileType, Mode, OFlags, fstat, open};
use std::future::Future;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

/// The port on which envd is reached.
pub const ENVD_PORT: u16 = 49983;

/// Nothing listens on the port.
#[derive(Debug, thiserror::Error)]
#[error("the port is not open")]
pub struct PortClosed;

/// Opens connections to the ports of one sandbox; the port is the one of the URI.
#[derive(Clone)]
pub struct Connector {
    sockets: Arc<Sockets>,
    streams: Streams,
}

struct Sockets {
    envd: OwnedFd,
    ports: OwnedFd,
}

impl Connector {
    /// Opens the sockets in `run`, which must not be links.
    ///
    /// # Errors
    /// When one is missing or is no socket.
    pub fn pin(run: &Path) -> anyhow::Result<Self> {
        let sockets = Sockets { envd: pin(&run.join(ENVD_SOCKET))?, ports: pin(&run.join(PORTS_SOCKET))? };
        Ok(Self { sockets: Arc::new(sockets), streams: Streams::default() })
    }

    /// The connections that are open.
    pub fn streams(&self) -> &Streams {
        &self.streams
    }

    /// Connects to a port of the sandbox.
    ///
    /// # Errors
    /// `ConnectionRefused` with [`PortClosed`] inside when nothing listens there; other errors when the sandbox is going.
    pub async fn connect(&self, port: u16) -> io::Result<Stream> {
        if port == ENVD_PORT {
            return self.streams.admit(dial(&self.sockets.envd).await?);
        }
        let mut stream = self.streams.admit(dial(&self.sockets.ports).await?)?;
        stream.write_all(&port.to_be_bytes()).await?;
        match stream.read_u8().await? {
            PORT_OPEN => Ok(stream),
            PORT_CLOSED => Err(io::Error::new(io::ErrorKind::ConnectionRefused, PortClosed)),
            _ => Err(io::Error::new(io::ErrorKind::InvalidData, "envd answered a port request with an unknown byte")),
        }
    }
}

fn pin(path: &Path) -> anyhow::Result<OwnedFd> {
    let socket = open(path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty()).context("envd made no socket")?;
    let kind = FileType::from_raw_mode(fstat(&socket)?.st_mode);
    anyhow::ensure!(kind == FileType::Socket, "envd's socket is no socket");
    Ok(socket)
}

async fn dial(socket: &OwnedFd) -> io::Result<UnixStream> {
    UnixStream::connect(format!("/proc/self/fd/{}", socket.as_raw_fd())).await
}

impl tower_service::Service<Uri> for Connector {
    type Response = Http;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Http>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connector = self.clone();
        Box::pin(async move {
            let port = uri.port_u16().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "no port"))?;
            Ok(Http(TokioIo::new(connector.connect(port).await?)))
        })
    }
}

/// A connection as the HTTP client takes it.
pub struct Http(TokioIo<Stream>);

impl Connection for Http {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

impl hyper::rt::Read for Http {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: hyper::rt::ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buf)
    }
}

impl hyper::rt::Write for Http {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.is_write_vectored()
    }

    fn poll_write_vectored(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bufs: &[io::IoSlice<'_>]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write_vectored(cx, bufs)
    }
}
