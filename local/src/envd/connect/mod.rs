//! The Connect protocol, from the server's side: codecs, compression, deadlines, and the shapes of calls.

mod codec;
mod compression;
mod headers;
mod request;
mod stream;
mod unary;

pub use codec::{Codec, Frame, Wire};
pub use headers::is_streaming;
pub use request::Messages;
pub use stream::{client_stream, end_of_stream, server_stream};
pub use unary::unary;

use super::Envd;
use super::error::RpcError;
use super::users::User;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The longest message that is read, in bytes, packed or unpacked.
pub const MAX_MESSAGE: usize = agent_sandbox_web::protocol::envelope::DEFAULT_MAX_PAYLOAD;

/// What a call knows besides its message.
#[derive(Clone)]
pub struct Context {
    /// What all calls share.
    pub envd: Arc<Envd>,
    /// The user named by the request.
    pub basic_user: Option<User>,
    /// When the call's time is up.
    pub deadline: Option<Instant>,
    /// How long a stream may be silent.
    pub keepalive: Duration,
}

impl Context {
    /// Who runs the operation.
    ///
    /// # Errors
    /// Unauthenticated when neither the request nor the configuration names a user that can be used.
    pub fn user(&self) -> Result<User, RpcError> {
        if let Some(user) = &self.basic_user {
            return Ok(user.clone());
        }
        let name = &self.envd.config.default_user;
        if name.is_empty() {
            return Err(RpcError::unauthenticated("no user specified"));
        }
        User::find(name).ok_or_else(|| RpcError::unauthenticated(format!("invalid default user: '{name}'")))
    }

    /// Whether the call's time is up.
    pub fn expired(&self) -> bool {
        self.deadline.is_some_and(|deadline| deadline <= Instant::now())
    }
}

/// Runs blocking work where it holds up no other call.
pub async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, RpcError> + Send + 'static) -> Result<T, RpcError> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| Err(RpcError::internal("the operation was abandoned")))
}
