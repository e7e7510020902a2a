//! Where a port of a sandbox is reached.

/// The port of envd.
pub const ENVD_PORT: u16 = 49983;

/// A sandbox URL with its placeholders, and what its form means for routing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A placeholder stands in the host: `http://{port}-{sandboxId}.localhost:7300`.
    Host,
    /// Placeholders stand in the path alone: `http://127.0.0.1:7300/s/{sandboxId}/{port}`.
    Path,
    /// No placeholder: requests carry routing headers.
    Headers,
}

/// The form of a sandbox URL.
pub fn form(template: &str) -> Form {
    let (host, path) = split_host(template);
    match (has_placeholder(host), has_placeholder(path)) {
        (true, _) => Form::Host,
        (false, true) => Form::Path,
        (false, false) => Form::Headers,
    }
}

/// The URL of a port, without a slash at its end.
pub fn url(template: &str, id: &str, port: u16) -> String {
    let url = replace(&replace(template, "{port}", &decimal(port.into())), "{sandboxId}", &encode(id));
    url.trim_end_matches('/').to_owned()
}

/// The host of a URL, with its port if it names one.
pub fn host(url: &str) -> &str {
    let host = split_host(url).0;
    split_at(host, "://").map_or(host, |(_, host)| host)
}

/// The same URL under the shard host of that number, where a platform's host form has shards: `s3.49983-id.localhost`.
pub fn shard(url: &str, shard: u32) -> String {
    match split_at(url, "://") {
        Some((scheme, rest)) => [scheme, "://s", &decimal(shard.into()), ".", rest].concat(),
        None => url.to_owned(),
    }
}

/// Whether the platform's hosts have shards: the local platform's do, and only on `localhost` does every name resolve.
pub fn has_shards(template: &str) -> bool {
    form(template) == Form::Host && split_at(host(template), ":").map_or(host(template), |(name, _)| name).ends_with(".localhost")
}

/// A value in a path segment or a query: everything but the unreserved characters is percent-encoded.
pub fn encode(value: &str) -> String {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let mut out = String::with_capacity(value.len());
    for byte in value.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(char::from(byte)),
            _ => {
                out.push('%');
                out.push(char::from(HEX[usize::from(byte >> 4)]));
                out.push(char::from(HEX[usize::from(byte & 15)]));
            }
        }
    }
    out
}

/// `?a=b&c=d` of what has a value, or nothing.
pub fn query(pairs: &[(&str, Option<&str>)]) -> String {
    let mut out = String::new();
    for (name, value) in pairs {
        if let Some(value) = value {
            out.push(if out.is_empty() { '?' } else { '&' });
            out.push_str(name);
            out.push('=');
            out.push_str(&encode(value));
        }
    }
    out
}

/// A whole number as text, without the machinery of `format!`.
pub fn decimal(mut value: u64) -> String {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    digits[at..].iter().map(|digit| char::from(*digit)).collect()
}

fn has_placeholder(text: &str) -> bool {
    split_at(text, "{port}").is_some() || split_at(text, "{sandboxId}").is_some()
}

/// Parts with something between them. The standard library's own is a kilobyte, for many lengths of what is between.
pub fn join(parts: &[impl AsRef<str>], between: &str) -> String {
    let mut text = String::new();
    for (at, part) in parts.iter().enumerate() {
        text.extend([if at == 0 { "" } else { between }, part.as_ref()]);
    }
    text
}

/// What stands before and behind the first `part`. The standard library's search is made for long texts, and costs a page 3 KB.
pub fn split_at<'a>(text: &'a str, part: &str) -> Option<(&'a str, &'a str)> {
    let at = text.as_bytes().windows(part.len()).position(|window| window == part.as_bytes())?;
    Some((text.get(..at)?, text.get(at + part.len()..)?))
}

/// The text with every `part` replaced.
pub fn replace(text: &str, part: &str, by: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, behind)) = split_at(rest, part) {
        out.push_str(before);
        out.push_str(by);
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// Scheme and host, then the rest.
fn split_host(url: &str) -> (&str, &str) {
    let rest = split_at(url, "://").map_or(url, |(_, rest)| rest);
    let length = rest.bytes().position(|byte| matches!(byte, b'/' | b'?' | b'#')).unwrap_or(rest.len());
    url.split_at_checked(url.len() - rest.len() + length).unwrap_or((url, ""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn each_form_of_a_sandbox_url_is_known_and_filled() {
        for (template, expected, filled, host_of) in [
            ("https://{port}-{sandboxId}.e2b.app", Form::Host, "https://49983-iabc.e2b.app", "49983-iabc.e2b.app"),
            (
                "http://{port}-{sandboxId}.localhost:7300/",
                Form::Host,
                "http://49983-iabc.localhost:7300",
                "49983-iabc.localhost:7300",
            ),
            ("http://127.0.0.1:7300/s/{sandboxId}/{port}", Form::Path, "http://127.0.0.1:7300/s/iabc/49983", "127.0.0.1:7300"),
            ("http://localhost:7300/", Form::Headers, "http://localhost:7300", "localhost:7300"),
        ] {
            assert_eq!(form(template), expected, "{template}");
            let url = url(template, "iabc", ENVD_PORT);
            assert_eq!(url, filled);
            assert_eq!(host(&url), host_of);
        }
    }

    #[test]
    fn an_id_cannot_leave_its_segment() {
        assert_eq!(url("http://h/s/{sandboxId}/{port}", "a/../b?c#d", 80), "http://h/s/a%2F..%2Fb%3Fc%23d/80");
    }

    #[test]
    fn shards_stand_in_front_of_the_host_and_only_where_every_name_resolves() {
        assert_eq!(shard("http://49983-i.localhost:7300/x", 12), "http://s12.49983-i.localhost:7300/x");
        assert!(has_shards("http://{port}-{sandboxId}.localhost:7300"));
        assert!(!has_shards("https://{port}-{sandboxId}.e2b.app"));
        assert!(!has_shards("http://localhost:7300/s/{sandboxId}/{port}"));
    }

    #[test]
    fn a_query_holds_what_has_a_value() {
        assert_eq!(query(&[("path", Some("/a b#?%+ü😀")), ("user", None)]), "?path=%2Fa%20b%23%3F%25%2B%C3%BC%F0%9F%98%80");
        assert_eq!(query(&[("a", None), ("b", Some("")), ("c", Some("+"))]), "?b=&c=%2B");
        assert_eq!(query(&[]), "");
    }

    proptest! {
        #[test]
        fn numbers_read_as_formatted(value: u64) {
            prop_assert_eq!(decimal(value), value.to_string());
        }
    }
}
