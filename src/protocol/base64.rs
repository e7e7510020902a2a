//! Standard base64, for signatures and for bytes in the JSON codec.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The text of `bytes`, padded to a multiple of four when `padded`.
pub fn encode(bytes: &[u8], padded: bool) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits = group.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for at in 0..=group.len() {
            out.push(char::from(ALPHABET[(bits >> (18 - 6 * at) & 63) as usize]));
        }
        if padded {
            out.push_str(&"=="[group.len() - 1..]);
        }
    }
    out
}

/// The bytes of `text`, padded or not, in the standard or the URL alphabet; `None` when it is no base64.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let text = text.trim_end_matches('=').as_bytes();
    if text.len() % 4 == 1 {
        return None;
    }
    let mut out = Vec::with_capacity(text.len() * 3 / 4);
    for group in text.chunks(4) {
        let mut bits = 0u32;
        for byte in group {
            let value = match byte {
                b'A'..=b'Z' => byte - b'A',
                b'a'..=b'z' => byte - b'a' + 26,
                b'0'..=b'9' => byte - b'0' + 52,
                b'+' | b'-' => 62,
                b'/' | b'_' => 63,
                _ => return None,
            };
            bits = bits << 6 | u32::from(value);
        }
        bits <<= 6 * (4 - group.len());
        out.extend_from_slice(&bits.to_be_bytes()[1..group.len()]);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_alphabet_is_the_standard_one() {
        for (bytes, expected) in [(&b""[..], ""), (b"f", "Zg=="), (b"fo", "Zm8="), (b"foo", "Zm9v"), (&[0xfb, 0xff, 0xfe], "+//+")]
        {
            assert_eq!(encode(bytes, true), expected);
            assert_eq!(encode(bytes, false), expected.trim_end_matches('='));
        }
    }

    #[test]
    fn what_is_no_base64_is_refused() {
        for text in ["a", "ab c", "Zm9v!", "Zg==Zg=="] {
            assert_eq!(decode(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn bytes_come_back(bytes in prop::collection::vec(any::<u8>(), 0..60), padded: bool) {
            prop_assert_eq!(decode(&encode(&bytes, padded)), Some(bytes));
        }

        #[test]
        fn any_text_gives_a_value_or_none(text in "\\PC{0,30}") {
            let _ = decode(&text);
        }
    }
}
