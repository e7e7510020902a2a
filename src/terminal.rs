//! A shell in a terminal: ordered input, joined resizes, output that slows the shell down when it is not read, and one end.

use crate::error::{Fault, Result, Thrown, refusal};
use crate::input::{Into, push};
use crate::members::{Answer, Args};
use crate::options::{CallOptions, Options, bytes, integer, object, pid, set};
use crate::panic::Deferred;
use crate::process::{Piece, Process};
use crate::protocol::failure::Class;
use crate::pty;
use crate::reattach::{ATTEMPT_TIMEOUT, Attempts};
use crate::stream::{Pull, chunk_stream, disposable};
use crate::target::{Target, Work, promise};
use crate::transport::guard::{Bell, Guard, Held};
use crate::unary::{RESIZE, call, kill};
use js_sys::{Array, Promise, Uint8Array};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, spawn_local};

/// How much unread output is held, in bytes, before reading stops and the shell is slowed down.
const HELD: u32 = 256 * 1024;

/// What stands in the output where some may be missing, unless the caller wants something else there.
const GAP_MARKER: &str = "\r\n\x1b[7m[The connection was lost: output may be missing]\x1b[0m\r\n";

/// A session's state, shared by its methods, its streams and its reader.
struct Session {
    target: Rc<Target>,
    pid: u32,
    /// Another one after each loss of the connection.
    process: RefCell<Rc<Process>>,
    /// Whether output can come: not while the connection is lost.
    attached: Cell<bool>,
    attempts: Attempts,
    /// Fired at the end.
    stop: Held,
    gap_marker: String,
    /// The terminal's size, as far as this session knows it.
    known_size: Cell<Option<(u32, u32)>>,
    /// Whether this session started the shell.
    owns_shell: bool,
    output: RefCell<VecDeque<Uint8Array>>,
    held: Cell<u32>,
    /// Rung when output or the end has come, or room.
    bell: Bell,
    ended: Cell<bool>,
    /// Whether the shell is known to have ended; its session may end before.
    gone: Cell<bool>,
    /// The kill under way: the exit that it brings about may be read before its answer.
    killing: RefCell<Option<Promise>>,
    closed: Deferred,
    /// The size that waits to be sent, and the promise of whoever sends.
    size: Cell<Option<(u32, u32)>>,
    resizing: RefCell<Option<Promise>>,
}

/// A shell in a terminal.
#[wasm_bindgen(skip_typescript)]
pub struct TerminalSession(Rc<Session>);

/// Opens a session.
pub fn open(target: &Rc<Target>, options: JsValue) -> Promise {
    let of = target.clone();
    target.promise(async move {
        let options = Options::new(options)?;
        let call = of.call(&options)?;
        let given = options.get("pid")?;
        let gap_marker = options.string("gapMarker")?.unwrap_or_else(|| GAP_MARKER.to_owned());
        let size = if given.is_none() || options.get("cols")?.is_some() || options.get("rows")?.is_some() {
            Some(pty::size(&options)?)
        } else {
            None
        };
        let process = match &given {
            None => pty::start(&of, &options, &call).await?,
            Some(given) => pty::connect(&of, pid(given)?, &call).await?,
        };
        let owns_shell = given.is_none();
        let session = Rc::new(Session {
            target: of,
            pid: process.pid,
            process: RefCell::new(process),
            attached: Cell::new(true),
            attempts: Attempts::default(),
            stop: Held::wakeable(),
            gap_marker,
            known_size: Cell::new(size),
            owns_shell,
            output: RefCell::default(),
            held: Cell::new(0),
            bell: Bell::new(),
            ended: Cell::new(false),
            gone: Cell::new(false),
            killing: RefCell::default(),
            closed: Deferred::new(false),
            size: Cell::new(None),
            resizing: RefCell::default(),
        });
        session.stop.hold(session.process.borrow().guard());
        spawn_local(read(session.clone()));
        // What the terminal showed before is not told again.
        if !owns_shell && let Err(error) = redraw(&session).await {
            session.end("detached", &[]);
            return Err(error.into());
        }
        Ok(disposable(TerminalSession(session).into()))
    })
}

/// Reads the shell's output to its end, no faster than it is taken.
async fn read(session: Rc<Session>) {
    while !session.ended.get() {
        if session.held.get() >= HELD {
            let _ = JsFuture::from(session.bell.rung()).await;
            continue;
        }
        let process = session.process.borrow().clone();
        match process.next_piece().await {
            Ok(Some(Piece::Bytes(_, bytes))) => session.show(bytes),
            // A terminal has one channel, of bytes.
            Ok(Some(Piece::Text(..))) => {}
            // The shell's end may be heard of before the answer to the signal that ended it.
            Ok(Some(Piece::Exit(exit))) if session.killing.borrow().is_some() && exit.code < 0 => session.end("killed", &[]),
            Ok(Some(Piece::Exit(exit))) => session.end("exited", &[("exitCode", exit.code.into())]),
            // Reading was given up, and whoever did that has said why.
            Ok(None) => break,
            Err(fault) => attach_again(&session, fault).await,
        }
    }
}

/// Attaches to the same shell again, or ends the session with the reason why not.
async fn attach_again(session: &Rc<Session>, lost: Fault) {
    session.attached.set(false);
    let attach = || -> Work<()> {
        let session = session.clone();
        Box::pin(async move {
            let call = CallOptions { signal: Some(session.stop.signal()), timeout: Some(ATTEMPT_TIMEOUT) };
            let process = pty::connect(&session.target, session.pid, &call).await?;
            if session.ended.get() {
                process.disconnect();
            }
            session.stop.hold(process.guard());
            *session.process.borrow_mut() = process;
            Ok(())
        })
    };
    match session.attempts.again(&session.target, lost, &session.stop, &attach).await {
        Err(end) if end.reason == "exited" => session.end(end.reason, &[]),
        Err(end) => session.end(end.reason, &[("error", end.error)]),
        Ok(()) => {
            session.attached.set(true);
            if !session.gap_marker.is_empty() {
                session.show(Uint8Array::from(session.gap_marker.as_bytes()));
            }
            // Whether it worked, nobody asked.
            let session = session.clone();
            spawn_local(async move { drop(redraw(&session).await) });
        }
    }
}

/// Lets the terminal's program draw anew: it does when the size changes, so it is changed for a moment.
async fn redraw(session: &Rc<Session>) -> core::result::Result<(), JsValue> {
    let Some((cols, rows)) = session.known_size.get() else { return Ok(()) };
    let other = if rows > 1 { rows - 1 } else { 2 };
    for rows in [other, rows] {
        session.size.set(Some((cols, rows)));
        JsFuture::from(session.resize()).await?;
    }
    Ok(())
}

impl Session {
    /// Takes output in.
    fn show(&self, bytes: Uint8Array) {
        self.held.set(self.held.get() + bytes.length());
        self.output.borrow_mut().push_back(bytes);
        self.bell.ring();
    }

    /// Sends the size that waits, in one request at a time.
    fn resize(self: &Rc<Self>) -> Promise {
        if let Some(resizing) = &*self.resizing.borrow() {
            return resizing.clone();
        }
        let session = self.clone();
        let resizing = self.target.promise(async move { session.send_sizes().await });
        *self.resizing.borrow_mut() = Some(resizing.clone());
        resizing
    }

    /// Ends the session; the first reason counts.
    fn end(&self, reason: &str, details: &[(&str, JsValue)]) {
        if matches!(reason, "exited" | "killed") {
            self.gone.set(true);
        }
        if self.ended.replace(true) {
            return;
        }
        let end = object(&[("reason", JsValue::from_str(reason))]);
        for (name, value) in details {
            set(&end, name, value);
        }
        self.stop.fire(&JsValue::UNDEFINED);
        self.process.borrow().disconnect();
        self.bell.ring();
        self.closed.settle(false, &end);
    }

    /// The next output that is here.
    fn pop(&self) -> Option<JsValue> {
        let bytes = self.output.borrow_mut().pop_front()?;
        let held = self.held.get();
        self.held.set(held - bytes.length());
        if held >= HELD && self.held.get() < HELD {
            self.bell.ring();
        }
        Some(bytes.into())
    }

    /// The next output; `undefined` after the last, or when `stop` is fired.
    async fn receive(&self, stop: &Guard) -> JsValue {
        loop {
            if let Some(bytes) = self.pop() {
                return bytes;
            }
            if self.ended.get() || stop.promise(self.bell.rung()).await.is_err() {
                return JsValue::UNDEFINED;
            }
        }
    }

    /// Kills the shell, also one that the session was detached from.
    fn kill(self: &Rc<Self>) -> Promise {
        if self.gone.get() {
            return Promise::resolve(&JsValue::FALSE);
        }
        if let Some(killing) = &*self.killing.borrow() {
            return killing.clone();
        }
        let session = self.clone();
        let killing = self.target.promise(async move {
            let killed = JsFuture::from(kill(&session.target, session.pid.into(), JsValue::UNDEFINED)).await;
            session.killing.take();
            let killed = killed?;
            if killed == true {
                session.end("killed", &[]);
            }
            session.gone.set(true);
            Ok(killed)
        });
        *self.killing.borrow_mut() = Some(killing.clone());
        killing
    }

    /// Sends the size that waits, and then the one that came meanwhile.
    async fn send_sizes(&self) -> Result<JsValue> {
        let mut sent = Ok(JsValue::UNDEFINED);
        while let Some((cols, rows)) = self.size.take() {
            let size = object(&[("cols", cols.into()), ("rows", rows.into())]);
            let args = [self.pid.into(), size.into()];
            sent = JsFuture::from(call(&self.target, &RESIZE, args, JsValue::UNDEFINED)).await;
        }
        self.resizing.take();
        Ok(sent?)
    }

    fn send(&self, data: &JsValue) -> Promise {
        match bytes("data", data) {
            Ok(_) if self.ended.get() => promise(async { Err(Self::has_ended()) }),
            Ok(bytes) => push(&self.target, self.pid, Into::Pty, bytes, None),
            Err(fault) => promise(async { Err(fault) }),
        }
    }

    fn receive_within(self: &Rc<Self>, timeout: JsValue) -> Promise {
        let session = self.clone();
        promise(async move {
            let timeout = match timeout.as_f64() {
                Some(ms) if ms >= 0.0 => Some(ms),
                None if timeout.is_undefined() => None,
                _ => return Err(refusal("timeoutMs must be a duration in ms, 0 or more.")),
            };
            let stop = Held::after(timeout);
            Ok(session.receive(&stop).await)
        })
    }

    fn resize_to(self: &Rc<Self>, cols: &JsValue, rows: &JsValue) -> Promise {
        let size = (|| Ok((integer("cols", cols, 1.0, 65_535.0)? as u32, integer("rows", rows, 1.0, 65_535.0)? as u32)))();
        let size = match size {
            Ok(_) if self.ended.get() => return promise(async { Err(Self::has_ended()) }),
            Ok(size) => size,
            Err(fault) => return promise(async { Err(fault) }),
        };
        self.size.set(Some(size));
        self.known_size.set(Some(size));
        self.resize()
    }

    fn detach(self: &Rc<Self>) -> Promise {
        let killing = self.killing.borrow().clone();
        let Some(killing) = killing else {
            self.end("detached", &[]);
            return Promise::resolve(&JsValue::UNDEFINED);
        };
        // Who asked for the shell's end before gets it.
        let session = self.clone();
        promise(async move {
            let _ = JsFuture::from(killing).await;
            session.end("detached", &[]);
            Ok(JsValue::UNDEFINED)
        })
    }

    fn close(self: &Rc<Self>) -> Promise {
        if !self.owns_shell || self.ended.get() {
            return self.detach();
        }
        let killed = self.kill();
        promise(async move {
            JsFuture::from(killed).await?;
            Ok(JsValue::UNDEFINED)
        })
    }

    fn has_ended() -> Fault {
        Thrown::new(Class::SandboxConnection, "The terminal session has ended.")
            .suggestion("Look at what its closed promise resolved to, and open a new session.")
            .into()
    }
}

#[wasm_bindgen]
impl TerminalSession {
    /// See [`crate::members`].
    #[wasm_bindgen(js_name = __call)]
    pub fn call(&self, member: u32, args: &Array) -> Answer {
        let session = &self.0;
        let args = Args(args);
        Ok(match member {
            0 => return Ok(session.pid.into()),
            1 => return Ok((session.attached.get() && !session.ended.get()).into()),
            2 => session.closed.promise(),
            3 => session.send(&args.get(0)),
            4 => session.receive_within(args.get(0)),
            5 => return Ok(chunk_stream(Rc::new(SessionOutput { session: session.clone(), stop: Guard::new() }))),
            6 => session.resize_to(&args.get(0), &args.get(1)),
            7 => session.detach(),
            8 => session.kill(),
            _ => session.close(),
        }
        .into())
    }
}

/// Output as a stream. Giving it up leaves the session as it is.
struct SessionOutput {
    session: Rc<Session>,
    stop: Guard,
}

impl Pull for SessionOutput {
    fn take(&self) -> Result<Option<JsValue>> {
        Ok(if self.stop.is_fired() { None } else { self.session.pop() })
    }

    fn next(self: Rc<Self>) -> Promise {
        promise(async move {
            if self.stop.is_fired() {
                return Ok(JsValue::UNDEFINED);
            }
            Ok(self.session.receive(&self.stop).await)
        })
    }

    fn cancel(&self) {
        self.stop.fire(&JsValue::UNDEFINED);
    }
}
