//! One call of one endpoint.

use super::Server;
use super::fields::{Filled, fill};
use super::refusal::{parse_answer, protocol_error, server_error};
use crate::error::{Fault, Result};
use crate::options::{CallOptions, Options, set};
use crate::protocol::base64;
use crate::protocol::failure::{Class, Doing};
use crate::protocol::server::endpoints::{Endpoint, Patience};
use crate::transport::fetch::{Reply, Request, Want, send};
use crate::transport::json::text_in;
use crate::transport::limits::Limits;
use js_sys::Uint8Array;
use wasm_bindgen::{JsCast, JsValue};

/// What a call may take beyond the time that the server was given for it, in ms.
const MARGIN: f64 = 10_000.0;

/// The largest body that a server takes unless its policy says otherwise, in bytes.
const USUAL_LIMIT: u32 = 10 * 1024 * 1024;

/// How long an endpoint's answer may take, in ms.
pub fn patience(server: &Server, endpoint: &Endpoint, args: &Options) -> Result<Option<f64>> {
    Ok(match endpoint.patience {
        Patience::Client => server.timeout,
        Patience::Timeout(default) => Some(args.millis("timeoutMs")?.unwrap_or(default.into()) + MARGIN),
        Patience::Wait => {
            let wait = args.millis("waitMs")?.unwrap_or_default();
            server.timeout.map(|timeout| timeout + wait + MARGIN)
        }
    })
}

/// Sends a call's request.
pub async fn request(server: &Server, endpoint: &Endpoint, filled: &Filled, want: Want, limits: &Limits) -> Result<Reply> {
    let mut headers = server.headers(false);
    if !filled.body.is_undefined() {
        headers.set("content-type", "application/json");
    }
    let both = !server.query.is_empty() && !filled.query.is_empty();
    let query = [server.query.as_str(), if both { "&" } else { "" }, &filled.query].concat();
    let query = if query.is_empty() { query } else { ["?", &query].concat() };
    let request = Request {
        doing: Doing::Server,
        method: endpoint.method,
        base: &server.base,
        path: &filled.path,
        query: &query,
        headers,
        body: filled.body.clone(),
        repeatable: endpoint.is_repeatable(),
        fresh: false,
    };
    send(&server.client, &request, want, limits).await
}

/// Calls an endpoint and gives its answer's object.
pub async fn call(server: &Server, endpoint: &Endpoint, args: &Options) -> Result<JsValue> {
    let filled = fill(endpoint, args)?;
    let limits = Limits::start(&args.call(patience(server, endpoint, args)?)?)?;
    let reply = match request(server, endpoint, &filled, Want::Text, &limits).await {
        Ok(reply) => reply,
        Err(fault) => return Err(server.explain(endpoint.id, too_large_perhaps(endpoint, &filled, fault)).await),
    };
    let answer = parse_answer(&reply.body());
    if !answer.is_object() {
        return Err(protocol_error(endpoint.id, "The server's answer is no JSON object."));
    }
    if let Some(name) = endpoint.bytes {
        let bytes = text_in(&answer, name).and_then(|text| base64::decode(&text));
        let bytes = bytes.ok_or_else(|| protocol_error(endpoint.id, "The server's answer holds no base64 where bytes belong."))?;
        set(answer.unchecked_ref(), name, &Uint8Array::from(&*bytes));
    }
    Ok(answer)
}

/// A server refuses a large body without reading it and closes the connection; who still writes may see the broken connection alone.
fn too_large_perhaps(endpoint: &Endpoint, filled: &Filled, fault: Fault) -> Fault {
    let length = filled.body.dyn_ref::<js_sys::JsString>().map_or(0, js_sys::JsString::length);
    match fault {
        Fault::Network(lost) if length > USUAL_LIMIT => {
            let message = "The connection broke while more than 10 MiB were sent, which is what a server takes unless its policy allows more.";
            let error = server_error(Class::PayloadTooLarge, message, 0, endpoint.id, "", "payload_too_large", "");
            error.cause(&lost.cause).into()
        }
        fault => fault,
    }
}

/// The options of the request that opens a stream.
pub fn opening(server: &Server, args: &Options) -> Result<CallOptions> {
    args.call(server.timeout)
}
