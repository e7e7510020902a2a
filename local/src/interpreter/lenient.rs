//! Reading JSON that is not quite JSON, as kernels send it.

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

/// Reads a value, mended where needed; nothing if it has another form.
pub fn parse<T: DeserializeOwned>(json: &[u8]) -> Option<T> {
    serde_json::from_slice(json).or_else(|_| serde_json::from_str(&repaired(json))).ok()
}

/// The text of a JSON string; of anything else, which a kernel should not send but may, its JSON.
pub fn loose_text(value: &RawValue) -> String {
    parse::<String>(value.get().as_bytes()).unwrap_or_else(|| value.get().to_owned())
}

/// What Python writes and JSON does not know: bytes that are no UTF-8, halves of surrogate pairs, and numbers that are none, which
/// become `null`.
fn repaired(json: &[u8]) -> String {
    let text = String::from_utf8_lossy(json);
    let mut out = String::with_capacity(text.len());
    let mut rest = &*text;
    let mut in_string = false;
    while let Some(character) = rest.chars().next() {
        let taken = if in_string { escape(rest, &mut out) } else { bare_word(rest, &mut out) };
        if taken > 0 {
            rest = &rest[taken..];
            continue;
        }
        if character == '"' {
            in_string = !in_string;
        }
        out.push(character);
        rest = &rest[character.len_utf8()..];
    }
    out
}

/// Copies an escape at the front of `rest`; a lone surrogate becomes U+FFFD. Gives how many bytes it took.
fn escape(rest: &str, out: &mut String) -> usize {
    if !rest.starts_with('\\') {
        return 0;
    }
    let Some(unit) = utf16_unit(rest) else {
        let length = rest.chars().take(2).map(char::len_utf8).sum();
        out.push_str(&rest[..length]);
        return length;
    };
    if !(0xd800..0xe000).contains(&unit) {
        out.push_str(&rest[..6]);
        return 6;
    }
    let low = rest.get(6..).and_then(utf16_unit).is_some_and(|low| (0xdc00..0xe000).contains(&low));
    if unit < 0xdc00 && low {
        out.push_str(&rest[..12]);
        return 12;
    }
    out.push_str("\\ufffd");
    6
}

fn utf16_unit(text: &str) -> Option<u16> {
    u16::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok()
}

fn bare_word(rest: &str, out: &mut String) -> usize {
    let word = ["NaN", "-Infinity", "Infinity"].into_iter().find(|word| rest.starts_with(word));
    word.map_or(0, |word| {
        out.push_str("null");
        word.len()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_pairs_and_broken_bytes_do_not_lose_the_message() {
        assert_eq!(repaired(br#""\ud83d \ud83d\ude00 \udc00x \\ud83d""#), r#""\ufffd \ud83d\ude00 \ufffdx \\ud83d""#);
        assert_eq!(repaired(b"\"\xff\""), "\"\u{fffd}\"");
        assert_eq!(repaired(br#""\u12"#), r#""\u12"#);
    }

    #[test]
    fn a_text_with_half_a_pair_is_still_that_text() {
        let value = RawValue::from_string(r#""a\ud83d\u00e9""#.to_owned()).expect("JSON");
        assert_eq!(loose_text(&value), "a\u{fffd}\u{e9}");
    }
}
