//! A WebSocket to a terminal, over whichever constructor the runtime or the caller has.

use crate::error::{Fault, Result, Thrown};
use crate::protocol::failure::Class;
use js_sys::{Object, Promise};
use wasm_bindgen::prelude::*;

#[wasm_bindgen(module = "/src/server/js/socket.js")]
extern "C" {
    /// Opens a socket of `constructor`, or of the runtime's; `undefined` where there is none, `null` when it could not be made.
    #[wasm_bindgen(js_name = openSocket)]
    fn open_socket(
        constructor: &JsValue,
        url: &str,
        headers: &Object,
        token: Option<&str>,
        protocols: &JsValue,
        on_text: &JsValue,
        on_close: &JsValue,
    ) -> JsValue;

    type Connection;
    #[wasm_bindgen(method)]
    fn send(this: &Connection, text: &JsValue) -> bool;
    #[wasm_bindgen(method)]
    fn close(this: &Connection) -> Promise;
}

/// A socket. Dropping it closes it; its callbacks are not called any more then.
pub struct Socket {
    connection: Connection,
    _on_text: Closure<dyn FnMut(String)>,
    _on_close: Closure<dyn FnMut(u16, String)>,
}

impl Socket {
    /// Opens a socket. The token goes into a header where there can be one, else into the URL; to a relay nothing but `protocols` and the
    /// URL goes. `on_close` gets the code and the reason.
    pub fn open(
        constructor: &JsValue,
        url: &str,
        headers: &Object,
        token: Option<&str>,
        protocols: &JsValue,
        on_text: Closure<dyn FnMut(String)>,
        on_close: Closure<dyn FnMut(u16, String)>,
    ) -> Result<Self> {
        let connection = open_socket(constructor, url, headers, token, protocols, on_text.as_ref(), on_close.as_ref());
        if connection.is_undefined() {
            return Err(Thrown::new(Class::CapabilityNotSupported, "This runtime has no WebSocket.")
                .suggestion(
                    "Give one in the option webSocket, such as that of the npm package ws; Node has its own from version 22 on.",
                )
                .into());
        }
        if connection.is_null() {
            // What it said may hold the URL, and with it the token.
            return Err(Fault::from(Thrown::new(
                Class::SandboxConnection,
                "The terminal's WebSocket could not be made: check ptyUrl.",
            )));
        }
        Ok(Self { connection: connection.unchecked_into(), _on_text: on_text, _on_close: on_close })
    }

    /// Sends a message, which an open socket takes at once. `false` when it is not open any more.
    pub fn send(&self, text: &JsValue) -> bool {
        self.connection.send(text)
    }

    /// Closes it: nothing comes any more. The promise resolves when the server has confirmed, or after a while; it never rejects.
    pub fn close(&self) -> Promise {
        self.connection.close()
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        let _ = self.connection.close();
    }
}
