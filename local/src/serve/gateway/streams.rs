//! The connections into one sandbox that are open now, so that all of them can be broken off at once.

use super::super::keys::lock;
use rustix::fd::{AsRawFd, BorrowedFd, RawFd};
use rustix::net::{Shutdown, shutdown};
use std::collections::HashSet;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::UnixStream;

/// The open connections.
#[derive(Clone, Default)]
pub struct Streams(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    open: HashSet<RawFd>,
    closed: bool,
}

/// One of them.
pub struct Stream {
    inner: UnixStream,
    streams: Streams,
}

impl Streams {
    /// Takes a new connection in.
    ///
    /// # Errors
    /// `ConnectionAborted` while all are broken off.
    pub fn admit(&self, inner: UnixStream) -> io::Result<Stream> {
        let mut state = lock(&self.0);
        if state.closed {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        state.open.insert(inner.as_raw_fd());
        drop(state);
        Ok(Stream { inner, streams: self.clone() })
    }

    /// Breaks off every connection, and those that come until [`Streams::open`].
    pub fn close(&self) {
        let mut state = lock(&self.0);
        state.closed = true;
        for fd in &state.open {
            // SAFETY: a stream is in the list until it is dropped, which waits for the lock before it closes the descriptor.
            let fd = unsafe { BorrowedFd::borrow_raw(*fd) };
            // An error means that the other side has gone by itself.
            let _ = shutdown(fd, Shutdown::Both);
        }
    }

    /// Lets connections in again.
    pub fn open(&self) {
        lock(&self.0).closed = false;
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        lock(&self.streams.0).open.remove(&self.inner.as_raw_fd());
    }
}

impl AsyncRead for Stream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(cx, buf)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_write_vectored(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bufs: &[io::IoSlice<'_>]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write_vectored(cx, bufs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    #[tokio::test]
    async fn what_is_broken_off_ends_on_both_sides_and_nothing_comes_in_before_it_is_open_again() {
        let streams = Streams::default();
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let mut stream = streams.admit(ours).unwrap();
        stream.write_all(b"a").await.unwrap();
        streams.close();
        assert_eq!(stream.read(&mut [0]).await.unwrap(), 0);
        let mut rest = Vec::new();
        theirs.read_to_end(&mut rest).await.unwrap();
        assert_eq!(rest, b"a");
        assert!(streams.admit(UnixStream::pair().unwrap().0).is_err());
        drop(stream);
        streams.open();
        assert!(streams.admit(UnixStream::pair().unwrap().0).is_ok());
    }
}
