//! Messages of a kernel, read leniently: a kernel that sends odd JSON must not silence the cells after it.

use crate::interpreter::event::{CellError, RichResult};
use crate::interpreter::lenient::{loose_text, parse};
use bytes::Bytes;
use serde::Deserialize;
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
    fn messages_without_a_parent_or_meaning_are_left_out() {
        assert!(message("clear_output", "{}").is_none());
        assert!(message("update_display_data", r#"{"data":{"text/plain":"x"}}"#).is_none());
        let parts = [&br#"{"msg_type":"status"}"#[..], b"{}", b"{}", br#"{"execution_state":"idle"}"#].map(Bytes::copy_from_slice);
        assert!(read(&parts).is_none());
        assert!(read(&parts[..2]).is_none());
    }
}
