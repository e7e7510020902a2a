//! What a download says it is.

use http::HeaderValue;

/// The content type by the name's extension, if it has a known one.
pub fn by_name(name: &str) -> Option<HeaderValue> {
    let (_, extension) = name.rsplit_once('.')?;
    let kind = mime_guess::from_ext(extension).first()?;
    let text = kind.type_() == mime_guess::mime::TEXT && kind.get_param("charset").is_none();
    HeaderValue::from_str(&if text { format!("{kind}; charset=utf-8") } else { kind.to_string() }).ok()
}

/// The content type by the first bytes.
pub fn by_content(head: &[u8]) -> HeaderValue {
    const SIGNATURES: [(&[u8], &str); 11] = [
        (b"%PDF-", "application/pdf"),
        (b"%!PS-Adobe-", "application/postscript"),
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff", "image/jpeg"),
        (b"GIF87a", "image/gif"),
        (b"GIF89a", "image/gif"),
        (b"BM", "image/bmp"),
        (b"PK\x03\x04", "application/zip"),
        (b"\x1f\x8b\x08", "application/x-gzip"),
        (b"\0asm", "application/wasm"),
        (b"OggS\0", "application/ogg"),
    ];
    if let Some((_, kind)) = SIGNATURES.iter().find(|(signature, _)| head.starts_with(signature)) {
        return HeaderValue::from_static(kind);
    }
    let text = head.trim_ascii_start();
    let markup = ["<!DOCTYPE HTML", "<HTML", "<HEAD", "<BODY", "<SCRIPT"];
    if markup.iter().any(|tag| text.get(..tag.len()).is_some_and(|start| start.eq_ignore_ascii_case(tag.as_bytes()))) {
        return HeaderValue::from_static("text/html; charset=utf-8");
    }
    if text.starts_with(b"<?xml") {
        return HeaderValue::from_static("text/xml; charset=utf-8");
    }
    let binary = |byte: &u8| matches!(byte, 0..=8 | 11 | 14..=26 | 28..=31);
    HeaderValue::from_static(if head.iter().any(binary) { "application/octet-stream" } else { "text/plain; charset=utf-8" })
}

/// `inline` with the file's name, in the form of RFC 2231 where it is not ASCII.
pub fn disposition(name: &str) -> HeaderValue {
    let token = |byte: u8| byte.is_ascii_graphic() && !b"()<>@,;:\\\"/[]?=".contains(&byte);
    let text = if !name.is_empty() && name.bytes().all(token) {
        format!("inline; filename={name}")
    } else if name.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
        format!("inline; filename=\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
    } else {
        let mut text = "inline; filename*=utf-8''".to_owned();
        for byte in name.bytes() {
            if token(byte) && !b"*'%".contains(&byte) {
                text.push(char::from(byte));
            } else {
                text.push_str(&format!("%{byte:02X}"));
            }
        }
        text
    };
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("inline"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_told_from_other_bytes() {
        assert_eq!(by_content(b"plain\n"), "text/plain; charset=utf-8");
        assert_eq!(by_content(b""), "text/plain; charset=utf-8");
        assert_eq!(by_content(b"a\0b"), "application/octet-stream");
        assert_eq!(by_content(b" \n<html>"), "text/html; charset=utf-8");
        assert_eq!(by_content(b"\x89PNG\r\n\x1a\nrest"), "image/png");
        assert_eq!(by_name("a.txt").unwrap(), "text/plain; charset=utf-8");
        assert_eq!(by_name("a.json").unwrap(), "application/json");
        assert_eq!((by_name("a"), by_name("a.unknownext")), (None, None));
    }

    #[test]
    fn a_name_is_quoted_or_encoded_as_it_needs() {
        assert_eq!(disposition("a.txt"), "inline; filename=a.txt");
        assert_eq!(disposition("a \"b\".txt"), "inline; filename=\"a \\\"b\\\".txt\"");
        assert_eq!(disposition("ä.txt"), "inline; filename*=utf-8''%C3%A4.txt");
        assert_eq!(disposition("a\nb"), "inline; filename*=utf-8''a%0Ab");
    }
}
