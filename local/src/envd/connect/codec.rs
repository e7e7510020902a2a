//! Messages to bytes and back.

use super::super::error::RpcError;
use agent_sandbox_web::protocol::envelope::{HEADER_LEN, header};
use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A message that both codecs know.
pub trait Wire: prost::Message + Default + Serialize + DeserializeOwned {}

impl<T: prost::Message + Default + Serialize + DeserializeOwned> Wire for T {}

/// One message of a server's stream.
pub trait Frame: Send + 'static {
    /// The message that says that nothing happened.
    fn keepalive() -> Self;

    /// The whole envelope, uncompressed.
    fn envelope(self, codec: Codec) -> Bytes;
}

/// How messages are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Codec {
    /// Protobuf's JSON mapping.
    Json,
    /// Protobuf's binary form.
    Proto,
}

impl Codec {
    /// The message in `bytes`.
    ///
    /// # Errors
    /// Invalid argument for anything else.
    pub fn decode<T: Wire>(self, bytes: Bytes) -> Result<T, RpcError> {
        match self {
            Self::Json => serde_json::from_slice(&bytes).map_err(|error| invalid(&error)),
            Self::Proto => T::decode(bytes).map_err(|error| invalid(&error)),
        }
    }

    /// The bytes of a message.
    pub fn encode<T: Wire>(self, message: &T) -> Vec<u8> {
        match self {
            // Every message is maps with text keys, lists and scalars, which JSON can always hold.
            Self::Json => serde_json::to_vec(message).unwrap_or_default(),
            Self::Proto => message.encode_to_vec(),
        }
    }

    /// The whole envelope of a message.
    pub fn envelope<T: Wire>(self, message: &T) -> Bytes {
        let payload = self.encode(message);
        let mut envelope = Vec::with_capacity(HEADER_LEN + payload.len());
        envelope.extend_from_slice(&header(0, payload.len()));
        envelope.extend_from_slice(&payload);
        envelope.into()
    }
}

fn invalid(error: &dyn std::fmt::Display) -> RpcError {
    RpcError::invalid_argument(format!("unmarshal message: {error}"))
}
