//! Who may call, and as whom.

use super::error::{HttpError, RpcError};
use super::users::User;
use agent_sandbox_web::protocol::signature::{Operation, sign};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::header::{AUTHORIZATION, HeaderMap, HeaderName};
use http::{Method, Request};
use std::time::{SystemTime, UNIX_EPOCH};
use subtle::ConstantTimeEq;

const ACCESS_TOKEN: HeaderName = HeaderName::from_static("x-access-token");

/// Checks the token of a request, unless its endpoint is open or checks for itself.
pub fn check_token<B>(token: Option<&str>, request: &Request<B>) -> Result<(), HttpError> {
    let Some(token) = token else { return Ok(()) };
    let open = match request.uri().path() {
        "/health" => request.method() == Method::GET,
        "/files" => request.method() == Method::GET || request.method() == Method::POST,
        _ => false,
    };
    if open || request.headers().get(ACCESS_TOKEN).is_some_and(|given| same(given.as_bytes(), token.as_bytes())) {
        return Ok(());
    }
    Err(HttpError::unauthorized("unauthorized access, please provide a valid access token or method signing if supported"))
}

/// The user that a Basic header names. A header of another scheme, or one that cannot be read, counts as absent.
///
/// # Errors
/// Unauthenticated when no such user can be used here.
pub fn basic_user(headers: &HeaderMap) -> Result<Option<User>, RpcError> {
    let Some(name) = headers.get(AUTHORIZATION).and_then(|value| basic_name(value.to_str().ok()?)) else {
        return Ok(None);
    };
    User::find(&name).map(Some).ok_or_else(|| RpcError::unauthenticated(format!("invalid username: '{name}'")))
}

fn basic_name(header: &str) -> Option<String> {
    let (scheme, credentials) = header.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let decoded = String::from_utf8(STANDARD.decode(credentials).ok()?).ok()?;
    decoded.split_once(':').map(|(name, _)| name.to_owned())
}

/// What the query of a `/files` request says about its caller.
#[derive(Debug, Default, Clone, Copy)]
pub struct FileAccess<'a> {
    /// The `path` value, empty when absent.
    pub path: &'a str,
    /// The `username` value, empty when absent.
    pub username: &'a str,
    /// The `signature` value.
    pub signature: Option<&'a str>,
    /// The `signature_expiration` value, in Unix seconds.
    pub expiration: Option<i64>,
}

/// Checks a `/files` request: by token where one was sent, else by signature.
pub fn check_file_access(
    token: Option<&str>,
    headers: &HeaderMap,
    operation: Operation,
    access: FileAccess,
) -> Result<(), HttpError> {
    let Some(token) = token else { return Ok(()) };
    if let Some(given) = headers.get(ACCESS_TOKEN).filter(|given| !given.is_empty()) {
        return if same(given.as_bytes(), token.as_bytes()) {
            Ok(())
        } else {
            Err(HttpError::unauthorized("access token present in header but does not match"))
        };
    }
    let Some(signature) = access.signature else {
        return Err(HttpError::unauthorized("missing signature query parameter"));
    };
    let expiration = match access.expiration.map(u64::try_from) {
        None => None,
        Some(Ok(expiration)) => Some(expiration),
        Some(Err(_)) => return Err(HttpError::unauthorized("signature is already expired")),
    };
    let expected = sign(access.path, operation, access.username, token, expiration);
    if !same(signature.as_bytes(), expected.as_bytes()) {
        return Err(HttpError::unauthorized("invalid signature"));
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    if expiration.is_some_and(|expiration| expiration < now) {
        return Err(HttpError::unauthorized("signature is already expired"));
    }
    Ok(())
}

/// Compares secrets in a time that tells nothing about where they differ.
fn same(given: &[u8], secret: &[u8]) -> bool {
    given.ct_eq(secret).into()
}
