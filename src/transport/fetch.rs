//! One request path for everything: headers, retries, timeouts, aborts, logging, and what a failure was.

use super::guard::Guard;
use super::headers::{Headers, MARK};
use super::json::{get, text_in};
use super::limits::Limits;
use crate::client::Client;
use crate::error::{Answer, Fault, Gateway, Lost, Result};
use crate::protocol::connect::Code;
use crate::protocol::failure::{Doing, short_message};
use js_sys::{Promise, Uint8Array};
use std::ops::Deref;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

#[wasm_bindgen(module = "/src/js/fetch.js")]
extern "C" {
    fn attempt(fetch: &JsValue, limits: &Guard, want: u8, head: &str, body: &JsValue, flags: u8, logger: &JsValue) -> Promise;

    /// An answer.
    #[derive(Clone)]
    pub type RawExchange;
    #[wasm_bindgen(method, getter)]
    pub fn status(this: &RawExchange) -> u16;
    /// Whether the status is a good one; `None` when no answer came.
    #[wasm_bindgen(method, getter)]
    fn ok(this: &RawExchange) -> Option<bool>;
    #[wasm_bindgen(method, getter)]
    fn body(this: &RawExchange) -> JsValue;
    /// The text body's JSON; `undefined` when it is empty. It is kept out of our memory, where large answers would be copied in and out.
    #[wasm_bindgen(method, catch)]
    fn json(this: &RawExchange) -> core::result::Result<JsValue, JsValue>;
    /// Says that the body was read to its end.
    #[wasm_bindgen(method)]
    pub fn finish(this: &RawExchange);
    #[wasm_bindgen(method)]
    fn close(this: &RawExchange);
    /// A header of the answer.
    #[wasm_bindgen(method)]
    pub fn header(this: &RawExchange, name: &str) -> Option<String>;
    /// The body's chunks, whose waits the guard ends; `None` for an answer without a body.
    #[wasm_bindgen(method)]
    pub fn chunks(this: &RawExchange, guard: &Guard) -> Option<Chunks>;

    /// The chunks of a body.
    pub type Chunks;
    /// The next chunk; `undefined` at the end.
    #[wasm_bindgen(method)]
    fn next(this: &Chunks) -> Promise;
    /// Fires the guard with an error of that class when nothing comes for that many looks during a wait.
    #[wasm_bindgen(method, js_name = watchSilence)]
    pub fn watch_silence(this: &Chunks, every: f64, looks: u32, class: &str, message: &str);
    /// Reads what is left.
    #[wasm_bindgen(method)]
    pub fn drain(this: &Chunks);
    /// Wants no more.
    #[wasm_bindgen(method)]
    pub fn cancel(this: &Chunks);
}

/// A request, before it is known how often it is sent.
pub struct Request<'a> {
    pub doing: Doing,
    pub method: &'static str,
    /// The URL in front of the path.
    pub base: &'a str,
    pub path: &'a str,
    /// With its question mark, or empty. Never logged.
    pub query: &'a str,
    pub headers: Headers,
    /// `undefined` for none. A function is called in place of `fetch`: it has the body, and sends it in a way of its own.
    pub body: JsValue,
    /// Whether sending it twice does what sending it once does.
    pub repeatable: bool,
    /// Whether the browser's HTTP cache must stay out of it.
    pub fresh: bool,
}

/// What is wanted of a good answer. `js/fetch.js` knows these by their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Want {
    /// Its body as text.
    Text,
    /// Its body as an `ArrayBuffer`.
    Bytes,
    /// Its body as a `Blob`.
    Blob,
    /// The answer itself, with its body unread.
    Open,
}

impl Chunks {
    /// The next chunk; `None` at the end. The first of the guards is the one that these were made with, the second ends this wait alone.
    pub async fn read(&self, guards: [Option<&Guard>; 2]) -> Result<Option<Uint8Array>> {
        let next = self.next();
        let next = guards[1].map_or(next.clone(), |guard| guard.race(&next));
        match JsFuture::from(next).await {
            Ok(chunk) => Ok(chunk.dyn_into().ok()),
            Err(cause) => Err(match guards.into_iter().flatten().find(|guard| guard.is_fired()) {
                Some(guard) => Fault::Thrown(guard.error()),
                None => Fault::lost(true, cause),
            }),
        }
    }
}

impl Request<'_> {
    /// What `js/fetch.js` is told in one text.
    fn head(&self) -> String {
        [self.method, MARK, self.path, MARK, self.base, MARK, self.query, MARK, self.headers.text()].concat()
    }
}

/// A good answer.
pub struct Reply {
    pub exchange: Exchange,
}

impl Reply {
    /// What was wanted.
    pub fn body(&self) -> JsValue {
        self.exchange.body()
    }

    /// The text body's JSON; `undefined` when it is empty.
    pub fn json(&self) -> Result<JsValue> {
        self.exchange.json().map_err(|cause| match cause.dyn_ref::<js_sys::SyntaxError>() {
            Some(_) => Fault::lost(true, cause),
            None => Fault::Thrown(cause),
        })
    }
}

/// A request that has an answer. Dropping one whose body is unread before [`RawExchange::finish`] closes it on the server.
pub struct Exchange {
    raw: RawExchange,
    unread: bool,
}

impl Deref for Exchange {
    type Target = RawExchange;

    fn deref(&self) -> &RawExchange {
        &self.raw
    }
}

impl Exchange {
    /// The answer for JavaScript, which then closes it.
    pub fn handed_over(self) -> RawExchange {
        let raw = self.raw.clone();
        std::mem::forget(self);
        raw
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        if self.unread {
            self.raw.close();
        }
    }
}

/// The longest wait that a rate limit of the SandboxServer may ask for and get, in ms.
const SERVER_WAIT: f64 = 5_000.0;

/// The longest wait before another attempt, in ms: a longer one is the caller's to plan with.
const LONGEST_WAIT: f64 = 60_000.0;

/// Attempts after the first.
const RETRIES: i32 = 3;

/// Sends a request until it is answered, and again where that is safe and may help.
pub async fn send(client: &Client, request: &Request<'_>, want: Want, limits: &Limits) -> Result<Reply> {
    let (mut repeated, mut attempt) = (false, 0);
    loop {
        let fault = match attempt_once(client, request, want, limits).await {
            Ok(reply) => return Ok(reply),
            Err(fault) => fault,
        };
        let wait = if request.repeatable && attempt < RETRIES { retry_wait(&fault, attempt) } else { None };
        match wait.filter(|ms| *ms < limits.left() && *ms <= LONGEST_WAIT) {
            Some(ms) => limits.sleep(ms).await?,
            None => return Err(fault.after_repeats(repeated)),
        }
        repeated = repeated || fault.status() != Some(429);
        attempt += 1;
    }
}

/// How long to wait before another attempt, in ms, when one may help.
fn retry_wait(fault: &Fault, attempt: i32) -> Option<f64> {
    let backoff = f64::from(100 << attempt) * (0.5 + js_sys::Math::random());
    match fault {
        Fault::Thrown(_) => None,
        Fault::Network(_) => Some(backoff),
        // A gateway that knows the sandbox does not run will say so again.
        Fault::Answer(answer) if answer.gateway.is_some() => None,
        Fault::Answer(answer) => match answer.status {
            // The SandboxServer's limits are the caller's to plan with: only a short wait is nobody's decision.
            429 => answer.retry_after.filter(|ms| answer.doing != Doing::Server || *ms <= SERVER_WAIT),
            503 if answer.doing == Doing::Server => None,
            502..=504 => Some(answer.retry_after.unwrap_or(backoff)),
            _ => None,
        },
    }
}

async fn attempt_once(client: &Client, request: &Request<'_>, want: Want, limits: &Limits) -> Result<Reply> {
    let is_server = request.doing == Doing::Server;
    // Where a redirect leads, the server's token has nothing to do.
    let flags = u8::from(request.fresh) | u8::from(is_server) << 1;
    let head = request.head();
    let answered = attempt(&client.fetch, &limits.guard, want as u8, &head, &request.body, flags, &client.logger);
    let answer: RawExchange = JsFuture::from(answered).await?.unchecked_into();
    match answer.ok() {
        Some(true) => Ok(Reply { exchange: Exchange { raw: answer, unread: want == Want::Open } }),
        Some(false) => Err(Fault::Answer(Box::new(refusal(request.doing, answer.status(), &answer)))),
        None => {
            let said = text_in(&answer, "said").unwrap_or_default();
            let lost = Lost { begun: get(&answer, "begun").is_truthy(), cause: get(&answer, "cause"), said };
            Err(Fault::Network(Box::new(lost)))
        }
    }
}

/// What an answer that is no success says.
fn refusal(doing: Doing, status: u16, answer: &JsValue) -> Answer {
    let field = |name: &str| get(answer, name).as_string();
    let code = doing
        .is_connect()
        .then(|| field("code").and_then(|name| Code::from_name(&name)).unwrap_or_else(|| Code::from_http_status(status)));
    let code = if status == 429 { code.map(|_| Code::ResourceExhausted) } else { code };
    let gateway = match field("fromGateway").as_deref() {
        _ if doing.is_control() => None,
        Some("port") => Some(Gateway::Port),
        Some("paused") => Some(Gateway::Paused),
        Some(_) => Some(Gateway::Sandbox),
        None => None,
    };
    let message = field("message").and_then(|message| short_message(&message));
    let suggestion = field("suggestion");
    let retry_after = get(answer, "retryAfter").as_f64();
    Answer { doing, status, code, message, suggestion, retry_after, gateway, repeated: false, body: get(answer, "body") }
}
