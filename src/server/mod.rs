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

use crate::client::{Client, is_header};
use crate::error::{Fault, Result, invalid, refusal};
use crate::members::{Answer, Args, at_once};
use crate::options::{Options, argument, object, set};
use crate::protocol::server::endpoints::{Endpoint, endpoint, is_segment};
use crate::target::{Target, promise};
use crate::transport::headers::Headers;
use js_sys::Array;
use std::rc::Rc;
use wasm_bindgen::prelude::*;

pub use sandbox::{client, start, terminal, wants_websocket};

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
    headers: Vec<(String, String)>,
    /// In ms; `None` for no limit.
    timeout: Option<f64>,
    /// The sandbox that it runs in, when it is one of ours, with its port and that of terminals.
    of: Option<(Rc<Target>, u16, u16)>,
}

impl Server {
    fn headers(&self, port_of_pty: bool) -> Headers {
        let mut headers = match &self.of {
            Some((target, port, pty_port)) => target.port_headers(if port_of_pty { *pty_port } else { *port }),
            None => Headers::default(),
        };
        for (name, value) in &self.headers {
            headers.set(name, value);
        }
        if let Some(token) = &self.token {
            headers.set("authorization", &["Bearer ", token].concat());
        }
        headers
    }

    /// A server at these URLs, with what else callers choose: see [`ServerCore::new`].
    fn new(client: Rc<Client>, urls: Urls, options: &Options, of: Option<(Rc<Target>, u16, u16)>) -> Result<Rc<Self>> {
        let Urls { base, query, pty, pty_query } = urls;
        let token = options.text("token")?.map(checked_token).transpose()?;
        let headers = options.record("headers")?.unwrap_or_default();
        if !headers.iter().all(|(name, value)| is_header(name, value)) {
            return Err(refusal("headers holds a name or a value that no header can carry."));
        }
        if token.is_some() && headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization")) {
            return Err(refusal("token and headers both name an authorization: give one of them."));
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

impl Urls {
    /// The first four arguments.
    fn read(args: &Array) -> Self {
        let text = |at| args.get(at).as_string();
        let known = |at| text(at).unwrap_or_default();
        Self { base: known(0), query: known(1), pty: text(2), pty_query: known(3) }
    }
}

/// The side of a `ServerClient` that makes requests.
#[wasm_bindgen(skip_typescript)]
pub struct ServerCore(Rc<Server>);

#[wasm_bindgen]
impl ServerCore {
    /// See [`Urls::read`]; options follow.
    #[wasm_bindgen(constructor)]
    pub fn new(args: &Array) -> core::result::Result<Self, JsValue> {
        Fault::throw((|| {
            let options = Options::new(args.get(4))?;
            // No cloud stands behind this client: a profile without a key, and no environment is read for it.
            let own = object(&[("provider", object(&[("name", JsValue::from_str("server"))]).into())]);
            for name in ["fetch", "logger", "webSocket"] {
                set(&own, name, &options.get(name)?.unwrap_or_default());
            }
            let client = Rc::new(Client::new(&Options::new(own.into())?)?);
            Ok(Self(Server::new(client, Urls::read(args), &options, None)?))
        })())
    }

    /// See [`crate::members`].
    #[wasm_bindgen(js_name = __call)]
    pub fn call(&self, member: u32, args: &Array) -> Answer {
        let server = self.0.clone();
        let [first, second] = Args(args).pair();
        Ok(match member {
            // Calls an endpoint. The second argument holds its fields and the call's options together.
            0 => promise(async move { call::call(&server, &known(&first)?, &Options::new(second)?).await }).into(),
            // A stream of an endpoint's events. It opens with the first step.
            1 => return at_once(known(&first).and_then(|endpoint| events::open(&server, endpoint, &Options::new(second)?))),
            // Attaches to a terminal.
            _ => promise(async move {
                let session = argument("sessionId", &first)?;
                if !is_segment(&session) {
                    return Err(refusal("sessionId must be one that pty.create or pty.list gave."));
                }
                pty::attach(server, session, &Options::new(second)?).await
            })
            .into(),
        })
    }
}

fn known(id: &JsValue) -> Result<Endpoint> {
    let id = &*id.as_string().unwrap_or_default();
    endpoint(id).ok_or_else(|| invalid(&["There is no endpoint ", id, "."]))
}

/// # Errors
/// E0001 for a token that no header can carry. It does not repeat the token.
fn checked_token(token: String) -> Result<String> {
    if token.bytes().all(|byte| byte.is_ascii_graphic()) { Ok(token) } else { Err(refusal("token must be printable ASCII.")) }
}
