//! Sandboxes: making, finding, keeping and ending them.

use crate::client::Client;
use crate::code::Code;
use crate::commands::Commands;
use crate::control::{Subject, make, sandbox_info};
use crate::create::create;
use crate::error::{Fault, Result, Thrown, refusal};
use crate::files::Files;
use crate::members::{Answer, Args, at_once};
use crate::network::Network;
use crate::options::{LIFECYCLE_TIMEOUT, Options, argument, items, lifetime, object, sandbox_id, set};
use crate::paginator::Paginator;
use crate::protocol::control::Clouds;
use crate::protocol::failure::{Class, Doing};
use crate::protocol::routing::{ENVD_PORT, encode};
use crate::pty::Pty;
use crate::stream::disposable;
use crate::target::{Target, control, gone, promise};
use crate::transport::fetch::{Reply, Request, Want, send};
use crate::transport::json::{get, text_in};
use crate::transport::limits::Limits;
use js_sys::{Array, Object, Promise, Set};
use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;
use wasm_bindgen::prelude::*;

/// A sandbox.
#[wasm_bindgen(skip_typescript)]
pub struct Sandbox {
    pub(crate) target: Rc<Target>,
    /// What the control plane said last.
    info: Rc<RefCell<JsValue>>,
    /// Whether disposal ends the sandbox: this handle made it.
    owned: Cell<bool>,
    capabilities: JsValue,
    code: JsValue,
    commands: JsValue,
    files: JsValue,
    pty: JsValue,
    network: JsValue,
    /// A client of the SandboxServer in it, made when it is first asked for.
    pub(crate) server: OnceCell<JsValue>,
}

impl Sandbox {
    pub fn build(target: Rc<Target>, info: JsValue, owned: bool) -> JsValue {
        let runs_code = |name| text_in(&info, name).is_some_and(|name| name.starts_with("code-interpreter"));
        let has_code = runs_code("template") || runs_code("alias");
        let capabilities = Set::new(&JsValue::UNDEFINED);
        for ability in ["shell", "files", "terminal", "ports"].into_iter().chain(has_code.then_some("code")) {
            capabilities.add(&JsValue::from_str(ability));
        }
        let sandbox = Self {
            code: Code::new(target.clone(), capabilities.clone()).into(),
            commands: Commands::new(target.clone()).into(),
            files: Files::new(target.clone()).into(),
            pty: Pty::new(target.clone()).into(),
            network: Network::new(target.clone()).into(),
            server: OnceCell::new(),
            target,
            info: Rc::new(RefCell::new(info)),
            owned: Cell::new(owned),
            capabilities: capabilities.into(),
        };
        disposable(sandbox.into())
    }
}

#[wasm_bindgen]
impl Sandbox {
    /// See [`crate::members`].
    #[wasm_bindgen(js_name = __call)]
    pub fn call(&self, member: u32, args: &Array) -> Answer {
        let (target, args) = (&self.target, Args(args));
        Ok(match member {
            0 => JsValue::from_str(&target.id),
            1 => get(&self.info.borrow(), "status"),
            2 => self.info.borrow().clone(),
            3 => JsValue::from_str(target.envd_url()),
            4 => self.capabilities.clone(),
            5 => self.code.clone(),
            6 => self.commands.clone(),
            7 => self.files.clone(),
            8 => self.pty.clone(),
            9 => self.network.clone(),
            10 => self.server(),
            11 => self.handoff(),
            12 => self.terminal(args.get(0)).into(),
            13 => {
                self.owned.set(false);
                Promise::resolve(&JsValue::UNDEFINED).into()
            }
            14 if self.owned.replace(false) => self.make("kill", JsValue::UNDEFINED, JsValue::UNDEFINED).into(),
            14 => Promise::resolve(&JsValue::UNDEFINED).into(),
            // A call at the control plane, by its name.
            15 => self.make(&args.get(0).as_string().unwrap_or_default(), args.get(1), args.get(2)).into(),
            // Pages of this sandbox's snapshots.
            16 => {
                let pages = |options| Paginator::snapshots(target.client.clone(), Some(target.id.clone()), &options);
                return at_once(Options::new(args.get(0)).and_then(pages));
            }
            17 => return at_once(crate::server::client(target, args.get(0))),
            18 => crate::server::start(target, args.get(0)).into(),
            19 => self.list_commands(args.get(0)).into(),
            _ => self.run(args.get(0), args.get(1), args.get(2)).into(),
        })
    }

    /// See [`crate::members`].
    #[wasm_bindgen(js_name = __static)]
    pub fn call_static(member: u32, args: &Array) -> Answer {
        let args = Args(args);
        let [first, second] = args.pair();
        Ok(match member {
            0 => promise(create_from(first, second)).into(),
            1 => promise(connect(first, second)).into(),
            2 => promise(attach(first, second)).into(),
            // A call at the control plane about any sandbox, by its name and the sandbox's id.
            3 => make(Subject::Named(second), first.as_string().unwrap_or_default(), args.get(2), args.get(3)).into(),
            4 => return at_once(Options::new(first).and_then(|options| Paginator::sandboxes(&options))),
            _ => return at_once(Options::new(first).and_then(|options| all_snapshots(&options))),
        })
    }
}

impl Sandbox {
    /// A call about this sandbox.
    fn make(&self, name: &str, argument: JsValue, options: JsValue) -> Promise {
        make(Subject::Here(self.target.clone(), self.info.clone()), name.to_owned(), argument, options)
    }

    fn terminal(&self, options: JsValue) -> Promise {
        match crate::server::wants_websocket(&options) {
            true => crate::server::terminal(&self.server(), &options),
            false => crate::terminal::open(&self.target, options),
        }
    }

    fn handoff(&self) -> JsValue {
        let target = &self.target;
        let handoff =
            object(&[("sandboxId", JsValue::from_str(&target.id)), ("sandboxUrl", JsValue::from_str(&target.sandbox_url))]);
        let client = &target.client;
        if !client.domain.is_empty() {
            set(&handoff, "domain", &JsValue::from_str(&client.domain));
        }
        if !client.provider.is_undefined() {
            set(&handoff, "provider", &client.provider);
        }
        for (name, value) in [
            ("envdAccessToken", &target.envd_token),
            ("trafficAccessToken", &target.traffic_token),
            ("envdVersion", &target.envd_version),
            ("template", &text_in(&self.info.borrow(), "template").filter(|template| !template.is_empty())),
        ] {
            if let Some(value) = value {
                set(&handoff, name, &JsValue::from_str(value));
            }
        }
        handoff.into()
    }
}

async fn create_from(template: JsValue, options: JsValue) -> Result<JsValue> {
    let absent = |value: &JsValue| value.is_undefined() || value.is_null();
    let (template, options) = match template.as_string() {
        Some(_) => (Some(argument("template", &template)?), Options::new(options)?),
        None if absent(&template) => (None, Options::new(options)?),
        None if absent(&options) => (None, Options::new(template)?),
        None => return Err(refusal("template must be a string, where options follow it.")),
    };
    create(template, &options).await
}

async fn connect(id: JsValue, options: JsValue) -> Result<JsValue> {
    let id = sandbox_id(&id)?;
    let options = Options::new(options)?;
    let client = Rc::new(Client::new(&options)?);
    client.require_sandbox_address()?;
    let seconds = lifetime(options.millis("timeoutMs")?)?;
    let limits = Limits::start(&options.call(client.timeout_or(LIFECYCLE_TIMEOUT))?)?;
    let path = ["/sandboxes/", &encode(&id)].concat();
    let reply = if client.cloud == Clouds::ALIBABA {
        control(&client, Doing::Sandbox, "GET", &path, "", None, true, &limits).await
    } else {
        let body = object(&[("timeout", seconds.into())]);
        control(&client, Doing::Sandbox, "POST", &[&path, "/connect"].concat(), "", Some(&body), true, &limits).await
    };
    let wire = described(&found(&id, reply)?)?;
    let known = object(&[("sandboxId", JsValue::from_str(&id)), ("status", JsValue::from_str("running"))]);
    let info = sandbox_info(&wire, &known);
    Ok(Sandbox::build(Rc::new(Target::made(client, &wire, id)), info, false))
}

async fn attach(handoff: JsValue, options: JsValue) -> Result<JsValue> {
    let handoff = Options::new(handoff)?;
    let id = sandbox_id(&handoff.get("sandboxId")?.unwrap_or_default())?;
    // What the caller says now counts over what was handed over.
    let merged = Object::new();
    for name in ["sandboxUrl", "domain", "provider"] {
        set(&merged, name, &handoff.get(name)?.unwrap_or_default());
    }
    let merged = Options::new(options)?.over(merged)?;
    let mut client = Client::new(&Options::new(merged.into())?)?;
    client.attached = true;
    let client = Rc::new(client);
    client.require_sandbox_address()?;
    let tokens = [handoff.text("envdAccessToken")?, handoff.text("trafficAccessToken")?, handoff.text("envdVersion")?];
    let known = object(&[
        ("sandboxId", JsValue::from_str(&id)),
        ("template", handoff.get("template")?.unwrap_or_default()),
        ("envdVersion", handoff.get("envdVersion")?.unwrap_or_default()),
        ("status", JsValue::from_str("running")),
    ]);
    let info = sandbox_info(&Object::new(), &known);
    Ok(Sandbox::build(Rc::new(Target::new(client, id, None, tokens)), info, false))
}

fn all_snapshots(options: &Options) -> Result<Paginator> {
    let id = options.get("sandboxId")?.map(|id| sandbox_id(&id)).transpose()?;
    Paginator::snapshots(Rc::new(Client::new(options)?), id, options)
}

/// A control-plane answer about one sandbox; a 404 says which one is missing.
pub fn found(id: &str, reply: Result<Reply>) -> Result<Reply> {
    match reply {
        Err(fault) if fault.status() == Some(404) => Err(gone(id, &JsValue::UNDEFINED).into()),
        reply => reply,
    }
}

/// The answer of a control plane, which must describe a sandbox.
pub fn described(reply: &Reply) -> Result<JsValue> {
    let wire = reply.json()?;
    match text_in(&wire, "sandboxID") {
        Some(id) if !id.is_empty() => Ok(wire),
        _ => Err(Thrown::new(Class::SandboxConnection, "The control plane's answer describes no sandbox.")
            .suggestion("Check that apiUrl leads to a control plane and not to another server.")
            .into()),
    }
}

/// Asks what stands behind a port whether it is well.
pub async fn health(target: &Target, port: u16, repeatable: bool, limits: &Limits) -> Result<()> {
    let request = Request {
        doing: Doing::Health,
        method: "GET",
        base: &target.port_url(port),
        path: "/health",
        query: "",
        headers: target.port_headers(port),
        body: JsValue::UNDEFINED,
        repeatable,
        fresh: false,
    };
    send(&target.client, &request, Want::Text, limits).await.map(drop)
}

/// Whether a sandbox runs, from whoever can tell.
pub async fn is_running(target: &Target, limits: &Limits) -> Result<bool> {
    if target.client.has_key() {
        match target.control("GET", "", None, limits).await {
            Ok(reply) => {
                let wire = reply.json()?;
                let state = [get(&wire, "state"), get(&wire, "status")].into_iter().find_map(|state| state.as_string());
                return Ok(state.as_deref() == Some("running"));
            }
            Err(fault) if fault.status() == Some(404) => return Ok(false),
            // The control plane cannot be reached: perhaps the sandbox can.
            Err(Fault::Network(_)) => {}
            Err(fault) => return Err(fault),
        }
    }
    match health(target, ENVD_PORT, true, limits).await {
        Ok(()) => Ok(true),
        Err(Fault::Answer(answer)) if answer.gateway.is_some() => Ok(false),
        Err(fault @ Fault::Thrown(_)) => Err(fault),
        Err(fault) => Err(Fault::Thrown(target.explain(fault).await)),
    }
}

/// The states that a list is asked for.
pub fn states(options: &Options) -> Result<Option<Vec<String>>> {
    let Some(value) = options.get("status")? else { return Ok(None) };
    let values = match value.as_string() {
        Some(one) => vec![one],
        None => {
            let words = items(&value)?.and_then(|words| words.iter().map(|one| one.as_string()).collect::<Option<Vec<_>>>());
            words.ok_or_else(|| refusal("status must be a state, or an array of states."))?
        }
    };
    Ok(Some(values))
}
