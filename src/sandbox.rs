//! Sandboxes: making, finding, keeping and ending them.

use crate::client::{Client, Known};
use crate::code::Code;
use crate::commands::Commands;
use crate::error::{Fault, Result, Thrown, invalid};
use crate::files::Files;
use crate::network::Network;
use crate::options::{CallOptions, LIFECYCLE_TIMEOUT, Options, REQUEST_TIMEOUT, argument, lifetime, no_nul, object, set, set_text};
use crate::paginator::SandboxPaginator;
use crate::protocol::failure::{Class, Doing};
use crate::protocol::routing::{self, ENVD_PORT, encode};
use crate::pty::Pty;
use crate::stream::disposable;
use crate::target::{Target, Work, control, gone, promise};
use crate::transport::fetch::{Reply, Request, Want, send};
use crate::transport::guard::Held;
use crate::transport::json::get;
use crate::transport::limits::Limits;
use crate::transport::runtime::{is_unresolvable, now};
use js_sys::{Array, Object, Promise, Set};
use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::spawn_local;

#[wasm_bindgen(module = "/src/js/shape.js")]
extern "C" {
    #[wasm_bindgen(js_name = sandboxInfo)]
    fn sandbox_info(wire: &JsValue, known: &JsValue) -> JsValue;
}

/// How long a new sandbox's envd is asked again after it did not answer, in ms.
const HEALTH_PAUSE: f64 = 150.0;

/// How long a new sandbox may stay without any answer at all, in ms: a wrong URL is not waited for as a starting sandbox is.
const SILENCE: f64 = 10_000.0;

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
    fn build(target: Rc<Target>, info: JsValue, owned: bool) -> JsValue {
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

    fn controlled(&self, action: Action, options: JsValue) -> Promise {
        control_promise(Subject::Here(self.target.clone()), action, options)
    }
}

/// Which sandbox the control plane is asked about.
enum Subject {
    Here(Rc<Target>),
    /// Any, by its id.
    Named(JsValue),
}

/// What the control plane is asked. One path does all of these: each asynchronous method of its own costs a page a kilobyte.
enum Action {
    Kill,
    /// Kill, and say nothing of it.
    Dispose,
    SetTimeout(JsValue),
    GetInfo,
    /// Get the information and keep it.
    Refresh(Rc<RefCell<JsValue>>),
    IsRunning,
}

fn control_promise(subject: Subject, action: Action, options: JsValue) -> Promise {
    promise(async move {
        let (target, limits) = match subject {
            Subject::Here(target) => {
                let limits = Limits::start(&target.call(&Options::new(options)?)?)?;
                (target, limits)
            }
            Subject::Named(id) => by_id(&id, options)?,
        };
        let timeout = match &action {
            Action::SetTimeout(timeout) => Some(object(&[("timeout", timeout_argument(timeout)?.into())])),
            _ => None,
        };
        let (method, path) = match action {
            Action::IsRunning => return is_running(&target, &limits).await.map(JsValue::from),
            Action::Kill | Action::Dispose => ("DELETE", ""),
            Action::SetTimeout(_) => ("POST", "/timeout"),
            Action::GetInfo | Action::Refresh(_) => ("GET", ""),
        };
        let reply = target.control(method, path, timeout.as_ref(), &limits).await;
        match action {
            Action::Kill => killed(reply).map(JsValue::from),
            Action::Dispose => killed(reply).map(|_| JsValue::UNDEFINED),
            Action::SetTimeout(_) | Action::IsRunning => found(&target.id, reply).map(|_| JsValue::UNDEFINED),
            Action::GetInfo => info_of(&target.id, reply),
            Action::Refresh(info) => {
                let read = info_of(&target.id, reply)?;
                *info.borrow_mut() = read.clone();
                Ok(read)
            }
        }
    })
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
            let id = argument("sandboxId", &id)?;
            let options = Options::new(options)?;
            let client = Rc::new(Client::new(&options)?);
            client.require_sandbox_address()?;
            let seconds = lifetime(options.millis("timeoutMs")?)?;
            let limits = Limits::start(&options.call(client.timeout_or(LIFECYCLE_TIMEOUT))?)?;
            let path = ["/sandboxes/", &encode(&id)].concat();
            let reply = if client.known == Some(Known::Alibaba) {
                control(&client, Doing::Sandbox, "GET", &path, "", None, true, &limits).await
            } else {
                let body = object(&[("timeout", seconds.into())]);
                control(&client, Doing::Sandbox, "POST", &[&path, "/connect"].concat(), "", Some(&body), true, &limits).await
            };
            let wire = described(&found(&id, reply)?)?;
            let known = object(&[("sandboxId", JsValue::from_str(&id)), ("status", JsValue::from_str("running"))]);
            let info = sandbox_info(&wire, &known);
            Ok(Self::build(Rc::new(target_of(client, &wire, id)), info, false))
        })
    }

    pub fn attach(handoff: JsValue, options: JsValue) -> Promise {
        promise(async move {
            let handoff = Options::new(handoff)?;
            let id = argument("sandboxId", &handoff.get("sandboxId")?)?;
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

    #[wasm_bindgen(js_name = getInfoById)]
    pub fn get_info_by_id(id: JsValue, options: JsValue) -> Promise {
        control_promise(Subject::Named(id), Action::GetInfo, options)
    }

    pub fn list(options: JsValue) -> core::result::Result<SandboxPaginator, JsValue> {
        Fault::throw(Options::new(options).and_then(|options| SandboxPaginator::new(&options)))
    }

    #[wasm_bindgen(js_name = killById)]
    pub fn kill_by_id(id: JsValue, options: JsValue) -> Promise {
        control_promise(Subject::Named(id), Action::Kill, options)
    }

    #[wasm_bindgen(js_name = setTimeoutById)]
    pub fn set_timeout_by_id(id: JsValue, timeout: JsValue, options: JsValue) -> Promise {
        control_promise(Subject::Named(id), Action::SetTimeout(timeout), options)
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

    pub fn kill(&self, options: JsValue) -> Promise {
        self.controlled(Action::Kill, options)
    }

    #[wasm_bindgen(js_name = setTimeout)]
    pub fn set_timeout(&self, timeout: JsValue, options: JsValue) -> Promise {
        self.controlled(Action::SetTimeout(timeout), options)
    }

    #[wasm_bindgen(js_name = getInfo)]
    pub fn get_info(&self, options: JsValue) -> Promise {
        self.controlled(Action::GetInfo, options)
    }

    #[wasm_bindgen(js_name = refreshInfo)]
    pub fn refresh_info(&self, options: JsValue) -> Promise {
        self.controlled(Action::Refresh(self.info.clone()), options)
    }

    #[wasm_bindgen(js_name = isRunning)]
    pub fn is_running(&self, options: JsValue) -> Promise {
        self.controlled(Action::IsRunning, options)
    }

    pub fn handoff(&self) -> JsValue {
        let target = &self.target;
        let handoff =
            object(&[("sandboxId", JsValue::from_str(&target.id)), ("sandboxUrl", JsValue::from_str(&target.sandbox_url))]);
        let client = &target.client;
        if !client.domain.is_empty() {
            set_text(&handoff, "domain", &client.domain);
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
                set_text(&handoff, name, value);
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
        self.controlled(Action::Dispose, JsValue::UNDEFINED)
    }
}

/// A sandbox's state needs a key and nothing of the sandbox itself.
fn by_id(id: &JsValue, options: JsValue) -> Result<(Rc<Target>, Limits)> {
    let id = argument("sandboxId", id)?;
    let options = Options::new(options)?;
    let client = Rc::new(Client::new(&options)?);
    let limits = Limits::start(&client.call(&options)?)?;
    Ok((Rc::new(Target::new(client, id, None, Default::default())), limits))
}

/// A control-plane answer about one sandbox; a 404 says which one is missing.
fn found(id: &str, reply: Result<Reply>) -> Result<Reply> {
    match reply {
        Err(fault) if fault.status() == Some(404) => Err(gone(id, &JsValue::UNDEFINED).into()),
        reply => reply,
    }
}

/// The answer of a control plane, which must describe a sandbox.
fn described(reply: &Reply) -> Result<JsValue> {
    let wire = reply.json()?;
    match get(&wire, "sandboxID").as_string() {
        Some(id) if !id.is_empty() => Ok(wire),
        _ => Err(Thrown::new(Class::SandboxConnection, "The control plane's answer describes no sandbox.")
            .suggestion("Check that apiUrl leads to a control plane and not to another server.")
            .into()),
    }
}

fn target_of(client: Rc<Client>, wire: &JsValue, id: String) -> Target {
    let text = |name: &str| get(wire, name).as_string().filter(|text| !text.is_empty());
    Target::new(client, id, text("domain").as_deref(), [text("envdAccessToken"), text("trafficAccessToken"), text("envdVersion")])
}

async fn create(template: Option<String>, options: &Options) -> Result<JsValue> {
    let client = Rc::new(Client::new(options)?);
    client.require_sandbox_address()?;
    let template = match template {
        Some(template) => template,
        None => options.text("template")?.unwrap_or_else(|| "base".to_owned()),
    };
    no_nul("template", &template)?;
    let is_alibaba = client.known == Some(Known::Alibaba);
    let body = object(&[("templateID", JsValue::from_str(&template)), ("timeout", lifetime(options.millis("timeoutMs")?)?.into())]);
    let metadata = options.record("metadata")?.map(|_| options.get("metadata")).transpose()?;
    let envs = options.record("envs")?.map(|_| options.get("envs")).transpose()?;
    let secure = options.boolean("secure")?;
    let internet = options.boolean("allowInternetAccess")?;
    if internet == Some(false) {
        client.refuse_on_alibaba("allowInternetAccess: false")?;
    }
    for (name, value) in [("metadata", &metadata), ("envVars", &envs)] {
        if let Some(value) = value {
            set(&body, name, value);
        }
    }
    if !is_alibaba {
        set(&body, "secure", &secure.unwrap_or(true).into());
        if let Some(internet) = internet {
            set(&body, "allow_internet_access", &internet.into());
        }
    }
    let call = options.call(client.timeout_or(LIFECYCLE_TIMEOUT))?;
    let target = made(&client, body, &call).await?;
    let known = object(&[
        ("sandboxId", JsValue::from_str(&target.1.id)),
        ("template", JsValue::from_str(&template)),
        ("metadata", metadata.unwrap_or_default()),
        ("status", JsValue::from_str("running")),
    ]);
    let (wire, target) = target;
    let info = sandbox_info(&wire, &known);
    if get(&info, "alias").is_undefined() && get(&info, "template").as_string().as_deref() != Some(&template) {
        set_text(info.unchecked_ref(), "alias", &template);
    }
    let target = Rc::new(target);
    if let Err(fault) = healthy(&target, &call).await {
        // Asked before it is ended: then the control plane would only say that it is gone.
        let error = target.explain(fault).await;
        // Nobody else knows of this sandbox: it must not live on unseen.
        spawn_local(async move { kill_quietly(&target).await });
        return Err(Fault::Thrown(error));
    }
    Ok(Sandbox::build(target, info, true))
}

/// Makes the sandbox. When the caller gives up meanwhile, it is waited for in the background and ended then.
async fn made(client: &Rc<Client>, body: Object, call: &CallOptions) -> Result<(JsValue, Target)> {
    let guard = Held::by(call.signal.as_ref());
    if guard.is_fired() {
        return Err(guard.error().into());
    }
    let limits = Limits::start(&CallOptions { signal: None, timeout: call.timeout })?;
    let client = client.clone();
    let posted: Work<(JsValue, Target)> = Box::pin(async move {
        let wire = control(&client, Doing::Create, "POST", "/sandboxes", "", Some(&body), false, &limits).await?.json()?;
        match get(&wire, "sandboxID").as_string() {
            Some(id) => Ok((wire.clone(), target_of(client, &wire, id))),
            None => Err(Thrown::new(Class::SandboxCreation, "The platform's answer names no sandbox.")
                .suggestion("Check that apiUrl leads to the platform's control plane.")
                .into()),
        }
    });
    let late = |made: Result<(JsValue, Target)>| {
        if let Ok((_, target)) = made {
            spawn_local(async move { kill_quietly(&target).await });
        }
    };
    guard.work(posted, late).await
}

/// Waits until envd answers.
async fn healthy(target: &Target, call: &CallOptions) -> Result<()> {
    let limits = Limits::start(call)?;
    let mut silent_since = None;
    loop {
        match health(target, ENVD_PORT, false, &limits).await {
            Ok(()) => return Ok(()),
            Err(fault @ Fault::Thrown(_)) => return Err(fault),
            // An answer that is not a gateway's is envd's.
            Err(Fault::Answer(answer)) if answer.gateway.is_none() && !matches!(answer.status, 502..=504) => return Ok(()),
            Err(fault @ Fault::Network { .. })
                if is_unresolvable(target.envd_url()) || now() - *silent_since.get_or_insert_with(now) > SILENCE =>
            {
                return Err(fault);
            }
            Err(Fault::Network { .. }) => {}
            Err(_) => silent_since = None,
        }
        limits.sleep(HEALTH_PAUSE).await?;
    }
}

/// Asks what stands behind a port whether it is well.
pub async fn health(target: &Target, port: u16, repeatable: bool, limits: &Limits) -> Result<()> {
    let request = Request {
        doing: Doing::Health,
        method: "GET",
        base: &routing::url(&target.sandbox_url, &target.id, port),
        path: "/health",
        query: "",
        headers: target.port_headers(port),
        body: JsValue::UNDEFINED,
        repeatable,
        fresh: false,
    };
    send(&target.client, &request, Want::Text, limits).await.map(drop)
}

fn info_of(id: &str, reply: Result<Reply>) -> Result<JsValue> {
    Ok(sandbox_info(&described(&found(id, reply)?)?, &JsValue::UNDEFINED))
}

async fn is_running(target: &Target, limits: &Limits) -> Result<bool> {
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

/// Whether a sandbox was ended: `false` when it was gone already.
fn killed(reply: Result<Reply>) -> Result<bool> {
    match reply {
        Ok(_) => Ok(true),
        Err(fault) if fault.status() == Some(404) => Ok(fault.repeated()),
        Err(fault) => Err(fault),
    }
}

async fn kill_quietly(target: &Target) {
    let call = CallOptions { signal: None, timeout: target.client.timeout_or(REQUEST_TIMEOUT) };
    if let Ok(limits) = Limits::start(&call) {
        // Nobody is left to hear whether it worked; the sandbox's own timeout ends it else.
        let _ = target.control("DELETE", "", None, &limits).await;
    }
}

fn timeout_argument(value: &JsValue) -> Result<f64> {
    match value.as_f64() {
        Some(ms) => lifetime(Some(ms)),
        None => Err(invalid(&["timeoutMs must be a number of ms."])),
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
