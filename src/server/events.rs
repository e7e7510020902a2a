//! Endpoints that answer with a stream of events.

use super::Server;
use super::call::{opening, patience, request};
use super::fields::{Filled, fill};
use super::refusal::protocol_error;
use crate::error::{Fault, Result};
use crate::options::{CallOptions, Options};
use crate::protocol::server::endpoints::Endpoint;
use crate::protocol::sse::{SseEvent, SseReader};
use crate::stream::{Pull, chunk_stream};
use crate::target::promise;
use crate::transport::fetch::{Chunks, Exchange, Want};
use crate::transport::guard::Guard;
use crate::transport::json::text_in;
use crate::transport::limits::Limits;
use js_sys::Promise;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use wasm_bindgen::prelude::*;

#[wasm_bindgen(module = "/src/server/js/answers.js")]
extern "C" {
    /// An event as its caller gets it; `undefined` for one to skip, `null` when its data is no JSON.
    #[wasm_bindgen(js_name = shapeEvent)]
    fn shape_event(endpoint: &str, name: &str, data: &str) -> JsValue;
}

/// A stream of events.
struct Events {
    server: Rc<Server>,
    endpoint: Endpoint,
    filled: Filled,
    opening: CallOptions,
    whole: CallOptions,
    /// Fired when the caller stops reading.
    stop: Guard,
    under_way: RefCell<Option<Rc<UnderWay>>>,
    reader: RefCell<SseReader>,
    /// Whether the event that comes last has come.
    complete: Cell<bool>,
    done: Cell<bool>,
}

/// The request of a stream that is open.
struct UnderWay {
    exchange: Exchange,
    chunks: Chunks,
    limits: Limits,
}

/// A stream that opens with its first step.
pub fn open(server: &Rc<Server>, endpoint: Endpoint, args: &Options) -> Result<JsValue> {
    let opening = opening(server, args)?;
    Ok(chunk_stream(Rc::new(Events {
        filled: fill(&endpoint, args)?,
        whole: CallOptions { signal: opening.signal.clone(), timeout: patience(server, &endpoint, args)? },
        server: server.clone(),
        endpoint,
        opening,
        stop: Guard::new(),
        under_way: RefCell::default(),
        reader: RefCell::default(),
        complete: Cell::new(false),
        done: Cell::new(false),
    })))
}

impl Events {
    async fn open(&self) -> Result<Rc<UnderWay>> {
        if let Some(under_way) = &*self.under_way.borrow() {
            return Ok(under_way.clone());
        }
        let limits = Limits::start(&self.whole)?;
        let headers = Limits::start(&self.opening)?;
        for one in [&limits, &headers] {
            one.guard.follow_guard(&self.stop);
        }
        let reply = request(&self.server, &self.endpoint, &self.filled, Want::Open, &headers).await?;
        let kind = reply.exchange.header("content-type").unwrap_or_default();
        let chunks = reply.exchange.chunks(&limits.guard).filter(|_| kind.starts_with("text/event-stream"));
        let chunks = chunks.ok_or_else(|| protocol_error(self.endpoint.id, "The server's answer is no stream of events."))?;
        let under_way = Rc::new(UnderWay { exchange: reply.exchange, chunks, limits });
        *self.under_way.borrow_mut() = Some(under_way.clone());
        Ok(under_way)
    }

    /// The next event that is here, as its caller gets it.
    fn pop(&self) -> Result<Option<JsValue>> {
        while !self.done.get() {
            let event = self.reader.borrow_mut().next_event();
            let event = event.map_err(|_| protocol_error(self.endpoint.id, "The server sent an event of more than 64 MiB."))?;
            let Some(event) = event else { return Ok(None) };
            if let Some(shaped) = self.shaped(&event, false)? {
                return Ok(Some(shaped));
            }
        }
        Ok(None)
    }

    /// An event as its caller gets it; `None` for one that is not for callers.
    fn shaped(&self, event: &SseEvent, cut: bool) -> Result<Option<JsValue>> {
        let shaped = shape_event(self.endpoint.id, &event.name, &event.data);
        if shaped.is_null() {
            // What the end of the stream cut off may well be half of something.
            return if cut { Ok(None) } else { Err(protocol_error(self.endpoint.id, "The server sent an event that is no JSON.")) };
        }
        match event.name.as_str() {
            "exit" | "end" => {
                self.complete.set(true);
                self.finish();
            }
            // A command that could not be started has no exit.
            "error" => self.complete.set(!matches!(text_in(&shaped, "error").as_deref(), Some("timeout" | "output_limit"))),
            _ => self.complete.set(false),
        }
        Ok(Some(shaped).filter(|shaped| !shaped.is_undefined()))
    }

    async fn step(&self) -> Result<JsValue> {
        loop {
            if let Some(event) = self.pop()? {
                return Ok(event);
            }
            if self.done.get() {
                return Ok(JsValue::UNDEFINED);
            }
            let under_way = self.open().await?;
            if let Some(chunk) = under_way.chunks.read([Some(&under_way.limits.guard), None]).await? {
                self.reader.borrow_mut().push(&chunk.to_vec());
                continue;
            }
            under_way.exchange.finish();
            let rest = self.reader.borrow_mut().finish();
            let rest = match rest {
                Some(event) => self.shaped(&event, true)?,
                None => None,
            };
            if !self.complete.get() {
                return Err(Fault::lost(true, JsValue::UNDEFINED));
            }
            self.done.set(true);
            return Ok(rest.unwrap_or_default());
        }
    }

    /// Lets go of the connection.
    fn finish(&self) {
        self.done.set(true);
        if let Some(under_way) = self.under_way.take() {
            under_way.chunks.cancel();
        }
    }
}

impl Pull for Events {
    fn take(&self) -> Result<Option<JsValue>> {
        match self.pop() {
            Err(fault) => {
                self.finish();
                Err(fault)
            }
            popped => popped,
        }
    }

    fn next(self: Rc<Self>) -> Promise {
        promise(async move {
            match self.step().await {
                // The caller stopped reading, which ended what was under way.
                _ if self.stop.is_fired() => {
                    self.finish();
                    Ok(JsValue::UNDEFINED)
                }
                Err(fault) => {
                    self.finish();
                    Err(self.server.explain(self.endpoint.id, fault).await)
                }
                event => event,
            }
        })
    }

    fn cancel(&self) {
        self.finish();
        self.stop.fire(&JsValue::UNDEFINED);
    }
}
