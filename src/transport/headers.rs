//! Headers of a request, as one text: handed over piece by piece they cost a small call more than the rest of it.

use js_sys::Object;
use wasm_bindgen::prelude::*;

#[wasm_bindgen(module = "/src/js/fetch.js")]
extern "C" {
    #[wasm_bindgen(js_name = headersOf)]
    fn headers_of(text: &str) -> Object;
}

/// What stands behind each name and each value. No text of a caller holds one.
pub const MARK: &str = "\0";

/// Names and values.
#[derive(Default)]
pub struct Headers(String);

impl Headers {
    /// Sets one; of the same name the last one counts.
    pub fn set(&mut self, name: &str, value: &str) {
        self.0.extend([name, MARK, value, MARK]);
    }

    /// Sets what is in such a text.
    pub fn add(&mut self, text: &str) {
        self.0.push_str(text);
    }

    /// As `js/fetch.js` reads them.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// A plain object of them.
    pub fn object(&self) -> Object {
        headers_of(&self.0)
    }
}
