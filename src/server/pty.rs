//! A terminal over WebSocket: bounded output, and closes that are typed errors. What is typed into it is in [`super::typing`], what callers
//! hold in [`super::pty_connection`].

use super::Server;
use super::pty_connection::PtyConnection;
use super::refusal::server_error;
use super::socket::Socket;
use super::typing::Typing;
use crate::error::{Fault, Result, Thrown};
use crate::options::Options;
use crate::panic::Deferred;
use crate::protocol::failure::{Class, short_message};
use crate::protocol::routing::encode;
use crate::stream::disposable;
use crate::transport::guard::{Bell, Guard};
use crate::transport::json::{number_in, text_in};
use crate::transport::limits::Limits;
use js_sys::{JSON, Object, Promise};
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::VecDeque;
use std::rc::{Rc, Weak};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

#[wasm_bindgen(module = "/src/server/js/answers.js")]
extern "C" {
    /// A message of a terminal as its caller gets it.
    #[wasm_bindgen(js_name = ptyMessage)]
    fn pty_message(text: &str) -> JsValue;
}

/// How much output is held for a caller that does not read, in bytes. A browser's WebSocket cannot be told to wait.
const HELD: usize = 16 * 1024 * 1024;
/// What a message takes besides its text, in bytes: a flood of empty ones is held, too.
const MESSAGE: usize = 128;

/// A terminal that is attached.
pub struct Connection {
    pub session: String,
    socket: OnceCell<Socket>,
    pub pid: Cell<Option<f64>>,
    /// Messages that wait for their reader, each with what it takes in bytes.
    items: RefCell<VecDeque<(JsValue, usize)>>,
    held: Cell<usize>,
    /// Rung when a message or the end has come.
    bell: Bell,
    /// Whether the server has confirmed.
    started: Cell<bool>,
    exited: Cell<bool>,
    ended: Cell<bool>,
    /// Why it ended, unless it ended well.
    error: RefCell<Option<JsValue>>,
    pub closed: Deferred,
    pub typing: Typing,
}

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
    let protocols = match &server.client.relay {
        Some(relay) => JsFuture::from(limits.guard.race(&relay.protocols(&url, &server.headers(true).object()))).await?,
        None => JsValue::UNDEFINED,
    };
    let connection = Connection::open(&server, session, &url, &protocols)?;
    // Refusals are close codes after a successful opening, so only the first message tells that the terminal is there.
    while !connection.started.get() && !connection.ended.get() {
        if let Err(error) = JsFuture::from(limits.guard.race(&connection.bell.rung())).await {
            let _ = connection.end(None);
            return Err(error.into());
        }
    }
    let error = connection.error.borrow().clone();
    match error {
        Some(error) if !connection.started.get() => Err(error.into()),
        _ => Ok(disposable(PtyConnection::new(connection).into())),
    }
}

impl Connection {
    fn open(server: &Server, session: String, url: &str, protocols: &JsValue) -> Result<Rc<Self>> {
        let connection = Rc::new(Self {
            session,
            socket: OnceCell::new(),
            pid: Cell::new(None),
            items: RefCell::default(),
            held: Cell::new(0),
            bell: Bell::default(),
            started: Cell::new(false),
            exited: Cell::new(false),
            ended: Cell::new(false),
            error: RefCell::default(),
            closed: Deferred::new(false),
            typing: Typing::default(),
        });
        let constructor = server.client.web_socket.as_ref().map_or(JsValue::UNDEFINED, JsValue::from);
        // Whoever holds the connection keeps the socket, not the other way round.
        let (one, other) = (Rc::downgrade(&connection), Rc::downgrade(&connection));
        let on_text = Closure::new(move |text: String| {
            if let Some(connection) = Weak::upgrade(&one) {
                connection.take(&text);
            }
        });
        let on_close = Closure::new(move |code: u16, said: String| {
            if let Some(connection) = Weak::upgrade(&other) {
                let _ = connection.end(connection.reason(code, &said));
            }
        });
        let (headers, token) = (server.headers(true).object(), server.token.as_deref());
        let socket = Socket::open(&constructor, url, &headers, token, protocols, on_text, on_close)?;
        let _ = connection.socket.set(socket);
        Ok(connection)
    }

    fn take(&self, text: &str) {
        if self.ended.get() {
            return;
        }
        let message = pty_message(text);
        match text_in(&message, "event").as_deref() {
            Some("started") => {
                self.pid.set(number_in(&message, "pid"));
                self.started.set(true);
            }
            Some("exited") => self.exited.set(true),
            _ => {
                self.started.set(true);
                self.typing.answered(text_in(&message, "data").map_or(0, |data| data.len()));
            }
        }
        let length = text.len() + MESSAGE;
        self.held.set(self.held.get() + length);
        self.items.borrow_mut().push_back((message, length));
        if self.held.get() > HELD {
            let message = "The terminal's output was not read: more than 16 MiB were waiting, and the connection was closed.";
            let error = Thrown::new(Class::SandboxConnection, message);
            let _ = self.end(Some(error.suggestion("Attach again, and read what comes: the shell goes on.").build()));
            return;
        }
        self.bell.ring();
    }

    fn error<'a>(&self, class: Class, status: u16, message: &'a str) -> Thrown<'a> {
        server_error(class, message, status, "pty_connect", "", "", "")
    }

    /// What a close means; `None` for one that was asked for, or that follows the shell's end.
    fn reason(&self, code: u16, said: &str) -> Option<JsValue> {
        let said = short_message(said);
        let said = said.as_deref();
        let (class, status, fallback) = match code {
            4001 => (Class::ServerAuth, 401, "The server refused the token."),
            4003 if said == Some("Endpoint disabled") => (Class::EndpointNotAvailable, 404, ""),
            4003 => (Class::PolicyDenied, 403, "The policy refuses terminals to this token."),
            1008 => (Class::ServerApi, 404, "The server knows no such terminal."),
            1009 => (Class::PayloadTooLarge, 413, "A message was larger than the server takes."),
            1011 => (Class::ServerApi, 500, "The server failed."),
            _ if self.exited.get() => return None,
            1000 | 1005 if self.started.get() => return None,
            _ => {
                let message = "The connection to the terminal was lost, or could not be made.";
                let error = Thrown::new(Class::SandboxConnection, message);
                return Some(
                    error
                        .suggestion(
                            "Check that the server runs and that ptyUrl leads to its port for terminals, then attach again.",
                        )
                        .build(),
                );
            }
        };
        let error = self.error(class, status, said.unwrap_or(fallback));
        let error = match class {
            Class::EndpointNotAvailable => error.detail("capability", &JsValue::from_str("pty_connect")),
            Class::PolicyDenied => error.detail("scope", &JsValue::from_str("terminal:use")),
            _ => error,
        };
        Some(error.build())
    }

    /// Whether it has ended.
    pub fn ended(&self) -> bool {
        self.ended.get()
    }

    /// Ends it; the first reason counts. The promise resolves when the server knows, and has typed what was sent.
    pub fn end(&self, error: Option<JsValue>) -> Promise {
        let confirmed = || self.socket.get().map_or_else(|| Promise::resolve(&JsValue::UNDEFINED), Socket::close);
        if self.ended.replace(true) {
            return confirmed();
        }
        let reason = error.clone().unwrap_or_default();
        *self.error.borrow_mut() = error;
        self.bell.ring();
        self.typing.wake();
        self.closed.settle(false, &reason);
        confirmed()
    }

    /// The next message that is here.
    pub fn pop(&self) -> Option<JsValue> {
        let (message, length) = self.items.borrow_mut().pop_front()?;
        self.held.set(self.held.get() - length);
        if self.exited.get() && self.items.borrow().is_empty() {
            // The server leaves the socket open behind the shell's end.
            let _ = self.end(None);
        }
        Some(message)
    }

    /// The next message; `undefined` after the last, or when `stop` is fired. What went wrong is told once.
    pub async fn receive(&self, stop: &Guard) -> Result<JsValue> {
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

    /// Sends a message.
    ///
    /// # Errors
    /// E5001 when the connection has ended.
    pub fn send(&self, message: &Object) -> Result<()> {
        let text = JSON::stringify(message)?;
        let open = !self.ended.get() && self.socket.get().is_some_and(|socket| socket.send(&text));
        if open { Ok(()) } else { Err(has_ended()) }
    }
}

/// The error for what is done to a connection that has ended.
pub fn has_ended() -> Fault {
    Thrown::new(Class::SandboxConnection, "The terminal's connection has ended.")
        .suggestion("Look at what its closed promise resolved to, and attach again.")
        .into()
}
