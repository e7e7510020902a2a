//! Bodies of requests, which are taken off the wire even where nobody reads them to their end.

use bytes::Bytes;
use http::{Request, header};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::runtime::Handle;

/// How long the rest of a body is taken in.
const LINGER: Duration = Duration::from_secs(30);

/// A request's body. A connection that is closed while its client still sends is reset, and the answer with it: who uploads a large file
/// with a token that has ended would read of a broken pipe. So what a refusal leaves unread is taken in and thrown away, for a while.
pub struct Received {
    incoming: Option<Incoming>,
    /// Its client waits to be asked for the body (`Expect: 100-continue`), and reading would ask.
    waits: bool,
}

impl Received {
    /// The request with its body as one of these.
    pub fn of(request: Request<Incoming>) -> Request<Self> {
        let waits = request.headers().contains_key(header::EXPECT);
        request.map(|incoming| Self { incoming: Some(incoming), waits })
    }
}

impl Body for Received {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        // Whoever reads has asked for it.
        self.waits = false;
        match &mut self.incoming {
            Some(incoming) => Pin::new(incoming).poll_frame(task),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.incoming.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.incoming.as_ref().map_or_else(|| SizeHint::with_exact(0), Body::size_hint)
    }
}

impl Drop for Received {
    fn drop(&mut self) {
        let Some(mut rest) = self.incoming.take() else { return };
        if self.waits || rest.is_end_stream() {
            return;
        }
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move {
                let all = async { while let Some(Ok(_)) = rest.frame().await {} };
                let _ = tokio::time::timeout(LINGER, all).await;
            });
        }
    }
}
