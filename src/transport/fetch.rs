//! One request path for everything: headers, retries, timeouts, aborts, logging, and what a failure was.

use super::guard::Guard;
use super::limits::Limits;
use super::runtime::{log, now, retry_after_ms};
use crate::client::Client;
use crate::error::{Answer, Fault, Gateway, Result};
use crate::options::set;
use crate::protocol::connect::Code;
use crate::protocol::failure::{Doing, short_message};
use js_sys::{Function, JSON, Object, Promise, Reflect};
use std::cell::Cell;
use wasm_bindgen::prelude::*;
use web_sys::{AbortController, Response};

#[wasm_bindgen(module = "/src/js/shape.js")]
extern "C" {
    #[wasm_bindgen(js_name = errorBody)]
    fn error_body(text: &str) -> JsValue;
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
    pub headers: Object,
    /// `undefined` for none. A function is called in place of `fetch`: it has the body, and sends it in a way of its own.
    pub body: JsValue,
    /// Whether sending it twice does what sending it once does.
    pub repeatable: bool,
    /// Whether the browser's HTTP cache must stay out of it.
    pub fresh: bool,
}

/// What is wanted of a good answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Want {
    /// That it is good.
    Nothing,
    /// Its body as text.
    Text,
    /// Its body as an `ArrayBuffer`.
    Bytes,
    /// Its body as a `Blob`.
    Blob,
    /// The answer itself, with its body unread.
    Open,
}

/// A good answer.
pub struct Reply {
    pub exchange: Exchange,
    /// What was wanted.
    pub body: JsValue,
}

impl Reply {
    /// The text body's JSON; `undefined` when it is empty.
    pub fn json(&self) -> Result<JsValue> {
        match self.body.as_string() {
            Some(text) if !text.trim().is_empty() => JSON::parse(&text).map_err(|cause| Fault::Network { begun: true, cause }),
            _ => Ok(JsValue::UNDEFINED),
        }
    }
}

/// A request that has an answer. Dropping it before [`Exchange::finish`] closes it on the server.
pub struct Exchange {
    pub response: Response,
    pending: Pending,
}

impl Exchange {
    /// Says that the body was read to its end.
    pub fn finish(&self) {
        self.pending.done.set(true);
    }
}

/// A request that is aborted unless it is done.
struct Pending {
    controller: AbortController,
    done: Cell<bool>,
}

impl Drop for Pending {
    fn drop(&mut self) {
        if !self.done.get() {
            self.controller.abort();
        }
    }
}

/// The longest wait that a rate limit of the SandboxServer may ask for and get, in ms.
const SERVER_WAIT: f64 = 5_000.0;

/// Attempts after the first.
const RETRIES: i32 = 3;

/// Sends a request until it is answered, and again where that is safe and may help.
pub async fn send(client: &Client, request: &Request<'_>, want: Want, limits: &Limits) -> Result<Reply> {
    let (mut repeated, mut attempt) = (false, 0);
    loop {
        let fault = match attempt_once(client, request, want, limits).await {
            Ok((exchange, body)) => return Ok(Reply { exchange, body }),
            Err(fault) => fault,
        };
        let wait = if request.repeatable && attempt < RETRIES { retry_wait(&fault, attempt) } else { None };
        match wait.filter(|ms| *ms < limits.left()) {
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
        Fault::Network { .. } => Some(backoff),
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

async fn attempt_once(client: &Client, request: &Request<'_>, want: Want, limits: &Limits) -> Result<(Exchange, JsValue)> {
    let pending = Pending { controller: AbortController::new()?, done: Cell::new(false) };
    let init = Object::new();
    set(&init, "method", &JsValue::from_str(request.method));
    set(&init, "headers", &request.headers);
    set(&init, "signal", &pending.controller.signal());
    let sender = request.body.dyn_ref::<Function>();
    if !request.body.is_undefined() && sender.is_none() {
        set(&init, "body", &request.body);
        if request.body.is_instance_of::<web_sys::ReadableStream>() {
            set(&init, "duplex", &JsValue::from_str("half"));
        }
    }
    if request.fresh {
        set(&init, "cache", &JsValue::from_str("no-store"));
    }
    if request.doing == Doing::Server {
        // Where a redirect leads, the server's token has nothing to do.
        set(&init, "redirect", &JsValue::from_str("manual"));
    }
    let started = now();
    let url = [request.base, request.path, request.query].concat();
    let fetched = match sender {
        Some(sender) => sender.call2(&JsValue::UNDEFINED, &JsValue::from_str(&url), &init).map(JsCast::unchecked_into),
        None => client.fetch(&url, &init),
    };
    let answered = match fetched {
        Ok(promise) => limits.guard.promise(promise).await,
        Err(error) => Err(super::guard::Stop::Failed(error)),
    };
    let logged = |status: u16| {
        if let Some(logger) = &client.logger {
            log(logger, !(200..400).contains(&status), request.method, request.path, status, now() - started);
        }
    };
    let response: Response = match answered {
        Ok(response) => response.unchecked_into(),
        Err(stop) => {
            logged(0);
            return Err(stop.into());
        }
    };
    limits.begun.set(true);
    logged(response.status());
    let exchange = Exchange { response, pending };
    if !exchange.response.ok() {
        return Err(Fault::Answer(refusal(request.doing, exchange, limits).await?));
    }
    let body = match want {
        Want::Open => return Ok((exchange, JsValue::UNDEFINED)),
        Want::Nothing | Want::Text => exchange.response.text(),
        Want::Bytes => exchange.response.array_buffer(),
        Want::Blob => exchange.response.blob(),
    };
    let body = read(body?, &limits.guard).await?;
    exchange.finish();
    Ok((exchange, body))
}

/// Waits for a body, or a part of one. What breaks off here had begun.
pub async fn read(body: Promise, guard: &Guard) -> Result<JsValue> {
    guard.promise(body).await.map_err(|stop| match stop.into() {
        Fault::Network { cause, .. } => Fault::Network { begun: true, cause },
        fault => fault,
    })
}

/// What an answer that is no success says.
async fn refusal(doing: Doing, exchange: Exchange, limits: &Limits) -> Result<Answer> {
    let status = exchange.response.status();
    let retry_after = exchange.response.headers().get("retry-after").ok().flatten().and_then(|value| retry_after_ms(&value));
    // A body that breaks off leaves the status, which says most of it.
    let text = match read(exchange.response.text()?, &limits.guard).await {
        Ok(text) => text.as_string().unwrap_or_default(),
        Err(Fault::Network { .. }) => String::new(),
        Err(fault) => return Err(fault),
    };
    exchange.finish();
    let body = error_body(&text);
    let field = |name: &str| Reflect::get(&body, &JsValue::from_str(name)).ok().and_then(|value| value.as_string());
    let code = doing
        .is_connect()
        .then(|| field("code").and_then(|name| Code::from_name(&name)).unwrap_or_else(|| Code::from_http_status(status)));
    let code = if status == 429 { code.map(|_| Code::ResourceExhausted) } else { code };
    let gateway = match field("fromGateway").as_deref() {
        Some("port") if !doing.is_control() => Some(Gateway::Port),
        Some("sandbox") if !doing.is_control() => Some(Gateway::Sandbox),
        _ => None,
    };
    let kept = if doing == Doing::Server { JsValue::from_str(&text) } else { JsValue::UNDEFINED };
    let message = short_message(&field("message").unwrap_or(text));
    Ok(Answer { doing, status, code, message, retry_after, gateway, repeated: false, body: kept })
}
