//! The messages of streams, read in place: payloads stay where the network put them, and their owner copies them out once.
//!
//! prost would allocate and copy every payload. This reader borrows; it is tested against prost's own decoding.

use super::filesystem::EventType;

/// A message that breaks the encoding's rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a message could not be read")]
pub struct Malformed;

/// Where a piece of output came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Channel {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
    /// The terminal.
    Pty,
}

/// One message of a Start or Connect stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessEvent<'a> {
    /// The process runs under this id.
    Start(u32),
    /// A piece of output.
    Data(Channel, &'a [u8]),
    /// The process ended.
    End {
        /// Its exit code; absent on the wire means 0.
        exit_code: i32,
        /// The end in words, unless it succeeded.
        error: Option<&'a str>,
    },
    /// A keepalive, or a kind of event that is newer than this reader.
    Other,
}

/// One message of a WatchDir stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WatchEvent<'a> {
    /// The watch has begun.
    Start,
    /// Something changed.
    Change {
        /// The changed entry, relative to the watched directory.
        name: &'a str,
        /// What happened; `None` when it is newer than this reader.
        kind: Option<EventType>,
        /// The entry, when asked for.
        entry: Option<Entry<'a>>,
    },
    /// A keepalive, or a kind of event that is newer than this reader.
    Other,
}

/// An entry of the file system, borrowed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Entry<'a> {
    /// The last part of its path.
    pub name: &'a str,
    /// The number of its type.
    pub kind: u32,
    /// Its path.
    pub path: &'a str,
    /// Bytes.
    pub size: i64,
    /// Permission bits.
    pub mode: u32,
    /// The mode in letters.
    pub permissions: &'a str,
    /// The owner's name.
    pub owner: &'a str,
    /// The group's name.
    pub group: &'a str,
    /// When it was last written: Unix seconds and nanoseconds.
    pub modified: Option<(i64, i32)>,
    /// Where a link leads.
    pub symlink_target: Option<&'a str>,
    /// What was stored with it.
    pub metadata: Vec<(&'a str, &'a str)>,
}

/// Reads one message of a Start or Connect stream.
///
/// # Errors
/// [`Malformed`] when the bytes are no protobuf message.
pub fn process_event(message: &[u8]) -> Result<ProcessEvent<'_>, Malformed> {
    let mut event = ProcessEvent::Other;
    for_each_message(message, 1, |body| {
        Fields(body).each(|number, value| {
            match (number, value) {
                (1, Value::Bytes(start)) => {
                    let mut pid = 0;
                    Fields(start).each(|number, value| {
                        if let (1, Value::Number(value)) = (number, value) {
                            pid = value as u32;
                        }
                        Ok(())
                    })?;
                    event = ProcessEvent::Start(pid);
                }
                (2, Value::Bytes(data)) => event = data_event(data)?,
                (3, Value::Bytes(end)) => event = end_event(end)?,
                (_, Value::Bytes(_)) => event = ProcessEvent::Other,
                _ => {}
            }
            Ok(())
        })
    })?;
    Ok(event)
}

fn data_event(message: &[u8]) -> Result<ProcessEvent<'_>, Malformed> {
    let mut event = ProcessEvent::Other;
    Fields(message).each(|number, value| {
        if let Value::Bytes(bytes) = value {
            match number {
                1 => event = ProcessEvent::Data(Channel::Stdout, bytes),
                2 => event = ProcessEvent::Data(Channel::Stderr, bytes),
                3 => event = ProcessEvent::Data(Channel::Pty, bytes),
                _ => {}
            }
        }
        Ok(())
    })?;
    Ok(event)
}

fn end_event(message: &[u8]) -> Result<ProcessEvent<'_>, Malformed> {
    let (mut exit_code, mut error) = (0, None);
    Fields(message).each(|number, value| {
        match (number, value) {
            (1, Value::Number(value)) => {
                // sint32 is zig-zag encoded.
                let value = value as u32;
                exit_code = (value >> 1) as i32 ^ -((value & 1) as i32);
            }
            (4, Value::Bytes(bytes)) => error = Some(text(bytes)?),
            _ => {}
        }
        Ok(())
    })?;
    Ok(ProcessEvent::End { exit_code, error })
}

/// Reads one message of a WatchDir stream.
///
/// # Errors
/// [`Malformed`] when the bytes are no protobuf message.
pub fn watch_event(message: &[u8]) -> Result<WatchEvent<'_>, Malformed> {
    let mut event = WatchEvent::Other;
    Fields(message).each(|number, value| {
        match (number, value) {
            (1, Value::Bytes(_)) => event = WatchEvent::Start,
            (2, Value::Bytes(change)) => event = change_event(change)?,
            (_, Value::Bytes(_)) => event = WatchEvent::Other,
            _ => {}
        }
        Ok(())
    })?;
    Ok(event)
}

fn change_event(message: &[u8]) -> Result<WatchEvent<'_>, Malformed> {
    let (mut name, mut kind, mut found) = ("", 0, None);
    Fields(message).each(|number, value| {
        match (number, value) {
            (1, Value::Bytes(bytes)) => name = text(bytes)?,
            (2, Value::Number(value)) => kind = value as i32,
            (3, Value::Bytes(bytes)) => found = Some(entry(bytes)?),
            _ => {}
        }
        Ok(())
    })?;
    Ok(WatchEvent::Change { name, kind: EventType::try_from(kind).ok(), entry: found })
}

/// Reads one `EntryInfo`.
///
/// # Errors
/// [`Malformed`] when the bytes are no protobuf message, or a text in it is no UTF-8.
pub fn entry(message: &[u8]) -> Result<Entry<'_>, Malformed> {
    let mut entry = Entry::default();
    Fields(message).each(|number, value| {
        match (number, value) {
            (1, Value::Bytes(bytes)) => entry.name = text(bytes)?,
            (2, Value::Number(value)) => entry.kind = value as u32,
            (3, Value::Bytes(bytes)) => entry.path = text(bytes)?,
            (4, Value::Number(value)) => entry.size = value as i64,
            (5, Value::Number(value)) => entry.mode = value as u32,
            (6, Value::Bytes(bytes)) => entry.permissions = text(bytes)?,
            (7, Value::Bytes(bytes)) => entry.owner = text(bytes)?,
            (8, Value::Bytes(bytes)) => entry.group = text(bytes)?,
            (9, Value::Bytes(bytes)) => {
                let mut modified = (0, 0);
                Fields(bytes).each(|number, value| {
                    match (number, value) {
                        (1, Value::Number(value)) => modified.0 = value as i64,
                        (2, Value::Number(value)) => modified.1 = value as i32,
                        _ => {}
                    }
                    Ok(())
                })?;
                entry.modified = Some(modified);
            }
            (10, Value::Bytes(bytes)) => entry.symlink_target = Some(text(bytes)?),
            (11, Value::Bytes(bytes)) => {
                let mut pair = ("", "");
                Fields(bytes).each(|number, value| {
                    match (number, value) {
                        (1, Value::Bytes(bytes)) => pair.0 = text(bytes)?,
                        (2, Value::Bytes(bytes)) => pair.1 = text(bytes)?,
                        _ => {}
                    }
                    Ok(())
                })?;
                entry.metadata.push(pair);
            }
            _ => {}
        }
        Ok(())
    })?;
    Ok(entry)
}

/// Calls `visit` with every embedded message of that field number.
fn for_each_message<'a>(
    message: &'a [u8],
    field: u32,
    mut visit: impl FnMut(&'a [u8]) -> Result<(), Malformed>,
) -> Result<(), Malformed> {
    Fields(message).each(|number, value| match value {
        Value::Bytes(body) if number == field => visit(body),
        _ => Ok(()),
    })
}

fn text(bytes: &[u8]) -> Result<&str, Malformed> {
    std::str::from_utf8(bytes).map_err(|_| Malformed)
}

/// A field's value: what the readers above need of it.
enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    /// A fixed-width value, which no field known here has.
    Fixed,
}

/// The fields of one message.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    /// Calls `visit` with the number and value of each field, in order.
    fn each(mut self, mut visit: impl FnMut(u32, Value<'a>) -> Result<(), Malformed>) -> Result<(), Malformed> {
        while !self.0.is_empty() {
            let tag = u32::try_from(self.varint()?).map_err(|_| Malformed)?;
            let number = tag >> 3;
            if number == 0 {
                return Err(Malformed);
            }
            let value = match tag & 7 {
                0 => Value::Number(self.varint()?),
                1 => self.bytes(8).map(|_| Value::Fixed)?,
                2 => {
                    let len = self.varint()?;
                    Value::Bytes(self.bytes(len)?)
                }
                5 => self.bytes(4).map(|_| Value::Fixed)?,
                // Groups are long gone from the language; no server sends them.
                _ => return Err(Malformed),
            };
            visit(number, value)?;
        }
        Ok(())
    }

    fn varint(&mut self) -> Result<u64, Malformed> {
        let mut value = 0;
        for at in 0..10 {
            let (&byte, rest) = self.0.split_first().ok_or(Malformed)?;
            self.0 = rest;
            // The tenth byte has room for one bit.
            if at == 9 && byte > 1 {
                return Err(Malformed);
            }
            value |= u64::from(byte & 0x7f) << (7 * at);
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Malformed)
    }

    fn bytes(&mut self, len: u64) -> Result<&'a [u8], Malformed> {
        let len = usize::try_from(len).map_err(|_| Malformed)?;
        let (bytes, rest) = self.0.split_at_checked(len).ok_or(Malformed)?;
        self.0 = rest;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests;
