//! How long a call may take, and what else ends it.

use super::guard::{Guard, Held};
use crate::error::{Fault, Result};
use crate::options::CallOptions;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

#[wasm_bindgen(module = "/src/js/guard.js")]
extern "C" {
    #[wasm_bindgen(extends = Guard)]
    type Limits_;
    /// Throws what it is fired with by a signal that has aborted.
    #[wasm_bindgen(constructor, js_class = Limits, catch)]
    fn new(signal: &JsValue, ms: Option<f64>) -> core::result::Result<Limits_, JsValue>;
    #[wasm_bindgen(method)]
    fn left(this: &Limits_) -> f64;
    #[wasm_bindgen(method)]
    fn lift(this: &Limits_);
}

/// A call under way: the caller's signal and the request timeout, for all of its requests together. Dropping it takes both down.
pub struct Limits {
    pub guard: Held,
}

impl Limits {
    /// Starts the clock.
    ///
    /// # Errors
    /// The signal's reason when it has already aborted.
    pub fn start(options: &CallOptions) -> Result<Self> {
        let signal = options.signal.as_ref().map_or(JsValue::UNDEFINED, JsValue::from);
        Ok(Self { guard: Held(Limits_::new(&signal, options.timeout)?.unchecked_into()) })
    }

    fn js(&self) -> &Limits_ {
        self.guard.unchecked_ref()
    }

    /// Says that the answer has begun, and that this is all that the timeout was for.
    pub fn lift(&self) {
        self.js().lift();
    }

    /// How much time is left, in ms; infinite without a timeout.
    pub fn left(&self) -> f64 {
        self.js().left()
    }

    /// Waits, unless the call is ended first.
    pub async fn sleep(&self, ms: f64) -> Result<()> {
        JsFuture::from(self.guard.sleep(ms)).await.map(drop).map_err(Fault::from)
    }
}
