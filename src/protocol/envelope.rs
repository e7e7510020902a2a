//! Connect envelopes: one byte of flags, four bytes of length (big-endian), then the payload.
//!
//! Envelopes are not aligned with network chunks. [`EnvelopeReader`] takes chunks as they come and gives whole envelopes, each
//! borrowed from its own buffer, so that a payload is copied once on its way in and never again before its owner takes it.

use super::chunks::Chunks;

/// Bytes in front of every payload.
pub const HEADER_LEN: usize = 5;

/// The flag of a payload that was compressed by itself.
pub const FLAG_COMPRESSED: u8 = 0b01;

/// The flag of the last envelope of a stream, whose payload is always JSON.
pub const FLAG_END_STREAM: u8 = 0b10;

/// The longest payload a reader accepts unless told otherwise: 64 MiB, in bytes. Servers send at most 32 KiB of output in one.
pub const DEFAULT_MAX_PAYLOAD: usize = 64 * 1024 * 1024;

/// One envelope, borrowed from the reader that found it.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub struct Envelope<'a> {
    /// The flags byte as it was received.
    pub flags: u8,
    /// The payload, without the header.
    pub payload: &'a [u8],
}

impl Envelope<'_> {
    /// Whether this is the last envelope of its stream (its payload is JSON: `{}`, or an error, or metadata).
    pub fn is_end_stream(&self) -> bool {
        self.flags & FLAG_END_STREAM != 0
    }

    /// Whether the payload was compressed by itself, which neither side here asks for.
    pub fn is_compressed(&self) -> bool {
        self.flags & FLAG_COMPRESSED != 0
    }
}

/// Why a stream of envelopes cannot be read on.
#[derive(Debug, PartialEq, Eq, Clone, Copy, thiserror::Error)]
pub enum EnvelopeError {
    /// A header announced more than the reader accepts. Nothing was allocated for it.
    #[error("an envelope of {declared} bytes was announced; the limit is {limit}")]
    TooLarge {
        /// The announced length in bytes.
        declared: u32,
        /// The reader's limit in bytes.
        limit: usize,
    },
    /// The stream ended inside a header or a payload.
    #[error("the stream ended inside an envelope, {held} bytes after its start")]
    Truncated {
        /// How many bytes of the unfinished envelope had arrived.
        held: usize,
    },
    /// An envelope arrived after the end-of-stream envelope.
    #[error("data arrived after the end-of-stream envelope")]
    AfterEnd,
}

/// Splits a byte stream into envelopes, whatever its chunk borders.
#[derive(Debug)]
pub struct EnvelopeReader {
    chunks: Chunks,
    limit: usize,
    ended: bool,
}

impl Default for EnvelopeReader {
    fn default() -> Self {
        Self::with_limit(DEFAULT_MAX_PAYLOAD)
    }
}

impl EnvelopeReader {
    /// A reader that refuses payloads above `limit` bytes.
    pub fn with_limit(limit: usize) -> Self {
        Self { chunks: Chunks::default(), limit, ended: false }
    }

    /// Takes a chunk of `len` bytes that `fill` writes; see [`Chunks::fill_with`].
    pub fn fill_with(&mut self, len: usize, fill: impl FnOnce(&mut [u8])) {
        self.chunks.fill_with(len, fill);
    }

    /// Takes one chunk of the stream.
    pub fn push(&mut self, chunk: &[u8]) {
        self.chunks.push(chunk);
    }

    /// The next whole envelope, or `None` until more bytes arrive.
    ///
    /// # Errors
    /// [`EnvelopeError::TooLarge`] as soon as a header announces too much, [`EnvelopeError::AfterEnd`] for anything behind the
    /// end-of-stream envelope. After an error the stream cannot be read on: every further call gives the same error.
    pub fn next_envelope(&mut self) -> Result<Option<Envelope<'_>>, EnvelopeError> {
        let Some(Envelope { flags, payload }) = self.peek()? else { return Ok(None) };
        let len = HEADER_LEN + payload.len();
        self.ended = flags & FLAG_END_STREAM != 0;
        Ok(Some(Envelope { flags, payload: &self.chunks.take(len)[HEADER_LEN..] }))
    }

    /// The envelope that [`Self::next_envelope`] would give, left where it is.
    ///
    /// # Errors
    /// Those of [`Self::next_envelope`].
    pub fn peek(&self) -> Result<Option<Envelope<'_>>, EnvelopeError> {
        let held = self.chunks.held();
        if self.ended && !held.is_empty() {
            return Err(EnvelopeError::AfterEnd);
        }
        let Some((&[flags, a, b, c, d], rest)) = held.split_first_chunk::<HEADER_LEN>() else {
            return Ok(None);
        };
        let declared = u32::from_be_bytes([a, b, c, d]);
        let len = declared as usize;
        if len > self.limit {
            return Err(EnvelopeError::TooLarge { declared, limit: self.limit });
        }
        Ok(rest.get(..len).map(|payload| Envelope { flags, payload }))
    }

    /// Says that the stream's bytes have ended.
    ///
    /// # Errors
    /// [`EnvelopeError::Truncated`] when an unfinished envelope is held. A clean end does not mean success: ask [`Self::ended`].
    pub fn finish(&self) -> Result<(), EnvelopeError> {
        match self.chunks.held().len() {
            0 => Ok(()),
            held => Err(EnvelopeError::Truncated { held }),
        }
    }

    /// Whether the end-of-stream envelope was given out. A stream without one was cut off, however neatly its bytes ended.
    pub fn ended(&self) -> bool {
        self.ended
    }
}

/// Appends one envelope to `out`.
pub fn write_envelope(out: &mut Vec<u8>, flags: u8, payload: &[u8]) {
    out.reserve(HEADER_LEN + payload.len());
    out.extend_from_slice(&header(flags, payload.len()));
    out.extend_from_slice(payload);
}

/// The five bytes in front of a payload of `len` bytes; a length beyond 32 bits is written as the largest one.
pub fn header(flags: u8, len: usize) -> [u8; HEADER_LEN] {
    let [a, b, c, d] = u32::try_from(len).unwrap_or(u32::MAX).to_be_bytes();
    [flags, a, b, c, d]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stream(envelopes: &[(u8, Vec<u8>)]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (flags, payload) in envelopes {
            write_envelope(&mut bytes, *flags, payload);
        }
        bytes
    }

    fn drain(reader: &mut EnvelopeReader, into: &mut Vec<(u8, Vec<u8>)>) -> Result<(), EnvelopeError> {
        while let Some(envelope) = reader.next_envelope()? {
            into.push((envelope.flags, envelope.payload.to_vec()));
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn any_cut_gives_the_same_envelopes(
            payloads in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..12),
            cuts in prop::collection::vec(0usize..600, 0..20),
        ) {
            let mut envelopes: Vec<_> = payloads.into_iter().map(|payload| (0, payload)).collect();
            envelopes.push((FLAG_END_STREAM, b"{}".to_vec()));
            let bytes = stream(&envelopes);
            let mut borders: Vec<_> = cuts.into_iter().map(|cut| cut % (bytes.len() + 1)).collect();
            borders.extend([0, bytes.len()]);
            borders.sort_unstable();

            let mut reader = EnvelopeReader::default();
            let mut seen = Vec::new();
            for pair in borders.windows(2) {
                reader.push(&bytes[pair[0]..pair[1]]);
                drain(&mut reader, &mut seen).unwrap();
            }
            prop_assert_eq!(seen, envelopes);
            prop_assert!(reader.ended());
            prop_assert_eq!(reader.finish(), Ok(()));
        }

        #[test]
        fn any_bytes_give_envelopes_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..400), step in 1usize..50) {
            let mut reader = EnvelopeReader::with_limit(64);
            let mut given = 0;
            for chunk in bytes.chunks(step) {
                reader.push(chunk);
                let mut seen = Vec::new();
                let outcome = drain(&mut reader, &mut seen);
                given += seen.iter().map(|(_, payload)| payload.len() + HEADER_LEN).sum::<usize>();
                if outcome.is_err() {
                    prop_assert_eq!(reader.next_envelope().err(), outcome.err());
                    return Ok(());
                }
            }
            let held = match reader.finish() {
                Ok(()) => 0,
                Err(EnvelopeError::Truncated { held }) => held,
                Err(other) => return Err(TestCaseError::fail(other.to_string())),
            };
            prop_assert_eq!(given + held, bytes.len());
        }
    }

    #[test]
    fn a_last_payload_shorter_than_a_header_is_not_lost() {
        let mut reader = EnvelopeReader::default();
        for byte in stream(&[(0, vec![7]), (FLAG_END_STREAM, b"{}".to_vec())]) {
            reader.push(&[byte]);
        }
        let mut seen = Vec::new();
        drain(&mut reader, &mut seen).unwrap();
        assert_eq!(seen, [(0, vec![7]), (FLAG_END_STREAM, b"{}".to_vec())]);
    }

    #[test]
    fn a_declared_length_of_4_gib_is_refused_before_anything_is_allocated() {
        let mut reader = EnvelopeReader::default();
        reader.push(&[0, 0xff, 0xff, 0xff, 0xff]);
        let capacity = reader.chunks.capacity();
        assert_eq!(reader.next_envelope(), Err(EnvelopeError::TooLarge { declared: u32::MAX, limit: DEFAULT_MAX_PAYLOAD }));
        assert_eq!(reader.chunks.capacity(), capacity);
    }

    #[test]
    fn an_end_inside_a_header_or_a_payload_is_told_from_a_clean_end() {
        for cut in 1..=7 {
            let mut reader = EnvelopeReader::default();
            reader.push(&stream(&[(0, vec![1, 2])])[..cut]);
            let mut seen = Vec::new();
            drain(&mut reader, &mut seen).unwrap();
            if cut == 7 {
                assert_eq!(reader.finish(), Ok(()));
            } else {
                assert_eq!(reader.finish(), Err(EnvelopeError::Truncated { held: cut }));
            }
            assert!(!reader.ended());
        }
    }

    #[test]
    fn bytes_behind_the_end_are_an_error() {
        let mut reader = EnvelopeReader::default();
        reader.push(&stream(&[(FLAG_END_STREAM, b"{}".to_vec()), (0, vec![1])]));
        assert!(reader.next_envelope().unwrap().unwrap().is_end_stream());
        assert_eq!(reader.next_envelope(), Err(EnvelopeError::AfterEnd));
    }

    #[test]
    fn the_buffer_does_not_grow_with_the_stream() {
        let mut reader = EnvelopeReader::default();
        let one = stream(&[(0, vec![9; 32 * 1024])]);
        for _ in 0..200 {
            reader.fill_with(one.len(), |room| room.copy_from_slice(&one));
            assert_eq!(reader.next_envelope().unwrap().unwrap().payload.len(), 32 * 1024);
        }
        assert!(reader.chunks.capacity() < 4 * one.len(), "{}", reader.chunks.capacity());
    }
}
