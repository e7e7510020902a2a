//! Events of a process as envelopes.
//!
//! Output is read behind room for everything that stands in front of it in binary form, so it goes out as it was read: one
//! buffer from the pipe to the socket, however many subscribers there are.

use super::super::connect::{Codec, Frame};
use agent_sandbox_web::protocol::envelope::{HEADER_LEN, header};
use agent_sandbox_web::protocol::process::{EndEvent, Event, KeepAlive, ProcessEvent, StartEvent, StartResponse};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;

/// Room in front of output, in bytes: the envelope's header and three nested messages with lengths of up to four bytes.
pub const ROOM: usize = HEADER_LEN + 3 * (1 + 4);

/// Where output came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
    /// The terminal.
    Pty,
}

impl Source {
    /// The key of the field in binary form: its number, and that a length follows.
    fn key(self) -> u8 {
        let number = match self {
            Self::Stdout => 1,
            Self::Stderr => 2,
            Self::Pty => 3,
        };
        number << 3 | 2
    }

    fn name(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
            Self::Pty => "pty",
        }
    }
}

/// One event of a process, cheap to give to several subscribers.
#[derive(Debug, Clone)]
pub enum ProcessFrame {
    /// The first event.
    Start(u32),
    /// Output.
    Data(Chunk),
    /// The last event.
    End(EndEvent),
    /// Nothing happened.
    Keepalive,
}

/// A piece of output in its binary envelope.
#[derive(Debug, Clone)]
pub struct Chunk {
    envelope: Bytes,
    payload: usize,
    source: Source,
}

impl Chunk {
    /// Takes a buffer of [`ROOM`] bytes and the output behind them.
    pub fn new(source: Source, mut buffer: Vec<u8>) -> Self {
        debug_assert!(buffer.len() >= ROOM, "the room in front is missing");
        let mut start = ROOM;
        let end = buffer.len();
        // From the inside out: the output in DataEvent, that in ProcessEvent, that in StartResponse or ConnectResponse.
        for key in [source.key(), 2 << 3 | 2, 1 << 3 | 2] {
            let (bytes, len) = varint(end - start);
            start -= len;
            buffer[start..start + len].copy_from_slice(&bytes[..len]);
            start -= 1;
            buffer[start] = key;
        }
        let front = header(0, end - start);
        start -= HEADER_LEN;
        buffer[start..start + HEADER_LEN].copy_from_slice(&front);
        Self { envelope: Bytes::from(buffer).slice(start..), payload: ROOM - start, source }
    }

    fn output(&self) -> &[u8] {
        &self.envelope[self.payload..]
    }
}

/// A length of less than 2^28 as a varint.
fn varint(mut value: usize) -> ([u8; 4], usize) {
    let mut bytes = [0; 4];
    let mut len = 0;
    loop {
        let low = (value & 0x7f) as u8;
        value >>= 7;
        bytes[len] = low | u8::from(value > 0 && len < 3) << 7;
        len += 1;
        if value == 0 || len == bytes.len() {
            return (bytes, len);
        }
    }
}

impl Frame for ProcessFrame {
    fn keepalive() -> Self {
        Self::Keepalive
    }

    fn envelope(self, codec: Codec) -> Bytes {
        let event = match self {
            Self::Data(chunk) => {
                return match codec {
                    Codec::Proto => chunk.envelope,
                    Codec::Json => json_envelope(&chunk),
                };
            }
            Self::Start(pid) => Event::Start(StartEvent { pid }),
            Self::End(end) => Event::End(end),
            Self::Keepalive => Event::Keepalive(KeepAlive {}),
        };
        // A ConnectResponse looks the same in both codecs.
        codec.envelope(&StartResponse { event: Some(ProcessEvent { event: Some(event) }) })
    }
}

fn json_envelope(chunk: &Chunk) -> Bytes {
    let output = chunk.output();
    let front = format!("{{\"event\":{{\"data\":{{\"{}\":\"", chunk.source.name());
    let back = b"\"}}}";
    let encoded = output.len().div_ceil(3) * 4;
    let len = front.len() + encoded + back.len();
    let mut bytes = vec![0; HEADER_LEN + len];
    bytes[..HEADER_LEN].copy_from_slice(&header(0, len));
    let (text, end) = bytes[HEADER_LEN..].split_at_mut(front.len() + encoded);
    text[..front.len()].copy_from_slice(front.as_bytes());
    // The room is exactly what the encoding takes.
    let written = STANDARD.encode_slice(output, &mut text[front.len()..]);
    debug_assert_eq!(written, Ok(encoded));
    end.copy_from_slice(back);
    bytes.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_sandbox_web::protocol::process::{DataEvent, Output};

    fn message(source: Source, output: &[u8]) -> StartResponse {
        let output = Bytes::copy_from_slice(output);
        let output = match source {
            Source::Stdout => Output::Stdout(output),
            Source::Stderr => Output::Stderr(output),
            Source::Pty => Output::Pty(output),
        };
        StartResponse { event: Some(ProcessEvent { event: Some(Event::Data(DataEvent { output: Some(output) })) }) }
    }

    #[test]
    fn output_in_place_is_what_the_codecs_would_write() {
        for source in [Source::Stdout, Source::Stderr, Source::Pty] {
            for len in [1, 2, 117, 118, 122, 127, 128, 16_375, 16_384, 32_768] {
                let output: Vec<u8> = (0..len).map(|at| (at % 251) as u8).collect();
                let chunk = Chunk::new(source, [vec![0; ROOM], output.clone()].concat());
                for codec in [Codec::Proto, Codec::Json] {
                    let written = ProcessFrame::Data(chunk.clone()).envelope(codec);
                    assert_eq!(written, codec.envelope(&message(source, &output)), "{source:?} {len} {codec:?}");
                }
            }
        }
    }
}
