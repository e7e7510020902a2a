//! Reading what JavaScript hands in. Every option is checked before anything is sent; errors name the option.

use crate::error::{Fault, Result, invalid, refusal};
use js_sys::{Array, Function, Object, Uint8Array};
use std::cell::OnceCell;
use wasm_bindgen::prelude::*;
use web_sys::AbortSignal;

#[wasm_bindgen(module = "/src/js/shape.js")]
extern "C" {
    /// A property; `None` for `null`, and of what is no object.
    #[wasm_bindgen(catch)]
    pub fn option(of: &JsValue, name: &str) -> core::result::Result<Option<JsValue>, JsValue>;
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

#[wasm_bindgen(module = "/src/js/values.js")]
extern "C" {
    #[wasm_bindgen(catch)]
    fn checked(of: &JsValue, name: &str, kind: Kind) -> core::result::Result<Option<JsValue>, JsValue>;
    #[wasm_bindgen(js_name = checked, catch)]
    fn checked_string(of: &JsValue, name: &str, kind: Kind) -> core::result::Result<Option<String>, JsValue>;
    #[wasm_bindgen(js_name = checked, catch)]
    fn checked_boolean(of: &JsValue, name: &str, kind: Kind) -> core::result::Result<Option<bool>, JsValue>;
    #[wasm_bindgen(js_name = checked, catch)]
    fn checked_number(of: &JsValue, name: &str, kind: Kind) -> core::result::Result<Option<f64>, JsValue>;
    #[wasm_bindgen(js_name = checkedText, catch)]
    fn checked_text(of: &JsValue, name: &str) -> core::result::Result<Option<String>, JsValue>;
    #[wasm_bindgen(js_name = checkedInteger, catch)]
    fn checked_integer(of: &JsValue, name: &str, from: f64, to: f64) -> core::result::Result<Option<f64>, JsValue>;
    /// A string that is whole and without NUL.
    #[wasm_bindgen(catch)]
    pub fn text(name: &str, value: &JsValue) -> core::result::Result<String, JsValue>;
    /// One with something in it.
    #[wasm_bindgen(catch)]
    pub fn argument(name: &str, value: &JsValue) -> core::result::Result<String, JsValue>;
    /// # Errors
    /// E0001 for what is no string, and for one with half a surrogate pair.
    #[wasm_bindgen(catch)]
    pub fn whole(name: &str, value: &JsValue) -> core::result::Result<(), JsValue>;
    /// A whole number between two bounds, both included.
    #[wasm_bindgen(catch)]
    pub fn integer(name: &str, value: &JsValue, from: f64, to: f64) -> core::result::Result<f64, JsValue>;
}

/// What an option must be. `js/values.js` knows these by their numbers.
type Kind = u8;
const STRING: Kind = 0;
const BOOLEAN: Kind = 1;
const FUNCTION: Kind = 2;
const CLASS: Kind = 3;
const OBJECT: Kind = 4;
const DURATION: Kind = 5;
const SIGNAL: Kind = 6;

/// The largest whole number that JavaScript tells from its neighbours.
pub const LARGEST: f64 = 9_007_199_254_740_991.0;

/// The default of `requestTimeoutMs`, in ms.
pub const REQUEST_TIMEOUT: f64 = 60_000.0;

/// The default of `requestTimeoutMs` for making and resuming sandboxes, in ms.
pub const LIFECYCLE_TIMEOUT: f64 = 90_000.0;

/// An options object, if there is one. Unknown keys were refused by `js/options.js`.
#[derive(Default)]
pub struct Options(Option<JsValue>);

impl Options {
    /// # Errors
    /// E0001 for anything but an object, `undefined` and `null`.
    pub fn new(value: JsValue) -> Result<Self> {
        if value.is_undefined() || value.is_null() {
            return Ok(Self(None));
        }
        if !is_record(&value) {
            return Err(invalid(&["options must be an object, not ", &kind(&value), "."]));
        }
        Ok(Self(Some(value)))
    }

    /// The option as it is.
    pub fn get(&self, name: &str) -> Result<Option<JsValue>> {
        self.read(|of| option(of, name))
    }

    /// The object as it was given; `undefined` when there is none.
    pub fn value(&self) -> &JsValue {
        const NONE: &JsValue = &JsValue::UNDEFINED;
        self.0.as_ref().unwrap_or(NONE)
    }

    /// What `read` finds, if there is anything to read.
    fn read<T>(&self, read: impl FnOnce(&JsValue) -> core::result::Result<Option<T>, JsValue>) -> Result<Option<T>> {
        match &self.0 {
            Some(of) => Ok(read(of)?),
            None => Ok(None),
        }
    }

    pub fn string(&self, name: &str) -> Result<Option<String>> {
        self.read(|of| checked_string(of, name, STRING))
    }

    /// A string like an [`argument`].
    pub fn text(&self, name: &str) -> Result<Option<String>> {
        self.read(|of| checked_text(of, name))
    }

    pub fn boolean(&self, name: &str) -> Result<Option<bool>> {
        self.read(|of| checked_boolean(of, name, BOOLEAN))
    }

    pub fn function(&self, name: &str) -> Result<Option<Function>> {
        self.checked(name, FUNCTION)
    }

    /// What is called with `new`, or as the caller likes.
    pub fn class(&self, name: &str) -> Result<Option<Function>> {
        self.checked(name, CLASS)
    }

    pub fn object(&self, name: &str) -> Result<Option<Object>> {
        self.checked(name, OBJECT)
    }

    fn checked<T: JsCast>(&self, name: &str, kind: Kind) -> Result<Option<T>> {
        Ok(self.read(|of| checked(of, name, kind))?.map(JsCast::unchecked_into))
    }

    /// A whole number between two bounds, both included.
    pub fn integer(&self, name: &str, from: f64, to: f64) -> Result<Option<f64>> {
        self.read(|of| checked_integer(of, name, from, to))
    }

    /// A duration in ms, 0 or more.
    pub fn millis(&self, name: &str) -> Result<Option<f64>> {
        self.read(|of| checked_number(of, name, DURATION))
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
        lay_over(self.value(), &under)?;
        Ok(under)
    }

    /// The signal and the request timeout.
    pub fn call(&self, default_timeout: Option<f64>) -> Result<CallOptions> {
        let signal = self.checked("signal", SIGNAL)?;
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
        const NONE: &Options = &Options(None);
        if self.0.get().is_some() { NONE } else { options }
    }

    pub fn get(&self, options: &Options, name: &str) -> Option<JsValue> {
        self.keep(self.now(options).get(name)).flatten()
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

/// An argument that must be a process id.
pub fn pid(value: &JsValue) -> Result<u32> {
    Ok(integer("pid", value, 1.0, f64::from(u32::MAX))? as u32)
}

/// An argument that must be a port.
pub fn port(value: &JsValue) -> Result<u16> {
    Ok(integer("port", value, 1.0, 65_535.0)? as u16)
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
