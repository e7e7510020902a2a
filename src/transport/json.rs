//! The JSON codec, for platforms whose envd streams are JSON. JavaScript parses; bytes are base64.

use crate::options::{object, option, set, set_text};
use crate::protocol::base64;
use crate::protocol::events::{Channel, Malformed, ProcessEvent};
use crate::transport::connect::Opening;
use crate::unary::selector;
use js_sys::{Array, JSON, Object};
use wasm_bindgen::prelude::*;

/// The message that opens a stream.
pub fn opening(opening: &Opening) -> Object {
    let start = match opening {
        Opening::Start(start) => start,
        Opening::Connect(pid) => return object(&[("process", selector(*pid))]),
        Opening::Watch { path, recursive, include_entry, network_mounts } => {
            return object(&[
                ("path", JsValue::from_str(path)),
                ("recursive", (*recursive).into()),
                ("includeEntry", (*include_entry).into()),
                ("allowNetworkMounts", (*network_mounts).into()),
            ]);
        }
    };
    let args: Array = start.args.iter().map(|arg| JsValue::from_str(arg)).collect();
    let envs = Object::new();
    for (name, value) in &start.envs {
        set_text(&envs, name, value);
    }
    let config = object(&[("cmd", JsValue::from_str(&start.cmd)), ("args", args.into()), ("envs", envs.into())]);
    if let Some(cwd) = &start.cwd {
        set_text(&config, "cwd", cwd);
    }
    let message = object(&[("process", config.into())]);
    if let Some((cols, rows)) = start.size {
        let size = object(&[("cols", cols.into()), ("rows", rows.into())]);
        set(&message, "pty", &object(&[("size", size.into())]));
    }
    if let Some(stdin) = start.stdin {
        set(&message, "stdin", &stdin.into());
    }
    message
}

pub fn send_input(pid: u32, is_pty: bool, data: &[u8]) -> Object {
    let data = JsValue::from_str(&base64::encode(data, true));
    let input = object(&[(if is_pty { "pty" } else { "stdin" }, data)]);
    object(&[("process", selector(pid)), ("input", input.into())])
}

/// Reads one message of a Start or Connect stream and hands the event to `visit`.
pub fn process_event(message: &[u8], visit: &mut dyn FnMut(ProcessEvent<'_>)) -> Result<(), Malformed> {
    let event = get(&parse(message)?, "event");
    for (name, channel) in [("stdout", Channel::Stdout), ("stderr", Channel::Stderr), ("pty", Channel::Pty)] {
        if let Some(text) = text_in(&get(&event, "data"), name) {
            let bytes = base64::decode(&text).ok_or(Malformed)?;
            visit(ProcessEvent::Data(channel, &bytes));
            return Ok(());
        }
    }
    let (start, end) = (get(&event, "start"), get(&event, "end"));
    if start.is_object() {
        let pid = number_in(&start, "pid").unwrap_or_default() as u32;
        visit(ProcessEvent::Start(pid));
        return Ok(());
    }
    if end.is_object() {
        let error = text_in(&end, "error");
        // Some servers say the code in words alone.
        let worded = || text_in(&end, "status")?.strip_prefix("exit status ")?.parse().ok();
        let exit_code = number_in(&end, "exitCode").map(|code| code as i32).or_else(worded).unwrap_or_default();
        visit(ProcessEvent::End { exit_code, error: error.as_deref() });
        return Ok(());
    }
    visit(ProcessEvent::Other);
    Ok(())
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

#[wasm_bindgen(module = "/src/js/shape.js")]
extern "C" {
    /// A property that is text; `None` for anything else, and of what is no object.
    #[wasm_bindgen(js_name = textIn)]
    pub fn text_in(of: &JsValue, name: &str) -> Option<String>;
    /// A property that is a number; `None` for anything else, and of what is no object.
    #[wasm_bindgen(js_name = numberIn)]
    pub fn number_in(of: &JsValue, name: &str) -> Option<f64>;
}

/// A property; `undefined` of what is no object.
pub fn get(value: &JsValue, name: &str) -> JsValue {
    option(value, name).ok().flatten().unwrap_or_default()
}
