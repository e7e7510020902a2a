//! What the code interpreter streams: one JSON object a line.
//!
//! Lines end with LF alone: a CR is white space to JSON, and inside a string it is escaped. A line is decoded as a whole, so that no
//! character is cut, however the stream's chunks are.

use super::chunks::Chunks;

/// The port of the code interpreter.
pub const INTERPRETER_PORT: u16 = 49999;

/// The longest line that is held, in bytes. Interpreters put a hundred megabytes of output into one when a cell writes that fast.
pub const LONGEST_LINE: usize = 512 * 1024 * 1024;

/// A line longer than [`LONGEST_LINE`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a line is longer than {LONGEST_LINE} bytes")]
pub struct TooLong;

/// Splits a byte stream into lines, whatever its chunk borders.
#[derive(Debug, Default)]
pub struct LineReader {
    chunks: Chunks,
    /// How much of what is held has no line end: it is looked at once, however many chunks the line takes.
    scanned: usize,
}

impl LineReader {
    /// Takes a chunk of `len` bytes that `fill` writes; see [`Chunks::fill_with`].
    ///
    /// # Errors
    /// [`TooLong`] before anything is allocated for it.
    pub fn fill_with(&mut self, len: usize, fill: impl FnOnce(&mut [u8])) -> Result<(), TooLong> {
        if self.chunks.held().len() + len > LONGEST_LINE {
            return Err(TooLong);
        }
        self.chunks.fill_with(len, fill);
        Ok(())
    }

    /// The next whole line, without its end.
    pub fn next_line(&mut self) -> Option<&[u8]> {
        match self.chunks.held()[self.scanned..].iter().position(|byte| *byte == b'\n') {
            Some(at) => {
                let len = std::mem::take(&mut self.scanned) + at;
                Some(&self.chunks.take(len + 1)[..len])
            }
            None => {
                self.scanned = self.chunks.held().len();
                None
            }
        }
    }

    /// Says that the stream has ended, and gives what stands behind the last line end.
    pub fn finish(&mut self) -> &[u8] {
        self.scanned = 0;
        self.chunks.take(self.chunks.held().len())
    }
}

/// JSON in which the numbers that Python writes and JSON does not know are made such that JSON reads them: an infinity becomes a number
/// beyond all that can be held, which reads as one, and NaN becomes the string of a NUL and `NaN`, for whoever parses it to put back.
/// `None` when there are none.
pub fn without_bare_words(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let (mut copied, mut at, mut inside) = (0, 0, false);
    while let Some(rest) = text.as_bytes().get(at..).filter(|rest| !rest.is_empty()) {
        let (word, number) = match rest[0] {
            b'N' if !inside => ("NaN", r#""\u0000NaN""#),
            b'I' if !inside => ("Infinity", "1e999"),
            first => {
                inside ^= first == b'"';
                // What is escaped ends no string.
                at += if first == b'\\' { 2 } else { 1 };
                continue;
            }
        };
        if !rest.starts_with(word.as_bytes()) {
            return None;
        }
        out.push_str(text.get(copied..at)?);
        out.push_str(number);
        at += word.len();
        copied = at;
    }
    out.push_str(text.get(copied..)?);
    (copied > 0).then_some(out)
}

#[cfg(test)]
mod tests;
