//! What `/execute` streams: one JSON object a line, in pure ASCII.

use super::lenient::loose_text;
use bytes::Bytes;
use serde::Serialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// One line of the stream.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// The kernel accepted the code.
    NumberOfExecutions { execution_count: u64 },
    /// A piece of output; `timestamp` is ISO 8601.
    Stdout { text: String, timestamp: String },
    /// A piece of error output.
    Stderr { text: String, timestamp: String },
    /// A display, or the value of the last expression.
    Result(Box<RichResult>),
    /// The code raised, or the kernel is gone.
    Error(CellError),
    /// Nothing happened for a while.
    Keepalive,
    /// The stream is complete.
    EndOfExecution,
}

/// Why a cell failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CellError {
    /// The exception's class, or one of the interpreter's own names.
    pub name: String,
    /// Its message.
    pub value: String,
    /// Its traceback; empty for the interpreter's own.
    pub traceback: String,
}

impl CellError {
    /// An error of the interpreter itself.
    pub fn own(name: &str, value: &str) -> CellError {
        CellError { name: name.into(), value: value.into(), traceback: String::new() }
    }
}

/// A result in every form that the kernel gave. JSON forms pass through as the kernel wrote them.
#[derive(Debug, Default, Serialize)]
pub struct RichResult {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub html: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub markdown: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub svg: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub png: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jpeg: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pdf: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latex: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub javascript: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub json: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chart: Option<Box<RawValue>>,
    /// Every other MIME type.
    pub extra: BTreeMap<String, Box<RawValue>>,
    /// Whether this is the value of the last expression.
    pub is_main_result: bool,
}

impl RichResult {
    /// Sorts a kernel's MIME bundle into the wire's fields.
    pub fn from_bundle(bundle: BTreeMap<String, Box<RawValue>>, is_main_result: bool) -> RichResult {
        let mut result = RichResult { is_main_result, ..RichResult::default() };
        for (mime, value) in bundle {
            match mime.as_str() {
                "text/plain" => result.text = Some(without_quotes(loose_text(&value))),
                "text/html" => result.html = Some(loose_text(&value)),
                "text/markdown" => result.markdown = Some(loose_text(&value)),
                "image/svg+xml" => result.svg = Some(loose_text(&value)),
                "image/png" => result.png = Some(base64_text(&value)),
                "image/jpeg" => result.jpeg = Some(base64_text(&value)),
                "application/pdf" => result.pdf = Some(base64_text(&value)),
                "text/latex" => result.latex = Some(loose_text(&value)),
                "application/javascript" => result.javascript = Some(loose_text(&value)),
                "application/json" => result.json = present(value),
                "e2b/data" => result.data = present(value),
                "e2b/chart" => result.chart = present(value),
                _ => drop(result.extra.insert(mime, value)),
            }
        }
        result
    }
}

/// `null` is left out like any other field without a value.
fn present(value: Box<RawValue>) -> Option<Box<RawValue>> {
    (value.get() != "null").then_some(value)
}

fn base64_text(value: &RawValue) -> String {
    let mut text = loose_text(value);
    text.retain(|character| !character.is_ascii_whitespace());
    text
}

/// The text of a string's representation without its quotes: `'a'` is shown as `a`.
fn without_quotes(text: String) -> String {
    for quote in ['\'', '"'] {
        if text.len() >= 2
            && let Some(inner) = text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote))
        {
            return inner.to_owned();
        }
    }
    text
}

impl Event {
    /// The event as a line of the stream, newline included.
    pub fn line(&self) -> Bytes {
        // These types have no map with keys other than strings and no serialiser of their own that could fail.
        let json = serde_json::to_string(self).unwrap_or_else(|error| {
            let failure = CellError::own("SerializationError", &error.to_string());
            format!(r#"{{"type":"error","name":"{}","value":"","traceback":""}}"#, failure.name)
        });
        ascii_line(json)
    }
}

/// Replaces what is not ASCII by escapes. In JSON text such characters occur only inside strings, so the escape is always right.
fn ascii_line(mut json: String) -> Bytes {
    if json.is_ascii() {
        json.push('\n');
        return json.into();
    }
    let mut line = Vec::with_capacity(json.len() + 1);
    let mut units = [0u16; 2];
    for character in json.chars() {
        if character.is_ascii() {
            line.push(character as u8);
        } else {
            for unit in character.encode_utf16(&mut units) {
                line.extend_from_slice(format!("\\u{unit:04x}").as_bytes());
            }
        }
    }
    line.push(b'\n');
    line.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(json: &str) -> Box<RawValue> {
        RawValue::from_string(json.to_owned()).expect("valid JSON")
    }

    fn line(event: Event) -> String {
        String::from_utf8(event.line().to_vec()).expect("ASCII")
    }

    #[test]
    fn lines_are_ascii_and_decode_to_the_same_text() {
        let text = line(Event::Stdout { text: "a\u{2028}é😀\n".into(), timestamp: "t".into() });
        assert!(text.is_ascii());
        assert_eq!(text, "{\"type\":\"stdout\",\"text\":\"a\\u2028\\u00e9\\ud83d\\ude00\\n\",\"timestamp\":\"t\"}\n");
    }

    #[test]
    fn raw_json_inside_a_result_becomes_ascii_too() {
        let bundle = BTreeMap::from([("application/json".into(), raw(r#"{"é":1e400}"#)), ("x/y".into(), raw(r#""ü""#))]);
        let text = line(Event::Result(Box::new(RichResult::from_bundle(bundle, false))));
        assert_eq!(
            text,
            "{\"type\":\"result\",\"json\":{\"\\u00e9\":1e400},\"extra\":{\"x/y\":\"\\u00fc\"},\"is_main_result\":false}\n"
        );
    }

    #[test]
    fn one_pair_of_equal_quotes_is_taken_off_the_text() {
        for (given, wanted) in [("'a'", "a"), ("\"it's\"", "it's"), ("'a\"", "'a\""), ("'", "'"), ("''", ""), ("''a''", "'a'")] {
            assert_eq!(without_quotes(given.to_owned()), wanted);
        }
    }

    #[test]
    fn a_text_that_is_no_string_is_kept_as_its_json() {
        let result = RichResult::from_bundle(BTreeMap::from([("text/plain".into(), raw(r#"{"a":[1]}"#))]), true);
        assert_eq!(result.text.as_deref(), Some(r#"{"a":[1]}"#));
    }

    #[test]
    fn pictures_lose_line_breaks_and_unknown_types_are_kept() {
        let bundle = BTreeMap::from([("image/png".into(), raw(r#""AA\nBB\n""#)), ("image/gif".into(), raw(r#""CC""#))]);
        let result = RichResult::from_bundle(bundle, false);
        assert_eq!(result.png.as_deref(), Some("AABB"));
        assert_eq!(result.extra["image/gif"].get(), r#""CC""#);
    }
}
