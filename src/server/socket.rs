//! A WebSocket to a terminal: gloo-net's, over whichever constructor the runtime or the caller has.

use crate::error::{Result, Thrown};
use crate::protocol::failure::Class;
use futures_core::Stream;
use futures_sink::Sink;
use gloo_net::websocket::events::CloseEvent;
use gloo_net::websocket::futures::WebSocket;
use gloo_net::websocket::{Message, WebSocketError};
use js_sys::{Function, Object};
use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;
use wasm_bindgen::prelude::*;

#[wasm_bindgen(module = "/src/server/js/socket.js")]
extern "C" {
    /// Opens a socket of `constructor`, or of the runtime's; `undefined` where there is none, `null` when it could not be made.
    #[wasm_bindgen(js_name = openSocket)]
    fn open_socket(constructor: &JsValue, url: &str, headers: &Object, token: Option<&str>) -> JsValue;
}

/// A socket. Dropping it closes it.
pub struct Socket(RefCell<Option<WebSocket>>);

/// What comes from a socket.
pub enum Incoming {
    Text(String),
    /// It has closed; without an event when it failed.
    Closed(Option<CloseEvent>),
}

impl Socket {
    /// Opens a socket. The token goes into a header where there can be one, else into the URL.
    pub fn open(constructor: Option<&Function>, url: &str, headers: &Object, token: Option<&str>) -> Result<Self> {
        let constructor = constructor.map_or(JsValue::UNDEFINED, JsValue::from);
        let socket = open_socket(&constructor, url, headers, token);
        if socket.is_undefined() {
            return Err(Thrown::new(Class::CapabilityNotSupported, "This runtime has no WebSocket.")
                .suggestion(
                    "Give one in the option webSocket, such as that of the npm package ws; Node has its own from version 22 on.",
                )
                .into());
        }
        // What it says may hold the URL, and with it the token.
        let failed = || Thrown::new(Class::SandboxConnection, "The terminal's WebSocket could not be made: check ptyUrl.");
        if socket.is_null() {
            return Err(failed().into());
        }
        let socket: web_sys::WebSocket = socket.unchecked_into();
        match WebSocket::try_from(socket) {
            Ok(socket) => Ok(Self(RefCell::new(Some(socket)))),
            Err(_) => Err(failed().into()),
        }
    }

    /// The next message, or the end.
    pub async fn next(&self) -> Incoming {
        poll_fn(|context| {
            let mut socket = self.0.borrow_mut();
            let Some(socket) = socket.as_mut() else { return Poll::Ready(Incoming::Closed(None)) };
            loop {
                return match Pin::new(&mut *socket).poll_next(context) {
                    Poll::Pending => Poll::Pending,
                    Poll::Ready(Some(Ok(Message::Text(text)))) => Poll::Ready(Incoming::Text(text)),
                    Poll::Ready(Some(Ok(Message::Bytes(bytes)))) => {
                        Poll::Ready(Incoming::Text(String::from_utf8_lossy(&bytes).into_owned()))
                    }
                    // The close that follows an error says why.
                    Poll::Ready(Some(Err(WebSocketError::ConnectionError))) => continue,
                    Poll::Ready(Some(Err(WebSocketError::ConnectionClose(event)))) => Poll::Ready(Incoming::Closed(Some(event))),
                    Poll::Ready(_) => Poll::Ready(Incoming::Closed(None)),
                };
            }
        })
        .await
    }

    /// Sends a message, which an open socket takes at once. `false` when it is not open any more.
    pub fn send(&self, text: String) -> bool {
        let mut socket = self.0.borrow_mut();
        socket.as_mut().is_some_and(|socket| Pin::new(socket).start_send(Message::Text(text)).is_ok())
    }

    /// Closes it. Nothing comes any more.
    pub fn close(&self) {
        let socket = self.0.borrow_mut().take();
        drop(socket);
    }
}
