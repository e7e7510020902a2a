//! Making sandboxes: creating and forking, and ending what was made when a later step fails or the caller gives up.

use crate::client::Client;
use crate::control::{fill, sandbox_info};
use crate::error::{Answer, Fault, Result, Thrown, refusal};
use crate::making::making;
use crate::options::{CallOptions, LIFECYCLE_TIMEOUT, Options, REQUEST_TIMEOUT, lifetime, object, set};
use crate::protocol::control::{CREATION, Clouds};
use crate::protocol::failure::{Class, Doing, short_message};
use crate::protocol::routing::{ENVD_PORT, encode};
use crate::sandbox::{Sandbox, health};
use crate::target::{Target, Work, control, refused};
use crate::transport::json::{get, text_in};
use crate::transport::limits::Limits;
use crate::transport::runtime::{is_unresolvable, now};
use js_sys::{Array, Object};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::spawn_local;

#[wasm_bindgen(module = "/src/js/creation.js")]
extern "C" {
    #[wasm_bindgen(js_name = creationBody, catch)]
    fn creation_body(options: &JsValue, prefix: &str, has_proxy: bool) -> core::result::Result<Object, JsValue>;
}

/// How long a new sandbox's envd is asked again after it did not answer, in ms.
const HEALTH_PAUSE: f64 = 150.0;

/// How long a new sandbox may stay without any answer at all, in ms: a wrong URL is not waited for as a starting sandbox is.
const SILENCE: f64 = 10_000.0;

/// Creates a sandbox and waits until it answers.
pub async fn create(template: Option<String>, options: &Options) -> Result<JsValue> {
    let client = Rc::new(Client::new(options)?);
    client.require_sandbox_address()?;
    let template = match (template, options.text("template")?) {
        (Some(_), Some(_)) => return Err(refusal("template is given twice: as the argument and as an option.")),
        (template, option) => template.or(option).unwrap_or_else(|| "base".to_owned()),
    };
    let secure = options.boolean("secure")?.unwrap_or(true);
    let body = body(&client, &template, secure, options)?;
    let metadata = get(&body, "metadata");
    let call = options.call(client.timeout_or(LIFECYCLE_TIMEOUT))?;
    let wire = made(&client, Doing::Create, "/sandboxes", Some(body), &call, kill_made).await?;
    let mut target = match text_in(&wire, "sandboxID") {
        Some(id) => Target::made(client, &wire, id),
        None => {
            return Err(Thrown::new(Class::SandboxCreation, "The platform's answer names no sandbox.")
                .suggestion("Check that apiUrl leads to the platform's control plane.")
                .into());
        }
    };
    if !secure {
        target.open_ports();
    }
    let known = object(&[
        ("sandboxId", JsValue::from_str(&target.id)),
        ("template", JsValue::from_str(&template)),
        ("metadata", metadata),
        ("status", JsValue::from_str("running")),
    ]);
    let info = sandbox_info(&wire, &known);
    if get(&info, "alias").is_undefined() && text_in(&info, "template").as_deref() != Some(&template) {
        set(info.unchecked_ref(), "alias", &JsValue::from_str(&template));
    }
    let target = Rc::new(target);
    match ready(&target, &Limits::start(&call)?).await {
        Ok(()) => Ok(Sandbox::build(target, info, true)),
        Err(error) => Err(Fault::Thrown(error)),
    }
}

/// The body of a creation.
fn body(client: &Client, template: &str, secure: bool, options: &Options) -> Result<Object> {
    let lifetime = lifetime(options.millis("timeoutMs")?)?;
    let internet = options.boolean("allowInternetAccess")?.unwrap_or(true);
    let body = Object::new();
    fill(client, CREATION, options, &body)?;
    set(&body, "templateID", &JsValue::from_str(template));
    set(&body, "timeout", &lifetime.into());
    if client.cloud == Clouds::ALIBABA {
        if !internet {
            client.require(Clouds::FAMILY, "allowInternetAccess: false")?;
        }
        set(&body, "autoPause", &false.into());
        for name in ["metadata", "envVars"] {
            if get(&body, name).is_undefined() {
                set(&body, name, &Object::new());
            }
        }
        return Ok(body);
    }
    set(&body, "secure", &secure.into());
    set(&body, "allow_internet_access", &internet.into());
    Ok(Object::assign(&body, &creation_body(options.value(), &client.placeholder, client.cloud == Clouds::E2B)?))
}

/// Posts what makes something at a control plane; `undo` ends it when the caller has given up meanwhile.
pub async fn made(
    client: &Rc<Client>,
    doing: Doing,
    path: &str,
    body: Option<Object>,
    call: &CallOptions,
    undo: fn(Rc<Client>, JsValue) -> Ending,
) -> Result<JsValue> {
    let (asks, ends, path) = (client.clone(), client.clone(), path.to_owned());
    let ask = move |limits| -> Work<JsValue> {
        Box::pin(async move { control(&asks, doing, "POST", &path, "", body.as_ref(), false, &limits).await?.json() })
    };
    making(call, Box::new(ask), Box::new(move |wire| undo(ends, wire))).await
}

/// The end of something, which nobody waits for.
type Ending = Pin<Box<dyn Future<Output = ()>>>;

/// Ends the sandboxes that an answer describes.
fn kill_made(client: Rc<Client>, wire: JsValue) -> Ending {
    Box::pin(async move {
        for one in listed(&wire) {
            if let Some(id) = text_in(&one, "sandboxID") {
                kill_quietly(&Target::made(client.clone(), &one, id)).await;
            }
        }
    })
}

/// Keeps a sandbox as it is.
pub async fn snapshot(target: &Rc<Target>, path: &str, body: Option<Object>, call: &CallOptions) -> Result<JsValue> {
    // A name may stand for earlier snapshots too, and deleting one of them would delete them all.
    let is_named = body.as_ref().is_some_and(|body| get(body, "name").is_string());
    let undo = if is_named { |_, _| -> Ending { Box::pin(async {}) } } else { delete_snapshot };
    match made(&target.client, Doing::Sandbox, path, body, call, undo).await {
        Ok(wire) => Ok(wire),
        Err(fault) => Err(refused(target, fault).await),
    }
}

fn delete_snapshot(client: Rc<Client>, wire: JsValue) -> Ending {
    Box::pin(async move {
        let Some(id) = text_in(&wire, "snapshotID") else { return };
        let path = ["/templates/", &encode(&id)].concat();
        if let Ok(limits) = Limits::start(&CallOptions { signal: None, timeout: Some(LIFECYCLE_TIMEOUT) }) {
            let _ = control(&client, Doing::List, "DELETE", &path, "", None, true, &limits).await;
        }
    })
}

/// The sandboxes that an answer describes.
fn listed(wire: &JsValue) -> Vec<JsValue> {
    match wire.dyn_ref::<Array>() {
        Some(results) => results.iter().map(|result| get(&result, "sandbox")).collect(),
        None => vec![wire.clone()],
    }
}

/// Forks a sandbox. Each fork is a sandbox that answers, or an error that says why there is none.
pub async fn forks(target: &Rc<Target>, path: &str, body: Option<Object>, metadata: &JsValue, call: &CallOptions) -> Result<Array> {
    let client = &target.client;
    client.require_sandbox_address()?;
    let results = match made(client, Doing::Sandbox, path, body, call, kill_made).await {
        Err(fault) => return Err(refused(target, fault).await),
        Ok(results) => results,
    };
    let Some(results) = results.dyn_ref::<Array>() else {
        return Err(Thrown::new(Class::SandboxConnection, "The control plane's answer lists no forks.")
            .suggestion("Check that apiUrl leads to a control plane and not to another server.")
            .into());
    };
    let limits = Limits::start(call)?;
    let forks = Array::new();
    for result in results.iter() {
        let wire = get(&result, "sandbox");
        let Some(id) = text_in(&wire, "sandboxID") else {
            forks.push(&failed(&get(&result, "error")));
            continue;
        };
        let fork = Rc::new(Target::made(client.clone(), &wire, id));
        let known = object(&[
            ("sandboxId", JsValue::from_str(&fork.id)),
            ("status", JsValue::from_str("running")),
            // The platform gives a fork the labels that its source has, and does not repeat them.
            ("metadata", metadata.clone()),
        ]);
        let info = sandbox_info(&wire, &known);
        forks.push(&match ready(&fork, &limits).await {
            Ok(()) => Sandbox::build(fork, info, true),
            Err(error) => error,
        });
    }
    Ok(forks)
}

/// Why one fork failed.
fn failed(error: &JsValue) -> JsValue {
    Fault::Answer(Box::new(Answer {
        doing: Doing::Sandbox,
        status: get(error, "code").as_f64().unwrap_or(500.0) as u16,
        code: None,
        message: get(error, "message").as_string().and_then(|message| short_message(&message)),
        suggestion: None,
        retry_after: None,
        gateway: None,
        repeated: false,
        body: JsValue::UNDEFINED,
    }))
    .into_js()
}

/// Waits until a new sandbox answers, and ends it when it does not.
async fn ready(target: &Rc<Target>, limits: &Limits) -> core::result::Result<(), JsValue> {
    let Err(fault) = healthy(target, limits).await else { return Ok(()) };
    // Asked before it is ended: then the control plane would only say that it is gone.
    let error = target.explain(fault).await;
    let target = target.clone();
    // Nobody else knows of this sandbox: it must not live on unseen.
    spawn_local(async move { kill_quietly(&target).await });
    Err(error)
}

/// Waits until envd answers.
async fn healthy(target: &Target, limits: &Limits) -> Result<()> {
    let mut silent_since = None;
    loop {
        let silence = match health(target, ENVD_PORT, false, limits).await {
            Ok(()) => return Ok(()),
            Err(fault @ Fault::Thrown(_)) => return Err(fault),
            // An answer that is not a gateway's is envd's.
            Err(Fault::Answer(answer)) if answer.gateway.is_none() && !matches!(answer.status, 502..=504) => return Ok(()),
            Err(fault @ Fault::Network(_)) => {
                if is_unresolvable(target.envd_url()) || now() - *silent_since.get_or_insert_with(now) > SILENCE {
                    return Err(fault);
                }
                Some(fault)
            }
            Err(_) => {
                silent_since = None;
                None
            }
        };
        match (limits.sleep(HEALTH_PAUSE).await, silence) {
            (Ok(()), _) => {}
            // What ran out is the wait for something that nobody answers for, and not the time of an answer. The error says so and not the
            // clock: a timer may be early.
            (Err(Fault::Thrown(error)), Some(fault)) if get(&error, "code") == "E5002" => return Err(fault),
            (Err(fault), _) => return Err(fault),
        }
    }
}

pub async fn kill_quietly(target: &Target) {
    let call = CallOptions { signal: None, timeout: target.client.timeout_or(REQUEST_TIMEOUT) };
    if let Ok(limits) = Limits::start(&call) {
        // Nobody is left to hear whether it worked; the sandbox's own timeout ends it else.
        let _ = target.control("DELETE", "", None, &limits).await;
    }
}
