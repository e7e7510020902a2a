//! Code cells: a stateful interpreter on a port of the sandbox, where its template has one.

use crate::error::{Fault, Gateway, Result, Thrown, refusal};
use crate::files::entry_info;
use crate::handle::KEPT;
use crate::making::making;
use crate::members::{Answer, Args};
use crate::options::{CallOptions, LIFECYCLE_TIMEOUT, Options, argument, no_nul, object, set, set_text, whole};
use crate::protocol::connect::Code as Connect;
use crate::protocol::control::Clouds;
use crate::protocol::failure::{Class, Doing};
use crate::protocol::interpreter::INTERPRETER_PORT;
use crate::protocol::routing::{ENVD_PORT, decimal, encode};
use crate::protocol::server::endpoints::is_segment;
use crate::sandbox::health;
use crate::target::{Target, WHY_TIMEOUT, Work};
use crate::transport::connect::{cut_off, json};
use crate::transport::events::unreadable;
use crate::transport::fetch::{Request, Want, send};
use crate::transport::json::{get, text_in};
use crate::transport::limits::Limits;
use crate::transport::lines::LineStream;
use crate::transport::runtime::now;
use crate::unary::stat;
use js_sys::{Array, Object, Promise, Set};
use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use wasm_bindgen::prelude::*;

#[wasm_bindgen(module = "/src/js/code.js")]
extern "C" {
    type Cell;
    #[wasm_bindgen(constructor)]
    fn new(callbacks: &Object, room: f64) -> Cell;
    /// `true` at the end, else what is to be waited for, if anything.
    #[wasm_bindgen(method, catch)]
    fn take(this: &Cell, event: &JsValue) -> core::result::Result<JsValue, JsValue>;
    #[wasm_bindgen(method)]
    fn result(this: &Cell, ms: f64) -> JsValue;
}

/// How long a cell may take unless told otherwise, in ms.
const CELL_TIMEOUT: f64 = 300_000.0;

/// Some interpreters lose a cell that comes while they still interrupt the one before: how long the context is left alone, in ms.
const AFTER_INTERRUPT: f64 = 500.0;

/// Code cells.
#[wasm_bindgen(skip_typescript)]
pub struct Code(Rc<Interpreter>);

impl Code {
    /// `capabilities` are the sandbox's own, which are corrected once it is known whether it has an interpreter.
    pub fn new(target: Rc<Target>, capabilities: Set) -> Self {
        let url = target.port_url(INTERPRETER_PORT);
        Self(Rc::new(Interpreter { target, url, capabilities, interrupted: RefCell::default() }))
    }
}

#[wasm_bindgen]
impl Code {
    /// See [`crate::members`].
    #[wasm_bindgen(js_name = __call)]
    pub fn call(&self, member: u32, args: &Array) -> Answer {
        let interpreter = self.0.clone();
        let [first, second] = Args(args).pair();
        let nothing = JsValue::UNDEFINED;
        Ok(match member {
            0 => self.0.promise(Box::pin(async move { interpreter.run(first, &Options::new(second)?).await })),
            1 => interpreter.contexts(Action::Create, nothing, first),
            2 => interpreter.contexts(Action::List, nothing, first),
            3 => interpreter.contexts(Action::Restart, first, second),
            _ => interpreter.contexts(Action::Remove, first, second),
        }
        .into())
    }
}

/// What is done with contexts.
enum Action {
    Create,
    List,
    Restart,
    Remove,
}

/// A sandbox's interpreter.
struct Interpreter {
    target: Rc<Target>,
    url: String,
    capabilities: Set,
    /// The context whose cell was interrupted last, as requests name it, and until when it is left alone.
    interrupted: RefCell<(String, f64)>,
}

impl Interpreter {
    /// A promise of what a call gives, which tells a sandbox without an interpreter from one that cannot be reached.
    fn promise(self: &Rc<Self>, work: Work<JsValue>) -> Promise {
        let interpreter = self.clone();
        self.target.promise(async move {
            match work.await {
                Ok(value) => {
                    interpreter.capabilities.add(&JsValue::from_str("code"));
                    Ok(value)
                }
                Err(fault) if interpreter.is_missing(&fault).await => {
                    interpreter.capabilities.delete(&JsValue::from_str("code"));
                    let is_e2b = interpreter.target.client.cloud == Clouds::E2B;
                    let template = if is_e2b { "code-interpreter-v1" } else { "code-interpreter" };
                    let suggestion = ["Create it from a template that has one: Sandbox.create(\"", template, "\")."].concat();
                    Err(Thrown::new(Class::CapabilityNotSupported, "This sandbox has no code interpreter.")
                        .suggestion(&suggestion)
                        .into())
                }
                Err(fault) => Err(fault),
            }
        })
    }

    /// Whether a failure means that nothing listens on the interpreter's port of a sandbox that is well.
    async fn is_missing(&self, fault: &Fault) -> bool {
        match fault {
            Fault::Answer(answer) if answer.gateway == Some(Gateway::Port) => return true,
            Fault::Answer(answer) if answer.gateway.is_none() && answer.status == 502 => {}
            // Pages do not see what a gateway says. Nor do they get past one that wants a token for the port, whatever is behind it.
            Fault::Network(lost) if !lost.begun && self.target.traffic_token.is_none() => {}
            _ => return false,
        }
        !self.answers(INTERPRETER_PORT).await && self.answers(ENVD_PORT).await
    }

    /// Whether something of the sandbox's own answers on a port.
    async fn answers(&self, port: u16) -> bool {
        let Ok(limits) = Limits::start(&CallOptions { signal: None, timeout: Some(WHY_TIMEOUT) }) else { return false };
        match health(&self.target, port, false, &limits).await {
            Ok(()) => true,
            Err(Fault::Answer(answer)) => answer.gateway.is_none() && !matches!(answer.status, 502..=504),
            Err(_) => false,
        }
    }

    fn request<'a>(&'a self, method: &'static str, path: &'a str, body: Option<&Object>) -> Result<Request<'a>> {
        let mut headers = self.target.port_headers(INTERPRETER_PORT);
        let body = match body {
            Some(body) => {
                headers.set("content-type", "application/json");
                json(body)?
            }
            None => JsValue::UNDEFINED,
        };
        let repeatable = method != "POST";
        Ok(Request { doing: Doing::Code, method, base: &self.url, path, query: "", headers, body, repeatable, fresh: false })
    }

    async fn run(&self, code: JsValue, options: &Options) -> Result<JsValue> {
        whole("code", &code)?;
        let body = object(&[("code", code)]);
        let context = match options.get("context")?.or(options.get("contextId")?) {
            Some(given) => {
                let id = context_id(&given)?;
                set_text(&body, "context_id", &id);
                id
            }
            None => {
                let language = options.text("language")?;
                if let Some(language) = &language {
                    set_text(&body, "language", language);
                }
                language.unwrap_or_default()
            }
        };
        if let Some(envs) = options.record("envs")? {
            check_envs(&envs)?;
            set(&body, "env_vars", &options.get("envs")?.unwrap_or_default());
        }
        let callbacks = Object::new();
        for name in ["onStdout", "onStderr", "onResult", "onError"] {
            if let Some(callback) = options.function(name)? {
                set(&callbacks, name, &callback);
            }
        }
        let capture = options.boolean("capture")?.unwrap_or(true);
        let timeout = options.millis("timeoutMs")?.unwrap_or(CELL_TIMEOUT);
        let limits = Limits::start(&self.target.call(options)?)?;
        if timeout > 0.0 {
            let message = ["The cell ran longer than ", &decimal(timeout as u64), " ms (timeoutMs) and was interrupted."].concat();
            let suggestion = "Raise timeoutMs (0 = no limit). The context keeps its variables.";
            limits.guard.after(timeout, Class::CommandTimeout.name(), &message, suggestion);
        }
        let pause = match &*self.interrupted.borrow() {
            (of, until) if *of == context => until - now(),
            _ => 0.0,
        };
        if pause > 0.0 {
            limits.sleep(pause).await?;
        }
        let cell = Cell::new(&callbacks, if capture { KEPT as f64 } else { 0.0 });
        let result = self.follow(&body, &cell, &limits).await;
        if let Err(Fault::Thrown(_)) = result {
            *self.interrupted.borrow_mut() = (context, now() + AFTER_INTERRUPT);
        }
        result
    }

    /// Runs a cell to its end. Giving up closes the connection, which interrupts the cell.
    async fn follow(&self, body: &Object, cell: &Cell, limits: &Limits) -> Result<JsValue> {
        let started = now();
        let mut request = self.request("POST", "/execute", Some(body))?;
        if let Some(token) = &self.target.envd_token {
            // The interpreter reads the sandbox's own variables from envd with it.
            request.headers.set("x-access-token", token);
        }
        let mut stream = LineStream::open(&self.target, request, limits).await?;
        limits.lift();
        while let Some(event) = stream.next().await? {
            let answer = cell.take(&event)?;
            if answer.is_truthy() && !answer.is_object() {
                stream.finish();
                return Ok(cell.result(now() - started));
            }
            limits.guard.settle(&answer).await?;
        }
        Err(cut_off())
    }

    fn contexts(self: &Rc<Self>, action: Action, context: JsValue, options: JsValue) -> Promise {
        let interpreter = self.clone();
        self.promise(Box::pin(async move { interpreter.with_contexts(action, &context, &Options::new(options)?).await }))
    }

    /// Makes a context.
    async fn create(self: &Rc<Self>, options: &Options) -> Result<JsValue> {
        let body = Object::new();
        for name in ["language", "cwd"] {
            if let Some(value) = options.text(name)? {
                set_text(&body, name, &value);
            }
        }
        let call = self.target.call(options)?;
        if let Some(cwd) = text_in(&body, "cwd") {
            self.check_cwd(&cwd, &Limits::start(&call)?).await?;
        }
        let (asks, ends) = (self.clone(), self.clone());
        let ask = move |limits| -> Work<JsValue> { Box::pin(async move { asks.ask("POST", "", Some(&body), &limits).await }) };
        let undo = move |made: JsValue| -> Pin<Box<dyn Future<Output = ()>>> {
            Box::pin(async move {
                let Some(id) = text_in(&made, "id") else { return };
                if let Ok(limits) = Limits::start(&CallOptions { signal: None, timeout: Some(LIFECYCLE_TIMEOUT) }) {
                    let _ = ends.ask("DELETE", &["/", &encode(&id)].concat(), None, &limits).await;
                }
            })
        };
        making(&call, Box::new(ask), Box::new(undo)).await
    }

    /// Interpreters take any working directory, say that they use it, and do not when it is none.
    async fn check_cwd(&self, cwd: &str, limits: &Limits) -> Result<()> {
        let entry = match cwd.starts_with('/') {
            true => stat(&self.target, cwd, None, limits).await,
            false => return Err(refusal("cwd must be an absolute path.")),
        };
        match entry {
            Ok(entry) if get(&entry_info(&entry), "type").as_string().as_deref() != Some("directory") => {
                Err(refusal("cwd must be a directory."))
            }
            Err(fault) if fault.code() == Some(Connect::NotFound) => Err(fault),
            // Who may not look may still be let in.
            _ => Ok(()),
        }
    }

    async fn with_contexts(self: &Rc<Self>, action: Action, context: &JsValue, options: &Options) -> Result<JsValue> {
        let id = match action {
            Action::Restart | Action::Remove => context_id(context)?,
            Action::Create | Action::List => String::new(),
        };
        let (method, path) = match action {
            Action::Create => {
                let made = self.create(options).await?;
                return if made.is_object() { Ok(made) } else { Err(unreadable()) };
            }
            Action::List => ("GET", String::new()),
            Action::Restart => ("POST", ["/", &encode(&id), "/restart"].concat()),
            Action::Remove => ("DELETE", ["/", &encode(&id)].concat()),
        };
        let limits = Limits::start(&self.target.call(options)?)?;
        let answer = match (self.ask(method, &path, None, &limits).await, &action) {
            (Err(fault), Action::Remove) if fault.status() == Some(404) => return Ok(fault.repeated().into()),
            (answer, _) => answer?,
        };
        let found = match action {
            Action::Remove => return Ok(true.into()),
            Action::List if Array::is_array(&answer) => return Ok(answer),
            Action::Create | Action::List => JsValue::UNDEFINED,
            // The answer to a restart is empty.
            Action::Restart => {
                let all = self.ask("GET", "", None, &limits).await?.dyn_into::<Array>().unwrap_or_default();
                all.iter().find(|one| get(one, "id").as_string().as_deref() == Some(&id)).unwrap_or_default()
            }
        };
        if found.is_object() { Ok(found) } else { Err(unreadable()) }
    }

    async fn ask(&self, method: &'static str, path: &str, body: Option<&Object>, limits: &Limits) -> Result<JsValue> {
        let path = ["/contexts", path].concat();
        send(&self.target.client, &self.request(method, &path, body)?, Want::Text, limits).await?.json()
    }
}

/// The id of a context, or the id itself.
fn context_id(context: &JsValue) -> Result<String> {
    let id = argument("context", &if context.is_object() { get(context, "id") } else { context.clone() })?;
    if is_segment(&id) { Ok(id) } else { Err(refusal("context must be one that code.createContext or code.listContexts gave.")) }
}

/// Interpreters write a cell's variables into its code as they are: what could end the string there is refused, and what could be code.
fn check_envs(envs: &[(String, String)]) -> Result<()> {
    for (name, value) in envs {
        no_nul("envs", value)?;
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        if name.is_empty() || name.as_bytes()[0].is_ascii_digit() || !name.bytes().all(is_name) {
            return Err(refusal("envs has a name that is not made of letters, digits and _."));
        }
        if value.bytes().any(|byte| matches!(byte, b'"' | b'\'' | b'\\' | b'\n' | b'\r')) {
            let message =
                ["envs: the value of ", name, " holds a quote, a backslash or a line break, which code interpreters garble."];
            return Err(Thrown::new(Class::InvalidArgument, &message.concat())
                .suggestion("Set this variable in the cell's own code.")
                .into());
        }
    }
    Ok(())
}
