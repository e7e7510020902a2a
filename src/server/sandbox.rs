//! The SandboxServer of a sandbox, and starting one in it.

use super::{Server, ServerCore, Urls};
use crate::commands::{envs, open_process};
use crate::error::{Fault, Result, Thrown, invalid, refusal};
use crate::handle::collect;
use crate::options::{CallOptions, LARGEST, Options, port, sendable};
use crate::process::{Output, Piece, Process, kill_later};
use crate::protocol::events::Channel;
use crate::protocol::failure::{Class, short_message};
use crate::protocol::requests::Start;
use crate::protocol::routing::{decimal, join, replace};
use crate::sandbox::Sandbox;
use crate::target::{Target, promise};
use crate::transport::connect::Opening;
use crate::transport::json::get;
use crate::transport::limits::Limits;
use js_sys::{Array, JSON, Promise};
use std::cell::RefCell;
use std::rc::Rc;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

#[wasm_bindgen(module = "/src/server/js/client.js")]
extern "C" {
    /// A `ServerClient` of a sandbox's server.
    #[wasm_bindgen(js_name = serverOf)]
    fn server_of(origin: ServerOrigin, url: &str, pty_url: &str, options: &JsValue) -> JsValue;
    #[wasm_bindgen(js_name = isHealthy)]
    fn is_healthy(client: &JsValue) -> Promise;
    #[wasm_bindgen(js_name = runCommand)]
    fn run_command(client: &JsValue, name: JsValue, args: JsValue, options: JsValue) -> Promise;
    #[wasm_bindgen(js_name = listCommands)]
    fn list_commands(client: &JsValue, options: JsValue) -> Promise;
    /// The last line of a server's log without what a caller gave as secret; `None` when every line is empty.
    #[wasm_bindgen(js_name = lastWords, catch)]
    fn last_words(log: &str, options: &JsValue) -> core::result::Result<Option<String>, JsValue>;
    #[wasm_bindgen(js_name = openTerminal)]
    fn open_terminal(client: &JsValue, options: &JsValue) -> Promise;
}

const PORT: u16 = 9000;
const PTY_PORT: u16 = 9001;

/// The policies that the server has by name.
const PRESETS: [&str; 5] = ["default", "transfer-only", "read-only", "hardened", "locked"];

/// How long a start is waited for, in ms.
const START_TIMEOUT: f64 = 30_000.0;

/// The pause between two looks at the server's health, in ms.
const LOOK_EVERY: f64 = 100.0;

/// The variable by which a server is known as the one that a call has started.
const STARTED_AS: &str = "ABX_STARTED_AS";

/// Ends with 1 when a process listens on the port, and it is none of those that have the mark. Its own has it too: where not even that is
/// seen, nothing can be said.
const OWNER: &str = r#"while read -r _ at _ is _ _ _ _ _ inode _; do [[ $is = 0A && $at = *:$(printf %04X $1) ]] && all+="|socket:\[$inode\]"
done <<<"$(cat /proc/net/tcp /proc/net/tcp6 2>/dev/null)"
marked=$(grep -lzxF "ABX_STARTED_AS=$ABX_STARTED_AS" /proc/[0-9]*/environ 2>/dev/null)
[[ $all && $marked ]] || exit 0
for one in $marked; do ls -l ${one%environ}fd 2>/dev/null | grep -qE "${all#|}" && exit 0; done
exit 1"#;

/// Where a sandbox's server is.
#[wasm_bindgen(skip_typescript)]
pub struct ServerOrigin {
    target: Rc<Target>,
    port: u16,
    pty_port: u16,
}

#[wasm_bindgen]
impl ServerOrigin {
    /// The core of a client: see [`ServerCore::new`].
    pub fn open(&self, args: &Array) -> core::result::Result<ServerCore, JsValue> {
        Fault::throw((|| {
            let of = (self.target.clone(), self.port, self.pty_port);
            let server = Server::new(self.target.client.clone(), Urls::read(args), &Options::new(args.get(4))?, Some(of))?;
            Ok(ServerCore(server))
        })())
    }
}

/// A client of the server on these ports.
pub fn client(target: &Rc<Target>, options: JsValue) -> Result<JsValue> {
    let read = Options::new(options.clone())?;
    let (number, pty_number) = ports(&read)?;
    let (http, pty) = (target.port_url(number), target.port_url(pty_number));
    let origin = ServerOrigin { target: target.clone(), port: number, pty_port: pty_number };
    Ok(server_of(origin, &http, &pty, &options))
}

fn ports(options: &Options) -> Result<(u16, u16)> {
    let number = |name: &str, default: u16| options.get(name)?.map_or(Ok(default), |value| port(&value));
    Ok((number("port", PORT)?, number("ptyPort", PTY_PORT)?))
}

/// Starts a server and waits until it answers.
pub fn start(target: &Rc<Target>, options: JsValue) -> Promise {
    let of = target.clone();
    target.promise(async move { started(&of, options).await })
}

impl Sandbox {
    pub fn server(&self) -> JsValue {
        // Without options nothing can be wrong with them.
        self.server.get_or_init(|| client(&self.target, JsValue::UNDEFINED).unwrap_or_default()).clone()
    }

    pub fn list_commands(&self, options: JsValue) -> Promise {
        match self.on_port(&options) {
            Ok(client) => list_commands(&client, options),
            Err(fault) => promise(async { Err(fault) }),
        }
    }

    pub fn run(&self, name: JsValue, args: JsValue, options: JsValue) -> Promise {
        match self.on_port(&options) {
            Ok(client) => run_command(&client, name, args, options),
            Err(fault) => promise(async { Err(fault) }),
        }
    }

    fn on_port(&self, options: &JsValue) -> Result<JsValue> {
        match Options::new(options.clone())?.get("serverPort")? {
            Some(port) => client(&self.target, crate::options::object(&[("port", port)]).into()),
            None => Ok(self.server()),
        }
    }
}

/// Whether a terminal over WebSocket is asked for.
pub fn wants_websocket(options: &JsValue) -> bool {
    options.is_object() && get(options, "transport").as_string().as_deref() == Some("websocket")
}

/// Opens a terminal of the server, with the interface of a terminal of envd.
pub fn terminal(server: &JsValue, options: &JsValue) -> Promise {
    open_terminal(server, options)
}

async fn started(target: &Rc<Target>, given: JsValue) -> Result<JsValue> {
    let options = Options::new(given.clone())?;
    let client = client(target, given)?;
    let limits = Limits::start(&CallOptions { timeout: None, ..options.call(None)? })?;
    let waits = options.boolean("wait")?.unwrap_or(true);
    let timeout = options.millis("timeoutMs")?.unwrap_or(START_TIMEOUT);
    let name = decimal((js_sys::Math::random() * LARGEST) as u64);
    let mark = || (STARTED_AS.to_owned(), name.clone());
    let mut process = command(&options)?;
    process.envs.push(mark());
    if waits && healthy(&client, &limits).await? {
        return Err(is_taken());
    }
    let call = target.call(&options)?;
    let process = open_process(target, Opening::Start(process), None, None, Output::Text, &call).await?;
    let outcome = async {
        if waits {
            until_healthy(&process, &client, timeout, &options, &limits).await?;
            if !holds_port(target, mark(), ports(&options)?.0, &call).await? {
                return Err(is_taken());
            }
        }
        Ok(())
    };
    let outcome = outcome.await;
    if outcome.is_err() && process.exit().is_none() {
        kill_later(target, process.pid);
    }
    // The server goes on; who listens to it would hold a connection for nothing.
    process.disconnect();
    outcome.map(|()| client)
}

/// What is run: a login shell, since that is where templates set paths, which gives way to the server.
fn command(options: &Options) -> Result<Start> {
    let (port, pty_port) = ports(options)?;
    let mut envs = envs(options)?;
    let pty_port = decimal(pty_port.into());
    // The flag alone would leave the server naming another port in its answers.
    envs.insert(0, ("ABX_PTY_PORT".to_owned(), pty_port.clone()));
    if let Some(token) = options.text("token")? {
        envs.push(("ABX_SERVER_TOKEN".to_owned(), token));
    }
    let policy = options.get("policy")?;
    let preset = policy.as_ref().and_then(JsValue::as_string);
    if preset.as_deref().is_some_and(|preset| !PRESETS.contains(&preset)) {
        return Err(invalid(&["policy names no preset: there are ", &join(&PRESETS, ", "), "."]));
    }
    if let Some(policy) = policy.filter(|_| preset.is_none()) {
        if !policy.is_object() {
            return Err(refusal("policy must be a preset's name or a policy document."));
        }
        envs.push(("ABX_SERVER_POLICY".to_owned(), JSON::stringify(&sendable("policy", &policy)?)?.into()));
    }
    let line = match options.text("command")? {
        Some(line) => line,
        None => {
            let mut line = ["exec agent-sandbox-server serve --port ", &decimal(port.into()), " --pty-port ", &pty_port].concat();
            for (flag, value) in [(" --commands ", options.text("commands")?), (" --preset ", preset)] {
                if let Some(value) = value {
                    line.extend([flag, &quoted(&value)]);
                }
            }
            line
        }
    };
    Ok(Start { envs, ..Start::bash(&["-l", "-c", &line]) })
}

/// Whether it is what was started that listens on the port: another start at the same time may have been faster, with another policy.
async fn holds_port(target: &Rc<Target>, mark: (String, String), port: u16, call: &CallOptions) -> Result<bool> {
    let look = Start { envs: vec![mark], ..Start::bash(&["-c", OWNER, "", &decimal(port.into())]) };
    let process = open_process(target, Opening::Start(look), None, Some(START_TIMEOUT), Output::Text, call).await?;
    collect(&process, (None, None), false).await?;
    Ok(process.exit().is_none_or(|exit| exit.code != 1))
}

/// A text as one word of a shell's line.
fn quoted(text: &str) -> String {
    ["'", &replace(text, "'", "'\\''"), "'"].concat()
}

/// Waits until the server answers.
async fn until_healthy(process: &Rc<Process>, client: &JsValue, timeout: f64, options: &Options, limits: &Limits) -> Result<()> {
    // The last line of what it complains of, behind a colon.
    let said = RefCell::new(String::new());
    let looks = async {
        let clock = Limits::start(&CallOptions { signal: None, timeout: None })?;
        let started = crate::transport::runtime::now();
        while crate::transport::runtime::now() - started < timeout {
            if healthy(client, limits).await? {
                return Ok(());
            }
            clock.sleep(LOOK_EVERY).await?;
        }
        let message = ["The server does not answer within ", &decimal(timeout as u64), " ms", &said.borrow(), "."].concat();
        Err(not_started(&message, "Raise timeoutMs, or start it by hand to see what it says."))
    };
    let end = async {
        loop {
            match process.next_piece().await? {
                Some(Piece::Text(Channel::Stderr, text)) => {
                    if let Some(words) = last_words(&text, options.value())? {
                        let words = short_message(&words);
                        *said.borrow_mut() = words.map(|words| [": ", &words].concat()).unwrap_or_default();
                    }
                }
                Some(Piece::Text(..)) => {}
                Some(Piece::Bytes(..)) => {}
                Some(Piece::Exit(exit)) if exit.code == 127 => {
                    let suggestion = "Use a template that has agent-sandbox-server, or give the whole line in the option command.";
                    return Err(not_started("The sandbox has no agent-sandbox-server.", suggestion));
                }
                Some(Piece::Exit(exit)) => {
                    let code = decimal(exit.code.unsigned_abs().into());
                    let sign = if exit.code < 0 { "-" } else { "" };
                    let message = ["The server ended at once with exit code ", sign, &code, &said.borrow(), "."].concat();
                    let suggestion = "Check policy and commands with agent-sandbox-server check-config in the sandbox.";
                    return Err(not_started(&message, suggestion));
                }
                None => return Err(not_started("The connection to the server's process was lost.", "")),
            }
        }
    };
    first(looks, end).await
}

/// What the first of two gives.
async fn first<T>(one: impl Future<Output = T>, other: impl Future<Output = T>) -> T {
    let (mut one, mut other) = (Box::pin(one), Box::pin(other));
    std::future::poll_fn(|context| match one.as_mut().poll(context) {
        std::task::Poll::Pending => other.as_mut().poll(context),
        ready => ready,
    })
    .await
}

async fn healthy(client: &JsValue, limits: &Limits) -> Result<bool> {
    let answer = JsFuture::from(limits.guard.race(&is_healthy(client))).await?;
    Ok(answer.as_bool() == Some(true))
}

fn is_taken() -> Fault {
    not_started(
        "A server runs on that port of the sandbox already.",
        "Use sandbox.serverAt() with its token, stop it, or choose another port and ptyPort.",
    )
}

fn not_started(message: &str, suggestion: &str) -> Fault {
    Thrown::new(Class::SandboxConnection, message).suggestion(suggestion).into()
}
