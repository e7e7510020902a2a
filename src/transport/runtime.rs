//! What the runtime offers, and what kind it is.

use js_sys::{Function, Promise};
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = performance)]
    pub fn now() -> f64;
}

#[wasm_bindgen(module = "/src/js/runtime.js")]
extern "C" {
    #[wasm_bindgen(js_name = runtimeKind)]
    fn runtime_kind() -> u8;
    #[wasm_bindgen(js_name = isHttpPage)]
    pub fn is_http_page() -> bool;
    /// Whether a sandbox URL's host is a name that only browsers resolve by themselves.
    #[wasm_bindgen(js_name = isUnresolvable)]
    pub fn is_unresolvable(url: &str) -> bool;
    /// What to do about a sandbox that gives no answer; empty when nothing special.
    #[wasm_bindgen(js_name = reachSuggestion)]
    pub fn reach_suggestion(url: &str, runs: bool) -> String;
    /// Lets a promise go: a rejection that nobody handles would be reported.
    pub fn ignore(promise: &Promise);
    pub fn environment(name: &str) -> Option<String>;
    /// A `fetch` that goes through a proxy, where the runtime has one.
    #[wasm_bindgen(js_name = proxyFetch, catch)]
    pub fn proxy_fetch(proxy: &str) -> Result<Function, JsValue>;
}

/// Whether this is a page or a worker of one.
pub fn is_browser() -> bool {
    runtime_kind() == 0
}

/// Whether this is an edge worker.
pub fn is_edge() -> bool {
    runtime_kind() == 2
}
