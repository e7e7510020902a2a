//! Reading what JavaScript hands in. Every option is checked before anything is sent; errors name the option.

use crate::error::{Fault, Result, invalid, refusal};
use crate::protocol::routing::{decimal, split_at};
use js_sys::{Array, Function, Object, Uint8Array};
use std::cell::OnceCell;
use wasm_bindgen::prelude::*;
use web_sys::AbortSignal;

#[wasm_bindgen(module = "/src/js/shape.js")]
extern "C" {
    /// A property; `undefined` for `null`, and of what is no object.
    #[wasm_bindgen(js_name = option, catch)]
    pub fn option(of: &JsValue, name: &str) -> core::result::Result<JsValue, JsValue>;
    /// Sets what is set in an object, if it is one, in a plain object too.
    #[wasm_bindgen(js_name = layOver, catch)]
    fn lay_over(of: &JsValue, under: &Object) -> core::result::Result<(), JsValue>;
    /// Names and values, one after the other, of an object that must hold texts.
    #[wasm_bindgen(catch)]
    fn texts(of: &Object, name: &str) -> core::result::Result<Array, JsValue>;
    /// What JSON makes of it.
    #[wasm_bindgen(catch)]
    pub fn sendable(name: &str, value: &JsValue) -> core::result::Result<JsValue, JsValue>;
    /// Whether it is an object and no array.
    #[wasm_bindgen(js_name = isRecord)]
    pub fn is_record(value: &JsValue) -> bool;
    /// What a value is, for people.
    fn kind(value: &JsValue) -> String;
    /// The items of an array; `None` for anything else.
    #[wasm_bindgen(catch)]
    pub fn items(value: &JsValue) -> core::result::Result<Option<Array>, JsValue>;
    /// Whether it is a function that is no class.
    #[wasm_bindgen(js_name = isCallable)]
    pub fn is_callable(value: &JsValue) -> bool;
    #[wasm_bindgen(js_name = bytesIn)]
    fn bytes_in(value: &JsValue) -> Option<Uint8Array>;
    /// The time of a `Date` in ms since 1970; NaN of anything else.
    #[wasm_bindgen(js_name = timeOf)]
    pub fn time_of(value: &JsValue) -> f64;
    /// Sets a property of a plain object, which takes any.
    pub fn set(object: &Object, name: &str, value: &JsValue);
    /// Sets a property that is text.
    #[wasm_bindgen(js_name = set)]
    pub fn set_text(object: &Object, name: &str, value: &str);
}

/// The largest whole number that JavaScript tells from its neighbours.
pub const LARGEST: f64 = 9_007_199_254_740_991.0;

/// The default of `requestTimeoutMs`, in ms.
pub const REQUEST_TIMEOUT: f64 = 60_000.0;

/// The default of `requestTimeoutMs` for making and resuming sandboxes, in ms.
pub const LIFECYCLE_TIMEOUT: f64 = 90_000.0;

/// An options object. `undefined` and `null` are absent. Unknown keys were refused by `js/options.js`.
#[derive(Default)]
pub struct Options(JsValue);

impl Options {
    /// # Errors
    /// E0001 for anything but an object, `undefined` and `null`.
    pub fn new(value: JsValue) -> Result<Self> {
        if value.is_undefined() || value.is_null() {
            return Ok(Self(value));
        }
        if !is_record(&value) {
            return Err(invalid(&["options must be an object, not ", &kind(&value), "."]));
        }
        Ok(Self(value))
    }

    /// The value itself; `undefined` when absent.
    pub fn get(&self, name: &str) -> Result<JsValue> {
        Ok(option(&self.0, name)?)
    }

    /// The object as it was given.
    pub fn value(&self) -> &JsValue {
        &self.0
    }

    /// The value as `read` sees it.
    fn read<T>(&self, name: &str, expected: &str, read: impl FnOnce(&JsValue) -> Option<T>) -> Result<Option<T>> {
        let value = self.get(name)?;
        if value.is_undefined() {
            return Ok(None);
        }
        read(&value).map(Some).ok_or_else(|| invalid(&[name, " must be ", expected, ", not ", &kind(&value), "."]))
    }

    pub fn string(&self, name: &str) -> Result<Option<String>> {
        self.read(name, "a string", JsValue::as_string)
    }

    /// A string like an [`argument`].
    pub fn text(&self, name: &str) -> Result<Option<String>> {
        let value = self.get(name)?;
        if value.is_undefined() { Ok(None) } else { argument(name, &value).map(Some) }
    }

    pub fn boolean(&self, name: &str) -> Result<Option<bool>> {
        self.read(name, "a boolean", JsValue::as_bool)
    }

    pub fn function(&self, name: &str) -> Result<Option<Function>> {
        self.read(name, "a function, and not a class", |value| is_callable(value).then(|| value.clone().unchecked_into()))
    }

    /// What is called with `new`, or as the caller likes.
    pub fn class(&self, name: &str) -> Result<Option<Function>> {
        self.read(name, "a class", |value| value.dyn_ref().cloned())
    }

    pub fn object(&self, name: &str) -> Result<Option<Object>> {
        self.read(name, "an object", |value| is_record(value).then(|| value.clone().unchecked_into()))
    }

    /// A whole number between two bounds, both included.
    pub fn integer(&self, name: &str, from: f64, to: f64) -> Result<Option<f64>> {
        let value = self.get(name)?;
        if value.is_undefined() { Ok(None) } else { integer(name, &value, from, to).map(Some) }
    }

    /// A duration in ms, 0 or more.
    pub fn millis(&self, name: &str) -> Result<Option<f64>> {
        self.read(name, "a duration in ms, 0 or more", |value| value.as_f64().filter(|ms| ms.is_finite() && *ms >= 0.0))
    }

    /// A map of strings.
    pub fn record(&self, name: &str) -> Result<Option<Vec<(String, String)>>> {
        let Some(object) = self.object(name)? else { return Ok(None) };
        let texts = texts(&object, name)?;
        let text = |at| texts.get(at).as_string().unwrap_or_default();
        Ok(Some((0..texts.length() / 2).map(|at| (text(2 * at), text(2 * at + 1))).collect()))
    }

    /// A plain object of what is set here over what `under` holds.
    pub fn over(&self, under: Object) -> Result<Object> {
        lay_over(&self.0, &under)?;
        Ok(under)
    }

    /// The signal and the request timeout.
    pub fn call(&self, default_timeout: Option<f64>) -> Result<CallOptions> {
        let signal = self.read("signal", "an AbortSignal", |value| {
            let listens = |name| option(value, name).is_ok_and(|method| method.is_function());
            let whole =
                option(value, "aborted").ok()?.as_bool().is_some() && listens("addEventListener") && listens("removeEventListener");
            whole.then(|| value.clone().unchecked_into())
        })?;
        let timeout = match self.millis("requestTimeoutMs")? {
            Some(ms) => Some(ms).filter(|ms| *ms > 0.0),
            None => default_timeout,
        };
        Ok(CallOptions { signal, timeout })
    }
}

/// Reads many options in a row: the first that is wrong counts, and what is read behind it is absent. One look at the end costs a page much
/// less than one behind each, with everything that is there to be let go.
#[derive(Default)]
pub struct Reading(OnceCell<Fault>);

impl Reading {
    /// Takes note of what is wrong.
    pub fn note(&self, fault: Fault) {
        let _ = self.0.set(fault);
    }

    /// Takes note of an E0001 with this message.
    pub fn refuse(&self, message: &str) {
        self.note(refusal(message));
    }

    /// What came of a step, if nothing is wrong with it.
    pub fn keep<T>(&self, result: Result<T>) -> Option<T> {
        result.map_err(|fault| self.note(fault)).ok()
    }

    /// The options as they are to be read now: none behind a fault.
    fn now<'a>(&self, options: &'a Options) -> &'a Options {
        const NONE: &Options = &Options(JsValue::UNDEFINED);
        if self.0.get().is_some() { NONE } else { options }
    }

    pub fn get(&self, options: &Options, name: &str) -> JsValue {
        self.keep(self.now(options).get(name)).unwrap_or_default()
    }

    pub fn string(&self, options: &Options, name: &str) -> Option<String> {
        self.keep(self.now(options).string(name)).flatten()
    }

    pub fn text(&self, options: &Options, name: &str) -> Option<String> {
        self.keep(self.now(options).text(name)).flatten()
    }

    pub fn boolean(&self, options: &Options, name: &str) -> Option<bool> {
        self.keep(self.now(options).boolean(name)).flatten()
    }

    pub fn function(&self, options: &Options, name: &str) -> Option<Function> {
        self.keep(self.now(options).function(name)).flatten()
    }

    pub fn object(&self, options: &Options, name: &str) -> Option<Object> {
        self.keep(self.now(options).object(name)).flatten()
    }

    pub fn millis(&self, options: &Options, name: &str) -> Option<f64> {
        self.keep(self.now(options).millis(name)).flatten()
    }

    pub fn record(&self, options: &Options, name: &str) -> Vec<(String, String)> {
        self.keep(self.now(options).record(name)).flatten().unwrap_or_default()
    }

    /// `read`, unless something was wrong.
    pub fn end<T>(self, read: T) -> Result<T> {
        match self.0.into_inner() {
            Some(fault) => Err(fault),
            None => Ok(read),
        }
    }
}

/// What every call takes.
#[derive(Clone, Default)]
pub struct CallOptions {
    pub signal: Option<AbortSignal>,
    /// How long the call may take, in ms; `None` for no limit.
    pub timeout: Option<f64>,
}

/// A plain object of these.
pub fn object(pairs: &[(&str, JsValue)]) -> Object {
    let object = Object::new();
    for (name, value) in pairs {
        set(&object, name, value);
    }
    object
}

/// An argument that must be a string with something in it: see [`text`].
pub fn argument(name: &str, value: &JsValue) -> Result<String> {
    match text(name, value)? {
        text if text.is_empty() => Err(invalid(&[name, " must not be empty."])),
        text => Ok(text),
    }
}

/// A sandbox's id, which becomes a part of hosts and paths.
pub fn sandbox_id(value: &JsValue) -> Result<String> {
    let id = argument("sandboxId", value)?;
    if id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')) {
        return Ok(id);
    }
    Err(refusal("sandboxId must hold letters, digits, - and _ only."))
}

/// A snapshot's id or name.
pub fn snapshot_id(value: &JsValue) -> Result<String> {
    let id = argument("snapshotId", value)?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b':' | b'/');
    if id.bytes().all(is_plain) && !matches!(&*id, "." | "..") {
        return Ok(id);
    }
    Err(refusal("snapshotId must be one that createSnapshot or listSnapshots gave."))
}

/// A string like [`whole`] without NUL.
pub fn text(name: &str, value: &JsValue) -> Result<String> {
    let text = whole(name, value)?;
    no_nul(name, &text)?;
    Ok(text)
}

/// A string that is whole: half a surrogate pair is no character, and on its way would become another.
pub fn whole(name: &str, value: &JsValue) -> Result<String> {
    let Some(text) = value.as_string() else {
        return Err(invalid(&[name, " must be a string, not ", &kind(value), "."]));
    };
    if split_at(&text, "\u{FFFD}").is_some() && JsValue::from_str(&text) != *value {
        return Err(invalid(&[name, " must not contain a lone surrogate (half of a UTF-16 pair)."]));
    }
    Ok(text)
}

/// An argument that must be a process id.
pub fn pid(value: &JsValue) -> Result<u32> {
    integer("pid", value, 1.0, f64::from(u32::MAX)).map(|pid| pid as u32)
}

/// An argument that must be a port.
pub fn port(value: &JsValue) -> Result<u16> {
    integer("port", value, 1.0, 65_535.0).map(|port| port as u16)
}

/// A whole number between two bounds, both included.
pub fn integer(name: &str, value: &JsValue, from: f64, to: f64) -> Result<f64> {
    match value.as_f64().filter(|number| number.trunc() == *number && (from..=to).contains(number)) {
        Some(number) => Ok(number),
        None => Err(invalid(&[name, " must be a whole number from ", &decimal(from as u64), " to ", &decimal(to as u64), "."])),
    }
}

/// The lifetime of a sandbox, in whole seconds.
pub fn lifetime(value: Option<f64>) -> Result<f64> {
    match value.unwrap_or(300_000.0) {
        ms if ms > 0.0 && ms <= 86_400_000.0 => Ok((ms / 1000.0).ceil()),
        _ => Err(refusal("timeoutMs must be above 0 and at most 86400000 (24 hours).")),
    }
}

/// Bytes of what can be sent as input.
pub fn bytes(name: &str, value: &JsValue) -> Result<Vec<u8>> {
    if let Some(text) = value.as_string() {
        return Ok(text.into_bytes());
    }
    match bytes_in(value) {
        Some(bytes) => Ok(bytes.to_vec()),
        None => Err(invalid(&[name, " must be a string or a Uint8Array, not ", &kind(value), "."])),
    }
}

/// # Errors
/// E0001 for a text with a NUL, which ends strings in the system the sandbox runs.
pub fn no_nul(name: &str, text: &str) -> Result<()> {
    if text.bytes().any(|byte| byte == 0) { Err(invalid(&[name, " must not contain a NUL character."])) } else { Ok(()) }
}

impl Fault {
    /// What an exported method that is not asynchronous throws.
    pub fn throw<T>(result: Result<T>) -> core::result::Result<T, JsValue> {
        result.map_err(Self::into_js)
    }
}
