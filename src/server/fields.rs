//! What a caller gives, checked and put where the endpoint wants it.

use crate::error::{Result, Thrown, invalid};
use crate::options::{LARGEST, Options, bytes, is_record, items, no_nul, set, set_text};
use crate::protocol::base64;
use crate::protocol::failure::Class;
use crate::protocol::routing::{decimal, encode, join, split_at};
use crate::protocol::server::endpoints::{Endpoint, Field, Kind, is_segment};
use js_sys::{JSON, Object};
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;

#[wasm_bindgen(module = "/src/js/options.js")]
extern "C" {
    /// Throws for a name that is none of these, separated by spaces, and none that every call takes.
    #[wasm_bindgen(js_name = checkOptions, catch)]
    fn check_options(options: &JsValue, names: &str) -> core::result::Result<(), JsValue>;
}

/// The longest path that the server takes, in characters.
const LONGEST_PATH: usize = 4096;

/// A request's parts that depend on what the caller gave.
pub struct Filled {
    pub path: String,
    /// `a=b&c=d`, without a question mark.
    pub query: String,
    /// JSON, or `undefined` for methods without a body.
    pub body: JsValue,
}

/// Fills an endpoint's path, query and body.
pub fn fill(endpoint: &Endpoint, args: &Options) -> Result<Filled> {
    let mut names = String::new();
    for field in endpoint.fields() {
        names.extend([field.name, " "]);
    }
    check_options(args.value(), &names)?;
    let (mut path, mut query) = (endpoint.path.to_owned(), String::new());
    let mut body = Object::new();
    let has_body = endpoint.method == "POST";
    for field in endpoint.fields() {
        let value = match args.get(field.name)? {
            Some(value) => sent(&field, value, args)?,
            None if field.required => return Err(invalid(&[field.name, " is missing."])),
            None => continue,
        };
        let placeholder = ["{", field.wire, "}"].concat();
        if let Some((before, behind)) = split_at(&path, &placeholder) {
            path = [before, &encode(&text_of(&field, &value)?), behind].concat();
        } else if field.kind == Kind::Body {
            body = value.unchecked_into();
        } else if !has_body {
            if !query.is_empty() {
                query.push('&');
            }
            query.extend([field.wire, "=", &encode(&text_of(&field, &value)?)]);
        } else if field.kind == Kind::Data && !value.is_string() {
            let encoded = base64::encode(&bytes(field.name, &value)?, true);
            set_text(&body, "data_base64", &encoded);
        } else {
            set(&body, field.wire, &value);
        }
    }
    let body = if has_body { json(&body)? } else { JsValue::UNDEFINED };
    Ok(Filled { path, query, body })
}

fn json(body: &Object) -> Result<JsValue> {
    match JSON::stringify(body) {
        Ok(text) => Ok(text.into()),
        Err(cause) => {
            Err(Thrown::new(Class::InvalidArgument, "An argument cannot be sent as JSON: it is a BigInt, or holds itself.")
                .cause(&cause)
                .into())
        }
    }
}

/// A value as it is sent in JSON.
fn sent(field: &Field, value: JsValue, args: &Options) -> Result<JsValue> {
    let name = field.name;
    let wrong = |expected: &str| invalid(&[name, " must be ", expected, "."]);
    Ok(match field.kind {
        Kind::Path => {
            check_path(name, &value)?;
            value
        }
        Kind::Paths => {
            let paths = items(&value)?.filter(|paths| paths.length() > 0);
            let paths = paths.ok_or_else(|| wrong("an array of paths that is not empty"))?;
            for path in paths.iter() {
                check_path(name, &path)?;
            }
            paths.into()
        }
        Kind::Text => {
            if !value.is_string() {
                return Err(wrong("a string"));
            }
            value
        }
        Kind::Segment => match value.as_string() {
            Some(text) if is_segment(&text) => value,
            _ => return Err(wrong("a name without spaces and slashes, and neither \".\" nor \"..\"")),
        },
        Kind::Names => {
            let names = items(&value)?.map(|names| names.iter().map(|one| one.as_string()).collect::<Option<Vec<_>>>());
            match names {
                Some(Some(names)) if !names.is_empty() => JsValue::from_str(&join(&names, ",")),
                _ => return Err(wrong("an array of names that is not empty")),
            }
        }
        Kind::Boolean => args.boolean(name)?.into(),
        Kind::Count => args.integer(name, 0.0, LARGEST)?.into(),
        Kind::Pid => args.integer(name, 1.0, f64::from(u32::MAX))?.into(),
        Kind::Signal => match signal(&value) {
            Some(number) => number.into(),
            None => return Err(wrong("SIGINT (2), SIGKILL (9), SIGTERM (15), SIGCONT (18) or SIGTSTP (20)")),
        },
        Kind::Seconds | Kind::WholeSeconds | Kind::Millis => {
            let ms = args.millis(name)?.unwrap_or_default();
            if ms == 0.0 && name == "timeoutMs" {
                return Err(wrong("above 0: the server has no call without a limit"));
            }
            match field.kind {
                Kind::Seconds => (ms / 1000.0).into(),
                Kind::WholeSeconds => (ms / 1000.0).ceil().into(),
                _ => ms.ceil().into(),
            }
        }
        Kind::Texts => {
            args.record(name)?;
            value
        }
        Kind::Content => {
            let bytes = bytes(name, &value)?;
            if bytes.is_empty() {
                return Err(Thrown::new(Class::InvalidArgument, "The SandboxServer takes no empty contents.")
                    .suggestion("Make an empty file with process.shell(\"touch PATH\").")
                    .into());
            }
            JsValue::from_str(&base64::encode(&bytes, true))
        }
        Kind::Data => {
            if !value.is_string() {
                bytes(name, &value)?;
            }
            value
        }
        Kind::Body => {
            if !is_record(&value) {
                return Err(wrong("an object"));
            }
            value
        }
    })
}

fn check_path(name: &str, value: &JsValue) -> Result<()> {
    // Halves of surrogate pairs pass: they stand for bytes that are no UTF-8.
    let path = value.as_string().unwrap_or_default();
    if path.is_empty() {
        return Err(invalid(&[name, " must be a string that is not empty."]));
    }
    no_nul(name, &path)?;
    if path.chars().nth(LONGEST_PATH).is_some() {
        return Err(invalid(&[name, " is longer than ", &decimal(LONGEST_PATH as u64), " characters."]));
    }
    Ok(())
}

fn signal(value: &JsValue) -> Option<f64> {
    const SIGNALS: [(&str, f64); 5] = [("SIGINT", 2.0), ("SIGKILL", 9.0), ("SIGTERM", 15.0), ("SIGCONT", 18.0), ("SIGTSTP", 20.0)];
    let (name, number) = (value.as_string(), value.as_f64());
    SIGNALS
        .iter()
        .find(|(known, as_number)| name.as_deref() == Some(known) || number == Some(*as_number))
        .map(|(_, number)| *number)
}

/// A value as text for a URL.
fn text_of(field: &Field, value: &JsValue) -> Result<String> {
    if let Some(yes) = value.as_bool() {
        return Ok(if yes { "true" } else { "false" }.to_owned());
    }
    // JavaScript writes numbers, which costs less than Rust doing it.
    let text = match value.as_string() {
        Some(text) => text,
        None => js_sys::Number::from(value.as_f64().unwrap_or_default()).to_js_string().into(),
    };
    // A half of a surrogate pair stands for a byte that is no UTF-8. In a URL it would silently become another name.
    if value.is_string() && JsValue::from_str(&text) != *value {
        return Err(Thrown::new(
            Class::InvalidArgument,
            &[field.name, " holds half of a surrogate pair, which no URL can carry."].concat(),
        )
        .suggestion("Give the file another name first: files.move sends names in a body, where they stay what they are.")
        .into());
    }
    Ok(text)
}
