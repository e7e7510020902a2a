//! Where panics end: every call under way fails with a `PanicError` (E0002), and the next one works.
//!
//! No panic should be reachable. One that happens all the same would otherwise leave its call's promise pending for ever. The build
//! (`xtask/src/build/slim.rs`) lets every panic of the standard library call [`__agent_sandbox_panicked`], in place of the code that puts
//! its words together.

use crate::error::Fault;
use crate::target::Work;
use js_sys::Promise;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::spawn_local;

#[wasm_bindgen(module = "/src/js/panic.js")]
extern "C" {
    fn panicked();

    /// A promise for us to settle. A panic rejects one that is `watched`.
    pub type Deferred;
    #[wasm_bindgen(constructor)]
    pub fn new(watched: bool) -> Deferred;
    #[wasm_bindgen(method, getter)]
    pub fn promise(this: &Deferred) -> Promise;
    /// Whether a panic has rejected it.
    #[wasm_bindgen(method, getter, js_name = isOver)]
    pub fn is_over(this: &Deferred) -> bool;
    #[wasm_bindgen(method)]
    pub fn settle(this: &Deferred, failed: bool, value: &JsValue);
}

#[unsafe(no_mangle)]
extern "C" fn __agent_sandbox_panicked() {
    panicked();
}

/// A promise of what `work` gives.
pub fn promise_of(work: Work<JsValue>) -> Promise {
    let deferred = Deferred::new(true);
    let promise = deferred.promise();
    spawn_local(async move {
        // A panic came before this began.
        if deferred.is_over() {
            return;
        }
        match work.await {
            Ok(value) => deferred.settle(false, &value),
            Err(fault) => deferred.settle(true, &Fault::into_js(fault)),
        }
    });
    promise
}
