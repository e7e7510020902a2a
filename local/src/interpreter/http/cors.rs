//! CORS: every origin, method and header, no credentials; only for requests that name an origin.

use axum::extract::Request;
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_MAX_AGE,
    ACCESS_CONTROL_REQUEST_HEADERS, ACCESS_CONTROL_REQUEST_METHOD, ORIGIN, VARY,
};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

const METHODS: &str = "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT";
const MAX_AGE_SECONDS: &str = "600";

/// Answers preflights and marks every other answer as readable for all.
pub async fn allow_all(request: Request, next: Next) -> Response {
    let headers = request.headers();
    if !headers.contains_key(ORIGIN) {
        return next.run(request).await;
    }
    let mut response = match headers.get(ACCESS_CONTROL_REQUEST_METHOD) {
        Some(method) if request.method() == Method::OPTIONS => preflight(method, headers.get(ACCESS_CONTROL_REQUEST_HEADERS)),
        _ => next.run(request).await,
    };
    response.headers_mut().insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    response
}

fn preflight(method: &HeaderValue, headers: Option<&HeaderValue>) -> Response {
    let known = METHODS.split(", ").any(|known| method.as_bytes() == known.as_bytes());
    let (status, text) = if known { (StatusCode::OK, "OK") } else { (StatusCode::BAD_REQUEST, "Disallowed CORS method") };
    let mut response = (
        status,
        [
            (ACCESS_CONTROL_ALLOW_METHODS, METHODS),
            (ACCESS_CONTROL_MAX_AGE, MAX_AGE_SECONDS),
            (VARY, "Origin, Access-Control-Request-Method, Access-Control-Request-Headers"),
        ],
        text,
    )
        .into_response();
    if let Some(headers) = headers {
        response.headers_mut().insert(ACCESS_CONTROL_ALLOW_HEADERS, headers.clone());
    }
    response
}
