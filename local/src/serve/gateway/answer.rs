//! What the gateway answers itself. Pages can read all of it: an error without CORS headers reaches them as a network error.

use super::super::error::ApiError;
use super::super::sandbox::{Phase, Sandbox};
use super::target::{Malformed, Target};
use axum::Json;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS,
    ACCESS_CONTROL_REQUEST_HEADERS, ACCESS_CONTROL_REQUEST_METHOD, CACHE_CONTROL, CONTENT_SECURITY_POLICY, ORIGIN, VARY,
    X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use serde_json::{Value, json};

/// Asked in a preflight by a page of a public site that calls a private address.
pub const REQUEST_PRIVATE_NETWORK: HeaderName = HeaderName::from_static("access-control-request-private-network");
/// Its answer.
pub const ALLOW_PRIVATE_NETWORK: HeaderName = HeaderName::from_static("access-control-allow-private-network");

/// Routing that cannot be understood.
pub fn malformed(error: Malformed) -> Response {
    open(ApiError::bad_request(error.to_string()).into_response())
}

/// A paused sandbox that this request does not resume, or that does not start.
pub fn not_woken(target: &Target, error: &ApiError) -> Response {
    let body = json!({ "sandboxId": target.id, "message": error.message, "code": error.status.as_u16(), "state": "paused" });
    open((error.status, Json(body)).into_response())
}

/// No running sandbox has the id. Whoever knows the id of one that is paused is told so.
pub fn not_running(target: &Target, sandbox: Option<&Sandbox>) -> Response {
    let mut body = json!({ "sandboxId": target.id, "message": "The sandbox was not found", "code": 502 });
    if sandbox.is_some_and(|sandbox| matches!(sandbox.status().phase, Phase::Pausing | Phase::Paused { .. })) {
        body["state"] = json!("paused");
    }
    bad_gateway(body)
}

/// Nothing listens on the port.
pub fn port_closed(target: &Target) -> Response {
    let message = "The sandbox is running but port is not open";
    bad_gateway(json!({ "sandboxId": target.id, "message": message, "port": target.port, "code": 502 }))
}

/// The server inside broke off before it answered.
pub fn broken_off(target: &Target) -> Response {
    let message = "The server in the sandbox closed the connection before it answered";
    bad_gateway(json!({ "sandboxId": target.id, "message": message, "port": target.port, "code": 502 }))
}

/// The port is not public, and the request has no traffic token or a wrong one.
pub fn no_traffic_token(target: &Target) -> Response {
    let message = "This port needs the sandbox's traffic access token (e2b-traffic-access-token)";
    let body = json!({ "sandboxId": target.id, "message": message, "port": target.port, "code": 403 });
    open((StatusCode::FORBIDDEN, Json(body)).into_response())
}

/// A route of envd that belongs to the platform alone.
pub fn control_route(path: &str) -> Response {
    open((StatusCode::NOT_FOUND, Json(json!({ "message": "Not found", "path": path, "code": 404 }))).into_response())
}

fn bad_gateway(body: Value) -> Response {
    open((StatusCode::BAD_GATEWAY, Json(body)).into_response())
}

/// Whether the request asks for permission on behalf of a page.
pub fn is_preflight(method: &Method, headers: &HeaderMap) -> bool {
    method == Method::OPTIONS && headers.contains_key(ORIGIN) && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

/// Permission for the call that follows, so that the page gets to read what is wrong with it.
pub fn preflight(asked: &HeaderMap) -> Response {
    let mut response = open(StatusCode::NO_CONTENT.into_response());
    let headers = response.headers_mut();
    for (from, to) in [
        (ACCESS_CONTROL_REQUEST_METHOD, ACCESS_CONTROL_ALLOW_METHODS),
        (ACCESS_CONTROL_REQUEST_HEADERS, ACCESS_CONTROL_ALLOW_HEADERS),
    ] {
        if let Some(value) = asked.get(from) {
            headers.insert(to, value.clone());
        }
    }
    if asked.contains_key(REQUEST_PRIVATE_NETWORK) {
        headers.insert(ALLOW_PRIVATE_NETWORK, HeaderValue::from_static("true"));
    }
    headers.insert(VARY, HeaderValue::from_static("origin, access-control-request-method, access-control-request-headers"));
    response
}

/// Lets every page read an answer of a server that does not say who may.
pub fn readable(mut response: Response<Body>) -> Response<Body> {
    let headers = response.headers_mut();
    if !headers.contains_key(ACCESS_CONTROL_ALLOW_ORIGIN) {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("retry-after"));
    }
    response
}

/// Lets every page read an answer of the gateway's own, which holds nothing that the request did not name.
fn open(mut response: Response<Body>) -> Response<Body> {
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox"));
    response
}
