//! The two forms in which envd says no.

use super::body::{Body, full};
use agent_sandbox_web::protocol::connect::Code;
use http::{HeaderValue, Response, StatusCode, header};
use serde_json::json;
use std::io;

/// An error of an RPC, in Connect's form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {message}", code.as_str())]
pub struct RpcError {
    /// The Connect code.
    pub code: Code,
    /// What went wrong, for the caller to read.
    pub message: String,
}

impl RpcError {
    /// An error of any code.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// The request is wrong whatever the state of the sandbox.
    pub fn invalid_argument(message: impl Into<String>) -> Self {
        Self::new(Code::InvalidArgument, message)
    }

    /// What was named does not exist.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(Code::NotFound, message)
    }

    /// The operating system refused.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(Code::Internal, message)
    }

    /// The user is missing or unknown.
    pub fn unauthenticated(message: impl Into<String>) -> Self {
        Self::new(Code::Unauthenticated, message)
    }

    /// The call's time is up.
    pub fn deadline_exceeded() -> Self {
        Self::new(Code::DeadlineExceeded, "context deadline exceeded")
    }

    /// As JSON, for a unary body or for the `error` of an end-of-stream message.
    pub fn to_json(&self) -> serde_json::Value {
        json!({ "code": self.code.as_str(), "message": self.message })
    }

    /// As the answer of a unary call.
    pub fn into_response(self) -> Response<Body> {
        let status = StatusCode::from_u16(self.code.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = Response::new(full(self.to_json().to_string()));
        *response.status_mut() = status;
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response
    }
}

/// An error of a plain HTTP endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HttpError {
    /// envd's own JSON form, whose `code` is the status.
    Json(StatusCode, String),
    /// Plain text, as for requests that no endpoint could read.
    Text(StatusCode, String),
}

impl HttpError {
    /// 400 in JSON.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::Json(StatusCode::BAD_REQUEST, message.into())
    }

    /// 401 in JSON.
    pub fn unauthorized(message: impl Into<String>) -> Self {
        Self::Json(StatusCode::UNAUTHORIZED, message.into())
    }

    /// 404 in JSON.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::Json(StatusCode::NOT_FOUND, message.into())
    }

    /// What a failed file operation answers: 507 when space or inodes are used up, else 500.
    pub fn from_io(what: &str, error: &io::Error) -> Self {
        let status = match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StatusCode::INSUFFICIENT_STORAGE,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self::Json(status, format!("{what}: {error}"))
    }

    /// As an answer.
    pub fn into_response(self) -> Response<Body> {
        let (status, content_type, body) = match self {
            Self::Json(status, message) => {
                (status, "application/json; charset=utf-8", json!({ "code": status.as_u16(), "message": message }).to_string())
            }
            Self::Text(status, message) => (status, "text/plain; charset=utf-8", format!("{message}\n")),
        };
        let mut response = Response::new(full(body));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        response
    }
}
