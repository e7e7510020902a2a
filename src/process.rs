//! A process under way: its output as it comes, its end, and what can be done to it meanwhile.

use crate::error::{Fault, Result, Thrown};
use crate::input::{self, Into};
use crate::options::{CallOptions, Options, bytes};
use crate::protocol::connect::Code;
use crate::protocol::events::{Channel, Malformed, ProcessEvent, process_event};
use crate::protocol::failure::Class;
use crate::protocol::routing::decimal;
use crate::protocol::utf8::Utf8Decoder;
use crate::target::{Target, promise};
use crate::transport::connect::{Opening, cut_off, open};
use crate::transport::events::EventStream;
use crate::transport::guard::{Guard, Held};
use crate::transport::json;
use crate::transport::limits::Limits;
use crate::transport::runtime::ignore;
use crate::unary::kill;
use js_sys::{Promise, Uint8Array};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::spawn_local;
use web_sys::ReadableStreamDefaultReader;

/// Small frames are joined up to about this size, in bytes or characters.
const JOINED: usize = 64 * 1024;

/// Frames from this size on, in bytes, are handed out by themselves: copying them together would cost more than it saves.
const LARGE: usize = 4 * 1024;

/// How output is handed out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    Text,
    Bytes,
}

/// How a process ended.
#[derive(Debug, Clone)]
pub struct Exit {
    pub code: i32,
    pub error: Option<String>,
}

/// A piece of what a process does.
pub enum Piece {
    Text(Channel, String),
    Bytes(Channel, Uint8Array),
    Exit(Exit),
}

/// A process that is listened to.
pub struct Process {
    pub target: Rc<Target>,
    pub pid: u32,
    /// When it began, on the clock of [`crate::transport::runtime::now`].
    pub started: f64,
    pub output: Output,
    stream: Rc<EventStream>,
    decoders: RefCell<[Utf8Decoder; 2]>,
    exit: RefCell<Option<Exit>>,
    /// A failure that came behind output which had to be handed out first.
    failed: RefCell<Option<Fault>>,
    /// Whether there is nothing more to hand out.
    done: Cell<bool>,
    /// Whether a reader that leaves early ends the process.
    pub kills_when_left: Cell<bool>,
    /// Fired when nobody need wait for the caller's callbacks any more: at the end, and once the process was killed.
    pub patience: Guard,
    /// What ends the process early: a signal, its timeout.
    ends: RefCell<Option<Held>>,
    /// Where its input comes from.
    feed: RefCell<Option<ReadableStreamDefaultReader>>,
}

impl Process {
    /// Opens the stream and waits for the process to run.
    ///
    /// # Errors
    /// What the server says; a timeout when the first event does not come in time.
    pub async fn open(
        target: Rc<Target>,
        opening: Opening,
        user: Option<String>,
        timeout: Option<f64>,
        output: Output,
        options: &CallOptions,
    ) -> Result<Rc<Self>> {
        let limits = Limits::start(options)?;
        let stream = Rc::new(open(&target, &opening, user.as_deref(), timeout, &limits).await?);
        let pid = loop {
            let event = stream.visit(|message| {
                with_event(stream.json, message, |event| match event {
                    ProcessEvent::Start(pid) => Ok((true, Some(pid))),
                    ProcessEvent::Other => Ok((true, None)),
                    // Output before the start is no order that this protocol knows.
                    _ => Err(Malformed),
                })
                .flatten()
            })?;
            match event {
                Some(Some(pid)) => break pid,
                Some(None) => {}
                None if stream.ended() => return Err(cut_off()),
                None => stream.fill(Some(&limits.guard)).await?,
            }
        };
        let started = crate::transport::runtime::now();
        Ok(Rc::new(Self {
            target,
            pid,
            started,
            output,
            stream,
            decoders: RefCell::default(),
            exit: RefCell::default(),
            failed: RefCell::default(),
            done: Cell::new(false),
            kills_when_left: Cell::new(false),
            patience: Guard::new(),
            ends: RefCell::default(),
            feed: RefCell::default(),
        }))
    }

    /// Ends the process when the signal aborts or the time has passed.
    pub fn end_by(self: &Rc<Self>, options: &CallOptions, timeout: Option<f64>) {
        let guard = Held::by(options.signal.as_ref());
        if let Some(ms) = timeout {
            let message = ["The command ran longer than ", &decimal(ms as u64), " ms (timeoutMs) and was killed."].concat();
            // The server has the same deadline and is let speak first.
            guard.after(ms + 500.0, Class::CommandTimeout.name(), &message, "");
        }
        let process = Rc::downgrade(self);
        guard.on_fire(Box::new(move |error| {
            if let Some(process) = process.upgrade() {
                process.stop_with(&error);
            }
        }));
        if !self.done.get() {
            *self.ends.borrow_mut() = Some(guard);
        }
    }

    /// Its input comes from here, and is no longer wanted when it ends.
    pub fn feeds_from(&self, reader: ReadableStreamDefaultReader) {
        *self.feed.borrow_mut() = Some(reader);
    }

    /// Ends the process and fails whoever reads it with `error`.
    pub fn stop_with(&self, error: &JsValue) {
        if self.exit.borrow().is_some() {
            return;
        }
        self.stream.guard.fire(error);
        self.stream.cancel();
        self.patience.fire(&JsValue::UNDEFINED);
        kill_later(&self.target, self.pid);
    }

    /// The next piece, if it is here.
    pub fn piece(&self) -> Result<Option<Piece>> {
        if self.done.get() {
            return Ok(None);
        }
        if let Some(fault) = self.failed.take() {
            return Err(self.finish(fault));
        }
        if self.exit.borrow().is_none() {
            match self.gather() {
                Ok(Some(piece)) => return Ok(Some(piece)),
                Ok(None) => {}
                Err(fault) => return Err(self.finish(fault)),
            }
        }
        let Some(exit) = self.exit.borrow().clone() else {
            return if self.stream.ended() { Err(self.finish(cut_off())) } else { Ok(None) };
        };
        for (at, channel) in [Channel::Stdout, Channel::Stderr].into_iter().enumerate() {
            let rest = self.decoders.borrow_mut()[at].finish();
            if !rest.is_empty() {
                return Ok(Some(Piece::Text(channel, rest.to_owned())));
            }
        }
        if !self.is_confirmed()? {
            return Ok(None);
        }
        self.close();
        Ok(Some(Piece::Exit(exit)))
    }

    /// Whether the stream's own end has come behind the process's. A body that ends without it was cut off.
    fn is_confirmed(&self) -> Result<bool> {
        loop {
            match self.stream.visit(|_| Ok((true, ()))) {
                Ok(Some(())) => {}
                Ok(None) => return Ok(self.stream.ended()),
                Err(fault) => return Err(self.finish(fault)),
            }
        }
    }

    /// The next piece; `None` when reading was given up, or after the end.
    pub async fn next_piece(&self) -> Result<Option<Piece>> {
        loop {
            if let Some(piece) = self.piece()? {
                return Ok(Some(piece));
            }
            if self.done.get() {
                return Ok(None);
            }
            match self.stream.fill(None).await {
                Ok(()) => {}
                Err(_) if self.done.get() => return Ok(None),
                Err(fault) => return Err(self.finish(fault)),
            }
        }
    }

    /// Takes messages of one channel together, as long as they are here and small.
    fn gather(&self) -> Result<Option<Piece>> {
        let (mut channel, mut text, mut joined, mut large) = (None, String::new(), Vec::new(), None);
        loop {
            // Each step says whether to look at another message.
            let step = self.stream.visit(|message| {
                with_event(self.stream.json, message, |event| match event {
                    ProcessEvent::Data(from, data) => {
                        if channel.is_some_and(|channel| channel != from) {
                            return (false, false);
                        }
                        channel = Some(from);
                        if self.output == Output::Text {
                            let decoder = &mut self.decoders.borrow_mut()[usize::from(from == Channel::Stderr)];
                            let piece = decoder.push(data);
                            if text.is_empty() {
                                text = piece
                            } else {
                                text.push_str(&piece)
                            }
                            return (true, text.len() < JOINED);
                        }
                        if joined.is_empty() && data.len() >= LARGE {
                            large = Some(Uint8Array::from(data));
                            return (true, false);
                        }
                        joined.extend_from_slice(data);
                        (true, joined.len() < JOINED)
                    }
                    ProcessEvent::End { .. } if channel.is_some() => (false, false),
                    ProcessEvent::End { exit_code, error } => {
                        *self.exit.borrow_mut() = Some(Exit { code: exit_code, error: error.map(str::to_owned) });
                        (true, false)
                    }
                    ProcessEvent::Start(_) | ProcessEvent::Other => (true, true),
                })
            });
            match step {
                Ok(Some(true)) => {}
                Ok(_) => break,
                Err(fault) if channel.is_some() => {
                    *self.failed.borrow_mut() = Some(fault);
                    break;
                }
                Err(fault) => return Err(fault),
            }
        }
        Ok(match channel {
            Some(channel) if !text.is_empty() => Some(Piece::Text(channel, text)),
            Some(channel) if large.is_some() => large.map(|bytes| Piece::Bytes(channel, bytes)),
            Some(channel) if !joined.is_empty() => Some(Piece::Bytes(channel, Uint8Array::from(&*joined))),
            _ => None,
        })
    }

    /// There is nothing more to hand out.
    fn close(&self) {
        self.done.set(true);
        self.ends.take();
        self.patience.fire(&JsValue::UNDEFINED);
        if let Some(reader) = self.feed.take() {
            ignore(&reader.cancel());
        }
    }

    fn finish(&self, fault: Fault) -> Fault {
        self.close();
        self.stream.cancel();
        // The server's deadline is the command's timeout; its words are not for people.
        match fault.code() {
            Some(Code::DeadlineExceeded) => Fault::Thrown(
                Thrown::new(Class::CommandTimeout, "The command ran longer than its timeoutMs and was killed.").build(),
            ),
            _ => fault,
        }
    }

    /// Stops listening; the process goes on, and so does what it is fed from.
    pub fn disconnect(&self) {
        self.feed.take();
        self.close();
        self.stream.guard.fire(&JsValue::UNDEFINED);
        self.stream.cancel();
    }

    /// The reader left before the end.
    pub fn leave(&self) {
        if self.kills_when_left.get() && self.exit.borrow().is_none() && !self.done.get() {
            kill_later(&self.target, self.pid);
            self.close();
        }
        self.disconnect();
    }

    /// How it ended, once that was read.
    pub fn exit(&self) -> Option<Exit> {
        self.exit.borrow().clone()
    }

    /// What ends the wait for its output.
    pub fn guard(&self) -> &Guard {
        &self.stream.guard
    }

    /// Takes in what is still to come, whether or not somebody reads it: it is no more than what was on its way when the process was killed,
    /// and a connection that nobody reads would keep the program that runs us from its end.
    pub fn absorb(self: &Rc<Self>) {
        let process = self.clone();
        spawn_local(async move { process.stream.absorb().await });
    }

    pub fn is_done(&self) -> bool {
        self.done.get()
    }

    /// Queues input.
    pub fn send_input(&self, into: Into, data: &JsValue, options: JsValue) -> Promise {
        send_input(&self.target, self.pid, into, data, options)
    }
}

fn with_event<R>(is_json: bool, message: &[u8], visit: impl FnOnce(ProcessEvent<'_>) -> R) -> core::result::Result<R, Malformed> {
    if !is_json {
        return process_event(message).map(visit);
    }
    let (mut visit, mut seen) = (Some(visit), None);
    json::process_event(message, &mut |event| seen = visit.take().map(|visit| visit(event)))?;
    seen.ok_or(Malformed)
}

/// Sends SIGKILL without anybody waiting for it: the caller has gone, and whether it worked, nobody is left to hear.
pub fn kill_later(target: &Rc<Target>, pid: u32) {
    ignore(&kill(target, pid.into(), JsValue::UNDEFINED));
}

/// Queues input for a process; the promise of an exported method.
pub fn send_input(target: &Rc<Target>, pid: u32, into: Into, data: &JsValue, options: JsValue) -> Promise {
    let prepared = (|| {
        let bytes = if into == Into::Close { Vec::new() } else { bytes("data", data)? };
        let options = Options::new(options)?;
        let given = options.get("signal")?.is_some() || options.get("requestTimeoutMs")?.is_some();
        let call = target.call(&options)?;
        Ok((bytes, given.then_some(call)))
    })();
    match prepared {
        Ok((bytes, options)) => input::push(target, pid, into, bytes, options),
        Err(fault) => promise(async { Err(fault) }),
    }
}
