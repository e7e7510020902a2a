//! `PtyConnection`: a terminal that is attached, as callers hold it.

use super::pty::Connection;
use super::typing::type_text;
use crate::error::{Result, Thrown, invalid, refusal};
use crate::members::{Answer, Args};
use crate::options::{argument, bytes, integer, object};
use crate::protocol::failure::Class;
use crate::protocol::routing::{decimal, join, split_at};
use crate::stream::{Pull, chunk_stream};
use crate::target::promise;
use crate::transport::guard::{Guard, Held};
use crate::transport::json::text_in;
use js_sys::{Array, Object, Promise};
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
    fn tell(&self, message: Result<Object>) -> Promise {
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
    /// See [`crate::members`].
    #[wasm_bindgen(js_name = __call)]
    pub fn call(&self, member: u32, args: &Array) -> Answer {
        let of = &self.0;
        let connection = of.clone();
        let [first, second] = Args(args).pair();
        Ok(match member {
            0 => return Ok(JsValue::from_str(&of.session)),
            1 => return Ok(of.pid.get().into()),
            2 => return Ok((!of.ended()).into()),
            3 => of.closed.promise(),
            4 => {
                let text = first.as_string().ok_or_else(|| refusal("data must be a string; sendBytes takes bytes."));
                self.type_in(text, second)
            }
            5 => self.type_in(bytes("data", &first).and_then(|given| of.typing.text(given)), second),
            6 => self.tell(size(&first, &second)),
            7 => self.tell(signal(&first)),
            8 => promise(async move {
                let stop = Held::after(duration(&first)?);
                connection.receive(&stop).await
            }),
            9 => promise(async move { expect(&connection, &first, &second).await }),
            // Disposal, too.
            10 | 11 => of.end(None),
            _ => return Ok(iterate(&chunk_stream(Rc::new(Messages { connection, stop: Guard::new() })))),
        }
        .into())
    }
}

fn size(cols: &JsValue, rows: &JsValue) -> Result<Object> {
    let cols = integer("cols", cols, 1.0, 1_000.0)?;
    let rows = integer("rows", rows, 1.0, 1_000.0)?;
    Ok(object(&[("type", JsValue::from_str("resize")), ("cols", cols.into()), ("rows", rows.into())]))
}

fn signal(name: &JsValue) -> Result<Object> {
    let name = if name.is_undefined() { Some(SIGNALS[0].to_owned()) } else { name.as_string() };
    match name.filter(|name| SIGNALS.contains(&name.as_str())) {
        Some(name) => Ok(object(&[("type", JsValue::from_str("signal")), ("signal", JsValue::from_str(&name))])),
        None => Err(invalid(&["the signal must be one of ", &join(&SIGNALS, ", "), "."])),
    }
}

/// Waits for a text, and gives the output up to it.
async fn expect(connection: &Connection, text: &JsValue, timeout: &JsValue) -> Result<JsValue> {
    let text = argument("text", text)?;
    let ms = duration(timeout)?.unwrap_or(EXPECT_TIMEOUT);
    let stop = Held::after(Some(ms));
    let mut output = String::new();
    // Where the text may begin: what was looked through is not looked through again.
    let mut from = 0;
    while split_at(&output[from..], &text).is_none() {
        from = (0..=output.len().saturating_sub(text.len())).rev().find(|at| output.is_char_boundary(*at)).unwrap_or(0);
        let message = connection.receive(&stop).await?;
        if message.is_undefined() {
            return Err(not_seen(&stop, ms).into());
        }
        output.push_str(&text_in(&message, "data").unwrap_or_default());
    }
    Ok(JsValue::from_str(&output))
}

fn duration(value: &JsValue) -> Result<Option<f64>> {
    match value.as_f64() {
        Some(ms) if ms >= 0.0 => Ok(Some(ms)),
        None if value.is_undefined() => Ok(None),
        _ => Err(refusal("timeoutMs must be a duration in ms, 0 or more.")),
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
