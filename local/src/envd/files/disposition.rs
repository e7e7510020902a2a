//! The `Content-Disposition` of an upload's parts.

use http::header::{self, HeaderMap};
use percent_encoding::percent_decode;

/// The part's `name` and `filename`, the latter with its directories.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Disposition {
    /// The form field.
    pub name: Option<String>,
    /// Where the file goes; `filename*` wins, as it can hold any name.
    pub filename: Option<String>,
}

impl Disposition {
    /// Reads a part's headers.
    pub fn of(headers: &HeaderMap) -> Self {
        headers.get(header::CONTENT_DISPOSITION).map(|value| parse(value.as_bytes())).unwrap_or_default()
    }
}

fn parse(value: &[u8]) -> Disposition {
    let mut found = Disposition::default();
    let mut extended = None;
    let mut rest = after(value, b';').unwrap_or_default();
    while let Some(at) = rest.iter().position(|byte| *byte == b'=') {
        let key = rest[..at].trim_ascii().to_ascii_lowercase();
        let (text, tail) = parameter(&rest[at + 1..]);
        rest = tail;
        match key.as_slice() {
            b"name" => found.name = String::from_utf8(text).ok(),
            b"filename" => found.filename = String::from_utf8(text).ok(),
            b"filename*" => extended = decode_extended(&text),
            _ => {}
        }
    }
    found.filename = extended.or(found.filename);
    found
}

/// A value, and what follows it. In quotes, a backslash only protects what would otherwise mean something: browsers of old wrote
/// whole paths of Windows there.
fn parameter(text: &[u8]) -> (Vec<u8>, &[u8]) {
    let text = text.trim_ascii_start();
    let Some(mut rest) = text.strip_prefix(b"\"") else {
        let end = text.iter().position(|byte| *byte == b';').unwrap_or(text.len());
        return (text[..end].trim_ascii().to_vec(), text.get(end + 1..).unwrap_or_default());
    };
    let mut value = Vec::new();
    loop {
        rest = match rest {
            [b'\\', byte, rest @ ..] if b"()<>@,;:\\\"/[]?=".contains(byte) => {
                value.push(*byte);
                rest
            }
            [b'"', rest @ ..] => return (value, after(rest, b';').unwrap_or_default()),
            [byte, rest @ ..] => {
                value.push(*byte);
                rest
            }
            [] => return (value, rest),
        };
    }
}

fn after(text: &[u8], border: u8) -> Option<&[u8]> {
    text.iter().position(|byte| *byte == border).map(|at| &text[at + 1..])
}

/// `utf-8'language'percent-encoded`.
fn decode_extended(text: &[u8]) -> Option<String> {
    let mut parts = text.splitn(3, |byte| *byte == b'\'');
    let charset = parts.next()?;
    let encoded = parts.nth(1)?;
    let known = charset.eq_ignore_ascii_case(b"utf-8") || charset.eq_ignore_ascii_case(b"us-ascii");
    known.then(|| percent_decode(encoded).decode_utf8().ok().map(Into::into)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_are_read_in_every_form() {
        for (value, filename) in [
            (r#"form-data; name="file"; filename="a/b.txt""#, Some("a/b.txt")),
            (r#"form-data; name=file; filename=b.txt"#, Some("b.txt")),
            (r#"form-data; filename="a \"b\"; c=d.txt"; name="file""#, Some(r#"a "b"; c=d.txt"#)),
            (r#"form-data; name="file"; filename="x"; filename*=utf-8''%C3%A4%20b"#, Some("ä b")),
            (r#"form-data; name="file"; filename="C:\dir\x.txt""#, Some(r"C:\dir\x.txt")),
            (r#"form-data; name="file"; filename="%22""#, Some("%22")),
            (r#"form-data; name="file""#, None),
        ] {
            let expected = Disposition { name: Some("file".into()), filename: filename.map(Into::into) };
            assert_eq!(parse(value.as_bytes()), expected, "{value}");
        }
    }

    #[test]
    fn anything_else_is_read_without_a_panic() {
        for value in
            ["", ";", "form-data", "form-data; =", "form-data; name=", r#"x; filename=""#, r#"x; filename="\"#, "x; filename*=a'"]
        {
            parse(value.as_bytes());
        }
    }
}
