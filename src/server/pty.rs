//! A terminal over WebSocket: paced input, bounded output, and closes that are typed errors.

use super::Server;
use super::refusal::server_error;
use super::socket::{Incoming, Socket};
use crate::error::{Fault, Result, Thrown, invalid};
use crate::options::{CallOptions, Options, bytes, integer, object};
use crate::panic::Deferred;
use crate::protocol::failure::{Class, short_message};
use crate::protocol::routing::{decimal, encode};
use crate::protocol::server::pacing::{KEYS, Pacer, text_of};
use crate::stream::{Pull, chunk_stream, disposable};
use crate::target::promise;
use crate::transport::guard::{Bell, Guard, Held};
use crate::transport::json::get;
use crate::transport::limits::Limits;
use gloo_net::websocket::events::CloseEvent;
use js_sys::{JSON, Object, Promise};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, spawn_local};

#[wasm_bindgen(module = "/src/server/js/answers.js")]
extern "C" {
    /// A message of a terminal as its caller gets it.
    #[wasm_bindgen(js_name = ptyMessage)]
    fn pty_message(text: &str) -> JsValue;
    /// The iterator of an async iterable.
    fn iterate(stream: &JsValue) -> JsValue;
}

/// How much output is held for a caller that does not read, in characters. A browser's WebSocket cannot be told to wait.
const HELD: usize = 16 * 1024 * 1024;

/// How long input waits for the program to read, in ms.
const SEND_TIMEOUT: f64 = 10_000.0;

/// How long `expect` waits, in ms.
const EXPECT_TIMEOUT: f64 = 10_000.0;

/// A message that waits for its reader.
struct Item {
    message: JsValue,
    length: usize,
}

/// A terminal that is attached.
struct Connection {
    session: String,
    socket: Socket,
    pid: Cell<Option<f64>>,
    items: RefCell<VecDeque<Item>>,
    held: Cell<usize>,
    /// Rung when a message or the end has come.
    bell: Bell,
    /// Whether the server has confirmed.
    started: Cell<bool>,
    exited: Cell<bool>,
    ended: Cell<bool>,
    /// Why it ended, unless it ended well.
    error: RefCell<Option<JsValue>>,
    closed: Deferred,
    pacer: RefCell<Pacer>,
    /// Who sends now, and who waits for that.
    turns: RefCell<VecDeque<u32>>,
    /// Rung when there is room for input, when the next turn has come, and at the end.
    room: Bell,
    /// The beginning of a character, from the last bytes that were sent.
    cut: RefCell<Vec<u8>>,
}

/// A terminal that is attached.
#[wasm_bindgen(skip_typescript)]
pub struct PtyConnection(Rc<Connection>);

/// Attaches to a session; gives the connection once the server has confirmed it.
pub async fn attach(server: Rc<Server>, session: String, options: &Options) -> Result<JsValue> {
    let Some((url, query)) = &server.pty else {
        return Err(Thrown::new(Class::InvalidArgument, "Where the server's terminals are cannot be told from its base URL.")
            .suggestion("Give ptyUrl, such as \"ws://127.0.0.1:9001\".")
            .into());
    };
    let limits = Limits::start(&options.call(server.timeout)?)?;
    let query = [query.as_str(), if query.is_empty() { "" } else { "&" }, "session_id=", &encode(&session)].concat();
    let url = [url, "/pty?", &query].concat();
    let socket = Socket::open(server.client.web_socket.as_ref(), &url, &server.headers(true), server.token.as_deref())?;
    let connection = Rc::new(Connection {
        session,
        socket,
        pid: Cell::new(None),
        items: RefCell::default(),
        held: Cell::new(0),
        bell: Bell::new(),
        started: Cell::new(false),
        exited: Cell::new(false),
        ended: Cell::new(false),
        error: RefCell::default(),
        closed: Deferred::new(false),
        pacer: RefCell::default(),
        turns: RefCell::default(),
        room: Bell::new(),
        cut: RefCell::default(),
    });
    spawn_local(read(connection.clone()));
    // Refusals are close codes after a successful opening, so only the first message tells that the terminal is there.
    while !connection.started.get() && !connection.ended.get() {
        if let Err(error) = JsFuture::from(limits.guard.race(&connection.bell.rung())).await {
            connection.end(None);
            return Err(error.into());
        }
    }
    match connection.error.take() {
        Some(error) if !connection.started.get() => Err(error.into()),
        error => {
            *connection.error.borrow_mut() = error;
            Ok(disposable(PtyConnection(connection).into()))
        }
    }
}

/// Reads what the server sends, to the end.
async fn read(connection: Rc<Connection>) {
    while !connection.ended.get() {
        match connection.socket.next().await {
            Incoming::Text(text) => connection.take(&text),
            Incoming::Closed(event) => connection.end(connection.reason(event)),
        }
    }
}

impl Connection {
    fn take(&self, text: &str) {
        let message = pty_message(text);
        match get(&message, "event").as_string().as_deref() {
            Some("started") => {
                self.pid.set(get(&message, "pid").as_f64());
                self.started.set(true);
            }
            Some("exited") => self.exited.set(true),
            _ => {
                self.started.set(true);
                let output = get(&message, "data").as_string().map_or(0, |data| data.len());
                self.pacer.borrow_mut().output(output);
                self.room.ring();
            }
        }
        let length = text.len();
        self.held.set(self.held.get() + length);
        self.items.borrow_mut().push_back(Item { message, length });
        if self.held.get() > HELD {
            let message = "The terminal's output was not read: more than 16 MiB were waiting, and the connection was closed.";
            self.end(Some(
                self.error(Class::PayloadTooLarge, 0, message).suggestion("Read on, or attach again: the shell goes on.").build(),
            ));
            return;
        }
        self.bell.ring();
    }

    fn error<'a>(&self, class: Class, status: u16, message: &'a str) -> Thrown<'a> {
        server_error(class, message, status, "pty_connect", "", "", "")
    }

    /// What a close means; `None` for one that was asked for, or that follows the shell's end.
    fn reason(&self, event: Option<CloseEvent>) -> Option<JsValue> {
        let (code, said) = event.map_or((1006, String::new()), |event| (event.code, event.reason));
        let said = short_message(&said);
        let message = |fallback: &str| said.clone().unwrap_or_else(|| fallback.to_owned());
        Some(match code {
            4001 => self.error(Class::ServerAuth, 401, &message("The server refused the token.")).build(),
            4003 if said.as_deref() == Some("Endpoint disabled") => {
                let error = self.error(Class::EndpointNotAvailable, 404, "The endpoint 'pty_connect' is disabled.");
                error.detail("capability", &JsValue::from_str("pty_connect")).build()
            }
            4003 => {
                let message = message("The policy refuses terminals to this token.");
                self.error(Class::PolicyDenied, 403, &message).detail("scope", &JsValue::from_str("terminal:use")).build()
            }
            1008 => self.error(Class::ServerApi, 404, &message("The server knows no such terminal.")).build(),
            1009 => self.error(Class::PayloadTooLarge, 413, &message("A message was larger than the server takes.")).build(),
            1011 => self.error(Class::ServerApi, 500, &message("The server failed.")).build(),
            _ if self.exited.get() => return None,
            1000 | 1005 if self.started.get() => return None,
            _ => Thrown::new(Class::SandboxConnection, "The connection to the terminal was lost, or could not be made.")
                .suggestion("Check that the server runs and that ptyUrl leads to its port for terminals, then attach again.")
                .build(),
        })
    }

    /// Ends it; the first reason counts.
    fn end(&self, error: Option<JsValue>) {
        if self.ended.replace(true) {
            return;
        }
        let reason = error.clone().unwrap_or_default();
        *self.error.borrow_mut() = error;
        self.socket.close();
        self.bell.ring();
        self.room.ring();
        self.closed.settle(false, &reason);
    }

    fn pop(&self) -> Option<JsValue> {
        let item = self.items.borrow_mut().pop_front()?;
        self.held.set(self.held.get() - item.length);
        if self.exited.get() && self.items.borrow().is_empty() {
            // The server leaves the socket open behind the shell's end.
            self.end(None);
        }
        Some(item.message)
    }

    /// The next message; `undefined` after the last, or when `stop` is fired. What went wrong is told once.
    async fn receive(&self, stop: &Guard) -> Result<JsValue> {
        loop {
            if let Some(message) = self.pop() {
                return Ok(message);
            }
            if self.ended.get() {
                return self.error.take().map_or(Ok(JsValue::UNDEFINED), |error| Err(error.into()));
            }
            if stop.promise(self.bell.rung()).await.is_err() {
                return Ok(JsValue::UNDEFINED);
            }
        }
    }

    fn send(&self, message: &Object) -> Result<()> {
        let text = String::from(JSON::stringify(message)?);
        if !self.ended.get() && self.socket.send(text) { Ok(()) } else { Err(has_ended()) }
    }

    /// Types text, piece by piece as there is room.
    async fn type_text(&self, text: &str, call: &CallOptions) -> Result<()> {
        let turn = Turn::draw(self);
        // Whoever is in front has a time limit, so the queue itself needs none.
        let limits = Limits::start(&CallOptions { signal: call.signal.clone(), timeout: None })?;
        while !turn.has_come() {
            JsFuture::from(limits.guard.race(&self.room.rung())).await?;
        }
        self.send_pieces(text, call).await
    }

    async fn send_pieces(&self, text: &str, call: &CallOptions) -> Result<()> {
        let is_keys = text.len() <= KEYS;
        let mut rest = text;
        let limits = Limits::start(&CallOptions { signal: call.signal.clone(), timeout: None })?;
        loop {
            while !rest.is_empty() {
                let taken = self.pacer.borrow_mut().take(rest, is_keys);
                if taken == 0 {
                    break;
                }
                let (piece, later) = rest.split_at(taken);
                self.send(&object(&[("type", JsValue::from_str("input")), ("data", JsValue::from_str(piece))]))?;
                rest = later;
            }
            if rest.is_empty() {
                return Ok(());
            }
            let patience = Held::after(call.timeout);
            let room = limits.guard.race(&patience.race(&self.room.rung()));
            if let Err(reason) = JsFuture::from(room).await {
                let is_late = patience.is_fired() && !limits.guard.is_fired();
                return Err(if is_late { not_read(text.len() - rest.len(), text.len()).into() } else { reason.into() });
            }
            if self.ended.get() {
                return Err(has_ended());
            }
        }
    }
}

/// A turn to send; dropping it lets the next one send.
struct Turn<'a> {
    connection: &'a Connection,
    number: u32,
}

impl<'a> Turn<'a> {
    /// Gets in line.
    fn draw(connection: &'a Connection) -> Self {
        let mut turns = connection.turns.borrow_mut();
        let number = turns.back().map_or(0, |last| last.wrapping_add(1));
        turns.push_back(number);
        Self { connection, number }
    }

    fn has_come(&self) -> bool {
        self.connection.turns.borrow().front() == Some(&self.number)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.connection.turns.borrow_mut().retain(|number| *number != self.number);
        self.connection.room.ring();
    }
}

fn has_ended() -> Fault {
    Thrown::new(Class::SandboxConnection, "The terminal's connection has ended.")
        .suggestion("Look at what its closed promise resolved to, and attach again.")
        .into()
}

fn not_read(sent: usize, whole: usize) -> JsValue {
    let message = [
        "The program in the terminal does not read: ",
        &decimal(sent as u64),
        " of ",
        &decimal(whole as u64),
        " bytes were sent, and no output came in answer.",
    ]
    .concat();
    server_error(Class::PayloadTooLarge, &message, 0, "pty_connect", "", "", "")
        .suggestion("Send the rest when the program reads, or write it to a file with files.upload.")
        .build()
}

fn send_options(options: JsValue) -> Result<CallOptions> {
    let options = Options::new(options)?;
    let timeout = Some(options.millis("timeoutMs")?.unwrap_or(SEND_TIMEOUT)).filter(|ms| *ms > 0.0);
    Ok(CallOptions { timeout, ..options.call(None)? })
}

fn duration(name: &str, value: &JsValue) -> Result<Option<f64>> {
    match value.as_f64() {
        Some(ms) if ms >= 0.0 => Ok(Some(ms)),
        None if value.is_undefined() => Ok(None),
        _ => Err(invalid(&[name, " must be a duration in ms, 0 or more."])),
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
        !self.0.ended.get()
    }

    #[wasm_bindgen(getter)]
    pub fn closed(&self) -> Promise {
        self.0.closed.promise()
    }

    pub fn send(&self, data: JsValue, options: JsValue) -> Promise {
        let connection = self.0.clone();
        promise(async move {
            let text = data.as_string().ok_or_else(|| invalid(&["data must be a string; sendBytes takes bytes."]))?;
            connection.type_text(&text, &send_options(options)?).await?;
            Ok(JsValue::UNDEFINED)
        })
    }

    #[wasm_bindgen(js_name = sendBytes)]
    pub fn send_bytes(&self, data: JsValue, options: JsValue) -> Promise {
        let connection = self.0.clone();
        promise(async move {
            let given = bytes("data", &data)?;
            let options = send_options(options)?;
            let all = [connection.cut.take(), given].concat();
            let text = match text_of(&all) {
                Ok((text, rest)) => {
                    *connection.cut.borrow_mut() = rest.to_vec();
                    text
                }
                Err(at) => {
                    return Err(invalid(&["data is no UTF-8 at byte ", &decimal(at as u64), ": the server takes text alone."]));
                }
            };
            connection.type_text(text, &options).await?;
            Ok(JsValue::UNDEFINED)
        })
    }

    pub fn resize(&self, cols: JsValue, rows: JsValue) -> Promise {
        let connection = self.0.clone();
        promise(async move {
            let size = [("cols", cols), ("rows", rows)].map(|(name, value)| integer(name, &value, 1.0, 1_000.0));
            let [cols, rows] = size;
            let message = object(&[("type", JsValue::from_str("resize")), ("cols", cols?.into()), ("rows", rows?.into())]);
            connection.send(&message)?;
            Ok(JsValue::UNDEFINED)
        })
    }

    pub fn signal(&self, name: JsValue) -> Promise {
        const NAMES: [&str; 5] = ["SIGINT", "SIGTERM", "SIGKILL", "SIGHUP", "SIGQUIT"];
        let connection = self.0.clone();
        promise(async move {
            let name = if name.is_undefined() { Some("SIGINT".to_owned()) } else { name.as_string() };
            let Some(name) = name.filter(|name| NAMES.contains(&name.as_str())) else {
                return Err(invalid(&["the signal must be one of ", &NAMES.join(", "), "."]));
            };
            connection.send(&object(&[("type", JsValue::from_str("signal")), ("signal", JsValue::from_str(&name))]))?;
            Ok(JsValue::UNDEFINED)
        })
    }

    pub fn receive(&self, timeout: JsValue) -> Promise {
        let connection = self.0.clone();
        promise(async move {
            let stop = Held::after(duration("timeoutMs", &timeout)?);
            connection.receive(&stop).await
        })
    }

    pub fn expect(&self, text: JsValue, timeout: JsValue) -> Promise {
        let connection = self.0.clone();
        promise(async move {
            let text = crate::options::argument("text", &text)?;
            let ms = duration("timeoutMs", &timeout)?.unwrap_or(EXPECT_TIMEOUT);
            let stop = Held::after(Some(ms));
            let mut output = String::new();
            // Where the text may begin: what was looked through is not looked through again.
            let mut from = 0;
            loop {
                if output[from..].contains(&text) {
                    return Ok(JsValue::from_str(&output));
                }
                from = (0..=output.len().saturating_sub(text.len())).rev().find(|at| output.is_char_boundary(*at)).unwrap_or(0);
                let message = connection.receive(&stop).await?;
                if message.is_undefined() && stop.is_fired() {
                    let message = ["The text did not appear within ", &decimal(ms as u64), " ms."].concat();
                    return Err(Thrown::new(Class::CommandTimeout, &message)
                        .suggestion("Raise timeoutMs, or look at the output with receive().")
                        .into());
                }
                if message.is_undefined() {
                    return Err(Thrown::new(Class::Execution, "The terminal ended before the text appeared.").into());
                }
                output.push_str(&get(&message, "data").as_string().unwrap_or_default());
            }
        })
    }

    pub fn close(&self) -> Promise {
        self.0.end(None);
        Promise::resolve(&JsValue::UNDEFINED)
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
