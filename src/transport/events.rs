//! A server stream under way: chunks in, messages out, and an end that is told apart from a cut.

use super::connect::{KEEPALIVE_SECONDS, cut_off};
use super::fetch::{Chunks, Exchange};
use super::guard::{Bell, Guard};
use super::json::{self, text_in};
use super::slots::Slot;
use crate::error::{Answer, Fault, Result, Thrown};
use crate::protocol::connect::Code;
use crate::protocol::envelope::EnvelopeReader;
use crate::protocol::events::Malformed;
use crate::protocol::failure::{Class, Doing, short_message};
use js_sys::Uint8Array;
use std::cell::{Cell, RefCell};
use wasm_bindgen::prelude::*;

/// How often silence is looked at, in ms. A connection is dead after the fifth look without a byte: more than twice the keepalive interval.
const LOOK_EVERY: f64 = KEEPALIVE_SECONDS as f64 * 500.0;
const LOOKS: u32 = 5;

/// A server stream. Dropping it closes the request on the server.
pub struct EventStream {
    chunks: Chunks,
    envelopes: RefCell<EnvelopeReader>,
    exchange: Exchange,
    doing: Doing,
    /// Whether messages are JSON.
    pub json: bool,
    /// Ends the wait for the next chunk, for good.
    pub guard: Guard,
    cancelled: Cell<bool>,
    /// Whether [`Self::absorb`] reads; then every chunk and the end ring the bell.
    absorbing: Cell<bool>,
    absorbed: Bell,
    /// The stream's place among the page's streams, until its end.
    slot: RefCell<Option<Slot>>,
}

impl EventStream {
    pub fn new(exchange: Exchange, doing: Doing, json: bool, slot: Slot) -> Result<Self> {
        // An answer without a body has no end-of-stream message either.
        let guard = Guard::new();
        let chunks = exchange.chunks(&guard).ok_or_else(cut_off)?;
        let message = "The connection fell silent: not even a keepalive came.";
        chunks.watch_silence(LOOK_EVERY, LOOKS, Class::SandboxConnection.name(), message);
        let slot = RefCell::new(Some(slot));
        let (cancelled, absorbing, absorbed) = (Cell::new(false), Cell::new(false), Bell::new());
        Ok(Self { chunks, envelopes: RefCell::default(), exchange, doing, json, guard, cancelled, absorbing, absorbed, slot })
    }

    /// Shows `visit` the next whole message, if one is here; it stays unless `visit` says that it is taken.
    ///
    /// `Ok(None)` when more bytes are needed, or at the end: see [`Self::ended`].
    pub fn visit<R>(&self, visit: impl FnOnce(&[u8]) -> core::result::Result<(bool, R), Malformed>) -> Result<Option<R>> {
        let (mut visit, mut seen) = (Some(visit), None);
        self.visit_next(&mut |payload| {
            let Some(visit) = visit.take() else { return Ok(false) };
            let (taken, value) = visit(payload)?;
            seen = Some(value);
            Ok(taken)
        })?;
        Ok(seen)
    }

    /// Not generic, so that it exists once.
    fn visit_next(&self, visit: &mut dyn FnMut(&[u8]) -> core::result::Result<bool, Malformed>) -> Result<()> {
        let visited = {
            let envelopes = self.envelopes.borrow();
            match envelopes.peek().map_err(|_| unreadable())? {
                None => return Ok(()),
                Some(envelope) if envelope.is_compressed() => return Err(unreadable()),
                Some(envelope) if envelope.is_end_stream() => Err(self.trailer(envelope.payload)),
                Some(envelope) => Ok(visit(envelope.payload)),
            }
        };
        let taken = match visited {
            // The trailer: the stream has ended, well or not.
            Err(outcome) => {
                self.advance();
                self.exchange.finish();
                // Reading the body's end gives the connection back; there is nothing left to cancel.
                self.cancelled.set(true);
                self.slot.take();
                self.chunks.drain();
                return outcome.map_or(Ok(()), Err);
            }
            Ok(visited) => visited.map_err(|_| unreadable())?,
        };
        if taken {
            self.advance();
        }
        Ok(())
    }

    fn advance(&self) {
        // What was peeked at is there, so this gives it and no error.
        let _ = self.envelopes.borrow_mut().next_envelope();
    }

    /// Whether the end-of-stream message came.
    pub fn ended(&self) -> bool {
        self.envelopes.borrow().ended()
    }

    /// Waits for more bytes, unless `also` is fired first.
    ///
    /// # Errors
    /// A lost connection when the body ends without an end-of-stream message, or falls silent.
    pub async fn fill(&self, also: Option<&Guard>) -> Result<()> {
        if self.absorbing.get() {
            return Ok(self.guard.promise(self.absorbed.rung()).await.map(drop)?);
        }
        match self.chunks.read([Some(&self.guard), also]).await? {
            Some(chunk) => {
                self.take(&chunk);
                Ok(())
            }
            None => {
                self.exchange.finish();
                self.slot.take();
                Err(cut_off())
            }
        }
    }

    fn take(&self, chunk: &Uint8Array) {
        self.envelopes.borrow_mut().fill_with(chunk.length() as usize, |room| chunk.copy_to(room));
    }

    /// Takes in what is still to come, for whoever may read it later.
    pub async fn absorb(&self) {
        self.absorbing.set(true);
        while let Ok(Some(chunk)) = self.chunks.read([Some(&self.guard), None]).await {
            self.take(&chunk);
            self.absorbed.ring();
        }
        self.absorbing.set(false);
        self.absorbed.ring();
    }

    /// Stops reading and closes the request. The source is cancelled once, however often this is called.
    pub fn cancel(&self) {
        if self.cancelled.replace(true) {
            return;
        }
        self.slot.take();
        self.chunks.cancel();
    }

    /// What the end-of-stream message says, when it is an error.
    fn trailer(&self, payload: &[u8]) -> Option<Fault> {
        let Ok(trailer) = json::parse(payload) else { return Some(unreadable()) };
        let error = json::get(&trailer, "error");
        if !error.is_object() {
            return None;
        }
        let code = text_in(&error, "code").and_then(|name| Code::from_name(&name)).unwrap_or(Code::Unknown);
        let message = text_in(&error, "message").and_then(|message| short_message(&message));
        Some(Fault::Answer(Box::new(Answer {
            doing: self.doing,
            status: 200,
            code: Some(code),
            message,
            suggestion: None,
            retry_after: None,
            gateway: None,
            repeated: false,
            body: JsValue::UNDEFINED,
        })))
    }
}

/// The server broke the protocol; the stream cannot be read on.
pub fn unreadable() -> Fault {
    Thrown::new(Class::SandboxConnection, "The sandbox sent something that is no message of its protocol.")
        .suggestion("Check that sandboxUrl leads to the sandbox and not to another server.")
        .into()
}

impl Drop for EventStream {
    fn drop(&mut self) {
        self.cancel();
    }
}
