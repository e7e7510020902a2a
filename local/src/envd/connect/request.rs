//! Reading requests.

use super::super::error::RpcError;
use super::compression::{gunzip, too_large};
use super::{Codec, MAX_MESSAGE, Wire};
use crate::received::Received;
use agent_sandbox_web::protocol::connect::Code;
use agent_sandbox_web::protocol::envelope::{EnvelopeError, EnvelopeReader, FLAG_COMPRESSED};
use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};

/// The whole body of a unary call.
pub async fn whole_body(body: Received) -> Result<Bytes, RpcError> {
    match Limited::new(body, MAX_MESSAGE).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(too_large()),
        Err(error) => Err(broken(&error)),
    }
}

fn broken(error: &dyn std::fmt::Display) -> RpcError {
    RpcError::new(Code::Unknown, format!("read request: {error}"))
}

/// The messages of an enveloped request, one after another.
pub struct Messages {
    body: Received,
    reader: EnvelopeReader,
    codec: Codec,
    compressed: bool,
}

impl Messages {
    /// The messages of `body`; `compressed` is whether the request announced that envelopes may be packed.
    pub fn new(body: Received, codec: Codec, compressed: bool) -> Self {
        Self { body, reader: EnvelopeReader::with_limit(MAX_MESSAGE), codec, compressed }
    }

    /// The next message, or `None` at the end.
    pub async fn next<T: Wire>(&mut self) -> Result<Option<T>, RpcError> {
        loop {
            let (codec, compressed) = (self.codec, self.compressed);
            match self.reader.next_envelope() {
                Ok(Some(envelope)) if envelope.flags & !FLAG_COMPRESSED != 0 => {
                    return Err(RpcError::invalid_argument(format!("protocol error: invalid envelope flags {}", envelope.flags)));
                }
                Ok(Some(envelope)) if envelope.is_compressed() && !compressed => {
                    return Err(RpcError::invalid_argument("protocol error: sent compressed message without compression support"));
                }
                Ok(Some(envelope)) => {
                    let plain = if envelope.is_compressed() && !envelope.payload.is_empty() {
                        gunzip(envelope.payload)?
                    } else {
                        Bytes::copy_from_slice(envelope.payload)
                    };
                    return if plain.is_empty() { Ok(Some(T::default())) } else { codec.decode(plain).map(Some) };
                }
                Ok(None) => {}
                Err(EnvelopeError::TooLarge { .. }) => return Err(too_large()),
                Err(error) => return Err(RpcError::invalid_argument(format!("protocol error: {error}"))),
            }
            match self.body.frame().await {
                Some(Ok(frame)) => {
                    if let Ok(chunk) = frame.into_data() {
                        self.reader.push(&chunk);
                    }
                }
                Some(Err(error)) => return Err(broken(&error)),
                None => {
                    return match self.reader.finish() {
                        Ok(()) => Ok(None),
                        Err(error) => Err(RpcError::invalid_argument(format!("protocol error: {error}"))),
                    };
                }
            }
        }
    }

    /// The only message.
    pub async fn only<T: Wire>(mut self) -> Result<T, RpcError> {
        let Some(message) = self.next().await? else {
            return Err(RpcError::new(Code::Unimplemented, "unary request has zero messages"));
        };
        match self.next::<T>().await? {
            None => Ok(message),
            Some(_) => Err(RpcError::new(Code::Unimplemented, "unary request has multiple messages")),
        }
    }
}
