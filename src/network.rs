//! Hosts and URLs of a sandbox's ports.

use crate::error::{Result, Thrown, refusal};
use crate::members::{Answer, at_once};
use crate::options::{Options, port, set_text};
use crate::protocol::failure::Class;
use crate::protocol::routing::{self, ENVD_PORT, Form, decimal, query};
use crate::protocol::signature::{Operation, sign};
use crate::target::Target;
use js_sys::{Array, Date};
use std::rc::Rc;
use wasm_bindgen::prelude::*;

/// Hosts and URLs of the sandbox's ports.
#[wasm_bindgen(skip_typescript)]
pub struct Network(Rc<Target>);

impl Network {
    pub fn new(target: Rc<Target>) -> Self {
        Self(target)
    }
}

#[wasm_bindgen]
impl Network {
    /// See [`crate::members`].
    #[wasm_bindgen(js_name = __call)]
    pub fn call(&self, member: u32, args: &Array) -> Answer {
        match member {
            0 => at_once(host_of(&self.0, &args.get(0))),
            1 => at_once(url_of(&self.0, &args.get(0))),
            _ => Ok(access_headers(&self.0)),
        }
    }
}

fn access_headers(target: &Target) -> JsValue {
    let headers = target.routing_headers(ENVD_PORT).object();
    // The port stands in the URL or is the caller's to name; only the sandbox is known here.
    let _ =
        js_sys::Reflect::delete_property(&headers, &JsValue::from_str(&[&target.client.routing_prefix, "-Sandbox-Port"].concat()));
    if let Some(token) = &target.traffic_token {
        set_text(&headers, &target.client.traffic_header, token);
    }
    headers.into()
}

pub fn host_of(target: &Target, number: &JsValue) -> Result<String> {
    let port = port(number)?;
    if routing::form(&target.sandbox_url) == Form::Path {
        return Err(Thrown::new(Class::InvalidArgument, "This platform tells ports apart by path: a port has no host of its own.")
            .suggestion("Use getUrl(port), which gives the whole URL.")
            .into());
    }
    Ok(routing::host(&routing::url(&target.sandbox_url, &target.id, port)).to_owned())
}

pub fn url_of(target: &Target, number: &JsValue) -> Result<String> {
    Ok(routing::url(&target.sandbox_url, &target.id, port(number)?))
}

/// A URL of `/files`, signed where the platform accepts it.
pub fn file_url(target: &Target, operation: Operation, path: Option<&str>, options: &Options) -> Result<String> {
    let user = options.text("user")?;
    let expires = options.millis("expiresInMs")?.map(|ms| ((Date::now() + ms) / 1000.0).ceil() as u64);
    if expires.is_some() && (target.envd_token.is_none() || !target.client.signed_urls) {
        return Err(refusal("expiresInMs needs a signed URL, which this sandbox or provider has not."));
    }
    Ok([target.envd_url(), "/files", &file_query(target, operation, path, user.as_deref(), expires)].concat())
}

/// The query of a `/files` URL, signed where the platform accepts it and there is a token to sign with.
pub fn file_query(target: &Target, operation: Operation, path: Option<&str>, user: Option<&str>, expires: Option<u64>) -> String {
    let Some(token) = target.envd_token.as_ref().filter(|_| target.client.signed_urls) else {
        return query(&[("path", path), ("username", user)]);
    };
    let signature = sign(path.unwrap_or_default(), operation, user.unwrap_or_default(), token, expires);
    let expiration = expires.map(decimal);
    query(&[("path", path), ("username", user), ("signature", Some(&signature)), ("signature_expiration", expiration.as_deref())])
}
