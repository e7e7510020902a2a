//! Bodies of answers.

use bytes::Bytes;
use futures_util::{TryStreamExt, stream};
use http_body::Frame;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Empty, Full, StreamBody};
use std::io;
use tokio::sync::mpsc;

/// The body of any answer.
pub type Body = UnsyncBoxBody<Bytes, io::Error>;

/// A body that is known whole.
pub fn full(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into()).map_err(|never| match never {}).boxed_unsync()
}

/// No body.
pub fn empty() -> Body {
    Empty::new().map_err(|never| match never {}).boxed_unsync()
}

/// Where blocking work puts the pieces of a body.
pub struct Sink(mpsc::Sender<io::Result<Bytes>>);

impl Sink {
    /// Hands one piece on, waiting while the client is slower.
    ///
    /// # Errors
    /// A broken pipe when the client has gone.
    pub fn send(&self, bytes: Bytes) -> io::Result<()> {
        self.0.blocking_send(Ok(bytes)).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

/// A body that blocking work produces piece by piece. When the work fails, the answer breaks off.
pub fn produced(work: impl FnOnce(&Sink) -> io::Result<()> + Send + 'static) -> Body {
    let (sender, mut receiver) = mpsc::channel(2);
    tokio::task::spawn_blocking(move || {
        let sink = Sink(sender);
        if let Err(error) = work(&sink) {
            // Nobody is told when nobody listens.
            let _ = sink.0.blocking_send(Err(error));
        }
    });
    StreamBody::new(stream::poll_fn(move |task| receiver.poll_recv(task)).map_ok(Frame::data)).boxed_unsync()
}
