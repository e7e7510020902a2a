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
use crate::transport::fetch::{Exchange, Want, read};
use crate::transport::guard::Guard;
use crate::transport::limits::Limits;
use crate::transport::runtime::ignore;
use js_sys::{Promise, Reflect, Uint8Array};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use wasm_bindgen::prelude::*;
use web_sys::ReadableStreamDefaultReader;

#[wasm_bindgen(module = "/src/server/js/answers.js")]
extern "C" {
    /// An event as its caller gets it; `undefined` for one to skip, `null` when its data is no JSON.
    #[wasm_bindgen(js_name = shapeEvent)]
    fn shape_event(endpoint: &str, name: &str, data: &str) -> JsValue;
}

/// A stream of events.
struct Events {
    server: Rc<Server>,
    endpoint: &'static Endpoint,
    filled: Filled,
    opening: CallOptions,
    whole: CallOptions,
    /// Fired when the caller stops reading.
    stop: Rc<Guard>,
    under_way: RefCell<Option<Rc<UnderWay>>>,
    reader: RefCell<SseReader>,
    /// Whether the event that comes last has come.
    complete: Cell<bool>,
    done: Cell<bool>,
}

/// The request of a stream that is open.
struct UnderWay {
    exchange: Exchange,
    reader: ReadableStreamDefaultReader,
    limits: Limits,
}

/// A stream that opens with its first step.
pub fn open(server: &Rc<Server>, endpoint: &'static Endpoint, args: &Options) -> Result<JsValue> {
    let opening = opening(server, args)?;
    Ok(chunk_stream(Rc::new(Events {
        filled: fill(endpoint, args)?,
        whole: CallOptions { signal: opening.signal.clone(), timeout: patience(server, endpoint, args)? },
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
        let reply = request(&self.server, self.endpoint, &self.filled, Want::Open, &headers).await?;
        let response = &reply.exchange.response;
        let kind = response.headers().get("content-type").ok().flatten().unwrap_or_default();
        let body = response.body().filter(|_| kind.starts_with("text/event-stream"));
        let body = body.ok_or_else(|| protocol_error(self.endpoint.id, "The server's answer is no stream of events."))?;
        let reader = body.get_reader().unchecked_into();
        let under_way = Rc::new(UnderWay { exchange: reply.exchange, reader, limits });
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
            "error" => self.complete.set(!matches!(
                crate::transport::json::get(&shaped, "error").as_string().as_deref(),
                Some("timeout" | "output_limit")
            )),
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
            let step = read(under_way.reader.read(), &under_way.limits.guard).await?;
            let chunk = Reflect::get(&step, &JsValue::from_str("value"))?;
            if let Ok(chunk) = chunk.dyn_into::<Uint8Array>() {
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
                return Err(Fault::Network { begun: true, cause: JsValue::UNDEFINED });
            }
            self.done.set(true);
            return Ok(rest.unwrap_or_default());
        }
    }

    /// Lets go of the connection.
    fn finish(&self) {
        self.done.set(true);
        if let Some(under_way) = self.under_way.take() {
            ignore(&under_way.reader.cancel());
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
            let stepped = self.stop.wait(Box::pin(self.step())).await;
            match stepped {
                // The caller stopped reading; what was under way is dropped with its request.
                Err(_) => {
                    self.finish();
                    Ok(JsValue::UNDEFINED)
                }
                Ok(Err(fault)) => {
                    self.finish();
                    Err(self.server.explain(self.endpoint.id, fault).await)
                }
                Ok(Ok(event)) => Ok(event),
            }
        })
    }

    fn cancel(&self) {
        self.finish();
        self.stop.fire(JsValue::UNDEFINED);
    }
}
