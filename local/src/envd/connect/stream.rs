//! Calls with envelopes: one request and many answers, or many requests and one answer.

use super::super::body::{Body, full};
use super::super::error::RpcError;
use super::compression::{Compressions, gzip};
use super::headers::{Shape, check_version, keepalive, timeout};
use super::request::Messages;
use super::{Codec, Context, Frame, Wire};
use crate::received::Received;
use agent_sandbox_web::protocol::envelope::{FLAG_COMPRESSED, FLAG_END_STREAM, HEADER_LEN, write_envelope};
use bytes::Bytes;
use futures_util::Stream;
use http::header::{self, HeaderName, HeaderValue};
use http::{Request, Response};
use http_body_util::BodyExt;
use serde_json::json;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context as Task, Poll, ready};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep_until};

const CONTENT_ENCODING: HeaderName = HeaderName::from_static("connect-content-encoding");
const ACCEPT_ENCODING: HeaderName = HeaderName::from_static("connect-accept-encoding");

/// Answers a call with one request and many answers.
pub async fn server_stream<Q, S, T, F>(
    request: Request<Received>,
    mut context: Context,
    handler: impl FnOnce(Context, Q) -> F,
) -> Response<Body>
where
    Q: Wire,
    S: Stream<Item = Result<T, RpcError>> + Send + Unpin + 'static,
    T: Frame,
    F: Future<Output = Result<S, RpcError>>,
{
    let (codec, packing) = match begin(&request, &mut context) {
        Ok(begun) => begun,
        Err(Refusal::Answer(response)) => return *response,
        Err(Refusal::Error(codec, error)) => return end_of_stream(codec, Some(&error)),
    };
    let (deadline, keepalive) = (context.deadline, context.keepalive);
    let events = async {
        let message = Messages::new(request.into_body(), codec, packing.request).only().await?;
        handler(context, message).await
    };
    match events.await {
        Ok(events) => {
            let body = Events {
                events,
                codec,
                gzip: packing.response,
                deadline: deadline.map(|at| Box::pin(sleep_until(at))),
                keepalive,
                last: Instant::now(),
                silence: Box::pin(sleep_until(Instant::now() + keepalive)),
                begun: false,
                ended: false,
            };
            respond(codec, packing.response, body.map_err(|never| match never {}).boxed_unsync())
        }
        Err(error) => respond(codec, packing.response, full(trailer(Some(&error), packing.response))),
    }
}

/// Answers a call with many requests and one answer.
pub async fn client_stream<A, F>(
    request: Request<Received>,
    mut context: Context,
    handler: impl FnOnce(Context, Messages) -> F,
) -> Response<Body>
where
    A: Wire,
    F: Future<Output = Result<A, RpcError>>,
{
    let (codec, packing) = match begin(&request, &mut context) {
        Ok(begun) => begun,
        Err(Refusal::Answer(response)) => return *response,
        Err(Refusal::Error(codec, error)) => return end_of_stream(codec, Some(&error)),
    };
    let deadline = context.deadline;
    let work = handler(context, Messages::new(request.into_body(), codec, packing.request));
    let outcome = match deadline {
        None => work.await,
        Some(deadline) => tokio::time::timeout_at(deadline, work).await.unwrap_or_else(|_| Err(RpcError::deadline_exceeded())),
    };
    let bytes = match outcome {
        Ok(answer) => {
            let mut bytes = packed(codec.envelope(&answer), packing.response).to_vec();
            bytes.extend_from_slice(&trailer(None, packing.response));
            bytes
        }
        Err(error) => trailer(Some(&error), packing.response),
    };
    respond(codec, packing.response, full(bytes))
}

/// An answer that is nothing but the end of its stream.
pub fn end_of_stream(codec: Codec, error: Option<&RpcError>) -> Response<Body> {
    respond(codec, false, full(trailer(error, false)))
}

/// Why a call did not begin.
enum Refusal {
    /// It was no such call.
    Answer(Box<Response<Body>>),
    /// Its headers are wrong.
    Error(Codec, RpcError),
}

fn begin(request: &Request<Received>, context: &mut Context) -> Result<(Codec, Compressions), Refusal> {
    let codec = Shape::Stream.codec(request).map_err(Refusal::Answer)?;
    let headers = request.headers();
    let mut read = || {
        check_version(headers)?;
        context.deadline = timeout(headers)?.map(|timeout| Instant::now() + timeout);
        context.keepalive = keepalive(headers);
        Compressions::negotiate(headers.get(CONTENT_ENCODING), headers.get(ACCEPT_ENCODING))
    };
    read().map(|packing| (codec, packing)).map_err(|error| Refusal::Error(codec, error))
}

fn respond(codec: Codec, gzip: bool, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, Shape::Stream.content_type(codec));
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
    if gzip {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    response
}

/// The last envelope of a stream.
fn trailer(error: Option<&RpcError>, gzip: bool) -> Vec<u8> {
    let payload = error.map_or_else(|| "{}".to_owned(), |error| json!({ "error": error.to_json() }).to_string());
    let mut bytes = Vec::new();
    if gzip {
        write_envelope(&mut bytes, FLAG_END_STREAM | FLAG_COMPRESSED, &super::compression::gzip(payload.as_bytes()));
    } else {
        write_envelope(&mut bytes, FLAG_END_STREAM, payload.as_bytes());
    }
    bytes
}

/// An envelope, compressed when asked for.
fn packed(envelope: Bytes, pack: bool) -> Bytes {
    if !pack {
        return envelope;
    }
    let mut bytes = Vec::new();
    write_envelope(&mut bytes, FLAG_COMPRESSED, &gzip(&envelope[HEADER_LEN..]));
    bytes.into()
}

/// A body of events with keepalives in between, until they end, fail, or the call's time is up.
struct Events<S> {
    events: S,
    codec: Codec,
    gzip: bool,
    deadline: Option<Pin<Box<Sleep>>>,
    keepalive: Duration,
    /// When the last event went out. The timer below is moved only when it fires, not at every event.
    last: Instant,
    silence: Pin<Box<Sleep>>,
    /// Whether the first event went out, which even a call without time gets.
    begun: bool,
    ended: bool,
}

impl<S, T> Events<S>
where
    S: Stream<Item = Result<T, RpcError>> + Unpin,
    T: Frame,
{
    fn end(&mut self, error: Option<&RpcError>) -> Bytes {
        self.ended = true;
        trailer(error, self.gzip).into()
    }

    fn poll_bytes(&mut self, task: &mut Task) -> Poll<Option<Bytes>> {
        if self.ended {
            return Poll::Ready(None);
        }
        // Before the events: what a killed process still says comes after its time, in whatever order both are seen.
        let late = self.begun && self.deadline.as_mut().is_some_and(|deadline| deadline.as_mut().poll(task).is_ready());
        match Pin::new(&mut self.events).poll_next(task) {
            Poll::Ready(Some(Ok(event))) if !late => {
                self.begun = true;
                self.last = Instant::now();
                return Poll::Ready(Some(packed(event.envelope(self.codec), self.gzip)));
            }
            Poll::Ready(Some(Err(error))) if !late => return Poll::Ready(Some(self.end(Some(&error)))),
            Poll::Ready(None) if !late => return Poll::Ready(Some(self.end(None))),
            _ if late => return Poll::Ready(Some(self.end(Some(&RpcError::deadline_exceeded())))),
            _ => {}
        }
        loop {
            ready!(self.silence.as_mut().poll(task));
            let due = self.last + self.keepalive;
            if due <= Instant::now() {
                self.last = Instant::now();
                self.silence.as_mut().reset(self.last + self.keepalive);
                return Poll::Ready(Some(packed(T::keepalive().envelope(self.codec), self.gzip)));
            }
            self.silence.as_mut().reset(due);
        }
    }
}

impl<S, T> http_body::Body for Events<S>
where
    S: Stream<Item = Result<T, RpcError>> + Unpin,
    T: Frame,
{
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, task: &mut Task) -> Poll<Option<Result<http_body::Frame<Bytes>, Infallible>>> {
        self.poll_bytes(task).map(|bytes| bytes.map(|bytes| Ok(http_body::Frame::data(bytes))))
    }
}
