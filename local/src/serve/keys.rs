//! Who may call the control plane, and the random names and secrets of the platform.

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};
use rand::RngExt;
use std::collections::HashSet;
use std::sync::Mutex;
use subtle::ConstantTimeEq;

const LOWER: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789";
const HEX: &[u8] = b"0123456789abcdef";

/// Keys below this length, in bytes, may be parts of other words.
const SHORT: usize = 16;

/// `length` characters drawn from `alphabet` by the operating system's seeded CSPRNG.
fn random(alphabet: &[u8], length: usize) -> String {
    let mut rng = rand::rng();
    (0..length).map(|_| char::from(alphabet[rng.random_range(0..alphabet.len())])).collect()
}

/// A sandbox id: `i` and 20 characters of `[a-z0-9]` (103 bits, since the id is what guards a sandbox's public ports).
pub fn sandbox_id() -> String {
    format!("i{}", random(LOWER, 20))
}

/// The id of a template that a snapshot makes.
pub fn template_id() -> String {
    random(LOWER, 20)
}

/// A secret of 160 bits or more, for tokens.
pub fn token() -> String {
    random(LOWER, 40)
}

/// An API key in the form that SDKs accept without an option: `e2b_` and lower-case hex.
pub fn api_key() -> String {
    format!("e2b_{}", random(HEX, 40))
}

/// The API key and what the console exchanged its code for.
pub struct Keys {
    api_key: String,
    code: Mutex<Option<String>>,
    console: Mutex<HashSet<String>>,
}

/// What a request's credential is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Credential {
    /// The platform's API key.
    ApiKey,
    /// A token of the console, good only for requests of the console's own origin.
    Console,
}

impl Keys {
    /// Keys of one run of the platform.
    pub fn new(api_key: String) -> Self {
        Self { api_key, code: Mutex::default(), console: Mutex::default() }
    }

    /// The single-use code that goes into the console's URL.
    pub fn issue_code(&self) -> String {
        let code = token();
        *lock(&self.code) = Some(code.clone());
        code
    }

    /// Exchanges the code for a console token; the code is spent by the first exchange that names it.
    pub fn exchange(&self, code: &str) -> Option<String> {
        let mut slot = lock(&self.code);
        if !slot.as_deref().is_some_and(|expected| same(expected, code)) {
            return None;
        }
        *slot = None;
        let token = format!("console_{}", token());
        lock(&self.console).insert(token.clone());
        Some(token)
    }

    /// What the request's `X-API-Key` or `Authorization: Bearer` is, if it is anything here.
    pub fn identify(&self, headers: &HeaderMap) -> Option<Credential> {
        presented(headers).find_map(|key| self.recognise(key))
    }

    fn recognise(&self, key: &str) -> Option<Credential> {
        if same(&self.api_key, key) {
            return Some(Credential::ApiKey);
        }
        lock(&self.console).iter().any(|token| same(token, key)).then_some(Credential::Console)
    }

    /// Takes the platform's own keys out of headers that are about to leave for a sandbox, whatever header holds them, as a password of Basic
    /// credentials too; other keys belong to the sandbox's servers.
    pub fn strip(&self, headers: &mut HeaderMap) {
        let mut ours: Vec<String> = lock(&self.console).iter().cloned().collect();
        ours.push(self.api_key.clone());
        let holds = |value: &[u8]| ours.iter().any(|key| contains(value, key.as_bytes()));
        let holds = |value: &HeaderValue| holds(value.as_bytes()) || basic(value).is_some_and(|pair| holds(&pair));
        let named: Vec<_> = headers.iter().filter(|(_, value)| holds(value)).map(|(name, _)| name.clone()).collect();
        for name in named {
            headers.remove(name);
        }
    }
}

/// The `user:password` of a header's value that is Basic credentials; with or without the padding that they should have.
fn basic(value: &HeaderValue) -> Option<Vec<u8>> {
    let (scheme, pair) = value.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("basic").then_some(())?;
    STANDARD_NO_PAD.decode(pair.trim().trim_end_matches('=')).ok()
}

/// Whether a header's value or Basic pair holds a key. One so short that it may stand in any text counts only as the whole of it, as its last
/// word, or as a password.
fn contains(value: &[u8], key: &[u8]) -> bool {
    if key.len() < SHORT {
        return value.strip_suffix(key).is_some_and(|front| matches!(front.last(), None | Some(b' ' | b':')));
    }
    value.windows(key.len()).any(|part| part == key)
}

fn presented(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let key = headers.get("x-api-key").and_then(|value| value.to_str().ok());
    let bearer = headers.get(AUTHORIZATION).and_then(|value| bearer(value.to_str().ok()?));
    key.into_iter().chain(bearer)
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, key) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())
}

/// Compares secrets in a time that does not depend on where they differ.
pub fn same(expected: &str, given: &str) -> bool {
    bool::from(expected.as_bytes().ct_eq(given.as_bytes()))
}

/// Locks a mutex whose data stays whole when a holder panicked.
pub fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_good_once_and_a_wrong_one_does_not_spend_it() {
        let keys = Keys::new("e2b_0".into());
        let code = keys.issue_code();
        assert_eq!(keys.exchange("other"), None);
        let token = keys.exchange(&code).expect("the code is good");
        assert_eq!(keys.exchange(&code), None);
        assert_ne!(token, "e2b_0");
        let mut headers = HeaderMap::new();
        headers.insert("authorization", format!("bearer {token}").parse().unwrap());
        assert_eq!(keys.identify(&headers), Some(Credential::Console));
    }

    #[test]
    fn only_the_platforms_own_keys_are_taken_out() {
        let keys = Keys::new("e2b_0123456789abcdef".into());
        let mut headers = HeaderMap::new();
        headers.append("x-api-key", "e2b_0123456789abcdef".parse().unwrap());
        headers.append("x-api-key", "of-the-app".parse().unwrap());
        headers.insert("cookie", "a=1; key=e2b_0123456789abcdef; b=2".parse().unwrap());
        headers.insert("x-own", "e2b_0123456789abcdef".parse().unwrap());
        headers.insert("authorization", "Bearer of-the-app".parse().unwrap());
        keys.strip(&mut headers);
        assert_eq!(headers.keys().map(http::HeaderName::as_str).collect::<Vec<_>>(), ["authorization"]);
        let short = Keys::new("app".into());
        short.strip(&mut headers);
        assert!(headers.contains_key("authorization"), "a short key is no part of other words");
        headers.insert("authorization", "Bearer app".parse().unwrap());
        short.strip(&mut headers);
        assert!(headers.is_empty());
    }

    #[test]
    fn a_key_in_basic_credentials_is_taken_out_too() {
        let keys = Keys::new("e2b_0123456789abcdef".into());
        let credentials = |pair: &str| format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(pair));
        for ours in ["user:e2b_0123456789abcdef", "e2b_0123456789abcdef:", "a:e2b_0123456789abcdef "] {
            for value in [credentials(ours), credentials(ours).replace('=', ""), credentials(ours).replace("Basic", "bASIC")] {
                let mut headers = HeaderMap::new();
                headers.insert(AUTHORIZATION, value.parse().unwrap());
                keys.strip(&mut headers);
                assert!(headers.is_empty(), "{value}");
            }
        }
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, credentials("user:of-the-app").parse().unwrap());
        headers.insert("x-other", "Basic no base64!".parse().unwrap());
        keys.strip(&mut headers);
        assert_eq!(headers.len(), 2);
        Keys::new("of-the-app".into()).strip(&mut headers);
        assert_eq!(headers.len(), 1, "a short key as a password");
    }
}
