//! Messages of a kernel, read leniently: a kernel that sends odd JSON must not silence the cells after it.

use crate::interpreter::event::{CellError, RichResult, loose_text};
use bytes::Bytes;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// What a message means for the request that caused it.
#[derive(Debug)]
pub enum Output {
    /// The code runs; this is its number.
    Started(u64),
    /// A piece of output.
    Stream { stderr: bool, text: String, timestamp: String },
    /// A display or the value of the last expression.
    Result(Box<RichResult>),
    /// The code raised.
    Error(CellError),
    /// Everything that the request published has arrived.
    Idle,
    /// The kernel's answer to the request: whether it was carried out.
    Reply(ReplyStatus),
}

/// How a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyStatus {
    /// It ran.
    Ok,
    /// It ran and raised.
    Error,
    /// It never ran.
    Aborted,
}

#[derive(Deserialize)]
struct Header {
    msg_type: String,
    #[serde(default)]
    date: Option<String>,
}

#[derive(Deserialize)]
struct Parent {
    msg_id: String,
}

/// Reads a message's four JSON parts (header, parent header, metadata, content). Gives the id of the request it belongs to and its
/// meaning; nothing for messages that belong to no request or mean nothing to a cell.
pub fn read(parts: &[Bytes]) -> Option<(String, Output)> {
    let [header, parent, _metadata, content, ..] = parts else { return None };
    let header: Header = parse(header)?;
    let parent: Parent = parse(parent)?;
    let output = match header.msg_type.as_str() {
        "execute_input" => Output::Started(parse::<Input>(content)?.execution_count),
        "stream" => {
            let stream: Stream = parse(content)?;
            let timestamp = header.date.unwrap_or_else(|| jiff::Timestamp::now().to_string());
            Output::Stream { stderr: &*stream.name == "stderr", text: loose_text(&stream.text), timestamp }
        }
        kind @ ("execute_result" | "display_data") => {
            let bundle = parse::<Display>(content)?.data;
            Output::Result(Box::new(RichResult::from_bundle(bundle, kind == "execute_result")))
        }
        "error" => Output::Error(parse::<Failure>(content)?.into()),
        "status" if parse::<Status>(content)?.execution_state == "idle" => Output::Idle,
        kind if kind.ends_with("_reply") => Output::Reply(match parse::<Reply>(content)?.status.as_str() {
            "error" => ReplyStatus::Error,
            "abort" | "aborted" => ReplyStatus::Aborted,
            _ => ReplyStatus::Ok,
        }),
        _ => return None,
    };
    Some((parent.msg_id, output))
}

#[derive(Deserialize)]
struct Input {
    execution_count: u64,
}

#[derive(Deserialize)]
struct Stream {
    name: String,
    text: Box<RawValue>,
}

#[derive(Deserialize)]
struct Display {
    data: BTreeMap<String, Box<RawValue>>,
}

#[derive(Deserialize)]
struct Failure {
    ename: Box<RawValue>,
    evalue: Box<RawValue>,
    traceback: Vec<Box<RawValue>>,
}

impl From<Failure> for CellError {
    fn from(failure: Failure) -> CellError {
        let traceback = failure.traceback.iter().map(|line| loose_text(line)).collect();
        CellError { name: loose_text(&failure.ename), value: loose_text(&failure.evalue), traceback }
    }
}

#[derive(Deserialize)]
struct Status {
    execution_state: String,
}

#[derive(Deserialize)]
struct Reply {
    #[serde(default)]
    status: String,
}

fn parse<T: DeserializeOwned>(json: &[u8]) -> Option<T> {
    serde_json::from_slice(json).or_else(|_| serde_json::from_str(&repaired(json))).ok()
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

    fn message(kind: &str, content: &str) -> Option<(String, Output)> {
        let header = format!(r#"{{"msg_type":"{kind}","date":"2026-01-02T03:04:05Z"}}"#);
        let parts = [header.as_bytes(), br#"{"msg_id":"m1"}"#, b"{}", content.as_bytes()].map(Bytes::copy_from_slice);
        read(&parts)
    }

    #[test]
    fn the_parent_says_whose_output_it_is() {
        let (id, output) = message("stream", r#"{"name":"stderr","text":"x"}"#).expect("a stream");
        assert_eq!(id, "m1");
        assert!(matches!(output, Output::Stream { stderr: true, text, timestamp } if text == "x" && timestamp.starts_with("2026")));
    }

    #[test]
    fn numbers_that_are_none_become_null_outside_of_strings_only() {
        let (_, output) =
            message("display_data", r#"{"data":{"application/json":[NaN,-Infinity,"NaN \" Infinity"]}}"#).expect("a display");
        let Output::Result(result) = output else { panic!("a result") };
        assert_eq!(result.json.expect("json").get(), r#"[null,null,"NaN \" Infinity"]"#);
    }

    #[test]
    fn halves_of_pairs_and_broken_bytes_do_not_lose_the_message() {
        assert_eq!(repaired(br#""\ud83d \ud83d\ude00 \udc00x \\ud83d""#), r#""\ufffd \ud83d\ude00 \ufffdx \\ud83d""#);
        assert_eq!(repaired(b"\"\xff\""), "\"\u{fffd}\"");
        assert_eq!(repaired(br#""\u12"#), r#""\u12"#);
    }

    #[test]
    fn messages_without_a_parent_or_meaning_are_left_out() {
        assert!(message("clear_output", "{}").is_none());
        assert!(message("update_display_data", r#"{"data":{"text/plain":"x"}}"#).is_none());
        let parts = [&br#"{"msg_type":"status"}"#[..], b"{}", b"{}", br#"{"execution_state":"idle"}"#].map(Bytes::copy_from_slice);
        assert!(read(&parts).is_none());
        assert!(read(&parts[..2]).is_none());
    }
}
