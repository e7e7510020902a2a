//! How much may be typed into a terminal of the SandboxServer at once.
//!
//! The server writes to all terminals from one thread. When a program does not read, a large write stops that thread, and with it every
//! terminal and every new connection, for as long as the program does not read: sixteen thousand bytes are enough, four thousand never
//! were. What comes back tells that the thread runs, so each byte of output makes room for one of input: a terminal that echoes takes any
//! length, and one whose program does not read stops echoing, too. Counting from the last output on would not do: one message's echo
//! comes in several pieces, and each would open the whole window again.

/// The largest message, in bytes of its text.
pub const MESSAGE: usize = 4_000;

/// The most that is sent ahead of output, in bytes.
pub const WINDOW: usize = 8_000;

/// What keys may go beyond the window, in bytes: whoever pasted too much still wants to press Ctrl-C.
pub const RESERVE: usize = 1_000;

/// Input up to this length counts as keys, in bytes.
pub const KEYS: usize = 64;

/// Counts what was sent.
#[derive(Debug, Default)]
pub struct Pacer {
    sent: usize,
}

impl Pacer {
    /// So many bytes of output came.
    pub fn output(&mut self, bytes: usize) {
        self.sent = self.sent.saturating_sub(bytes);
    }

    /// How many bytes of `text` may be sent now, as one message; 0 when it must wait. Never a part of a character.
    pub fn take(&mut self, text: &str, is_keys: bool) -> usize {
        let window = if is_keys { WINDOW + RESERVE } else { WINDOW };
        let room = window.saturating_sub(self.sent).min(MESSAGE).min(text.len());
        let end = (0..=room).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        self.sent += end;
        end
    }
}

/// Takes the longest beginning of `bytes` that is text. What is left is the beginning of a character, for the next call.
///
/// # Errors
/// The position of a byte that no text can hold.
pub fn text_of(bytes: &[u8]) -> Result<(&str, &[u8]), usize> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok((text, &[])),
        Err(error) if error.error_len().is_some() => Err(error.valid_up_to()),
        Err(error) => {
            let (text, rest) = bytes.split_at(error.valid_up_to());
            Ok((std::str::from_utf8(text).unwrap_or_default(), rest))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_long_paste_waits_for_output() {
        let (mut pacer, paste) = (Pacer::default(), "x".repeat(100_000));
        assert_eq!([pacer.take(&paste, false), pacer.take(&paste, false), pacer.take(&paste, false)], [4_000, 4_000, 0]);
        pacer.output(1_500);
        assert_eq!([pacer.take(&paste, false), pacer.take(&paste, false)], [1_500, 0]);
        pacer.output(1_000_000);
        assert_eq!(pacer.take(&paste, false), 4_000);
    }

    #[test]
    fn keys_pass_when_a_paste_waits_but_not_for_ever() {
        let mut pacer = Pacer::default();
        while pacer.take(&"x".repeat(MESSAGE), false) > 0 {}
        assert_eq!(pacer.take("\u{3}", true), 1);
        let passed = (0..10_000).filter(|_| pacer.take("\u{3}", true) > 0).count();
        assert_eq!(passed, RESERVE - 1);
    }

    #[test]
    fn characters_stay_whole() {
        let mut pacer = Pacer::default();
        let text = "中".repeat(3_000);
        assert_eq!(pacer.take(&text, false), 3_999);
        assert_eq!(text_of("a中".as_bytes()), Ok(("a中", &b""[..])));
        assert_eq!(text_of(&"a中".as_bytes()[..3]), Ok(("a", &"中".as_bytes()[..2])));
        assert_eq!(text_of(b"ab\xffc"), Err(2));
    }

    proptest! {
        #[test]
        fn everything_is_sent_in_order_and_never_more_than_the_window_ahead(
            text in "[a中😀]{0,9000}",
            outputs in prop::collection::vec(0..6_000usize, 1..50),
        ) {
            let (mut pacer, mut sent, mut echoed) = (Pacer::default(), String::new(), 0);
            for output in outputs.iter().cycle() {
                if sent.len() == text.len() {
                    break;
                }
                let taken = pacer.take(&text[sent.len()..], false);
                prop_assert!(taken <= MESSAGE);
                sent.push_str(&text[sent.len()..][..taken]);
                prop_assert!(sent.len() - echoed <= WINDOW);
                // An echo is of what was sent, and comes sooner or later.
                let output = (*output).max(4).min(sent.len() - echoed);
                pacer.output(output);
                echoed += output;
            }
            prop_assert_eq!(sent, text);
        }

        #[test]
        fn bytes_cut_anywhere_are_the_same_text(text in "[a中😀é]{0,30}", cut in any::<prop::sample::Index>()) {
            let bytes = text.as_bytes();
            let at = cut.index(bytes.len() + 1);
            let (first, rest) = text_of(&bytes[..at]).expect("a beginning of text");
            let second = [rest, &bytes[at..]].concat();
            let (second, rest) = text_of(&second).expect("the rest of it");
            prop_assert_eq!([first, second].concat(), text.clone());
            prop_assert!(rest.is_empty());
        }
    }
}
