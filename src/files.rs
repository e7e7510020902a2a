//! The file system of a sandbox.

use crate::error::{Fault, Result, Thrown, invalid};
use crate::network::{file_query, file_url};
use crate::options::{Options, argument, set_text};
use crate::protocol::failure::{Class, Doing};
use crate::protocol::routing::query;
use crate::protocol::signature::Operation;
use crate::target::Target;
use crate::transport::fetch::{RawExchange, Request, Want, send};
use crate::transport::limits::Limits;
use crate::transport::runtime::{is_browser, is_edge, streams_uploads};
use crate::unary::{EXISTS, GET_INFO, LIST_DIR, MAKE_DIR, MOVE, REMOVE, call};
use js_sys::{Promise, Uint8Array};
use std::rc::Rc;
use wasm_bindgen::prelude::*;
use web_sys::{Blob, FormData, ReadableStream};

#[wasm_bindgen(module = "/src/js/shape.js")]
extern "C" {
    #[wasm_bindgen(js_name = entryInfo)]
    pub fn entry_info(wire: &JsValue) -> JsValue;
    #[wasm_bindgen(js_name = entryInfos)]
    pub fn entry_infos(wire: &JsValue) -> JsValue;
    #[wasm_bindgen(js_name = writeInfo)]
    fn write_info(wire: &JsValue, path: &str) -> JsValue;
}

#[wasm_bindgen(module = "/src/js/stream.js")]
extern "C" {
    #[wasm_bindgen(js_name = guardedBody)]
    fn guarded_body(exchange: &RawExchange, signal: &JsValue, body: Body) -> JsValue;
    /// All bytes of a body, as a `Blob`.
    #[wasm_bindgen(js_name = collectBlob)]
    fn collect_blob(body: &JsValue) -> Promise;
    /// Decodes with a named encoding; throws for one that the runtime does not know.
    #[wasm_bindgen(js_name = textOf, catch)]
    fn decode_text(bytes: &JsValue, encoding: &str) -> core::result::Result<JsValue, JsValue>;
}

/// The first envd that takes a file's bytes as the body of a request; older ones take forms.
const RAW_UPLOADS: [u32; 3] = [0, 5, 7];

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
    pub fn read(&self, path: JsValue, options: JsValue) -> Promise {
        read_promise(&self.0, path, options, None)
    }

    #[wasm_bindgen(js_name = readBytes)]
    pub fn read_bytes(&self, path: JsValue, options: JsValue) -> Promise {
        read_promise(&self.0, path, options, Some("bytes"))
    }

    pub fn write(&self, path: JsValue, data: JsValue, options: JsValue) -> Promise {
        let target = self.0.clone();
        self.0.promise(async move { write(&target, &path, data, &Options::new(options)?).await })
    }

    pub fn list(&self, path: JsValue, options: JsValue) -> Promise {
        call(&self.0, &LIST_DIR, [path, JsValue::UNDEFINED], options)
    }

    pub fn exists(&self, path: JsValue, options: JsValue) -> Promise {
        call(&self.0, &EXISTS, [path, JsValue::UNDEFINED], options)
    }

    #[wasm_bindgen(js_name = getInfo)]
    pub fn get_info(&self, path: JsValue, options: JsValue) -> Promise {
        call(&self.0, &GET_INFO, [path, JsValue::UNDEFINED], options)
    }

    #[wasm_bindgen(js_name = makeDir)]
    pub fn make_dir(&self, path: JsValue, options: JsValue) -> Promise {
        call(&self.0, &MAKE_DIR, [path, JsValue::UNDEFINED], options)
    }

    #[wasm_bindgen(js_name = move)]
    pub fn move_entry(&self, source: JsValue, destination: JsValue, options: JsValue) -> Promise {
        call(&self.0, &MOVE, [source, destination], options)
    }

    pub fn remove(&self, path: JsValue, options: JsValue) -> Promise {
        call(&self.0, &REMOVE, [path, JsValue::UNDEFINED], options)
    }

    pub fn watch(&self, path: JsValue, options: JsValue) -> Promise {
        let target = self.0.clone();
        self.0.promise(async move { crate::watch::watch(&target, &path, &Options::new(options)?).await })
    }

    #[wasm_bindgen(js_name = downloadUrl)]
    pub fn download_url(&self, path: JsValue, options: JsValue) -> core::result::Result<String, JsValue> {
        Fault::throw(download_url(&self.0, &path, options))
    }

    #[wasm_bindgen(js_name = uploadUrl)]
    pub fn upload_url(&self, path: JsValue, options: JsValue) -> core::result::Result<String, JsValue> {
        Fault::throw(upload_url(&self.0, &path, options))
    }
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
        _ => return Err(invalid(&["format must be \"text\", \"bytes\", \"blob\" or \"stream\"."])),
    };
    let call = target.call(options)?;
    let limits = Limits::start(&call)?;
    // In a page a header costs a preflight for every URL; a signature costs nothing.
    let signed = is_browser() && target.client.signed_urls && target.envd_token.is_some();
    let (query, headers) = if signed {
        (
            file_query(target, Operation::Read, Some(&path), user.as_deref(), None),
            target.routing_headers(crate::protocol::routing::ENVD_PORT),
        )
    } else {
        (query(&[("path", Some(&path)), ("username", user.as_deref())]), target.envd_headers(None))
    };
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
    let reply = send(&target.client, &request, want, &limits).await?;
    match format {
        "bytes" => Ok(Uint8Array::new(&reply.body).into()),
        "text" => {
            let encoding = encoding.as_deref().unwrap_or("utf-8");
            decode_text(&reply.body, encoding).map_err(|_| invalid(&["encoding is none that this runtime knows: ", encoding, "."]))
        }
        "stream" => {
            let signal = call.signal.map_or(JsValue::UNDEFINED, JsValue::from);
            Ok(guarded_body(&reply.exchange.handed_over(), &signal, Body(target.clone())))
        }
        _ => Ok(reply.body),
    }
}

/// What says why a body that was handed to the caller broke off.
#[wasm_bindgen(skip_typescript)]
pub struct Body(Rc<Target>);

#[wasm_bindgen]
impl Body {
    /// The error for a read that failed.
    pub fn fail(&self, cause: JsValue) -> Promise {
        let target = self.0.clone();
        crate::target::promise(async move { Ok(target.explain(Fault::Network { begun: true, cause }).await) })
    }
}

async fn write(target: &Target, path: &JsValue, data: JsValue, options: &Options) -> Result<JsValue> {
    let path = argument("path", path)?;
    let user = options.text("user")?;
    let is_stream = data.is_instance_of::<ReadableStream>();
    let is_buffer = data.is_instance_of::<Uint8Array>() || data.is_instance_of::<js_sys::ArrayBuffer>();
    if !(data.is_string() || is_buffer || is_stream || data.is_instance_of::<Blob>()) {
        return Err(invalid(&["data must be a string, a Uint8Array, an ArrayBuffer, a Blob or a ReadableStream."]));
    }
    let limits = Limits::start(&target.call(options)?)?;
    let as_form = target.envd_is_older(RAW_UPLOADS);
    let body = if as_form || (is_stream && !streams_uploads()) {
        // Browsers cannot send a stream over HTTP/1.1, and forms hold blobs: what the stream gives is collected first.
        limits.guard.promise(collect_blob(&data)).await?
    } else {
        data
    };
    let headers = target.envd_headers(None);
    let body = if as_form {
        let form = FormData::new()?;
        form.append_with_blob_and_filename("file", body.unchecked_ref(), "file")?;
        form.into()
    } else {
        set_text(&headers, "content-type", "application/octet-stream");
        body
    };
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
