//! What a call's headers say.

use super::super::body::{Body, empty};
use super::super::error::RpcError;
use super::Codec;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use std::time::Duration;

const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("connect-protocol-version");
const TIMEOUT: HeaderName = HeaderName::from_static("connect-timeout-ms");
const KEEPALIVE: HeaderName = HeaderName::from_static("keepalive-ping-interval");
const ACCEPT_POST: HeaderName = HeaderName::from_static("accept-post");

/// How long a stream is silent unless the request says otherwise.
const DEFAULT_KEEPALIVE: Duration = Duration::from_secs(90);

/// The shortest silence that can be asked for: a keepalive at every tick would be no silence at all.
const MIN_KEEPALIVE: Duration = Duration::from_secs(1);

/// Whether a call has one message a side, or envelopes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Bare messages.
    Unary,
    /// Envelopes.
    Stream,
}

impl Shape {
    /// The content type of a message or stream in that codec.
    pub fn content_type(self, codec: Codec) -> HeaderValue {
        HeaderValue::from_static(match (self, codec) {
            (Self::Unary, Codec::Json) => "application/json",
            (Self::Unary, Codec::Proto) => "application/proto",
            (Self::Stream, Codec::Json) => "application/connect+json",
            (Self::Stream, Codec::Proto) => "application/connect+proto",
        })
    }

    /// The codec of a request, or the answer that refuses it: 405 for another method, 415 for another content type.
    pub fn codec<B>(self, request: &Request<B>) -> Result<Codec, Box<Response<Body>>> {
        if request.method() != Method::POST {
            return Err(Box::new(refuse(StatusCode::METHOD_NOT_ALLOWED, header::ALLOW, HeaderValue::from_static("POST"))));
        }
        let given = media_type(request.headers());
        [Codec::Json, Codec::Proto].into_iter().find(|codec| self.content_type(*codec) == given).ok_or_else(|| {
            let accepted = HeaderValue::from_static(match self {
                Self::Unary => "application/json, application/proto",
                Self::Stream => "application/connect+json, application/connect+proto",
            });
            Box::new(refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, ACCEPT_POST, accepted))
        })
    }
}

fn refuse(status: StatusCode, name: HeaderName, value: HeaderValue) -> Response<Body> {
    let mut response = Response::new(empty());
    *response.status_mut() = status;
    response.headers_mut().insert(name, value);
    response
}

/// Whether a request is an enveloped call, so that even its errors are envelopes; and in which codec.
pub fn is_streaming(headers: &HeaderMap) -> Option<Codec> {
    let given = media_type(headers);
    [Codec::Json, Codec::Proto].into_iter().find(|codec| Shape::Stream.content_type(*codec) == given)
}

/// The content type in lower case, without a charset of UTF-8.
fn media_type(headers: &HeaderMap) -> String {
    let text = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default().to_ascii_lowercase();
    match text.split_once(';') {
        Some((kind, parameter)) if parameter.trim() == "charset=utf-8" => kind.trim_end().to_owned(),
        _ => text,
    }
}

/// Checks the protocol's version, if one is named.
pub fn check_version(headers: &HeaderMap) -> Result<(), RpcError> {
    match headers.get(PROTOCOL_VERSION).map(|value| String::from_utf8_lossy(value.as_bytes())) {
        Some(version) if !version.is_empty() && version != "1" => {
            Err(RpcError::invalid_argument(format!("connect-protocol-version must be \"1\": got {version:?}")))
        }
        _ => Ok(()),
    }
}

/// How long the call may take. Nothing is left of a timeout of 0 or below.
pub fn timeout(headers: &HeaderMap) -> Result<Option<Duration>, RpcError> {
    let Some(value) = headers.get(TIMEOUT).filter(|value| !value.is_empty()) else { return Ok(None) };
    let text = String::from_utf8_lossy(value.as_bytes());
    if text.len() > 10 {
        return Err(RpcError::invalid_argument(format!("protocol error: timeout {text:?} has >10 digits")));
    }
    let milliseconds: i64 =
        text.parse().map_err(|_| RpcError::invalid_argument(format!("protocol error: invalid timeout {text:?}")))?;
    Ok(Some(Duration::from_millis(milliseconds.try_into().unwrap_or(0))))
}

/// How long a stream may be silent before a keepalive: whole seconds, else the default.
pub fn keepalive(headers: &HeaderMap) -> Duration {
    let seconds = headers.get(KEEPALIVE).and_then(|value| value.to_str().ok()?.parse::<i64>().ok());
    match seconds.map(u64::try_from) {
        None => DEFAULT_KEEPALIVE,
        Some(Ok(seconds)) => Duration::from_secs(seconds).clamp(MIN_KEEPALIVE, Duration::from_secs(u32::MAX.into())),
        Some(Err(_)) => MIN_KEEPALIVE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_str(value).unwrap())])
    }

    #[test]
    fn a_keepalive_of_any_value_is_a_usable_interval() {
        for (value, seconds) in [("50", 50), ("0", 1), ("-5", 1), ("1.5", 90), ("", 90), ("99999999999999999999", 90)] {
            assert_eq!(keepalive(&headers(KEEPALIVE, value)), Duration::from_secs(seconds), "{value}");
        }
        assert_eq!(keepalive(&headers(KEEPALIVE, "9223372037")).as_secs(), u64::from(u32::MAX));
    }

    #[test]
    fn a_timeout_has_at_most_ten_digits_and_none_is_left_below_zero() {
        assert_eq!(timeout(&headers(TIMEOUT, "9999999999")), Ok(Some(Duration::from_millis(9_999_999_999))));
        assert_eq!(timeout(&headers(TIMEOUT, "-5")), Ok(Some(Duration::ZERO)));
        for value in ["99999999999", "1.5", "x"] {
            assert!(timeout(&headers(TIMEOUT, value)).is_err(), "{value}");
        }
    }

    #[test]
    fn a_charset_of_utf_8_changes_nothing() {
        for value in
            ["application/connect+json; charset=utf-8", "Application/Connect+JSON", "application/connect+json;charset=UTF-8"]
        {
            assert_eq!(is_streaming(&headers(header::CONTENT_TYPE, value)), Some(Codec::Json), "{value}");
        }
        assert_eq!(is_streaming(&headers(header::CONTENT_TYPE, "application/json")), None);
    }
}
