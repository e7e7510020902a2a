//! The SandboxServer's client.
//!
//! | part | what |
//! |---|---|
//! | `js/*.js` | the classes that callers hold: names of methods, names in answers, what is made of several calls |
//! | [`call`] | one call of one endpoint, driven by the table in [`crate::protocol::server::endpoints`] |
//! | [`events`] | endpoints that answer with a stream of events |
//! | [`pty`], [`typing`], [`pty_connection`], [`socket`] | a terminal over WebSocket |
//! | [`sandbox`] | the server of a sandbox, and starting one |
//!
//! Callers make a `ServerClient` with `new`, before the module may be loaded: so that class is JavaScript, and [`ServerCore`] is made by it
//! when the first call needs it.

mod call;
mod events;
mod fields;
mod pty;
mod pty_connection;
mod refusal;
mod sandbox;
mod socket;
mod typing;

use crate::client::Client;
use crate::error::{Fault, Result, invalid};
use crate::options::{Options, argument, object, set, set_text};
use crate::protocol::server::endpoints::{Endpoint, endpoint, is_segment};
use crate::target::{Target, promise};
use js_sys::{Object, Promise};
use std::rc::Rc;
use wasm_bindgen::prelude::*;

pub use sandbox::{terminal, wants_websocket};

/// The default of `timeoutMs`, in ms.
const TIMEOUT: f64 = 30_000.0;

/// A server, and what its requests carry.
pub struct Server {
    client: Rc<Client>,
    /// The URL in front of the endpoints' paths, without a slash at its end.
    base: String,
    /// What the base URL had behind its question mark; every request keeps it.
    query: String,
    /// Where terminals are reached, with the query that belongs to it.
    pty: Option<(String, String)>,
    token: Option<String>,
    headers: Headers,
    /// In ms; `None` for no limit.
    timeout: Option<f64>,
    /// The sandbox that it runs in, when it is one of ours, with its port and that of terminals.
    of: Option<(Rc<Target>, u16, u16)>,
}

impl Server {
    fn headers(&self, port_of_pty: bool) -> Object {
        let headers = match &self.of {
            Some((target, port, pty_port)) => target.port_headers(if port_of_pty { *pty_port } else { *port }),
            None => Object::new(),
        };
        for (name, value) in &self.headers {
            set_text(&headers, name, value);
        }
        if let Some(token) = &self.token {
            set_text(&headers, "authorization", &["Bearer ", token].concat());
        }
        headers
    }

    /// A server at these URLs, with what else callers choose: see [`ServerCore::new`].
    fn new(client: Rc<Client>, urls: Urls, options: &Options, of: Option<(Rc<Target>, u16, u16)>) -> Result<Rc<Self>> {
        let Urls { base, query, pty, pty_query } = urls;
        let token = options.text("token")?.map(checked_token).transpose()?;
        let headers: Headers = options.record("headers")?.unwrap_or_default().into_iter().collect();
        if token.is_some() && headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization")) {
            return Err(invalid(&["token and headers both name an authorization: give one of them."]));
        }
        let timeout = Some(options.millis("timeoutMs")?.unwrap_or(TIMEOUT)).filter(|ms| *ms > 0.0);
        let pty = pty.map(|url| (url, pty_query));
        Ok(Rc::new(Self { client, base, query, pty, token, headers, timeout, of }))
    }
}

/// Where a server is. JavaScript has checked the URLs: they have no query and no slash at their end, and their queries follow apart.
struct Urls {
    base: String,
    query: String,
    pty: Option<String>,
    pty_query: String,
}

/// The side of a `ServerClient` that makes requests.
#[wasm_bindgen(skip_typescript)]
pub struct ServerCore(Rc<Server>);

#[wasm_bindgen]
impl ServerCore {
    /// See [`Urls`].
    #[wasm_bindgen(constructor)]
    pub fn new(
        base: String,
        query: String,
        pty: Option<String>,
        pty_query: String,
        options: JsValue,
    ) -> core::result::Result<Self, JsValue> {
        Fault::throw((|| {
            let options = Options::new(options)?;
            // No cloud stands behind this client: a profile without a key, and no environment is read for it.
            let own = object(&[("provider", object(&[("name", JsValue::from_str("server"))]).into())]);
            for name in ["fetch", "logger", "webSocket"] {
                set(&own, name, &options.get(name)?);
            }
            let client = Rc::new(Client::new(&Options::new(own.into())?)?);
            Ok(Self(Server::new(client, Urls { base, query, pty, pty_query }, &options, None)?))
        })())
    }

    /// Calls an endpoint. `args` holds its fields and the call's options together.
    pub fn call(&self, id: &str, args: JsValue) -> Promise {
        let (server, found) = (self.0.clone(), known(id));
        promise(async move {
            let endpoint = found?;
            call::call(&server, endpoint, &Options::new(args)?).await
        })
    }

    /// A stream of an endpoint's events. It opens with the first step.
    pub fn events(&self, id: &str, args: JsValue) -> core::result::Result<JsValue, JsValue> {
        Fault::throw(known(id).and_then(|endpoint| events::open(&self.0, endpoint, &Options::new(args)?)))
    }

    /// Attaches to a terminal.
    pub fn attach(&self, session: JsValue, options: JsValue) -> Promise {
        let server = self.0.clone();
        promise(async move {
            let session = argument("sessionId", &session)?;
            if !is_segment(&session) {
                return Err(invalid(&["sessionId must be one that pty.create or pty.list gave."]));
            }
            pty::attach(server, session, &Options::new(options)?).await
        })
    }
}

fn known(id: &str) -> Result<&'static Endpoint> {
    endpoint(id).ok_or_else(|| invalid(&["There is no endpoint ", id, "."]))
}

/// Names and values of headers.
type Headers = Vec<(String, String)>;

/// # Errors
/// E0001 for a token that no header can carry. It does not repeat the token.
fn checked_token(token: String) -> Result<String> {
    if token.bytes().all(|byte| byte.is_ascii_graphic()) { Ok(token) } else { Err(invalid(&["token must be printable ASCII."])) }
}
