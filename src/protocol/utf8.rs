//! UTF-8 that arrives in pieces.

use std::borrow::Cow;

/// Bytes as text. What is no UTF-8 is replaced as [`Utf8Decoder`] does, which costs a page less than a second way of doing it.
pub fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut decoder = Utf8Decoder::default();
    let mut text = decoder.push(bytes);
    text.push_str(decoder.finish());
    Cow::Owned(text)
}

/// Decodes one stream of bytes to text, holding back a character that a chunk border cut.
///
/// Every stream has its own decoder: stdout and stderr may each be in the middle of a character. Bytes that are no UTF-8 become
/// U+FFFD, one for each maximal ill-formed part, as `TextDecoder` does.
#[derive(Debug, Default)]
pub struct Utf8Decoder {
    held: [u8; 3],
    held_len: usize,
}

impl Utf8Decoder {
    /// The text that `chunk` completes.
    pub fn push(&mut self, chunk: &[u8]) -> String {
        let mut text = String::with_capacity(chunk.len() + self.held_len);
        let mut rest = chunk;
        // A held character needs at most three more bytes, so only those are moved together.
        while self.held_len > 0 && !rest.is_empty() {
            let mut joined = [0; 4];
            joined[..self.held_len].copy_from_slice(&self.held[..self.held_len]);
            joined[self.held_len] = rest[0];
            let len = self.held_len + 1;
            match std::str::from_utf8(&joined[..len]) {
                Ok(character) => {
                    text.push_str(character);
                    self.held_len = 0;
                    rest = &rest[1..];
                }
                Err(error) if error.error_len().is_none() => {
                    self.held[self.held_len] = rest[0];
                    self.held_len = len;
                    rest = &rest[1..];
                }
                // What was held cannot be completed by this byte: it is ill-formed by itself, and the byte starts anew.
                Err(_) => {
                    text.push(char::REPLACEMENT_CHARACTER);
                    self.held_len = 0;
                }
            }
        }
        // Nearly always all of it is text, which this checks a word at a time.
        while !rest.is_empty() {
            let error = match std::str::from_utf8(rest) {
                Ok(all) => {
                    text.push_str(all);
                    break;
                }
                Err(error) => error,
            };
            let (head, tail) = rest.split_at_checked(error.valid_up_to()).unwrap_or((&[], rest));
            text.push_str(std::str::from_utf8(head).unwrap_or_default());
            match error.error_len() {
                Some(length) => {
                    text.push(char::REPLACEMENT_CHARACTER);
                    rest = tail.get(length..).unwrap_or_default();
                }
                None => {
                    self.held[..tail.len()].copy_from_slice(tail);
                    self.held_len = tail.len();
                    break;
                }
            }
        }
        text
    }

    /// The end of the stream: one U+FFFD when a character was left unfinished, else nothing.
    pub fn finish(&mut self) -> &'static str {
        if std::mem::take(&mut self.held_len) > 0 { "\u{fffd}" } else { "" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decode(bytes: &[u8], step: usize) -> String {
        let mut decoder = Utf8Decoder::default();
        let mut text = String::new();
        for chunk in bytes.chunks(step) {
            text.push_str(&decoder.push(chunk));
        }
        text.push_str(decoder.finish());
        text
    }

    proptest! {
        #[test]
        fn any_bytes_in_any_steps_give_the_text_of_the_whole(bytes in prop::collection::vec(any::<u8>(), 0..80), step in 1usize..9) {
            prop_assert_eq!(decode(&bytes, step), String::from_utf8_lossy(&bytes));
        }

        #[test]
        fn any_text_in_any_steps_comes_back(text in "\\PC{0,30}", step in 1usize..9) {
            prop_assert_eq!(decode(text.as_bytes(), step), text);
        }
    }

    #[test]
    fn a_character_cut_at_the_very_end_gives_one_replacement() {
        assert_eq!(decode(&"a😀".as_bytes()[..4], 1), "a\u{fffd}");
    }

    #[test]
    fn two_streams_may_each_hold_half_a_character() {
        let (mut out, mut err) = (Utf8Decoder::default(), Utf8Decoder::default());
        assert_eq!(out.push(&"ü".as_bytes()[..1]), "");
        assert_eq!(err.push(&"€".as_bytes()[..2]), "");
        assert_eq!(out.push(&"ü".as_bytes()[1..]), "ü");
        assert_eq!(err.push(&"€".as_bytes()[2..]), "€");
    }
}
