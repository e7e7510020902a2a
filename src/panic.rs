//! Where panics end: every call under way fails with a `PanicError` (E0002), and the next one works.
//!
//! No panic should be reachable. One that happens all the same would otherwise leave its call's promise pending for ever. The build
//! (`xtask/src/build/slim.rs`) lets every panic of the standard library call [`__agent_sandbox_panicked`], in place of the code that puts
//! its words together.

use crate::error::Fault;
use crate::target::Work;
use js_sys::Promise;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
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
    #[wasm_bindgen(method)]
    pub fn settle(this: &Deferred, failed: bool, value: &JsValue);
}

static PANICS: AtomicU32 = AtomicU32::new(0);

#[unsafe(no_mangle)]
extern "C" fn __agent_sandbox_panicked() {
    PANICS.fetch_add(1, Relaxed);
    panicked();
}

/// How many panics there have been. What was to begin before one and has not, must not begin behind it: whoever waited has been told.
pub fn panics() -> u32 {
    PANICS.load(Relaxed)
}

/// A promise of what `work` gives.
pub fn promise_of(work: Work<JsValue>) -> Promise {
    let deferred = Deferred::new(true);
    let promise = deferred.promise();
    let before = panics();
    spawn_local(async move {
        if panics() != before {
            return;
        }
        match work.await {
            Ok(value) => deferred.settle(false, &value),
            Err(fault) => deferred.settle(true, &Fault::into_js(fault)),
        }
    });
    promise
}
