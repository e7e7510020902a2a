//! The error body of the control plane: `{"code": <HTTP status>, "message": <text>}`, sometimes with `error_code`.

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use std::io::{self, ErrorKind};

/// An answer that says what went wrong and, where there is one, the way out. Messages never hold keys, tokens or host paths.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct ApiError {
    /// The HTTP status, repeated in the body as `code`.
    pub status: StatusCode,
    /// Text for people.
    pub message: String,
    /// A word for programs, where clients of this API know one.
    pub error_code: Option<&'static str>,
}

impl ApiError {
    /// An error with a status of the caller's choice.
    pub fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), error_code: None }
    }

    /// The same with a word for programs.
    pub fn with_code(self, error_code: &'static str) -> Self {
        Self { error_code: Some(error_code), ..self }
    }

    /// 400: the request cannot be honoured as it is.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// 400 for a body that does not have the documented form.
    pub fn validation(detail: impl std::fmt::Display) -> Self {
        Self::bad_request(format!("validation error: {detail}"))
    }

    /// 403: known and refused.
    pub fn forbidden(message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, message)
    }

    /// 404 for a sandbox id; the text is the one that clients of this API know.
    pub fn no_sandbox(id: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, format!("Sandbox \"{id}\" doesn't exist or you don't have access to it"))
    }

    /// What could not be done, in words that say nothing about the machine: 507 where the disk is full, else 500. The cause goes to the log.
    pub fn failed(what: &str, error: &anyhow::Error) -> Self {
        if is_full(error) {
            let way_out = "the platform's disk is full. End sandboxes and delete snapshots that are not needed";
            return Self::new(StatusCode::INSUFFICIENT_STORAGE, format!("{what}: {way_out}."));
        }
        Self::internal(format!("{what}; the platform's log has the cause."))
    }

    /// 500 with a text that says nothing about the machine; the cause goes to the log.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, message)
    }
}

/// Whether something failed because there is no room left for it.
pub fn is_full(error: &anyhow::Error) -> bool {
    let full = |error: &io::Error| matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded);
    let said = |error: &ApiError| error.status == StatusCode::INSUFFICIENT_STORAGE;
    error.chain().any(|cause| cause.downcast_ref().is_some_and(full) || cause.downcast_ref().is_some_and(said))
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut body = serde_json::json!({ "code": self.status.as_u16(), "message": self.message });
        if let Some(error_code) = self.error_code {
            body["error_code"] = error_code.into();
        }
        (self.status, Json(body)).into_response()
    }
}
