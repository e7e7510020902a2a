//! Connect calls to a sandbox's envd: unary ones, and opening streams.

use super::events::EventStream;
use super::fetch::{Exchange, Request, Want, send};
use super::headers::Headers;
use super::limits::Limits;
use super::{json as codec, slots};
use crate::client::Codec;
use crate::error::{Fault, Result};
use crate::protocol::envelope::write_envelope;
use crate::protocol::failure::Doing;
use crate::protocol::requests::{self, Start};
use crate::protocol::routing::decimal;
use crate::target::Target;
use js_sys::{JSON, Object, Uint8Array};
use wasm_bindgen::JsValue;

/// Seconds between the keepalive messages that are asked for.
pub const KEEPALIVE_SECONDS: u32 = 50;

/// A unary call: its method with the service in front, and its message as JSON.
pub struct Unary<'a> {
    pub doing: Doing,
    pub method: &'static str,
    pub message: JsValue,
    /// The user it is done as.
    pub user: Option<&'a str>,
    pub repeatable: bool,
}

/// A message as JSON.
pub fn json(message: &Object) -> Result<JsValue> {
    Ok(JSON::stringify(message)?.into())
}

/// Makes a unary call in JSON, which JavaScript writes and reads.
pub async fn unary(target: &Target, call: Unary<'_>, limits: &Limits) -> Result<JsValue> {
    let mut headers = target.envd_headers(call.user);
    headers.set("content-type", "application/json");
    let request = request(target.envd_url(), call.doing, call.method, headers, call.message, call.repeatable);
    send(&target.client, &request, Want::Text, limits).await?.json()
}

/// Sends input as bytes where the platform's envd takes them so. Never repeated: input typed twice is not the same input.
pub async fn send_input(target: &Target, pid: u32, is_pty: bool, data: &[u8], limits: &Limits) -> Result<()> {
    let mut headers = target.envd_headers(None);
    let (content_type, body) = match target.client.codec.get() {
        Codec::Proto => ("application/proto", Uint8Array::from(&*requests::send_input(pid, is_pty, data)).into()),
        Codec::Json => ("application/json", json(&codec::send_input(pid, is_pty, data))?),
    };
    headers.set("content-type", content_type);
    let request = request(target.envd_url(), Doing::Process, "/process.Process/SendInput", headers, body, false);
    send(&target.client, &request, Want::Text, limits).await.map(drop)
}

/// What opens a stream.
pub enum Opening {
    Start(Start),
    /// The process of this id.
    Connect(u32),
    Watch {
        path: String,
        recursive: bool,
        include_entry: bool,
        network_mounts: bool,
    },
}

impl Opening {
    fn method(&self) -> &'static str {
        match self {
            Self::Start(_) => "/process.Process/Start",
            Self::Connect(_) => "/process.Process/Connect",
            Self::Watch { .. } => "/filesystem.Filesystem/WatchDir",
        }
    }

    fn doing(&self) -> Doing {
        match self {
            Self::Start(_) | Self::Connect(_) => Doing::Process,
            Self::Watch { .. } => Doing::Filesystem,
        }
    }

    fn message(&self, codec: Codec) -> Result<Vec<u8>> {
        if codec == Codec::Json {
            return Ok(String::from(JSON::stringify(&codec::opening(self))?).into_bytes());
        }
        Ok(match self {
            Self::Start(start) => start.encode(),
            Self::Connect(pid) => requests::connect(*pid),
            Self::Watch { path, recursive, include_entry, network_mounts } => {
                requests::watch_dir(path, *recursive, *include_entry, *network_mounts)
            }
        })
    }
}

/// Opens a stream. `timeout` in ms goes to the server, which ends the process with it.
pub async fn open(
    target: &Target,
    opening: &Opening,
    user: Option<&str>,
    timeout: Option<f64>,
    limits: &Limits,
) -> Result<EventStream> {
    let (base, slot) = slots::acquire(&target.sandbox_url, target.envd_url())?;
    let codec = target.client.codec.get();
    let (exchange, codec) = match open_as(target, &base, opening, user, timeout, codec, limits).await {
        Err(fault) if fault.status() == Some(415) => {
            let other = codec.other();
            let exchange = open_as(target, &base, opening, user, timeout, other, limits).await?;
            target.client.codec.set(other);
            (exchange, other)
        }
        opened => (opened?, codec),
    };
    EventStream::new(exchange, opening.doing(), codec == Codec::Json, slot)
}

async fn open_as(
    target: &Target,
    base: &str,
    opening: &Opening,
    user: Option<&str>,
    timeout: Option<f64>,
    codec: Codec,
    limits: &Limits,
) -> Result<Exchange> {
    let mut headers = target.envd_headers(user);
    let content_type = match codec {
        Codec::Proto => "application/connect+proto",
        Codec::Json => "application/connect+json",
    };
    headers.set("content-type", content_type);
    headers.set("keepalive-ping-interval", &decimal(KEEPALIVE_SECONDS.into()));
    // A timeout of 0 would be an immediate deadline, and the process would run on; more digits than ten are refused.
    if let Some(ms) = timeout.filter(|ms| *ms >= 1.0 && *ms <= 9_999_999_999.0) {
        headers.set("connect-timeout-ms", &decimal(ms.ceil() as u64));
    }
    let mut body = Vec::new();
    write_envelope(&mut body, 0, &opening.message(codec)?);
    let body = Uint8Array::from(&*body).into();
    // Starting is never repeated; listening and watching are, but whoever does that also starts anew what it knows.
    let repeatable = !matches!(opening, Opening::Start(_));
    let request = request(base, opening.doing(), opening.method(), headers, body, repeatable);
    send(&target.client, &request, Want::Open, limits).await.map(|reply| reply.exchange)
}

fn request<'a>(base: &'a str, doing: Doing, path: &'a str, headers: Headers, body: JsValue, repeatable: bool) -> Request<'a> {
    Request { doing, method: "POST", base, path, query: "", headers, body, repeatable, fresh: false }
}

/// What a stream that was cut off means.
pub fn cut_off() -> Fault {
    Fault::lost(true, JsValue::UNDEFINED)
}
