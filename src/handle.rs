//! A process in JavaScript's hands.

use crate::commands::Callbacks;
use crate::error::{Fault, Result, Thrown};
use crate::input::Into;
use crate::members::{Answer, Args, at_once};
use crate::options::{Options, object, set_text};
use crate::process::{Exit, Output, Piece, Process};
use crate::protocol::events::Channel;
use crate::protocol::failure::Class;
use crate::protocol::routing::decimal;
use crate::protocol::utf8::lossy;
use crate::transport::guard::Stop;
use crate::transport::json::get;
use crate::transport::limits::Limits;
use crate::transport::runtime::{ignore, now};
use crate::unary::{RESIZE, call, kill};
use js_sys::{Array, Promise, Uint8Array};
use std::cell::RefCell;
use std::rc::Rc;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

#[wasm_bindgen(module = "/src/js/stream.js")]
extern "C" {
    #[wasm_bindgen(js_name = makeCommandHandle)]
    fn make_command_handle(process: ProcessHandle) -> JsValue;
    #[wasm_bindgen(js_name = makePtyHandle)]
    fn make_pty_handle(process: ProcessHandle) -> JsValue;
    #[wasm_bindgen(js_name = outputChunk)]
    fn text_chunk(is_stderr: bool, data: &str) -> JsValue;
    #[wasm_bindgen(js_name = outputChunk)]
    fn bytes_chunk(is_stderr: bool, data: &JsValue) -> JsValue;
    #[wasm_bindgen(js_name = exitChunk)]
    fn exit_chunk(code: i32, error: Option<&str>) -> JsValue;
}

/// What is kept of each stream for a result, in bytes.
pub const KEPT: usize = 64 * 1024 * 1024;

/// A piece as a stream of chunks gives it.
pub fn piece_value(piece: Piece) -> JsValue {
    match piece {
        Piece::Text(channel, text) => text_chunk(channel == Channel::Stderr, &text),
        Piece::Bytes(channel, bytes) => bytes_chunk(channel == Channel::Stderr, &bytes),
        Piece::Exit(exit) => exit_chunk(exit.code, exit.error.as_deref()),
    }
}

/// How a process went, with what was kept of its output.
pub struct Collected {
    exit: Exit,
    /// Of text whole characters.
    kept: [Vec<u8>; 2],
    output: Output,
    truncated: bool,
    /// In ms.
    duration: f64,
}

/// Reads a process to its end.
pub async fn collect(process: &Process, callbacks: Callbacks, capture: bool) -> Result<Collected> {
    let (exit, kept, output) = (Exit { code: 0, error: None }, Default::default(), process.output);
    let mut collected = Collected { exit, kept, output, truncated: false, duration: 0.0 };
    loop {
        let piece = match process.next_piece().await {
            Ok(Some(piece)) => piece,
            Ok(None) => break,
            Err(fault) => return Err(collected.told_with(fault)),
        };
        let is_stderr = matches!(piece, Piece::Text(Channel::Stderr, _) | Piece::Bytes(Channel::Stderr, _));
        let kept = &mut collected.kept[usize::from(is_stderr)];
        let room = if capture { KEPT - kept.len() } else { 0 };
        let (told, all) = match piece {
            Piece::Exit(exit) => {
                collected.exit = exit;
                collected.duration = now() - process.started;
                return Ok(collected);
            }
            Piece::Text(_, text) => {
                let end = (0..=text.len().min(room)).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
                kept.extend_from_slice(text.as_bytes().get(..end).unwrap_or_default());
                (JsValue::from_str(&text), end == text.len())
            }
            Piece::Bytes(_, bytes) => {
                let end = (bytes.length() as usize).min(room);
                kept.extend_from_slice(&bytes.subarray(0, end as u32).to_vec());
                let all = end == bytes.length() as usize;
                (bytes.into(), all)
            }
        };
        collected.truncated |= capture && !all;
        if let Some(callback) = if is_stderr { &callbacks.1 } else { &callbacks.0 } {
            let answer = callback.call1(&JsValue::UNDEFINED, &told)?;
            // What is given up waiting for, at the process's end, may fail unheard.
            if let Err(error) = process.patience.settle(&answer).await
                && !process.patience.is_fired()
            {
                return Err(error.into());
            }
        }
    }
    // Reading was given up from elsewhere. The exit code survives when it was read before.
    match process.exit() {
        Some(exit) => Ok(Collected { exit, duration: now() - process.started, ..collected }),
        None => Err(Thrown::new(Class::SandboxConnection, "The handle was disconnected; the process goes on.")
            .suggestion("Use commands.connect(pid) to listen to it again.")
            .into()),
    }
}

impl Collected {
    /// A timeout's error tells what came before it.
    fn told_with(&self, fault: Fault) -> Fault {
        if let Fault::Thrown(error) = &fault
            && get(error, "code") == "E3001"
        {
            for (name, kept) in ["stdout", "stderr"].into_iter().zip(&self.kept) {
                set_text(error.unchecked_ref(), name, &lossy(kept));
            }
        }
        fault
    }
}

/// The `CommandResult` of a finished command.
pub fn result_value(collected: &Collected, check: bool) -> Result<JsValue> {
    let Collected { exit, kept, output, truncated, duration } = collected;
    let text = |bytes: &[u8]| JsValue::from_str(&lossy(bytes));
    if check && exit.code != 0 {
        let code = decimal(exit.code.unsigned_abs().into());
        let sign = if exit.code < 0 { "-" } else { "" };
        return Err(Thrown::new(Class::Process, &["The command ended with exit code ", sign, &code, "."].concat())
            .detail("exitCode", &exit.code.into())
            .detail("stdout", &text(&kept[0]))
            .detail("stderr", &text(&kept[1]))
            .into());
    }
    let value = |bytes: &[u8]| if *output == Output::Bytes { Uint8Array::from(bytes).into() } else { text(bytes) };
    let result = object(&[
        ("success", (exit.code == 0).into()),
        ("exitCode", exit.code.into()),
        ("stdout", value(&kept[0])),
        ("stderr", value(&kept[1])),
        ("truncated", (*truncated).into()),
        ("executionTime", (duration / 1000.0).into()),
    ]);
    if let Some(error) = exit.error.as_ref().filter(|_| exit.code != 0) {
        set_text(&result, "error", error);
    }
    Ok(result.into())
}

/// A started process and its one result.
pub struct Started {
    pub process: Rc<Process>,
    capture: bool,
    /// Whether waiting for it fails on a non-zero exit code unless the wait says otherwise.
    check: bool,
    /// The promise of the result, once somebody wants it.
    result: RefCell<Option<Promise>>,
    collected: RefCell<Option<Rc<Collected>>>,
}

impl Started {
    pub fn new(process: Rc<Process>, capture: bool, check: bool) -> Rc<Self> {
        Rc::new(Self { process, capture, check, result: RefCell::default(), collected: RefCell::default() })
    }

    /// Reads to the end, once; later calls wait for the same end.
    pub fn collect(self: &Rc<Self>, callbacks: Callbacks) -> Promise {
        if let Some(result) = &*self.result.borrow() {
            return result.clone();
        }
        let started = self.clone();
        let result = self.process.target.promise(async move {
            let collected = collect(&started.process, callbacks, started.capture).await?;
            *started.collected.borrow_mut() = Some(Rc::new(collected));
            Ok(JsValue::UNDEFINED)
        });
        // Whoever asks for the result hears of a failure; nobody has to ask.
        ignore(&result);
        *self.result.borrow_mut() = Some(result.clone());
        result
    }
}

/// Which handle JavaScript makes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavour {
    Command,
    Pty,
}

/// The source behind a `CommandHandle` or `PtyHandle`.
#[wasm_bindgen(skip_typescript)]
pub struct ProcessHandle {
    started: Rc<Started>,
    flavour: Flavour,
}

impl ProcessHandle {
    pub fn make(started: Rc<Started>, flavour: Flavour) -> JsValue {
        let handle = Self { started, flavour };
        match flavour {
            Flavour::Command => make_command_handle(handle),
            Flavour::Pty => make_pty_handle(handle),
        }
    }

    fn process(&self) -> &Rc<Process> {
        &self.started.process
    }
}

/// A piece as this handle's stream gives it: a terminal's is nothing but bytes, and its end the end.
fn value(flavour: Flavour, piece: Piece) -> JsValue {
    match (flavour, piece) {
        (Flavour::Pty, Piece::Bytes(_, bytes)) => bytes.into(),
        (Flavour::Pty, _) => JsValue::UNDEFINED,
        (Flavour::Command, piece) => piece_value(piece),
    }
}

#[wasm_bindgen]
impl ProcessHandle {
    /// See [`crate::members`].
    #[wasm_bindgen(js_name = __call)]
    pub fn call(&self, member: u32, args: &Array) -> Answer {
        let (process, flavour) = (self.process(), self.flavour);
        let args = Args(args);
        Ok(match member {
            0 => return Ok(process.pid.into()),
            1 => return at_once(process.piece().map(|piece| piece.map(|piece| value(flavour, piece)).unwrap_or_default())),
            2 => {
                let of = process.clone();
                process
                    .target
                    .promise(async move { Ok(of.next_piece().await?.map(|piece| value(flavour, piece)).unwrap_or_default()) })
            }
            3 => {
                process.leave();
                return Ok(JsValue::UNDEFINED);
            }
            4 => {
                process.disconnect();
                return Ok(JsValue::UNDEFINED);
            }
            5 => {
                let (started, options) = (self.started.clone(), args.get(0));
                process.target.promise(async move { wait(&started, flavour, options).await })
            }
            6 => kill_process(process, args.get(0)),
            7 => {
                let into = if flavour == Flavour::Pty { Into::Pty } else { Into::Stdin };
                process.send_input(into, &args.get(0), args.get(1))
            }
            8 => process.send_input(Into::Close, &JsValue::UNDEFINED, args.get(0)),
            _ => call(&process.target, &RESIZE, [process.pid.into(), args.get(0)], args.get(1)),
        }
        .into())
    }
}

/// Waits for the end of a process.
async fn wait(started: &Rc<Started>, flavour: Flavour, options: JsValue) -> Result<JsValue> {
    let options = Options::new(options)?;
    // Waiting has no limit of its own: the command has.
    let call = options.call(None)?;
    let check = options.boolean("check")?.unwrap_or(started.check);
    let callbacks = (options.function("onStdout")?, options.function("onStderr")?);
    let limits = Limits::start(&call)?;
    let result = started.collect(callbacks);
    if let Err(Stop::Failed(error) | Stop::Fired(error)) = limits.guard.promise(result).await {
        return Err(Fault::Thrown(error));
    }
    let collected = started.collected.borrow().clone();
    let Some(collected) = collected else { return Ok(JsValue::UNDEFINED) };
    if flavour == Flavour::Command {
        return result_value(&collected, check);
    }
    let end = object(&[("exitCode", collected.exit.code.into())]);
    if let Some(error) = collected.exit.error.as_ref().filter(|_| collected.exit.code != 0) {
        set_text(&end, "error", error);
    }
    Ok(end.into())
}

fn kill_process(process: &Rc<Process>, options: JsValue) -> Promise {
    // A pid that has ended may by now be somebody else's.
    if process.exit().is_some() {
        return Promise::resolve(&JsValue::FALSE);
    }
    let (of, killed) = (process.clone(), kill(&process.target, process.pid.into(), options));
    process.target.promise(async move {
        let killed = JsFuture::from(killed).await?;
        // What callbacks still wait for, a killed process's reader does not.
        of.patience.fire(&JsValue::UNDEFINED);
        of.absorb();
        Ok(killed)
    })
}
