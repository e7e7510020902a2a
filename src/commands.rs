//! Running commands.

use crate::error::{Result, Thrown, refusal};
use crate::handle::{Flavour, ProcessHandle, Started, collect, piece_value, result_value};
use crate::input::Into;
use crate::members::{Answer, Args, at_once};
use crate::options::{CallOptions, Options, argument, items, no_nul, option, text};
use crate::process::{Output, Process, kill_later, send_input};
use crate::protocol::failure::Class;
use crate::protocol::requests::Start;
use crate::protocol::routing::decimal;
use crate::stream::{Pull, chunk_stream};
use crate::target::{Target, Work};
use crate::transport::connect::Opening;
use crate::transport::json::get;
use crate::transport::limits::Limits;
use crate::transport::runtime::ignore;
use crate::unary::{LIST_PROCESSES, SIGNAL, call, kill};
use js_sys::{Array, Function, Promise};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{ReadableStream, ReadableStreamDefaultReader};

/// How long a command may run unless told otherwise, in ms.
const COMMAND_TIMEOUT: f64 = 60_000.0;

#[wasm_bindgen(module = "/src/js/stream.js")]
extern "C" {
    /// A reader of a caller's stream, which fails when there is none to be had.
    #[wasm_bindgen(js_name = readerOf)]
    fn reader_of(stream: &ReadableStream) -> ReadableStreamDefaultReader;
}

/// Running commands.
#[wasm_bindgen(skip_typescript)]
pub struct Commands(Rc<Target>);

impl Commands {
    pub fn new(target: Rc<Target>) -> Self {
        Self(target)
    }
}

/// What a process reads on stdin until its end.
enum Input {
    Bytes(Vec<u8>),
    Stream(ReadableStream),
}

impl Input {
    fn read(options: &Options) -> Result<Option<Self>> {
        let Some(input) = options.get("input")? else { return Ok(None) };
        if !option(&input, "getReader")?.is_some_and(|reader| reader.is_function()) {
            return Ok(Some(Self::Bytes(crate::options::bytes("input", &input)?)));
        }
        if option(&input, "locked")?.is_some_and(|locked| locked.is_truthy()) {
            return Err(refusal("input is a stream that somebody else reads."));
        }
        Ok(Some(Self::Stream(input.unchecked_into())))
    }
}

/// A command that is ready to be sent.
struct Command {
    request: Start,
    user: Option<String>,
    /// In ms; `None` for no limit.
    timeout: Option<f64>,
    /// Fed to stdin, which is then closed.
    input: Option<Input>,
    call: CallOptions,
    output: Output,
}

impl Command {
    fn read(target: &Target, command: &JsValue, options: &Options) -> Result<Self> {
        let program = match command.as_string() {
            Some(_) => Start::bash(&["-l", "-c", &argument("command", command)?]),
            None => {
                let words = items(command)?;
                let words =
                    words.ok_or_else(|| refusal("command must be a string, or an array of a program and its arguments."))?;
                let cmd = argument("command[0]", &words.get(0))?;
                let mut args = Vec::new();
                for (at, word) in words.iter().enumerate().skip(1) {
                    let name = ["command[", &decimal(at as u64), "]"].concat();
                    args.push(text(&name, &word)?);
                }
                Start { cmd, args, ..Start::default() }
            }
        };
        let input = Input::read(options)?;
        let stdin = options.boolean("stdin")?.unwrap_or(false) || input.is_some();
        let output = output_of(options)?;
        Ok(Self {
            request: Start { envs: envs(options)?, cwd: options.text("cwd")?, stdin: Some(stdin), ..program },
            user: options.text("user")?,
            timeout: Some(options.millis("timeoutMs")?.unwrap_or(COMMAND_TIMEOUT)).filter(|ms| *ms > 0.0),
            input,
            call: target.call(options)?,
            output,
        })
    }

    /// Starts it. `lasting` says whether the signal goes on to count once it runs.
    async fn start(self, target: &Rc<Target>, lasting: bool) -> Result<Rc<Process>> {
        let Self { request, user, timeout, input, call, output } = self;
        let process = open_process(target, Opening::Start(request), user, timeout, output, &call).await?;
        process.end_by(&CallOptions { signal: call.signal.filter(|_| lasting), timeout: None }, timeout);
        if let Some(input) = input {
            feed(&process, input);
        }
        Ok(process)
    }
}

/// Opens a process. When the caller gives up before it is known to run, it is waited for in the background and killed then.
pub async fn open_process(
    target: &Rc<Target>,
    opening: Opening,
    user: Option<String>,
    timeout: Option<f64>,
    output: Output,
    call: &CallOptions,
) -> Result<Rc<Process>> {
    let starts = matches!(opening, Opening::Start(_));
    let (waits, quiet) = match starts {
        true => (call.clone(), call.outlasting()),
        // One that ran before goes on without us, and only the wait for it is given up.
        false => (CallOptions { timeout: None, ..call.clone() }, call.clone()),
    };
    let waiting = Limits::start(&waits)?;
    let target = target.clone();
    let opened: Work<Rc<Process>> = Box::pin(async move { Process::open(target, opening, user, timeout, output, &quiet).await });
    let late = |opened: Result<Rc<Process>>| {
        if let Ok(process) = opened {
            kill_later(&process.target, process.pid);
        }
    };
    waiting.guard.work(opened, if starts { late } else { drop }).await
}

/// Feeds stdin and closes it. A program that ends without reading all of it is no error.
fn feed(process: &Rc<Process>, input: Input) {
    let queue = |into, bytes| crate::input::push(&process.target, process.pid, into, bytes, None);
    match input {
        Input::Bytes(bytes) => {
            for (into, bytes) in [(Into::Stdin, bytes), (Into::Close, Vec::new())] {
                ignore(&queue(into, bytes));
            }
        }
        Input::Stream(stream) => {
            let reader = reader_of(&stream);
            process.feeds_from(reader.clone());
            spawn_local(pump(process.clone(), reader));
        }
    }
}

/// Feeds stdin from a stream, no faster than the process reads. A stream that fails ends the process and whoever waits for it.
async fn pump(process: Rc<Process>, reader: ReadableStreamDefaultReader) {
    let queue = |into, bytes| crate::input::push(&process.target, process.pid, into, bytes, None);
    loop {
        let step = match JsFuture::from(reader.read()).await {
            Ok(step) => step,
            Err(error) => return process.stop_with(&error),
        };
        if get(&step, "done").is_truthy() {
            return ignore(&queue(Into::Close, Vec::new()));
        }
        let bytes = match crate::options::bytes("a chunk of input", &get(&step, "value")) {
            Ok(bytes) => bytes,
            Err(fault) => {
                process.stop_with(&fault.into_js());
                break;
            }
        };
        if JsFuture::from(queue(Into::Stdin, bytes)).await.is_err() {
            // Nobody reads any more.
            break;
        }
    }
    ignore(&reader.cancel());
}

/// The variables of a process.
pub fn envs(options: &Options) -> Result<Vec<(String, String)>> {
    let envs = options.record("envs")?.unwrap_or_default();
    for (name, value) in &envs {
        no_nul("envs", name)?;
        no_nul("envs", value)?;
        if name.is_empty() || name.bytes().any(|byte| byte == b'=') {
            return Err(refusal("envs has a name that is empty or holds an equals sign."));
        }
    }
    Ok(envs)
}

#[wasm_bindgen]
impl Commands {
    /// See [`crate::members`].
    #[wasm_bindgen(js_name = __call)]
    pub fn call(&self, member: u32, args: &Array) -> Answer {
        let (target, args) = (&self.0, Args(args));
        let [first, second] = args.pair();
        let nothing = JsValue::UNDEFINED;
        Ok(match member {
            0 => run(target, first, second, false),
            1 => return at_once(stream(target, &first, second)),
            2 => run(target, first, second, true),
            3 => connect(target, first, second, Flavour::Command),
            4 => call(target, &LIST_PROCESSES, [nothing.clone(), nothing], first),
            5 => kill(target, first, second),
            6 => match signal(&second) {
                Ok(name) => call(target, &SIGNAL, [first, JsValue::from_str(name)], args.get(2)),
                Err(fault) => crate::target::promise(async { Err(fault) }),
            },
            7 => input_promise(target, &first, Into::Stdin, &second, args.get(2)),
            _ => input_promise(target, &first, Into::Close, &nothing, second),
        }
        .into())
    }
}

/// A command that its first reader starts.
fn stream(target: &Rc<Target>, command: &JsValue, options: JsValue) -> Result<JsValue> {
    let options = Options::new(options)?;
    let command = Command::read(target, command, &options)?;
    Ok(chunk_stream(Rc::new(Lazy {
        target: target.clone(),
        command: RefCell::new(Some(command)),
        process: RefCell::default(),
        left: Cell::new(false),
    })))
}

/// A signal's name on the wire.
fn signal(name: &JsValue) -> Result<&'static str> {
    match (name.as_f64(), name.as_string().as_deref()) {
        (Some(15.0), _) | (_, Some("SIGTERM")) => Ok("SIGNAL_SIGTERM"),
        (Some(9.0), _) | (_, Some("SIGKILL")) => Ok("SIGNAL_SIGKILL"),
        _ if name.is_undefined() => Ok("SIGNAL_SIGTERM"),
        _ => Err(Thrown::new(Class::InvalidArgument, "signal must be 15, 9, \"SIGTERM\" or \"SIGKILL\".")
            .suggestion("Other signals are sent by a command: commands.run([\"kill\", \"-INT\", String(pid)]).")
            .into()),
    }
}

/// Runs a command. A `detached` one is only started: its handle has what `run` would wait for.
fn run(target: &Rc<Target>, command: JsValue, options: JsValue, detached: bool) -> Promise {
    let of = target.clone();
    target.promise(async move {
        let options = Options::new(options)?;
        let command = Command::read(&of, &command, &options)?;
        let callbacks = (options.function("onStdout")?, options.function("onStderr")?);
        let check = options.boolean("check")?.unwrap_or(of.client.check);
        let capture = options.boolean("capture")?.unwrap_or(true);
        let in_background = detached || options.boolean("background")?.unwrap_or(false);
        let process = command.start(&of, !in_background).await?;
        if in_background {
            let started = Started::new(process, capture, check);
            if callbacks.0.is_some() || callbacks.1.is_some() {
                // Callbacks are called whether or not anybody waits.
                let _ = started.collect(callbacks);
            }
            return Ok(ProcessHandle::make(started, Flavour::Command));
        }
        process.kills_when_left.set(true);
        match collect(&process, callbacks, capture).await {
            Ok(result) => result_value(&result, check),
            Err(fault) => {
                // A callback that throws ends the call, and with it the process.
                process.leave();
                Err(fault)
            }
        }
    })
}

/// Listens to a process that runs. A terminal's output is bytes, and nobody asks for all of it at its end.
pub fn connect(target: &Rc<Target>, pid: JsValue, options: JsValue, flavour: Flavour) -> Promise {
    let of = target.clone();
    target.promise(async move {
        let options = Options::new(options)?;
        let opening = Opening::Connect(crate::options::pid(&pid)?);
        let is_command = flavour == Flavour::Command;
        let output = if is_command { output_of(&options)? } else { Output::Bytes };
        let process = open_process(&of, opening, None, None, output, &of.call(&options)?).await?;
        Ok(ProcessHandle::make(Started::new(process, is_command, of.client.check), flavour))
    })
}

/// How output is wanted.
fn output_of(options: &Options) -> Result<Output> {
    match options.string("output")?.as_deref() {
        None | Some("text") => Ok(Output::Text),
        Some("bytes") => Ok(Output::Bytes),
        Some(_) => Err(refusal("output must be \"text\" or \"bytes\".")),
    }
}

/// Input for a process that is named by its id.
pub fn input_promise(target: &Rc<Target>, pid: &JsValue, into: Into, data: &JsValue, options: JsValue) -> Promise {
    match crate::options::pid(pid) {
        Ok(pid) => send_input(target, pid, into, data, options),
        Err(fault) => crate::target::promise(async { Err(fault) }),
    }
}

/// A command that starts with the first step and is killed when its reader leaves.
struct Lazy {
    target: Rc<Target>,
    command: RefCell<Option<Command>>,
    process: RefCell<Option<Rc<Process>>>,
    left: Cell<bool>,
}

impl Lazy {
    fn process(&self) -> Option<Rc<Process>> {
        self.process.borrow().clone()
    }
}

impl Pull for Lazy {
    fn take(&self) -> Result<Option<JsValue>> {
        match self.process() {
            Some(process) => Ok(process.piece()?.map(piece_value)),
            None => Ok(None),
        }
    }

    fn next(self: Rc<Self>) -> Promise {
        let target = self.target.clone();
        target.promise(async move {
            let command = self.command.take();
            if let Some(command) = command {
                let process = command.start(&self.target, true).await?;
                process.kills_when_left.set(true);
                if self.left.get() {
                    process.leave();
                }
                *self.process.borrow_mut() = Some(process);
            }
            match self.process() {
                Some(process) => Ok(process.next_piece().await?.map(piece_value).unwrap_or_default()),
                None => Ok(JsValue::UNDEFINED),
            }
        })
    }

    fn cancel(&self) {
        self.left.set(true);
        drop(self.command.take());
        if let Some(process) = self.process() {
            process.leave();
        }
    }
}

/// The callbacks for stdout and stderr.
pub type Callbacks = (Option<Function>, Option<Function>);
