//! The listening socket and its connections.

use super::route::Front;
use crate::received::Received;
use anyhow::{Context, bail};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rustix::net::sockopt::{set_socket_keepalive, set_tcp_keepcnt, set_tcp_keepidle, set_tcp_keepintvl};
use std::convert::Infallible;
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};

/// How long a client may take to send a request's head.
const HEAD: Duration = Duration::from_secs(30);
/// After how long a silence a client is asked whether it is still there: one that lost its network never says goodbye.
const SILENCE: Duration = Duration::from_secs(60);
/// How long after that, and how often, it is asked again before it is taken to be gone.
const AGAIN: Duration = Duration::from_secs(10);
/// See [`AGAIN`].
const TIMES: u32 = 6;
/// How long to wait when no further connection can be accepted, for want of descriptors most likely.
const EXHAUSTED: Duration = Duration::from_millis(100);

/// The sockets of the platform.
pub struct Listener {
    main: TcpListener,
    twin: Option<TcpListener>,
}

impl Listener {
    /// Listens; port 0 takes a free one.
    ///
    /// # Errors
    /// Says so when the port is in use.
    pub async fn bind(address: SocketAddr) -> anyhow::Result<Self> {
        let main = match TcpListener::bind(address).await {
            Ok(main) => main,
            Err(error) if error.kind() == ErrorKind::AddrInUse => {
                bail!("{address} is in use by another program; choose another port with --listen (port 0 takes a free one)")
            }
            Err(error) => return Err(error).with_context(|| format!("cannot listen on {address}")),
        };
        let port = main.local_addr()?.port();
        // Browsers try [::1] for `localhost`, too: whoever listened there could pose as the console.
        let twin = match address.ip() {
            IpAddr::V4(Ipv4Addr::LOCALHOST) => match TcpListener::bind((Ipv6Addr::LOCALHOST, port)).await {
                Ok(twin) => Some(twin),
                Err(error) => {
                    if error.kind() == ErrorKind::AddrInUse {
                        tracing::warn!("another program listens on [::1]:{port}; browsers may reach it as localhost:{port}");
                    }
                    None
                }
            },
            _ => None,
        };
        Ok(Self { main, twin })
    }

    /// The address, with the port that was taken.
    ///
    /// # Errors
    /// When the socket is broken.
    pub fn address(&self) -> anyhow::Result<SocketAddr> {
        Ok(self.main.local_addr()?)
    }

    /// Serves for ever.
    pub async fn serve(self, front: Arc<Front>) {
        loop {
            let accepted = match &self.twin {
                Some(twin) => tokio::select! { accepted = self.main.accept() => accepted, accepted = twin.accept() => accepted },
                None => self.main.accept().await,
            };
            match accepted {
                Ok((stream, peer)) => drop(tokio::spawn(connection(stream, peer.ip(), Arc::clone(&front)))),
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(EXHAUSTED).await;
                }
            }
        }
    }
}

async fn connection(stream: TcpStream, peer: IpAddr, front: Arc<Front>) {
    // Small frames of terminals and streams go out at once.
    drop(stream.set_nodelay(true));
    if let Err(error) = ask_in_silence(&stream) {
        tracing::warn!(%error, "cannot ask clients whether they are still there");
    }
    let service = service_fn(move |request| {
        let front = Arc::clone(&front);
        async move { Ok::<_, Infallible>(front.answer(Received::of(request), peer).await) }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD);
    if let Err(error) = builder.serve_connection(TokioIo::new(stream), service).with_upgrades().await {
        tracing::trace!(%error, "connection ended");
    }
}

fn ask_in_silence(stream: &TcpStream) -> rustix::io::Result<()> {
    set_tcp_keepidle(stream, SILENCE)?;
    set_tcp_keepintvl(stream, AGAIN)?;
    set_tcp_keepcnt(stream, TIMES)?;
    set_socket_keepalive(stream, true)
}
