//! One sandbox as its calls see it: where it is, what it is let in with, and why it cannot be reached.

use crate::client::{Client, sandboxes_of};
use crate::error::{Fault, Gateway, Result, Thrown};
use crate::input::Inputs;
use crate::options::{CallOptions, Options};
use crate::protocol::base64;
use crate::protocol::connect::Code;
use crate::protocol::control::Clouds;
use crate::protocol::failure::{Class, Doing};
use crate::protocol::routing::{self, ENVD_PORT, Form, decimal, encode};
use crate::sandbox::health;
use crate::transport::connect::json;
use crate::transport::fetch::{Reply, Request, Want, send};
use crate::transport::headers::Headers;
use crate::transport::json::get;
use crate::transport::limits::Limits;
use crate::transport::runtime::reach_suggestion;
use js_sys::{Object, Promise};
use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use wasm_bindgen::JsValue;

/// A sandbox.
pub struct Target {
    pub client: Rc<Client>,
    pub id: String,
    /// Where its ports are, with placeholders where there are some.
    pub sandbox_url: String,
    pub envd_token: Option<String>,
    pub traffic_token: Option<String>,
    pub envd_version: Option<String>,
    /// What waits to be typed into its processes.
    pub inputs: Inputs,
    envd_url: String,
    /// Whether a call to it has worked.
    reached: Cell<bool>,
}

/// Work under way, in a form of which there is one for each kind of result.
pub type Work<T> = Pin<Box<dyn Future<Output = Result<T>>>>;

/// What to do when the sandbox runs all the same.
const AGAIN: &str = "Try again; of what was being written or sent, a part may have arrived.";

/// How long the control plane is asked why a sandbox did not answer, in ms.
pub const WHY_TIMEOUT: f64 = 5_000.0;

impl Target {
    /// `url` and the tokens are what the control plane gave, or a handoff; the client's own URL counts over it.
    pub fn new(client: Rc<Client>, id: String, url: Option<String>, tokens: [Option<String>; 3]) -> Self {
        let sandbox_url = client.sandbox_url.clone().or(url).unwrap_or_else(|| client.default_sandbox_url());
        let envd_url = routing::url(&sandbox_url, &id, ENVD_PORT);
        let [envd_token, traffic_token, envd_version] = tokens;
        Self {
            client,
            id,
            sandbox_url,
            envd_token,
            traffic_token,
            envd_version,
            inputs: Inputs::default(),
            envd_url,
            reached: Cell::default(),
        }
    }

    /// A sandbox that a control plane describes.
    pub fn made(client: Rc<Client>, wire: &JsValue, id: String) -> Self {
        let text = |name: &str| get(wire, name).as_string().filter(|text| !text.is_empty());
        let relayed = if client.relay.is_some() { text("sandboxUrl") } else { None };
        let url = relayed.or_else(|| text("domain").map(|domain| sandboxes_of(&domain)));
        Self::new(client, id, url, [text("envdAccessToken"), text("trafficAccessToken"), text("envdVersion")])
    }

    /// Takes note that the sandbox was asked for without protection. Where that is about its ports, they want no token and no https.
    pub fn open_ports(&mut self) {
        if self.client.cloud == Clouds::ALIBABA {
            self.envd_token = None;
            if let Some(rest) = self.sandbox_url.strip_prefix("https:").filter(|_| self.client.sandbox_url.is_none()) {
                self.sandbox_url = ["http:", rest].concat();
                self.envd_url = routing::url(&self.sandbox_url, &self.id, ENVD_PORT);
            }
        }
    }

    /// Where a port is reached from here, with placeholders.
    pub fn template(&self, port: u16) -> String {
        self.client.relayed(port, self.traffic_token.is_none()).unwrap_or_else(|| self.sandbox_url.clone())
    }

    /// Where a port is reached from here.
    pub fn port_url(&self, port: u16) -> String {
        routing::url(&self.template(port), &self.id, port)
    }

    /// Whether it is the relay that passes on what goes to envd.
    pub fn is_relayed(&self) -> bool {
        self.client.relay.is_some() && self.sandbox_url == self.client.default_sandbox_url()
    }

    pub fn envd_url(&self) -> &str {
        &self.envd_url
    }

    /// Headers of a request to envd: no more than it needs, since each may cost a page a preflight.
    pub fn envd_headers(&self, user: Option<&str>) -> Headers {
        let mut headers = self.routing_headers(ENVD_PORT);
        if let Some(token) = &self.envd_token {
            headers.set("x-access-token", token);
        }
        if let Some(user) = user {
            let basic = base64::encode([user, ":"].concat().as_bytes(), true);
            headers.set("authorization", &["Basic ", &basic].concat());
        }
        headers
    }

    /// What a request needs to find the port, when its URL does not say it.
    pub fn routing_headers(&self, port: u16) -> Headers {
        let mut headers = Headers::default();
        if routing::form(&self.template(port)) == Form::Headers {
            let prefix = &self.client.routing_prefix;
            headers.set(&[prefix, "-Sandbox-Id"].concat(), &self.id);
            headers.set(&[prefix, "-Sandbox-Port"].concat(), &decimal(port.into()));
        }
        headers
    }

    /// Headers of a request to a port: routing, and the token of ports that are not public, which envd has no use for.
    pub fn port_headers(&self, port: u16) -> Headers {
        let mut headers = self.routing_headers(port);
        if let Some(token) = self.traffic_token.as_ref().filter(|_| port != ENVD_PORT) {
            headers.set(&self.client.traffic_header, token);
        }
        headers
    }

    /// Whether envd is older than this version. One of an unknown version counts as new.
    pub fn envd_is_older(&self, than: [u32; 3]) -> bool {
        let Some(version) = &self.envd_version else { return false };
        let (mut parts, mut at, mut known) = ([0u32; 3], 0, false);
        for byte in version.bytes().skip_while(|byte| *byte == b'v') {
            match byte {
                b'0'..=b'9' => {
                    parts[at] = parts[at].saturating_mul(10).saturating_add((byte - b'0').into());
                    known = true;
                }
                b'.' if at < 2 => at += 1,
                _ => break,
            }
        }
        known && parts < than
    }

    pub fn call(&self, options: &Options) -> Result<CallOptions> {
        self.client.call(options)
    }

    /// Asks the control plane about this sandbox.
    pub async fn control(&self, method: &'static str, suffix: &str, body: Option<&Object>, limits: &Limits) -> Result<Reply> {
        control(&self.client, Doing::Sandbox, method, &["/sandboxes/", &encode(&self.id), suffix].concat(), "", body, true, limits)
            .await
    }

    /// A promise of what a data-plane call gives. Its failures are explained: a sandbox that does not answer may be gone or paused.
    pub fn promise(self: &Rc<Self>, work: impl Future<Output = Result<JsValue>> + 'static) -> Promise {
        self.explained(Box::pin(work))
    }

    /// Not generic, so that it exists once.
    fn explained(self: &Rc<Self>, work: Work<JsValue>) -> Promise {
        let target = self.clone();
        boxed_promise(Box::pin(async move {
            match work.await {
                Ok(value) => {
                    target.reached.set(true);
                    Ok(value)
                }
                Err(fault) => Err(target.explain(fault).await.into()),
            }
        }))
    }

    /// What a failure on the way to the sandbox means for the caller.
    pub async fn explain(&self, fault: Fault) -> JsValue {
        let mut silence = String::new();
        let (begun, cause) = match &fault {
            Fault::Thrown(_) => return fault.into_js(),
            Fault::Network(lost) => {
                if !lost.said.is_empty() {
                    silence = [" ", &lost.said].concat();
                }
                (lost.begun, lost.cause.clone())
            }
            Fault::Answer(answer) if answer.gateway.is_some() => (false, JsValue::UNDEFINED),
            // Where answers have codes, the code says it: a deadline comes as 504, and from a sandbox that runs.
            Fault::Answer(answer) if answer.code.map_or(matches!(answer.status, 502..=504), |code| code == Code::Unavailable) => {
                (answer.status == 200, JsValue::UNDEFINED)
            }
            Fault::Answer(_) => return fault.into_js(),
        };
        let (state, gateway) = self.state_after(&fault).await;
        // What a network failure asks for; an answer came from where the URL leads.
        let reach = |runs| if gateway.is_none() { reach_suggestion(&self.envd_url, runs) } else { String::new() };
        match state.as_deref() {
            Some("") if begun => ended(&self.id, &cause),
            Some("") => gone(&self.id, &cause),
            Some("running") if gateway == Some(Gateway::Port) => {
                let suggestion = "Try again in a moment; if it stays, kill it and create another.";
                self.unreachable(" runs, but its envd does not answer.", suggestion, &cause)
            }
            Some("running") if begun => fault.into_js(),
            Some("running") if gateway == Some(Gateway::Paused) => {
                self.unreachable(" was paused meanwhile, and runs again.", AGAIN, &cause)
            }
            // It can be reached from here, and could not just now.
            Some("running") if gateway.is_none() && self.reached.get() => {
                self.unreachable(&[" runs, but the connection broke before it answered.", &silence].concat(), AGAIN, &cause)
            }
            Some("running") => {
                self.unreachable(&[" runs, but cannot be reached from here.", &silence].concat(), &reach(true), &cause)
            }
            Some(state) => self.unreachable(&[" does not run: it is ", state, "."].concat(), "", &cause),
            None if gateway == Some(Gateway::Sandbox) && begun => ended(&self.id, &cause),
            None if gateway == Some(Gateway::Sandbox) => gone(&self.id, &cause),
            // However it shows: a stream that had begun broke off.
            None if begun => Fault::lost(begun, cause).into_js(),
            None => self.unreachable(&[" is unreachable or not running.", &silence].concat(), &reach(false), &cause),
        }
    }

    fn unreachable(&self, what: &str, suggestion: &str, cause: &JsValue) -> JsValue {
        Thrown::new(Class::Unreachable, &["The sandbox ", &self.id, what].concat()).suggestion(suggestion).cause(cause).build()
    }

    /// The sandbox's state after a call to it failed so, and what its gateway said. Where the control plane cannot be asked, the gateway says
    /// whether it is paused. A stream that broke off brought no word of it, so it is asked, in a way that wakes nothing that has a token.
    pub async fn state_after(&self, fault: &Fault) -> (Option<String>, Option<Gateway>) {
        let state = self.state().await;
        let gateway = match fault {
            Fault::Answer(answer) => answer.gateway,
            Fault::Network(lost) if lost.begun && state.is_none() => self.gateway().await,
            _ => None,
        };
        (state.or_else(|| (gateway == Some(Gateway::Paused)).then(|| "paused".to_owned())), gateway)
    }

    /// What the gateway cannot reach, when it says so.
    async fn gateway(&self) -> Option<Gateway> {
        let limits = Limits::start(&CallOptions { signal: None, timeout: Some(WHY_TIMEOUT) }).ok()?;
        match health(self, ENVD_PORT, false, &limits).await {
            Err(Fault::Answer(answer)) => answer.gateway,
            _ => None,
        }
    }

    /// The sandbox's state as the control plane has it; empty when there is no such sandbox, `None` when nobody can say.
    pub async fn state(&self) -> Option<String> {
        if !self.client.has_key() {
            return None;
        }
        let limits = Limits::start(&CallOptions { signal: None, timeout: Some(WHY_TIMEOUT) }).ok()?;
        match self.control("GET", "", None, &limits).await {
            Ok(reply) => get(&reply.json().ok()?, "state").as_string(),
            Err(fault) if fault.status() == Some(404) => Some(String::new()),
            Err(_) => None,
        }
    }
}

/// What a control plane's no to a call about a sandbox means. Platforms answer about a paused one as if it were not there, or in a word that
/// says no more than "no": so its state is looked at.
pub async fn refused(target: &Target, fault: Fault) -> Fault {
    let status = fault.status();
    if !matches!(status, Some(404 | 409)) {
        return fault;
    }
    match (target.state().await.as_deref(), status) {
        (Some("paused"), _) => {
            let message = ["The sandbox ", &target.id, " is paused; call resume() first."].concat();
            Thrown::new(Class::Unreachable, &message)
                .suggestion("sandbox.resume() or Sandbox.connect(sandboxId) lets it go on.")
                .detail("status", &status.into())
                .into()
        }
        (_, Some(404)) => gone(&target.id, &JsValue::UNDEFINED).into(),
        _ => fault,
    }
}

/// The error for a sandbox that is not there.
pub fn gone(id: &str, cause: &JsValue) -> JsValue {
    Thrown::new(Class::SandboxNotFound, &["There is no sandbox ", id, "."].concat()).cause(cause).build()
}

/// The error for a sandbox that went while something went on in it.
fn ended(id: &str, cause: &JsValue) -> JsValue {
    let message = ["The sandbox ", id, " was killed or expired before this ended."].concat();
    Thrown::new(Class::SandboxNotFound, &message).cause(cause).build()
}

/// Makes a control-plane request.
#[allow(clippy::too_many_arguments)]
pub async fn control(
    client: &Client,
    doing: Doing,
    method: &'static str,
    path: &str,
    query: &str,
    body: Option<&Object>,
    repeatable: bool,
    limits: &Limits,
) -> Result<Reply> {
    let mut headers = client.api_headers(&limits.guard).await?;
    let body = match body {
        Some(body) => {
            headers.set("content-type", "application/json");
            json(body)?
        }
        None => JsValue::UNDEFINED,
    };
    let request = Request { doing, method, base: &client.api_url, path, query, headers, body, repeatable, fresh: false };
    send(client, &request, Want::Text, limits).await
}

/// A promise of what `work` gives.
pub fn promise(work: impl Future<Output = Result<JsValue>> + 'static) -> Promise {
    boxed_promise(Box::pin(work))
}

/// Every asynchronous method goes through here, boxed, so that the machinery exists once.
fn boxed_promise(work: Work<JsValue>) -> Promise {
    crate::panic::promise_of(work)
}
