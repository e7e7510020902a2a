//! The JSON codec, for platforms whose envd streams are JSON. JavaScript parses; bytes are base64.

use crate::options::{object, set};
use crate::protocol::base64;
use crate::protocol::events::{Channel, Malformed, ProcessEvent};
use crate::protocol::filesystem::WatchDirRequest;
use crate::protocol::process::{ConnectRequest, Input, ProcessSelector, Selector, SendInputRequest, StartRequest};
use js_sys::{Array, JSON, Object, Reflect};
use std::collections::BTreeMap;
use wasm_bindgen::JsValue;

pub fn start(message: &StartRequest) -> Object {
    let start = Object::new();
    if let Some(process) = &message.process {
        let args: Array = process.args.iter().map(|arg| JsValue::from_str(arg)).collect();
        let config =
            object(&[("cmd", JsValue::from_str(&process.cmd)), ("args", args.into()), ("envs", record(&process.envs).into())]);
        if let Some(cwd) = &process.cwd {
            set(&config, "cwd", &JsValue::from_str(cwd));
        }
        set(&start, "process", &config);
    }
    if let Some(size) = message.pty.and_then(|pty| pty.size) {
        let size = object(&[("cols", size.cols.into()), ("rows", size.rows.into())]);
        set(&start, "pty", &object(&[("size", size.into())]));
    }
    if let Some(stdin) = message.stdin {
        set(&start, "stdin", &stdin.into());
    }
    start
}

pub fn connect(message: &ConnectRequest) -> Object {
    object(&[("process", selector(message.process.as_ref()))])
}

pub fn watch(message: &WatchDirRequest) -> Object {
    object(&[
        ("path", JsValue::from_str(&message.path)),
        ("recursive", message.recursive.into()),
        ("includeEntry", message.include_entry.into()),
    ])
}

pub fn send_input(message: &SendInputRequest) -> Object {
    let input = match message.input.as_ref().and_then(|input| input.input.as_ref()) {
        Some(Input::Stdin(bytes)) => ("stdin", JsValue::from_str(&base64::encode(bytes, true))),
        Some(Input::Pty(bytes)) => ("pty", JsValue::from_str(&base64::encode(bytes, true))),
        None => ("stdin", JsValue::from_str("")),
    };
    object(&[("process", selector(message.process.as_ref())), ("input", object(&[input]).into())])
}

fn selector(selector: Option<&ProcessSelector>) -> JsValue {
    let pair = match selector.and_then(|selector| selector.selector.as_ref()) {
        Some(Selector::Pid(pid)) => ("pid", (*pid).into()),
        Some(Selector::Tag(tag)) => ("tag", JsValue::from_str(tag)),
        None => return JsValue::UNDEFINED,
    };
    object(&[pair]).into()
}

fn record(record: &BTreeMap<String, String>) -> Object {
    let object = Object::new();
    for (key, value) in record {
        set(&object, key, &JsValue::from_str(value));
    }
    object
}

/// Reads one message of a Start or Connect stream and hands the event to `visit`.
pub fn process_event<R>(message: &[u8], visit: impl FnOnce(ProcessEvent<'_>) -> R) -> Result<R, Malformed> {
    let event = get(&parse(message)?, "event");
    for (name, channel) in [("stdout", Channel::Stdout), ("stderr", Channel::Stderr), ("pty", Channel::Pty)] {
        if let Some(text) = get(&get(&event, "data"), name).as_string() {
            let bytes = base64::decode(&text).ok_or(Malformed)?;
            return Ok(visit(ProcessEvent::Data(channel, &bytes)));
        }
    }
    let (start, end) = (get(&event, "start"), get(&event, "end"));
    if start.is_object() {
        let pid = get(&start, "pid").as_f64().unwrap_or_default() as u32;
        return Ok(visit(ProcessEvent::Start(pid)));
    }
    if end.is_object() {
        let error = get(&end, "error").as_string();
        // Some servers say the code in words alone.
        let worded = || get(&end, "status").as_string()?.strip_prefix("exit status ")?.parse().ok();
        let exit_code = get(&end, "exitCode").as_f64().map(|code| code as i32).or_else(worded).unwrap_or_default();
        return Ok(visit(ProcessEvent::End { exit_code, error: error.as_deref() }));
    }
    Ok(visit(ProcessEvent::Other))
}

/// What a message of a WatchDir stream says: whether it is the start, and else the change.
pub fn watch_event(message: &[u8]) -> Result<(bool, JsValue), Malformed> {
    let message = parse(message)?;
    Ok((get(&message, "start").is_object(), get(&message, "filesystem")))
}

pub fn parse(message: &[u8]) -> Result<JsValue, Malformed> {
    let text = std::str::from_utf8(message).map_err(|_| Malformed)?;
    JSON::parse(text).map_err(|_| Malformed)
}

/// A property; `undefined` of what is no object.
pub fn get(value: &JsValue, name: &str) -> JsValue {
    if value.is_object() { Reflect::get(value, &JsValue::from_str(name)).unwrap_or_default() } else { JsValue::UNDEFINED }
}
