//! Calls about one sandbox at the control plane, which [`crate::protocol::control`] lists.

use crate::client::Client;
use crate::create::{forks, snapshot};
use crate::error::{Result, invalid};
use crate::options::{
    LIFECYCLE_TIMEOUT, Options, REQUEST_TIMEOUT, integer, lifetime, object, sandbox_id, sendable, set, snapshot_id, time_of,
};
use crate::protocol::control::{Answer, Argument, Call, Clouds, Field, Kind, call};
use crate::protocol::routing::{decimal, encode, join, query};
use crate::sandbox::{described, found, is_running};
use crate::target::{Target, control, promise, refused};
use crate::transport::json::get;
use crate::transport::limits::Limits;
use js_sys::{Object, Promise};
use std::cell::RefCell;
use std::rc::Rc;
use wasm_bindgen::prelude::*;

#[wasm_bindgen(module = "/src/js/shape.js")]
extern "C" {
    #[wasm_bindgen(js_name = sandboxInfo)]
    pub fn sandbox_info(wire: &JsValue, known: &JsValue) -> JsValue;
    #[wasm_bindgen(js_name = snapshotInfo)]
    fn snapshot_info(wire: &JsValue) -> JsValue;
    fn metrics(wire: &JsValue) -> JsValue;
    #[wasm_bindgen(js_name = logEntries)]
    fn log_entries(wire: &JsValue) -> JsValue;
}

#[wasm_bindgen(module = "/src/js/creation.js")]
extern "C" {
    #[wasm_bindgen(js_name = networkUpdate, catch)]
    fn network_update(network: &JsValue, prefix: &str, has_proxy: bool) -> core::result::Result<Object, JsValue>;
    #[wasm_bindgen(catch)]
    fn mounts(value: &JsValue) -> core::result::Result<JsValue, JsValue>;
}

/// Which sandbox is asked about.
pub enum Subject {
    /// A handle's, and where the handle keeps what the control plane said last.
    Here(Rc<Target>, Rc<RefCell<JsValue>>),
    /// Any, by its id.
    Named(JsValue),
}

/// Makes a call. One path does all of them: each asynchronous method of its own costs a page a kilobyte.
pub fn make(subject: Subject, name: String, argument: JsValue, options: JsValue) -> Promise {
    promise(async move {
        let (options, info) =
            (Options::new(options)?, if let Subject::Here(_, info) = &subject { Some(info.clone()) } else { None });
        let target = match subject {
            Subject::Here(target, _) => target,
            Subject::Named(id) => {
                let id = if name == "deleteSnapshot" { snapshot_id(&id)? } else { sandbox_id(&id)? };
                Rc::new(Target::new(Rc::new(Client::new(&options)?), id, None, Default::default()))
            }
        };
        let client = &target.client;
        // These two are another call and something besides.
        let wire_name = match &*name {
            "isRunning" => {
                let limits = Limits::start(&client.call(&options)?)?;
                return is_running(&target, &limits).await.map(JsValue::from);
            }
            "refreshInfo" => "getInfo",
            name => name,
        };
        let Some(call) = call(wire_name, client.cloud) else { return Err(invalid(&["There is no call ", &name, "."])) };
        client.require(call.clouds, &name)?;
        let (body, query) = filled(client, call, argument, &options)?;
        let limits = options.call(client.timeout_or(if call.slow { LIFECYCLE_TIMEOUT } else { REQUEST_TIMEOUT }))?;
        let path = call.path(&encode(&target.id));
        if call.answer == Answer::Forks {
            let metadata = info.map(|info| get(&info.borrow(), "metadata")).unwrap_or_default();
            return forks(&target, &path, body, &metadata, &limits).await.map(JsValue::from);
        }
        if call.answer == Answer::Snapshot {
            return Ok(snapshot_info(&snapshot(&target, &path, body, &limits).await?));
        }
        let limits = Limits::start(&limits)?;
        let reply = control(client, call.doing(), call.method, &path, &query, body.as_ref(), call.repeatable, &limits).await;
        let reply = match (reply, call.answer) {
            (Ok(reply), _) => reply,
            // What an earlier attempt brought about was brought about by this call.
            (Err(fault), Answer::Unless(status)) if fault.status() == Some(status) && !fault.repeated() => return Ok(false.into()),
            (Err(fault), Answer::Unless(status)) if fault.status() == Some(status) => return Ok(done(&name, info)),
            (Err(fault), Answer::Info) => found(&target.id, Err(fault))?,
            (Err(fault), _) => return Err(refused(&target, fault).await),
        };
        Ok(match call.answer {
            Answer::Done | Answer::Forks | Answer::Snapshot => JsValue::UNDEFINED,
            Answer::Unless(_) => done(&name, info),
            Answer::This => {
                if let Some(info) = info {
                    remember(&info, "running");
                }
                JsValue::UNDEFINED
            }
            Answer::Info => {
                let read = sandbox_info(&described(&reply)?, &JsValue::UNDEFINED);
                if let Some(info) = info.filter(|_| name == "refreshInfo") {
                    *info.borrow_mut() = read.clone();
                }
                read
            }
            Answer::Metrics => metrics(&reply.json()?),
            Answer::Logs => log_entries(&reply.json()?),
        })
    })
}

/// `true`, once a paused sandbox is known as paused.
fn done(name: &str, info: Option<Rc<RefCell<JsValue>>>) -> JsValue {
    if let Some(info) = info.filter(|_| name == "pause") {
        remember(&info, "paused");
    }
    true.into()
}

/// Keeps a state that is known without having been read.
fn remember(info: &RefCell<JsValue>, status: &str) {
    let kept = Object::assign(&Object::new(), info.borrow().unchecked_ref());
    set(&kept, "status", &JsValue::from_str(status));
    *info.borrow_mut() = kept.into();
}

/// The body and the query of a call.
fn filled(client: &Client, call: &Call, argument: JsValue, options: &Options) -> Result<(Option<Object>, String)> {
    if call.argument == Argument::Network {
        let has_proxy = client.cloud == Clouds::E2B;
        return Ok((Some(network_update(&argument, &client.placeholder, has_proxy)?), String::new()));
    }
    let given = match call.argument {
        Argument::Field(name) => &Options::new(object(&[(name, argument)]).into())?,
        _ => options,
    };
    let fields = Object::new();
    fill(client, call.fields, given, &fields)?;
    if call.method == "POST" {
        let is_empty = Object::keys(&fields).length() == 0;
        return Ok((Some(fields).filter(|_| !(is_empty && client.cloud == Clouds::ALIBABA)), String::new()));
    }
    let text = |field: &Field| {
        let value = get(&fields, field.wire);
        value.as_string().or_else(|| value.as_f64().map(|number| decimal(number as u64)))
    };
    let pairs: Vec<_> = call.fields.iter().map(|field| (field.wire, text(field))).collect();
    let pairs: Vec<_> = pairs.iter().map(|(name, value)| (*name, value.as_deref())).collect();
    Ok((None, query(&pairs)))
}

/// Puts what was given into a body.
///
/// # Errors
/// E0001 for a wrong value, E8004 for one that the cloud has no place for.
pub fn fill(client: &Client, fields: &[Field], given: &Options, body: &Object) -> Result<()> {
    for Field { name, wire, kind, clouds } in fields {
        let one = given.get(name)?;
        if one.is_none() && !matches!(kind, Kind::Lifetime) {
            continue;
        }
        let one = one.unwrap_or_default();
        let value = match kind {
            Kind::Lifetime => lifetime(given.millis(name)?)?.into(),
            Kind::Text => given.text(name)?.into(),
            Kind::Boolean => given.boolean(name)?.into(),
            Kind::Whole(from, to) => integer(name, &one, (*from).into(), (*to).into())?.into(),
            Kind::Texts => {
                given.record(name)?;
                one
            }
            Kind::Object if wire.is_empty() => given.object(name)?.into(),
            Kind::Object => sendable(name, &given.object(name)?.into())?,
            Kind::Mounts => mounts(&one)?,
            Kind::Word(words) => match given.text(name)? {
                Some(word) if words.contains(&&*word) => JsValue::from_str(&word),
                _ => return Err(invalid(&[name, " must be one of ", &join(words, ", "), "."])),
            },
            Kind::Seconds | Kind::Millis => match Some(time_of(&one)).filter(|ms| *ms >= 0.0) {
                Some(ms) if *kind == Kind::Seconds => (ms / 1000.0).floor().into(),
                Some(ms) => ms.into(),
                None => return Err(invalid(&[name, " must be a Date."])),
            },
        };
        client.require(*clouds, name)?;
        if !wire.is_empty() {
            set(body, wire, &value);
        }
    }
    Ok(())
}
