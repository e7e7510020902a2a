//! How JavaScript calls the members of the exported classes.
//!
//! Each class exports one function, `__call`, and `js/members.js` has the names of its members in the order of their numbers here: an export
//! of its own costs a page 300 bytes of .wasm and glue, a name 10.

use crate::error::{Fault, Result};
use js_sys::Array;
use wasm_bindgen::JsValue;

/// What a member gives, or throws.
pub type Answer = core::result::Result<JsValue, JsValue>;

/// A call's arguments; what is missing is `undefined`.
pub struct Args<'a>(pub &'a Array);

impl Args<'_> {
    pub fn get(&self, at: u32) -> JsValue {
        self.0.get(at)
    }

    /// The first two.
    pub fn pair(&self) -> [JsValue; 2] {
        [self.get(0), self.get(1)]
    }
}

/// What a member gives that does its work at once.
pub fn at_once<T: Into<JsValue>>(result: Result<T>) -> Answer {
    Fault::throw(result).map(Into::into)
}
