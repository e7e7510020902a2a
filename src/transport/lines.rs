//! A stream of lines under way, each a JSON object: what the code interpreter answers a cell with.

use super::connect::cut_off;
use super::events::unreadable;
use super::fetch::{Chunks, Exchange, Request, Want, send};
use super::guard::Guard;
use super::limits::Limits;
use super::slots::{Slot, acquire};
use crate::error::Result;
use crate::protocol::interpreter::{INTERPRETER_PORT, LineReader, without_bare_words};
use crate::protocol::utf8::lossy;
use crate::target::Target;
use js_sys::JSON;
use wasm_bindgen::prelude::*;

#[wasm_bindgen(module = "/src/js/code.js")]
extern "C" {
    /// Parses JSON from `without_bare_words`.
    #[wasm_bindgen(js_name = parseWithNaN, catch)]
    fn parse_with_nan(text: &str) -> core::result::Result<JsValue, JsValue>;
}

/// A stream of lines. Dropping it closes the request on the server.
pub struct LineStream {
    chunks: Chunks,
    /// Whose end ends the stream.
    guard: Guard,
    exchange: Exchange,
    lines: LineReader,
    ended: bool,
    _slot: Slot,
}

impl LineStream {
    /// Sends the request, to another host where this page has too many streams open. The limits go on to count for lines.
    pub async fn open(target: &Target, mut request: Request<'_>, limits: &Limits) -> Result<Self> {
        let (base, slot) = acquire(&target.template(INTERPRETER_PORT), request.base)?;
        request.base = &base;
        let exchange = send(&target.client, &request, Want::Open, limits).await?.exchange;
        let chunks = exchange.chunks(&limits.guard).ok_or_else(cut_off)?;
        Ok(Self { chunks, guard: limits.guard.0.clone(), exchange, lines: LineReader::default(), ended: false, _slot: slot })
    }

    /// The next line's value; `None` at the end of the body. There is no limit to how long it may take.
    ///
    /// # Errors
    /// What the guard is fired with, also when a line is here already.
    pub async fn next(&mut self) -> Result<Option<JsValue>> {
        loop {
            if self.guard.is_fired() {
                return Err(self.guard.error().into());
            }
            while let Some(line) = self.lines.next_line() {
                if !line.trim_ascii().is_empty() {
                    return parse(line).map(Some).ok_or_else(unreadable);
                }
            }
            if self.ended {
                return Ok(None);
            }
            match self.chunks.read([Some(&self.guard), None]).await? {
                Some(chunk) => {
                    let filled = self.lines.fill_with(chunk.length() as usize, |room| chunk.copy_to(room));
                    filled.map_err(|_| unreadable())?;
                }
                None => {
                    self.ended = true;
                    self.exchange.finish();
                    // What stands behind the last line end may be whole, or cut off.
                    return Ok(parse(self.lines.finish()));
                }
            }
        }
    }

    /// What mattered has come. Reading the body's end gives the connection back.
    pub fn finish(self) {
        self.exchange.finish();
        self.chunks.drain();
    }
}

fn parse(line: &[u8]) -> Option<JsValue> {
    let text = lossy(line);
    JSON::parse(&text).or_else(|error| without_bare_words(&text).map_or(Err(error), |text| parse_with_nan(&text))).ok()
}
