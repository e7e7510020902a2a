//! The file system of a sandbox.

use crate::error::{Fault, Result, Thrown, invalid, refusal};
use crate::members::{Answer, Args, at_once};
use crate::network::{file_query, file_url};
use crate::options::{LARGEST, Options, argument, object, set};
use crate::protocol::failure::{Class, Doing};
use crate::protocol::routing::{decimal, query};
use crate::protocol::signature::Operation;
use crate::target::Target;
use crate::transport::connect::json;
use crate::transport::fetch::{RawExchange, Request, Want, send};
use crate::transport::limits::Limits;
use crate::transport::runtime::{is_browser, is_edge};
use crate::unary::{EXISTS, GET_INFO, LIST_DIR, MAKE_DIR, MOVE, REMOVE, call};
use js_sys::{Array, Promise, Uint8Array};
use std::rc::Rc;
use wasm_bindgen::prelude::*;
use web_sys::{Blob, ReadableStream, Response};

#[wasm_bindgen(module = "/src/js/shape.js")]
extern "C" {
    #[wasm_bindgen(js_name = entryInfo)]
    pub fn entry_info(wire: &JsValue) -> JsValue;
    #[wasm_bindgen(js_name = entryInfos)]
    pub fn entry_infos(wire: &JsValue) -> JsValue;
    #[wasm_bindgen(js_name = writeInfo)]
    fn write_info(wire: &JsValue, path: &str) -> JsValue;
}

#[wasm_bindgen(module = "/src/js/reading.js")]
extern "C" {
    /// A stream of a body without its first `skip` bytes, and of no more than `most`.
    #[wasm_bindgen(js_name = guardedBody)]
    fn guarded_body(exchange: &RawExchange, signal: &JsValue, body: Body, skip: f64, most: f64) -> JsValue;
    /// A part of a `Blob` or an `ArrayBuffer`.
    fn slice(body: &JsValue, start: f64, end: &JsValue) -> JsValue;
    /// Decodes with a named encoding; throws for one that the runtime does not know.
    #[wasm_bindgen(js_name = textOf, catch)]
    fn decode_text(bytes: &JsValue, encoding: &str) -> core::result::Result<JsValue, JsValue>;
}

/// The file system of a sandbox.
#[wasm_bindgen(skip_typescript)]
pub struct Files(Rc<Target>);

impl Files {
    pub fn new(target: Rc<Target>) -> Self {
        Self(target)
    }
}

#[wasm_bindgen]
impl Files {
    /// See [`crate::members`].
    #[wasm_bindgen(js_name = __call)]
    pub fn call(&self, member: u32, args: &Array) -> Answer {
        let (target, args) = (&self.0, Args(args));
        let of = target.clone();
        let [first, second] = args.pair();
        let nothing = JsValue::UNDEFINED;
        Ok(match member {
            0 => read_promise(target, first, second, None),
            1 => read_promise(target, first, second, Some("bytes")),
            2 => call(target, &LIST_DIR, [first, nothing], second),
            3 => call(target, &EXISTS, [first, nothing], second),
            4 => call(target, &GET_INFO, [first, nothing], second),
            5 => call(target, &MAKE_DIR, [first, nothing], second),
            6 => call(target, &MOVE, [first, second], args.get(2)),
            7 => call(target, &REMOVE, [first, nothing], second),
            8 => target.promise(async move { crate::watch::watch(&of, &first, &Options::new(second)?).await }),
            9 => return at_once(download_url(target, &first, second)),
            10 => return at_once(upload_url(target, &first, second)),
            // What `js/upload.js` needs.
            11 => {
                let (headers, options) = (args.get(2).as_string().unwrap_or_default(), args.get(3));
                target.promise(async move { put(&of, &first, second, &headers, &Options::new(options)?).await })
            }
            12 => {
                let options = args.get(2);
                target.promise(async move { compose(&of, first, &second, &Options::new(options)?).await })
            }
            13 => return at_once(check(target, &first, second).map(|()| nothing)),
            14 => {
                let part = |value: JsValue| value.as_f64().unwrap_or_default() as u32;
                return Ok(target.envd_is_older([0, part(first), part(second)]).into());
            }
            _ => return Ok((target.client.has_own_fetch() || target.is_relayed()).into()),
        }
        .into())
    }
}

/// What would be wrong with a call of this path and these options.
fn check(target: &Target, path: &JsValue, options: JsValue) -> Result<()> {
    argument("path", path)?;
    let options = Options::new(options)?;
    options.text("user")?;
    target.call(&options).map(drop)
}

pub fn download_url(target: &Target, path: &JsValue, options: JsValue) -> Result<String> {
    file_url(target, Operation::Read, Some(&argument("path", path)?), &Options::new(options)?)
}

pub fn upload_url(target: &Target, path: &JsValue, options: JsValue) -> Result<String> {
    let path = if path.is_undefined() { None } else { Some(argument("path", path)?) };
    file_url(target, Operation::Write, path.as_deref(), &Options::new(options)?)
}

fn read_promise(target: &Rc<Target>, path: JsValue, options: JsValue, format: Option<&'static str>) -> Promise {
    let of = target.clone();
    target.promise(async move { read(&of, &path, &Options::new(options)?, format).await })
}

async fn read(target: &Rc<Target>, path: &JsValue, options: &Options, format: Option<&str>) -> Result<JsValue> {
    let path = argument("path", path)?;
    let user = options.text("user")?;
    let encoding = options.text("encoding")?;
    let given = options.string("format")?;
    let format = format.or(given.as_deref()).unwrap_or("text");
    let want = match format {
        "text" | "bytes" => Want::Bytes,
        "blob" => Want::Blob,
        "stream" => Want::Open,
        _ => return Err(refusal("format must be \"text\", \"bytes\", \"blob\" or \"stream\".")),
    };
    let start = options.integer("start", 0.0, LARGEST)?;
    let end = options.integer("end", 0.0, LARGEST)?;
    let from = start.unwrap_or_default();
    if end.is_some_and(|end| end < from) {
        return Err(refusal("end must not be smaller than start."));
    }
    let in_part = start.is_some() || end.is_some();
    let call = target.call(options)?;
    let limits = Limits::start(&call)?;
    // In a page a header costs a preflight for every URL; a signature costs nothing.
    let signed = is_browser() && target.client.signed_urls && target.envd_token.is_some();
    let (query, mut headers) = if signed {
        (
            file_query(target, Operation::Read, Some(&path), user.as_deref(), None),
            target.routing_headers(crate::protocol::routing::ENVD_PORT),
        )
    } else {
        (query(&[("path", Some(&path)), ("username", user.as_deref())]), target.envd_headers(None))
    };
    if in_part {
        // Of a part without a byte one is asked for and left out: whether there is such a file is to be known all the same.
        let last = end.map(|end| decimal((end - 1.0).max(from) as u64)).unwrap_or_default();
        headers.set("range", &["bytes=", &decimal(from as u64), "-", &last].concat());
    }
    let request = Request {
        doing: Doing::Files,
        method: "GET",
        base: target.envd_url(),
        path: "/files",
        query: &query,
        headers,
        body: JsValue::UNDEFINED,
        repeatable: true,
        // A file that was rewritten must not come from the browser's cache; workerd has none and rejects the field.
        fresh: !is_edge(),
    };
    let (body, exchange) = match send(&target.client, &request, want, &limits).await {
        Ok(reply) => (reply.body(), Some(reply.exchange)),
        // The part begins behind the file's end.
        Err(fault) if in_part && fault.status() == Some(416) => (empty(want)?, None),
        Err(fault) => return Err(fault),
    };
    // What a server that knows no ranges answers, and any server for an empty file.
    let is_whole = exchange.as_ref().is_none_or(|exchange| exchange.status() != 206);
    let skip = if in_part && is_whole { from } else { 0.0 };
    let most = end.map_or(f64::INFINITY, |end| end - from);
    let body = match want {
        Want::Bytes | Want::Blob if in_part => slice(&body, skip, &JsValue::from_f64(skip + most)),
        _ => body,
    };
    match format {
        "bytes" => Ok(Uint8Array::new(&body).into()),
        "text" => {
            let encoding = encoding.as_deref().unwrap_or("utf-8");
            decode_text(&body, encoding).map_err(|_| invalid(&["encoding is none that this runtime knows: ", encoding, "."]))
        }
        "stream" => match exchange {
            Some(exchange) => {
                let signal = call.signal.map_or(JsValue::UNDEFINED, JsValue::from);
                Ok(guarded_body(&exchange.handed_over(), &signal, Body(target.clone()), skip, most))
            }
            None => Ok(body),
        },
        _ => Ok(body),
    }
}

/// What a part without bytes reads as.
fn empty(want: Want) -> Result<JsValue> {
    Ok(match want {
        Want::Bytes => js_sys::ArrayBuffer::new(0).into(),
        Want::Blob => Blob::new()?.into(),
        _ => Response::new_with_opt_str(Some(""))?.body().map(JsValue::from).unwrap_or_default(),
    })
}

/// What says why a body that was handed to the caller broke off.
#[wasm_bindgen(skip_typescript)]
pub struct Body(Rc<Target>);

#[wasm_bindgen]
impl Body {
    /// The error for a read that failed.
    pub fn fail(&self, cause: JsValue) -> Promise {
        let target = self.0.clone();
        crate::target::promise(async move { Ok(target.explain(Fault::lost(true, cause)).await) })
    }
}

async fn put(target: &Target, path: &JsValue, body: JsValue, extra: &str, options: &Options) -> Result<JsValue> {
    let path = argument("path", path)?;
    let user = options.text("user")?;
    let limits = Limits::start(&target.call(options)?)?;
    let mut headers = target.envd_headers(None);
    headers.add(extra);
    let request = Request {
        doing: Doing::Files,
        method: "POST",
        base: target.envd_url(),
        path: "/files",
        query: &query(&[("path", Some(&path)), ("username", user.as_deref())]),
        headers,
        // The same bytes over the same file are the same file; a stream can be read once.
        repeatable: !body.is_instance_of::<ReadableStream>(),
        body,
        fresh: false,
    };
    let reply = send(&target.client, &request, Want::Text, &limits).await?;
    let written = reply.json()?;
    if js_sys::Array::is_array(&written) && written.unchecked_ref::<js_sys::Array>().length() == 0 {
        return Err(Thrown::new(Class::FileOperation, "The sandbox wrote no file.").into());
    }
    Ok(write_info(&written, &path))
}

async fn compose(target: &Target, sources: JsValue, path: &JsValue, options: &Options) -> Result<JsValue> {
    let path = argument("path", path)?;
    let user = options.text("user")?;
    let limits = Limits::start(&target.call(options)?)?;
    let message = object(&[("source_paths", sources), ("destination", JsValue::from_str(&path))]);
    if let Some(user) = &user {
        set(&message, "username", &JsValue::from_str(user));
    }
    let mut headers = target.envd_headers(None);
    headers.set("content-type", "application/json");
    let request = Request {
        doing: Doing::Files,
        method: "POST",
        base: target.envd_url(),
        path: "/files/compose",
        query: "",
        headers,
        body: json(&message)?,
        // The first time deletes the sources.
        repeatable: false,
        fresh: false,
    };
    Ok(write_info(&send(&target.client, &request, Want::Text, &limits).await?.json()?, &path))
}
