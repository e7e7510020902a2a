//! Which pages may read the answers: all of them, without credentials.

use super::body::{Body, empty};
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Method, Request, Response, StatusCode};

const METHODS: [Method; 6] = [Method::HEAD, Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];
const EXPOSED: &str = "Grpc-Status, Grpc-Message, Grpc-Status-Details-Bin, Location, Cache-Control, X-Content-Type-Options";
const REQUEST_PRIVATE_NETWORK: HeaderName = HeaderName::from_static("access-control-request-private-network");
const ALLOW_PRIVATE_NETWORK: HeaderName = HeaderName::from_static("access-control-allow-private-network");

/// The answer to a preflight, or `None` when the request is none. A refused preflight is a 204 without permission.
pub fn preflight<B>(request: &Request<B>) -> Option<Response<Body>> {
    let asked = request.headers();
    if request.method() != Method::OPTIONS {
        return None;
    }
    let method = asked.get(header::ACCESS_CONTROL_REQUEST_METHOD).filter(|method| !method.is_empty())?;
    let mut response = Response::new(empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    headers.insert(header::VARY, HeaderValue::from_static("Origin, Access-Control-Request-Method, Access-Control-Request-Headers"));
    let allowed = METHODS.iter().any(|known| known.as_str().as_bytes() == method.as_bytes());
    if !asked.contains_key(header::ORIGIN) || !allowed {
        return Some(response);
    }
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, method.clone());
    if let Some(names) = asked.get(header::ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, names.clone());
    }
    if asked.get(REQUEST_PRIVATE_NETWORK).is_some_and(|value| value == "true") {
        headers.insert(ALLOW_PRIVATE_NETWORK, HeaderValue::from_static("true"));
    }
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("7200"));
    Some(response)
}

/// Whether an answer to this request must be readable by a page.
pub fn is_cross_origin<B>(request: &Request<B>) -> bool {
    request.headers().contains_key(header::ORIGIN) && METHODS.contains(request.method())
}

/// Makes an answer readable, if `cross_origin`. An answer that already says what it varies by keeps its own word.
pub fn decorate(headers: &mut HeaderMap, cross_origin: bool) {
    headers.entry(header::VARY).or_insert(HeaderValue::from_static("Origin"));
    if cross_origin {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
    }
}
