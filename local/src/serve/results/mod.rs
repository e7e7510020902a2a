//! The page in which HTML results of code cells are shown: an origin of its own, without an address of anything. Another page embeds it and
//! hands it the HTML by a message; it has no cookies, no storage and no network, and knows neither console nor sandbox.

use super::error::ApiError;
use super::hosts::Allowed;
use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderName, HeaderValue, Method, StatusCode};

/// The page up to its script.
const HEAD: &str = include_str!("frame.html");
/// What fills it.
const SCRIPT: &str = include_str!("frame.js");

/// Answers a request on the results' host. Only the page itself is there.
pub fn answer(allowed: &Allowed, method: &Method, path: &str) -> Response {
    if path != "/" || !matches!(*method, Method::GET | Method::HEAD) {
        return ApiError::new(StatusCode::NOT_FOUND, "Only the page that shows results is here.").into_response();
    }
    let mut response = format!("{HEAD}<script>\n{SCRIPT}</script>\n").into_response();
    let headers = response.headers_mut();
    // Results come with scripts of their own, which may do as they like in an origin that holds nothing. `sandbox` makes it one also
    // for whoever opens the address without a frame.
    let policy = format!(
        "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; \
         img-src data: blob:; media-src data: blob:; font-src data:; worker-src blob:; base-uri 'none'; form-action 'none'; \
         frame-ancestors {}",
        allowed.embedders()
    );
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        headers.insert(CONTENT_SECURITY_POLICY, policy);
    }
    for (name, value) in [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CACHE_CONTROL, "no-cache"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-resource-policy"), "cross-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}
