//! The Rust side of the async iterables in `js/stream.js`.

use crate::error::Result;
use crate::members::{Answer, at_once};
use js_sys::Promise;
use std::rc::Rc;
use wasm_bindgen::prelude::*;

#[wasm_bindgen(module = "/src/js/stream.js")]
extern "C" {
    #[wasm_bindgen(js_name = makeStream)]
    fn make_stream(source: Source) -> JsValue;
    /// Gives an object its asynchronous disposal.
    pub fn disposable(object: JsValue) -> JsValue;
}

/// Something that can be read to its end, one item after the other.
pub trait Pull {
    /// The next item, if it is here already.
    fn take(&self) -> Result<Option<JsValue>>;
    /// The next item; `undefined` at the end.
    fn next(self: Rc<Self>) -> Promise;
    /// Stops reading. A wait that is under way ends.
    fn cancel(&self);
    /// The reader left before the end.
    fn leave(&self) {
        self.cancel();
    }
}

/// A source that JavaScript reads.
#[wasm_bindgen(skip_typescript)]
pub struct Source(Rc<dyn Pull>);

#[wasm_bindgen]
impl Source {
    /// See [`crate::members`].
    #[wasm_bindgen(js_name = __call)]
    pub fn call(&self, member: u32) -> Answer {
        match member {
            0 => return at_once(self.0.take().map(Option::unwrap_or_default)),
            1 => return Ok(self.0.clone().next().into()),
            2 => self.0.leave(),
            _ => self.0.cancel(),
        }
        Ok(JsValue::UNDEFINED)
    }
}

/// A `ChunkStream` over a source.
pub fn chunk_stream(source: Rc<dyn Pull>) -> JsValue {
    make_stream(Source(source))
}
