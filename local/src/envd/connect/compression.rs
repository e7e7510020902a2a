//! gzip, the only compression there is here.

use super::super::error::RpcError;
use super::MAX_MESSAGE;
use agent_sandbox_web::protocol::connect::Code;
use bytes::Bytes;
use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use http::HeaderValue;
use std::io::{Read, Write};

/// The message in a gzip stream.
pub fn gunzip(bytes: &[u8]) -> Result<Bytes, RpcError> {
    let mut plain = Vec::new();
    let limit = u64::try_from(MAX_MESSAGE).unwrap_or(u64::MAX);
    MultiGzDecoder::new(bytes)
        .take(limit + 1)
        .read_to_end(&mut plain)
        .map_err(|error| RpcError::invalid_argument(format!("decompress: {error}")))?;
    if plain.len() > MAX_MESSAGE { Err(too_large()) } else { Ok(plain.into()) }
}

/// A gzip stream of the message.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 2 + 64), Compression::fast());
    // Writing to memory does not fail.
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}

/// The error of a message beyond the limit.
pub fn too_large() -> RpcError {
    RpcError::new(Code::ResourceExhausted, format!("message is larger than configured max {MAX_MESSAGE}"))
}

/// What the two compression headers of a request ask for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Compressions {
    /// Whether the request's messages are packed.
    pub request: bool,
    /// Whether the answer's messages may be packed.
    pub response: bool,
}

impl Compressions {
    /// Reads an encoding and an accept-encoding header.
    ///
    /// # Errors
    /// Unimplemented for a request that is packed in another way.
    pub fn negotiate(encoding: Option<&HeaderValue>, accept: Option<&HeaderValue>) -> Result<Self, RpcError> {
        let request = match encoding.map(HeaderValue::as_bytes) {
            None | Some(b"" | b"identity") => false,
            Some(b"gzip") => true,
            Some(other) => {
                let name = String::from_utf8_lossy(other);
                let message = format!("unknown compression {name:?}: supported encodings are gzip");
                return Err(RpcError::new(Code::Unimplemented, message));
            }
        };
        let accepted = accept.and_then(|accept| accept.to_str().ok()).is_some_and(|accept| {
            accept.split(',').any(|part| {
                let mut parts = part.split(';').map(str::trim);
                parts.next() == Some("gzip") && !parts.any(|part| matches!(part, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"))
            })
        });
        Ok(Self { request, response: request || accepted })
    }
}
