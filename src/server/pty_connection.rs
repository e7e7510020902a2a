//! `PtyConnection`: a terminal that is attached, as callers hold it.

use super::pty::Connection;
use super::typing::type_text;
use crate::error::{Result, Thrown, invalid};
use crate::options::{argument, bytes, integer, object};
use crate::protocol::failure::Class;
use crate::protocol::routing::decimal;
use crate::stream::{Pull, chunk_stream};
use crate::target::promise;
use crate::transport::guard::{Guard, Held};
use crate::transport::json::get;
use js_sys::Promise;
use std::rc::Rc;
use wasm_bindgen::prelude::*;

#[wasm_bindgen(module = "/src/server/js/answers.js")]
extern "C" {
    /// The iterator of an async iterable.
    fn iterate(stream: &JsValue) -> JsValue;
}

/// How long `expect` waits, in ms.
const EXPECT_TIMEOUT: f64 = 10_000.0;

/// Signals that the server passes on.
const SIGNALS: [&str; 5] = ["SIGINT", "SIGTERM", "SIGKILL", "SIGHUP", "SIGQUIT"];

/// A terminal that is attached.
#[wasm_bindgen(skip_typescript)]
pub struct PtyConnection(Rc<Connection>);

impl PtyConnection {
    pub(super) fn new(connection: Rc<Connection>) -> Self {
        Self(connection)
    }

    /// Sends a message that needs no room.
    fn tell(&self, message: Result<js_sys::Object>) -> Promise {
        match message.and_then(|message| self.0.send(&message)) {
            Ok(()) => Promise::resolve(&JsValue::UNDEFINED),
            Err(fault) => Promise::reject(&fault.into_js()),
        }
    }

    fn type_in(&self, text: Result<String>, options: JsValue) -> Promise {
        match text {
            Ok(text) => promise(type_text(self.0.clone(), text, options)),
            Err(fault) => Promise::reject(&fault.into_js()),
        }
    }
}

#[wasm_bindgen]
impl PtyConnection {
    #[wasm_bindgen(getter, js_name = sessionId)]
    pub fn session_id(&self) -> String {
        self.0.session.clone()
    }

    #[wasm_bindgen(getter)]
    pub fn pid(&self) -> Option<f64> {
        self.0.pid.get()
    }

    #[wasm_bindgen(getter, js_name = isConnected)]
    pub fn is_connected(&self) -> bool {
        !self.0.ended()
    }

    #[wasm_bindgen(getter)]
    pub fn closed(&self) -> Promise {
        self.0.closed.promise()
    }

    pub fn send(&self, data: JsValue, options: JsValue) -> Promise {
        let text = data.as_string().ok_or_else(|| invalid(&["data must be a string; sendBytes takes bytes."]));
        self.type_in(text, options)
    }

    #[wasm_bindgen(js_name = sendBytes)]
    pub fn send_bytes(&self, data: JsValue, options: JsValue) -> Promise {
        self.type_in(bytes("data", &data).and_then(|given| self.0.typing.text(given)), options)
    }

    pub fn resize(&self, cols: JsValue, rows: JsValue) -> Promise {
        self.tell((|| {
            let cols = integer("cols", &cols, 1.0, 1_000.0)?;
            let rows = integer("rows", &rows, 1.0, 1_000.0)?;
            Ok(object(&[("type", JsValue::from_str("resize")), ("cols", cols.into()), ("rows", rows.into())]))
        })())
    }

    pub fn signal(&self, name: JsValue) -> Promise {
        let name = if name.is_undefined() { Some(SIGNALS[0].to_owned()) } else { name.as_string() };
        let name = name.filter(|name| SIGNALS.contains(&name.as_str()));
        self.tell(match name {
            Some(name) => Ok(object(&[("type", JsValue::from_str("signal")), ("signal", JsValue::from_str(&name))])),
            None => Err(invalid(&["the signal must be one of ", &SIGNALS.join(", "), "."])),
        })
    }

    pub fn receive(&self, timeout: JsValue) -> Promise {
        let connection = self.0.clone();
        promise(async move {
            let stop = Held::after(duration(&timeout)?);
            connection.receive(&stop).await
        })
    }

    pub fn expect(&self, text: JsValue, timeout: JsValue) -> Promise {
        let connection = self.0.clone();
        promise(async move {
            let text = argument("text", &text)?;
            let ms = duration(&timeout)?.unwrap_or(EXPECT_TIMEOUT);
            let stop = Held::after(Some(ms));
            let mut output = String::new();
            // Where the text may begin: what was looked through is not looked through again.
            let mut from = 0;
            while !output[from..].contains(&text) {
                from = (0..=output.len().saturating_sub(text.len())).rev().find(|at| output.is_char_boundary(*at)).unwrap_or(0);
                let message = connection.receive(&stop).await?;
                if message.is_undefined() {
                    return Err(not_seen(&stop, ms).into());
                }
                output.push_str(&get(&message, "data").as_string().unwrap_or_default());
            }
            Ok(JsValue::from_str(&output))
        })
    }

    pub fn close(&self) -> Promise {
        self.0.end(None)
    }

    #[wasm_bindgen(js_name = "[Symbol.asyncIterator]")]
    pub fn iterate(&self) -> JsValue {
        iterate(&chunk_stream(Rc::new(Messages { connection: self.0.clone(), stop: Guard::new() })))
    }

    #[wasm_bindgen(js_name = __dispose)]
    pub fn dispose(&self) -> Promise {
        self.close()
    }
}

fn duration(value: &JsValue) -> Result<Option<f64>> {
    match value.as_f64() {
        Some(ms) if ms >= 0.0 => Ok(Some(ms)),
        None if value.is_undefined() => Ok(None),
        _ => Err(invalid(&["timeoutMs must be a duration in ms, 0 or more."])),
    }
}

/// Why a text was waited for in vain.
fn not_seen(stop: &Guard, ms: f64) -> JsValue {
    if !stop.is_fired() {
        return Thrown::new(Class::Execution, "The terminal ended before the text appeared.").build();
    }
    let message = ["The text did not appear within ", &decimal(ms as u64), " ms."].concat();
    Thrown::new(Class::CommandTimeout, &message).suggestion("Raise timeoutMs, or look at the output with receive().").build()
}

/// A connection's messages as a stream. Giving it up leaves the connection as it is.
struct Messages {
    connection: Rc<Connection>,
    stop: Guard,
}

impl Pull for Messages {
    fn take(&self) -> Result<Option<JsValue>> {
        Ok(if self.stop.is_fired() { None } else { self.connection.pop() })
    }

    fn next(self: Rc<Self>) -> Promise {
        promise(
            async move { if self.stop.is_fired() { Ok(JsValue::UNDEFINED) } else { self.connection.receive(&self.stop).await } },
        )
    }

    fn cancel(&self) {
        self.stop.fire(&JsValue::UNDEFINED);
    }
}
