//! The page in which HTML results of code cells are shown: an origin of its own, without an address of anything. Another page embeds it and
//! hands it the HTML by a message; it has no cookies, no storage and no network, and knows neither console nor sandbox. Beside it lies the
//! script that figures of plotly need.

use super::error::ApiError;
use super::hosts::{Allowed, Host};
use super::platform::Platform;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderName, HeaderValue, Method, Request, StatusCode};
use tower_http::services::ServeFile;
use tower_service::Service;

/// The page up to its script.
const HEAD: &str = include_str!("frame.html");
/// What fills it.
const SCRIPT: &str = include_str!("frame.js");
/// Where plotly's own script is.
const PLOTLY: &str = "/plotly.min.js";

/// Answers a request on the results' host. Only the page and plotly's script are there.
pub async fn answer<B>(platform: &Platform, allowed: &Allowed, host: &Host, request: &Request<B>) -> Response {
    let path = request.uri().path();
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return nothing();
    }
    match path {
        "/" => page(allowed, host),
        PLOTLY => plotly(platform).await,
        _ => nothing(),
    }
}

fn nothing() -> Response {
    ApiError::new(StatusCode::NOT_FOUND, "Only the page that shows results is here.").into_response()
}

async fn plotly(platform: &Platform) -> Response {
    let Some(file) = platform.code_cells.plotly_script() else { return nothing() };
    let request = Request::new(Body::empty());
    let mut response = match ServeFile::new(file).call(request).await {
        Ok(response) => response.map(Body::new),
        Err(never) => match never {},
    };
    harden(&mut response, "text/javascript; charset=utf-8");
    response
}

fn page(allowed: &Allowed, host: &Host) -> Response {
    let mut response = format!("{HEAD}<script>\n{SCRIPT}</script>\n").into_response();
    // Results come with scripts of their own, which may do as they like in an origin that holds nothing. `sandbox` makes it one also
    // for whoever opens the address without a frame.
    let policy = format!(
        "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' http://{}{}{PLOTLY}; \
         style-src 'unsafe-inline'; img-src data: blob:; media-src data: blob:; font-src data:; worker-src blob:; base-uri 'none'; \
         form-action 'none'; frame-ancestors {}",
        host.name,
        host.port_suffix(),
        allowed.embedders()
    );
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        response.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
    }
    harden(&mut response, "text/html; charset=utf-8");
    response
}

fn harden(response: &mut Response, content_type: &'static str) {
    for (name, value) in [
        (CONTENT_TYPE, content_type),
        (CACHE_CONTROL, "no-cache"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-resource-policy"), "cross-origin"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
}
