//! Calls with one message a side.

use super::super::body::{Body, full};
use super::super::error::RpcError;
use super::compression::{Compressions, gunzip, gzip};
use super::headers::{Shape, check_version, timeout};
use super::request::whole_body;
use super::{Codec, Context, Wire};
use crate::received::Received;
use bytes::Bytes;
use http::header::{self, HeaderValue};
use http::{Request, Response};
use tokio::time::Instant;

/// Answers that are shorter, in bytes, are packed only for callers that packed their request.
const WORTH_PACKING: usize = 1024;

/// Answers a unary call by `handler`.
pub async fn unary<Q, A, F>(
    request: Request<Received>,
    mut context: Context,
    handler: impl FnOnce(Context, Q) -> F,
) -> Response<Body>
where
    Q: Wire,
    A: Wire,
    F: Future<Output = Result<A, RpcError>>,
{
    let codec = match Shape::Unary.codec(&request) {
        Ok(codec) => codec,
        Err(refusal) => return *refusal,
    };
    let answer = async {
        let headers = request.headers();
        check_version(headers)?;
        context.deadline = timeout(headers)?.map(|timeout| Instant::now() + timeout);
        let packing = Compressions::negotiate(headers.get(header::CONTENT_ENCODING), headers.get(header::ACCEPT_ENCODING))?;
        let deadline = context.deadline;
        let work = async {
            let message = read(request.into_body(), codec, packing.request).await?;
            handler(context, message).await
        };
        let answer = match deadline {
            None => work.await?,
            Some(deadline) if deadline <= Instant::now() => return Err(RpcError::deadline_exceeded()),
            Some(deadline) => tokio::time::timeout_at(deadline, work).await.map_err(|_| RpcError::deadline_exceeded())??,
        };
        Ok(write(codec, &answer, packing))
    };
    answer.await.unwrap_or_else(RpcError::into_response)
}

async fn read<Q: Wire>(body: Received, codec: Codec, packed: bool) -> Result<Q, RpcError> {
    let bytes = whole_body(body).await?;
    let plain = if packed && !bytes.is_empty() { gunzip(&bytes)? } else { bytes };
    if plain.is_empty() && codec == Codec::Json {
        return Err(RpcError::invalid_argument("unmarshal message: zero-length payload is not a valid JSON object"));
    }
    codec.decode(plain)
}

fn write<A: Wire>(codec: Codec, answer: &A, packing: Compressions) -> Response<Body> {
    let plain = codec.encode(answer);
    let packed = packing.request || (packing.response && plain.len() >= WORTH_PACKING);
    let bytes = Bytes::from(if packed { gzip(&plain) } else { plain });
    let mut response = Response::new(full(bytes));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, Shape::Unary.content_type(codec));
    headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
    if packed {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    response
}
