//! Two connections that are one from then on.

use std::future::{Future, poll_fn};
use std::io::{self, ErrorKind};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, copy_buf, split};
use tokio::time::{Instant, sleep_until};

/// What is carried at a time in either direction, in bytes.
const BUFFER: usize = 64 * 1024;

/// How long the one side may keep silent once the other has ended.
const LINGER: Duration = Duration::from_secs(30);

/// Carries bytes in both directions. The end of either side is passed on behind what stood before it; the other side may go on for as long as
/// it does not pause for half a minute, since a peer that ends nothing, or has forgotten the connection, would hold it for ever.
///
/// To be awaited in a task of its own: whatever wakes the task is taken for a sign of life.
///
/// # Errors
/// The first of either side, `TimedOut` when one did not end. Both are closed then.
pub async fn join(one: impl AsyncRead + AsyncWrite, other: impl AsyncRead + AsyncWrite) -> io::Result<()> {
    let (from_one, to_one) = split(one);
    let (from_other, to_other) = split(other);
    let (mut there, mut back) = (pin!(carry(from_one, to_other)), pin!(carry(from_other, to_one)));
    tokio::select! {
        ended = &mut there => { ended?; while_alive(back).await }
        ended = &mut back => { ended?; while_alive(there).await }
    }
}

async fn carry(from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin) -> io::Result<()> {
    copy_buf(&mut BufReader::with_capacity(BUFFER, from), &mut to).await?;
    to.shutdown().await
}

/// Lets it go on until nothing has woken it for [`LINGER`].
async fn while_alive(carrying: impl Future<Output = io::Result<()>>) -> io::Result<()> {
    let mut carrying = pin!(carrying);
    let mut patience = pin!(sleep_until(Instant::now() + LINGER));
    poll_fn(|task| {
        if let Poll::Ready(ended) = carrying.as_mut().poll(task) {
            return Poll::Ready(ended);
        }
        if patience.as_mut().poll(task).is_ready() {
            return Poll::Ready(Err(ErrorKind::TimedOut.into()));
        }
        patience.as_mut().reset(Instant::now() + LINGER);
        patience.as_mut().poll(task).map(|()| Err(ErrorKind::TimedOut.into()))
    })
    .await
}
