//! Server-sent events: bytes in, events out, whatever the chunks' borders.
//!
//! Lines end with LF, CR LF or CR, also when a chunk ends between the two. Comments, fields that are not known and events without data are
//! dropped, several `data` lines are joined with LF, and a byte order mark at the beginning is skipped, as the HTML standard says. Unlike
//! there, [`SseReader::finish`] gives an event that the end of the stream cut off before its blank line: servers that close the connection
//! behind their last line mean it.

use super::routing::split_at;
use super::utf8::lossy;

/// The largest event that is held, in bytes. A stream that never ends a line must not fill the memory.
pub const LARGEST_EVENT: usize = 64 * 1024 * 1024;

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SseEvent {
    /// Its name; `message` when the stream gave none.
    pub name: String,
    /// Its data.
    pub data: String,
}

/// An event larger than [`LARGEST_EVENT`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event is larger than {LARGEST_EVENT} bytes")]
pub struct TooLarge;

/// Reads events out of chunks.
#[derive(Debug, Default)]
pub struct SseReader {
    buffer: Vec<u8>,
    /// Where the line under way begins in `buffer`.
    line: usize,
    /// Up to where `buffer` holds no line end.
    scanned: usize,
    /// Whether the last line ended with a CR, so that an LF right behind it belongs to the same end.
    after_cr: bool,
    /// Whether a line was seen: only in front of the first can a byte order mark stand.
    begun: bool,
    name: String,
    data: Option<String>,
}

impl SseReader {
    /// Takes the next bytes of the stream.
    pub fn push(&mut self, bytes: &[u8]) {
        // What was read goes away when it is at least half, so that each byte is moved once on average.
        if self.line > self.buffer.len() / 2 {
            self.buffer.drain(..self.line);
            self.scanned -= self.line;
            self.line = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// The next event that is complete.
    ///
    /// # Errors
    /// [`TooLarge`]; nothing more can be read then.
    pub fn next_event(&mut self) -> Result<Option<SseEvent>, TooLarge> {
        while let Some(line) = self.next_line() {
            if let Some(event) = self.take(&line) {
                return Ok(Some(event));
            }
            if self.data.as_ref().is_some_and(|data| data.len() > LARGEST_EVENT) {
                return Err(TooLarge);
            }
        }
        if self.buffer.len() - self.line > LARGEST_EVENT { Err(TooLarge) } else { Ok(None) }
    }

    /// Says that the stream has ended, and gives the event that it cut off, if there was one.
    pub fn finish(&mut self) -> Option<SseEvent> {
        let rest = lossy(&self.buffer[self.line..]).into_owned();
        self.buffer.clear();
        (self.line, self.scanned) = (0, 0);
        if !rest.is_empty() {
            // No line is empty here, so this ends no event.
            self.take(&rest);
        }
        self.take("")
    }

    /// The next whole line, without its end.
    fn next_line(&mut self) -> Option<String> {
        if self.after_cr && self.line < self.buffer.len() {
            self.after_cr = false;
            if self.buffer[self.line] == b'\n' {
                self.line += 1;
                self.scanned = self.scanned.max(self.line);
            }
        }
        let Some(at) = self.buffer[self.scanned..].iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
            self.scanned = self.buffer.len();
            return None;
        };
        let end = self.scanned + at;
        let line = lossy(&self.buffer[self.line..end]).into_owned();
        self.after_cr = self.buffer[end] == b'\r';
        self.line = end + 1;
        self.scanned = self.line;
        Some(line)
    }

    /// Takes a line. An empty one ends an event.
    fn take(&mut self, line: &str) -> Option<SseEvent> {
        let line = if self.begun { line } else { line.strip_prefix('\u{feff}').unwrap_or(line) };
        self.begun = true;
        if line.is_empty() {
            let name = std::mem::take(&mut self.name);
            let data = self.data.take()?;
            return Some(SseEvent { name: if name.is_empty() { "message".to_owned() } else { name }, data });
        }
        let (field, value) = split_at(line, ":").unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.name),
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            // Comments have an empty field name; `id` and `retry` are for clients that reconnect by themselves.
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn event(name: &str, data: &str) -> SseEvent {
        SseEvent { name: name.to_owned(), data: data.to_owned() }
    }

    /// Reads a stream that comes in these chunks, to its end.
    fn read<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<SseEvent> {
        let (mut reader, mut events) = (SseReader::default(), Vec::new());
        for chunk in chunks {
            reader.push(chunk);
            while let Some(event) = reader.next_event().expect("small events") {
                events.push(event);
            }
        }
        events.extend(reader.finish());
        events
    }

    fn whole(text: &str) -> Vec<SseEvent> {
        read([text.as_bytes()])
    }

    #[test]
    fn every_line_end_counts_once() {
        for end in ["\n", "\r\n", "\r"] {
            let text = ["event: a", "data: 1", "", "data: 2", "", ""].join(end);
            assert_eq!(whole(&text), [event("a", "1"), event("message", "2")], "{end:?}");
        }
    }

    #[test]
    fn a_cr_lf_cut_in_the_middle_is_one_line_end() {
        assert_eq!(read([&b"data: a\r"[..], b"\ndata: b\r", b"\n\r", b"\n"]), [event("message", "a\nb")]);
    }

    #[test]
    fn a_cr_at_the_end_of_a_chunk_ends_its_line_at_once() {
        let mut reader = SseReader::default();
        reader.push(b"data: a\r\r");
        assert_eq!(reader.next_event(), Ok(Some(event("message", "a"))));
    }

    #[test]
    fn comments_and_unknown_fields_and_empty_events_are_dropped() {
        assert_eq!(whole(": hello\n\nid: 4\nretry: 5\nfoo: bar\nnocolon\n\nevent: lonely\n\ndata: x\n\n"), [event("message", "x")]);
    }

    #[test]
    fn one_space_behind_the_colon_goes_away() {
        assert_eq!(whole("data:  a\n\ndata:b\n\ndata\n\n"), [event("message", " a"), event("message", "b"), event("message", "")]);
    }

    #[test]
    fn a_byte_order_mark_is_skipped_in_front_only() {
        assert_eq!(whole("\u{feff}data: a\n\n\u{feff}data: b\n\n"), [event("message", "a")]);
    }

    #[test]
    fn the_end_of_the_stream_ends_an_event() {
        assert_eq!(whole("event: exit\ndata: {\"exit_code\": 0}"), [event("exit", "{\"exit_code\": 0}")]);
        assert_eq!(whole("event: exit\ndata: 1\n"), [event("exit", "1")]);
        assert_eq!(whole("event: exit\n"), []);
    }

    #[test]
    fn a_line_without_an_end_is_refused_before_it_fills_the_memory() {
        let mut reader = SseReader::default();
        let chunk = vec![b'a'; LARGEST_EVENT / 4];
        let outcome = (0..5).find_map(|_| {
            reader.push(&chunk);
            reader.next_event().err()
        });
        assert_eq!(outcome, Some(TooLarge));
    }

    /// An event as it is written, with each kind of line end, and as it is read.
    fn written() -> impl Strategy<Value = (String, SseEvent)> {
        let end = prop_oneof![Just("\n"), Just("\r\n"), Just("\r")];
        ("[a-z]{1,6}", prop::collection::vec("[a-z:é中 😀]{0,8}", 1..4), prop::bool::ANY, end).prop_map(
            |(name, lines, comment, end)| {
                let mut text = String::new();
                if comment {
                    text += &format!(": ping{end}");
                }
                text += &format!("event: {name}{end}");
                for line in &lines {
                    text += &format!("data: {line}{end}");
                }
                (text + end, SseEvent { name, data: lines.join("\n") })
            },
        )
    }

    proptest! {
        #[test]
        fn borders_of_chunks_do_not_matter(
            parts in prop::collection::vec(written(), 0..5),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        ) {
            let text: String = parts.iter().map(|(text, _)| text.as_str()).collect();
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let events = read(cuts.windows(2).map(|pair| &text.as_bytes()[pair[0]..pair[1]]));
            prop_assert_eq!(events, parts.into_iter().map(|(_, event)| event).collect::<Vec<_>>());
        }

        #[test]
        fn any_bytes_one_at_a_time_read_as_all_at_once(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            prop_assert_eq!(read(bytes.chunks(1)), read([&bytes[..]]));
        }
    }
}
