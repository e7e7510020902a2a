//! Which encoding a download gets.

use http::header::{self, HeaderMap};

/// How the bytes of an answer are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// As they are.
    Identity,
    /// Packed.
    Gzip,
}

/// The best encoding for a request, or `None` when it accepts neither. Ranges and conditions speak of the bytes as they are.
pub fn encoding(headers: &HeaderMap) -> Option<Encoding> {
    let particular = [
        header::RANGE,
        header::IF_MATCH,
        header::IF_NONE_MATCH,
        header::IF_MODIFIED_SINCE,
        header::IF_UNMODIFIED_SINCE,
        header::IF_RANGE,
    ];
    if particular.iter().any(|name| headers.contains_key(name)) {
        return Some(Encoding::Identity);
    }
    let accept: Vec<&str> = headers
        .get_all(header::ACCEPT_ENCODING)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .collect();
    let (mut gzip, mut identity, mut any) = (None, None, None);
    for part in accept {
        let mut parts = part.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default().to_ascii_lowercase();
        let quality = parts.find_map(|part| part.strip_prefix("q=")?.parse::<f32>().ok()).unwrap_or(1.0);
        match name.as_str() {
            "gzip" => gzip = Some(quality),
            "identity" => identity = Some(quality),
            "*" => any = Some(quality),
            _ => {}
        }
    }
    let gzip = gzip.or(any).unwrap_or(0.0);
    // Identity is acceptable unless it is excluded, but nothing speaks for it unless it is named.
    let excluded = identity.or(any) == Some(0.0);
    let identity = identity.or(any).unwrap_or(0.0);
    match (gzip > 0.0, excluded) {
        (true, _) if gzip >= identity => Some(Encoding::Gzip),
        (_, false) => Some(Encoding::Identity),
        (true, true) => Some(Encoding::Gzip),
        (false, true) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    #[test]
    fn the_best_quality_wins_and_nothing_acceptable_is_told() {
        for (accept, expected) in [
            ("", Some(Encoding::Identity)),
            ("gzip, deflate, br", Some(Encoding::Gzip)),
            ("gzip;q=0", Some(Encoding::Identity)),
            ("gzip;q=0.5, identity", Some(Encoding::Identity)),
            ("br", Some(Encoding::Identity)),
            ("*", Some(Encoding::Gzip)),
            ("identity;q=0, br", None),
            ("*;q=0", None),
            ("gzip, *;q=0", Some(Encoding::Gzip)),
        ] {
            let headers = HeaderMap::from_iter([(header::ACCEPT_ENCODING, HeaderValue::from_static(accept))]);
            assert_eq!(encoding(&headers), expected, "{accept}");
        }
    }

    #[test]
    fn a_range_forces_the_bytes_as_they_are() {
        let headers = HeaderMap::from_iter([
            (header::ACCEPT_ENCODING, HeaderValue::from_static("gzip")),
            (header::RANGE, HeaderValue::from_static("bytes=0-")),
        ]);
        assert_eq!(encoding(&headers), Some(Encoding::Identity));
    }
}
