//! The Rust side of the async iterables in `js/stream.js`.

use crate::error::{Fault, Result};
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
    pub fn take(&self) -> core::result::Result<JsValue, JsValue> {
        Ok(Fault::throw(self.0.take())?.unwrap_or_default())
    }

    pub fn next(&self) -> Promise {
        self.0.clone().next()
    }

    pub fn cancel(&self) {
        self.0.cancel();
    }

    pub fn leave(&self) {
        self.0.leave();
    }
}

/// A `ChunkStream` over a source.
pub fn chunk_stream(source: Rc<dyn Pull>) -> JsValue {
    make_stream(Source(source))
}
