//! Sandboxes: making, finding, keeping and ending them.

use crate::client::Client;
use crate::code::Code;
use crate::commands::Commands;
use crate::control::{Subject, make, sandbox_info};
use crate::create::create;
use crate::error::{Fault, Result, Thrown, invalid};
use crate::files::Files;
use crate::network::Network;
use crate::options::{LIFECYCLE_TIMEOUT, Options, argument, lifetime, object, sandbox_id, set};
use crate::paginator::Paginator;
use crate::protocol::control::Clouds;
use crate::protocol::failure::{Class, Doing};
use crate::protocol::routing::{ENVD_PORT, encode};
use crate::pty::Pty;
use crate::stream::disposable;
use crate::target::{Target, control, gone, promise};
use crate::transport::fetch::{Reply, Request, Want, send};
use crate::transport::json::get;
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
        let names = [get(&info, "template"), get(&info, "alias")].map(|name| name.as_string().unwrap_or_default());
        let has_code = names.iter().any(|name| name.starts_with("code-interpreter"));
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
    pub fn create(template: JsValue, options: JsValue) -> Promise {
        promise(async move {
            let (template, options) = match template.as_string() {
                Some(name) => (Some(argument("template", &JsValue::from_str(&name))?), Options::new(options)?),
                None => (None, Options::new(template)?),
            };
            create(template, &options).await
        })
    }

    pub fn connect(id: JsValue, options: JsValue) -> Promise {
        promise(async move {
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
            Ok(Self::build(Rc::new(Target::made(client, &wire, id)), info, false))
        })
    }

    pub fn attach(handoff: JsValue, options: JsValue) -> Promise {
        promise(async move {
            let handoff = Options::new(handoff)?;
            let id = sandbox_id(&handoff.get("sandboxId")?)?;
            // What the caller says now counts over what was handed over.
            let merged = Object::new();
            for name in ["sandboxUrl", "domain", "provider"] {
                set(&merged, name, &handoff.get(name)?);
            }
            let merged = Options::new(options)?.over(merged);
            let client = Rc::new(Client::new(&Options::new(merged.into())?)?);
            client.require_sandbox_address()?;
            let tokens = [handoff.text("envdAccessToken")?, handoff.text("trafficAccessToken")?, handoff.text("envdVersion")?];
            let known = object(&[
                ("sandboxId", JsValue::from_str(&id)),
                ("template", handoff.get("template")?),
                ("envdVersion", handoff.get("envdVersion")?),
                ("status", JsValue::from_str("running")),
            ]);
            let info = sandbox_info(&Object::new(), &known);
            Ok(Self::build(Rc::new(Target::new(client, id, None, tokens)), info, false))
        })
    }

    /// A call about any sandbox, by its id. The package's entries give each call its name.
    #[wasm_bindgen(js_name = callById)]
    pub fn call_by_id(name: String, id: JsValue, argument: JsValue, options: JsValue) -> Promise {
        make(Subject::Named(id), name, argument, options)
    }

    /// A call about this sandbox.
    pub fn call(&self, name: String, argument: JsValue, options: JsValue) -> Promise {
        make(Subject::Here(self.target.clone(), self.info.clone()), name, argument, options)
    }

    pub fn list(options: JsValue) -> core::result::Result<Paginator, JsValue> {
        Fault::throw(Options::new(options).and_then(|options| Paginator::sandboxes(&options)))
    }

    #[wasm_bindgen(js_name = listSnapshots)]
    pub fn list_snapshots(options: JsValue) -> core::result::Result<Paginator, JsValue> {
        Fault::throw(Options::new(options).and_then(|options| {
            let id = options.get("sandboxId")?;
            let id = if id.is_undefined() { None } else { Some(sandbox_id(&id)?) };
            Paginator::snapshots(Rc::new(Client::new(&options)?), id, &options)
        }))
    }

    /// Pages of this sandbox's snapshots.
    pub fn snapshots(&self, options: JsValue) -> core::result::Result<Paginator, JsValue> {
        Fault::throw(
            Options::new(options)
                .and_then(|options| Paginator::snapshots(self.target.client.clone(), Some(self.target.id.clone()), &options)),
        )
    }

    #[wasm_bindgen(getter, js_name = sandboxId)]
    pub fn sandbox_id(&self) -> String {
        self.target.id.clone()
    }

    #[wasm_bindgen(getter)]
    pub fn status(&self) -> JsValue {
        get(&self.info.borrow(), "status")
    }

    #[wasm_bindgen(getter)]
    pub fn info(&self) -> JsValue {
        self.info.borrow().clone()
    }

    #[wasm_bindgen(getter)]
    pub fn url(&self) -> String {
        self.target.envd_url().to_owned()
    }

    #[wasm_bindgen(getter)]
    pub fn capabilities(&self) -> JsValue {
        self.capabilities.clone()
    }

    #[wasm_bindgen(getter)]
    pub fn code(&self) -> JsValue {
        self.code.clone()
    }

    #[wasm_bindgen(getter)]
    pub fn commands(&self) -> JsValue {
        self.commands.clone()
    }

    #[wasm_bindgen(getter)]
    pub fn files(&self) -> JsValue {
        self.files.clone()
    }

    #[wasm_bindgen(getter)]
    pub fn pty(&self) -> JsValue {
        self.pty.clone()
    }

    #[wasm_bindgen(getter)]
    pub fn network(&self) -> JsValue {
        self.network.clone()
    }

    pub fn handoff(&self) -> JsValue {
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
            ("template", &get(&self.info.borrow(), "template").as_string().filter(|template| !template.is_empty())),
        ] {
            if let Some(value) = value {
                set(&handoff, name, &JsValue::from_str(value));
            }
        }
        handoff.into()
    }

    #[wasm_bindgen(js_name = getTerminal)]
    pub fn get_terminal(&self, options: JsValue) -> Promise {
        match crate::server::wants_websocket(&options) {
            true => crate::server::terminal(&self.server(), &options),
            false => crate::terminal::open(&self.target, options),
        }
    }

    pub fn close(&self) -> Promise {
        self.owned.set(false);
        Promise::resolve(&JsValue::UNDEFINED)
    }

    #[wasm_bindgen(js_name = __dispose)]
    pub fn dispose(&self) -> Promise {
        if !self.owned.replace(false) {
            return self.close();
        }
        self.call("kill".to_owned(), JsValue::UNDEFINED, JsValue::UNDEFINED)
    }
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
    match get(&wire, "sandboxID").as_string() {
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
            Err(Fault::Network { .. }) => {}
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
    let value = options.get("status")?;
    let values = match value.as_string() {
        Some(one) => vec![one],
        None if value.is_undefined() => return Ok(None),
        None if Array::is_array(&value) => {
            let words = value.unchecked_into::<Array>().iter().map(|one| one.as_string()).collect::<Option<Vec<_>>>();
            words.ok_or_else(|| invalid(&["status must be a state, or an array of states."]))?
        }
        None => return Err(invalid(&["status must be a state, or an array of states."])),
    };
    Ok(Some(values))
}
