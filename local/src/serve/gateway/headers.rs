//! What a gateway changes in headers, on the way in and on the way out.

use super::super::hosts::Host;
use super::super::keys::Keys;
use super::answer::{ALLOW_PRIVATE_NETWORK, REQUEST_PRIVATE_NETWORK};
use super::target::{Form, ROUTING};
use http::header::{
    ACCESS_CONTROL_ALLOW_ORIGIN, CONNECTION, CONTENT_SECURITY_POLICY, FORWARDED, LOCATION, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION,
    SET_COOKIE, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use http::{HeaderMap, HeaderName, HeaderValue};
use std::net::IpAddr;

/// The names under which SDKs send the traffic token.
pub const TRAFFIC: [&str; 2] = ["e2b-traffic-access-token", "agentbox-traffic-access-token"];

/// Headers that speak of one connection and not of the message.
const HOP_BY_HOP: [HeaderName; 7] = [CONNECTION, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE];

/// The protocol that the message wants to switch to.
pub fn upgrade(headers: &HeaderMap) -> Option<HeaderValue> {
    let wanted = listed(headers).any(|name| name.eq_ignore_ascii_case("upgrade"));
    headers.get(UPGRADE).filter(|_| wanted).cloned()
}

fn listed(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    headers.get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(',')).map(str::trim)
}

/// Takes out what belongs to one connection; `upgrade` is put back in for a message that switches protocols.
pub fn end_to_end(headers: &mut HeaderMap, upgrade: Option<HeaderValue>) {
    let named: Vec<HeaderName> = listed(headers).filter_map(|name| name.parse().ok()).collect();
    for name in named.iter().chain(&HOP_BY_HOP) {
        headers.remove(name);
    }
    headers.remove("keep-alive");
    headers.remove("proxy-connection");
    if let Some(protocol) = upgrade {
        headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
        headers.insert(UPGRADE, protocol);
    }
}

/// Prepares a request's headers for the server inside: no routing, none of the platform's secrets, and the truth about the client in
/// `X-Forwarded-*`. `Host` stays what the client wrote, as servers that check it expect.
pub fn inward(headers: &mut HeaderMap, form: &Form, host: &Host, peer: IpAddr, keys: &Keys) {
    for (id, port) in ROUTING {
        headers.remove(id);
        headers.remove(port);
    }
    for name in TRAFFIC {
        headers.remove(name);
    }
    keys.strip(headers);
    headers.remove(FORWARDED);
    headers.remove("x-forwarded-prefix");
    let name = if host.name.contains(':') { format!("[{}]", host.name) } else { host.name.clone() };
    let mut set = |name, value: &str| {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(HeaderName::from_static(name), value);
        }
    };
    set("x-forwarded-for", &peer.to_string());
    set("x-forwarded-host", &format!("{name}{}", host.port_suffix()));
    set("x-forwarded-proto", "http");
    if let Form::Path { prefix, .. } = form {
        set("x-forwarded-prefix", prefix);
    }
}

/// Prepares an answer's headers for the client: content by path or by header shares an address with every other sandbox, so it gets an
/// origin of its own, and its cookies and redirects stay below its own path.
pub fn outward(headers: &mut HeaderMap, form: &Form, asked_private_network: bool) {
    if asked_private_network && headers.contains_key(ACCESS_CONTROL_ALLOW_ORIGIN) {
        headers.insert(ALLOW_PRIVATE_NETWORK, HeaderValue::from_static("true"));
    }
    headers.remove("clear-site-data");
    let prefix = match form {
        Form::Host => None,
        Form::Headers => Some(""),
        Form::Path { prefix, .. } => Some(prefix.as_str()),
    };
    if prefix.is_some() {
        headers.append(CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox"));
    }
    let prefix = prefix.unwrap_or_default();
    let cookies: Vec<HeaderValue> = headers.get_all(SET_COOKIE).iter().filter_map(|value| cookie(value, prefix)).collect();
    headers.remove(SET_COOKIE);
    for cookie in cookies {
        headers.append(SET_COOKIE, cookie);
    }
    let location = headers.get(LOCATION).and_then(|value| value.to_str().ok()).and_then(|value| redirect(value, prefix));
    if let Some(location) = location.and_then(|location| HeaderValue::from_str(&location).ok()) {
        headers.insert(LOCATION, location);
    }
}

/// A cookie without `Domain`, so that other sandboxes do not get it, and with its path below the prefix.
fn cookie(value: &HeaderValue, prefix: &str) -> Option<HeaderValue> {
    let text = std::str::from_utf8(value.as_bytes()).ok()?;
    let mut kept = Vec::new();
    let mut path = None;
    for (index, part) in text.split(';').map(str::trim).enumerate() {
        match part.split_once('=').map(|(name, value)| (name.trim().to_ascii_lowercase(), value.trim())) {
            Some((name, _)) if index > 0 && name == "domain" => {}
            Some((name, value)) if index > 0 && name == "path" => path = Some(value.to_owned()),
            _ => kept.push(part.to_owned()),
        }
    }
    let path = path.filter(|path| path.starts_with('/'));
    if !prefix.is_empty() || path.is_some() {
        kept.push(format!("Path={prefix}{}", path.as_deref().unwrap_or("/")));
    }
    HeaderValue::from_str(&kept.join("; ")).ok()
}

/// A redirect to an absolute path, led below the prefix unless the server did so itself.
fn redirect(location: &str, prefix: &str) -> Option<String> {
    let absolute = location.starts_with('/') && !location.starts_with("//");
    let inside = location.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?', '#']));
    (absolute && !prefix.is_empty() && !inside).then(|| format!("{prefix}{location}"))
}

/// Whether a preflight asks for a private address.
pub fn asks_private_network(headers: &HeaderMap) -> bool {
    headers.contains_key(REQUEST_PRIVATE_NETWORK)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path_form() -> Form {
        Form::Path { prefix: "/s/iabc/80".into(), path_and_query: "/".into() }
    }

    #[test]
    fn what_belongs_to_the_connection_does_not_pass() {
        let mut headers = HeaderMap::new();
        headers.insert("connection", "keep-alive, X-Private".parse().unwrap());
        headers.insert("x-private", "1".parse().unwrap());
        headers.insert("keep-alive", "timeout=5".parse().unwrap());
        headers.insert("upgrade", "websocket".parse().unwrap());
        headers.insert("x-kept", "1".parse().unwrap());
        assert_eq!(upgrade(&headers), None);
        end_to_end(&mut headers, None);
        assert_eq!(headers.keys().map(HeaderName::as_str).collect::<Vec<_>>(), ["x-kept"]);
    }

    #[test]
    fn an_upgrade_passes() {
        let mut headers = HeaderMap::new();
        headers.insert("connection", "Keep-Alive, Upgrade".parse().unwrap());
        headers.insert("upgrade", "websocket".parse().unwrap());
        let protocol = upgrade(&headers);
        end_to_end(&mut headers, protocol);
        assert_eq!(headers["connection"], "upgrade");
        assert_eq!(headers["upgrade"], "websocket");
    }

    #[test]
    fn content_by_path_stays_below_its_path() {
        let mut headers = HeaderMap::new();
        headers.append("set-cookie", "a=1; Domain=localhost; Path=/app; HttpOnly".parse().unwrap());
        headers.append("set-cookie", "b=path=x".parse().unwrap());
        headers.insert("location", "/login?next=/".parse().unwrap());
        headers.insert("content-security-policy", "default-src *".parse().unwrap());
        outward(&mut headers, &path_form(), false);
        let cookies: Vec<_> = headers.get_all("set-cookie").iter().collect();
        assert_eq!(cookies, ["a=1; HttpOnly; Path=/s/iabc/80/app", "b=path=x; Path=/s/iabc/80/"]);
        assert_eq!(headers["location"], "/s/iabc/80/login?next=/");
        assert!(headers.get_all("content-security-policy").iter().any(|policy| policy == "sandbox"));
    }

    #[test]
    fn content_by_host_keeps_its_own_rules_but_no_shared_cookie() {
        let mut headers = HeaderMap::new();
        headers.append("set-cookie", "a=1; domain=localhost; path=/".parse().unwrap());
        headers.insert("location", "/login".parse().unwrap());
        outward(&mut headers, &Form::Host, false);
        assert_eq!(headers["set-cookie"], "a=1; Path=/");
        assert_eq!(headers["location"], "/login");
        assert!(!headers.contains_key("content-security-policy"));
    }
}
