//! What is typed into processes: in order, one request at a time for each process, and what waits is joined.

use crate::error::{Fault, Result};
use crate::options::{CallOptions, REQUEST_TIMEOUT, object};
use crate::panic::Deferred;
use crate::protocol::failure::Doing;
use crate::target::Target;
use crate::transport::connect::{Unary, json, send_input, unary};
use crate::transport::guard::Held;
use crate::transport::limits::Limits;
use crate::unary::selector;
use js_sys::Promise;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::spawn_local;

/// The most that is sent in one request, in bytes.
const LARGEST: usize = 256 * 1024;

/// Where input goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Into {
    Stdin,
    Pty,
    /// Nowhere: stdin is ended.
    Close,
}

/// Input that waits.
struct Item {
    bytes: Vec<u8>,
    into: Into,
    /// `None` for input that may be joined with its neighbours.
    options: Option<CallOptions>,
    answer: Deferred,
    /// Fired when the caller has given it up.
    given_up: Held,
}

/// The queues of a sandbox's processes. A queue is there while something waits.
#[derive(Default)]
pub struct Inputs {
    queues: RefCell<Vec<(u32, VecDeque<Item>)>>,
}

/// Queues input. The promise settles when the server has taken it.
pub fn push(target: &Rc<Target>, pid: u32, into: Into, bytes: Vec<u8>, options: Option<CallOptions>) -> Promise {
    let given_up = Held::by(options.as_ref().and_then(|options| options.signal.as_ref()));
    let answer = Deferred::new(true);
    let promise = given_up.race(&answer.promise());
    let item = Item { bytes, into, options, answer, given_up };
    let mut queues = target.inputs.queues.borrow_mut();
    match queues.iter_mut().find(|(of, _)| *of == pid) {
        Some((_, queue)) => queue.push_back(item),
        None => {
            queues.push((pid, VecDeque::from([item])));
            spawn_local(pump(target.clone(), pid));
        }
    }
    promise
}

/// Sends what waits for one process, until nothing does.
async fn pump(target: Rc<Target>, pid: u32) {
    while let Some(batch) = next_batch(&target, pid) {
        let (failed, answer) = match send(&target, pid, &batch).await {
            Ok(()) => (false, JsValue::UNDEFINED),
            Err(fault) => (true, target.explain(fault).await),
        };
        for item in batch {
            item.answer.settle(failed, &answer);
        }
    }
}

/// Takes the first item and what may be joined with it. An empty queue goes away.
fn next_batch(target: &Target, pid: u32) -> Option<Vec<Item>> {
    let mut queues = target.inputs.queues.borrow_mut();
    let at = queues.iter().position(|(of, _)| *of == pid)?;
    let queue = &mut queues[at].1;
    let mut batch: Vec<Item> = Vec::new();
    let mut size = 0;
    while let Some(item) = queue.pop_front() {
        if item.given_up.is_fired() {
            item.answer.settle(false, &JsValue::UNDEFINED);
            continue;
        }
        let joins = batch.first().is_none_or(|first| {
            let joinable = |item: &Item| item.options.is_none() && item.into != Into::Close;
            joinable(first) && joinable(&item) && first.into == item.into && size + item.bytes.len() <= LARGEST
        });
        if !joins {
            queue.push_front(item);
            break;
        }
        size += item.bytes.len();
        batch.push(item);
    }
    if batch.is_empty() {
        queues.swap_remove(at);
        return None;
    }
    Some(batch)
}

async fn send(target: &Target, pid: u32, batch: &[Item]) -> Result<()> {
    let Some(first) = batch.first() else { return Ok(()) };
    let default = || CallOptions { signal: None, timeout: target.client.timeout_or(REQUEST_TIMEOUT) };
    let options = first.options.clone().unwrap_or_else(default);
    if first.into == Into::Close {
        let message = json(&object(&[("process", selector(pid))]))?;
        let limits = Limits::start(&options)?;
        let method = "/process.Process/CloseStdin";
        let call = Unary { doing: Doing::Process, method, message, user: None, repeatable: true };
        return unary(target, call, &limits).await.map(drop);
    }
    let bytes: Vec<u8> = batch.iter().flat_map(|item| item.bytes.iter().copied()).collect();
    for at in (0..bytes.len().max(1)).step_by(LARGEST) {
        let piece = &bytes[at..(at + LARGEST).min(bytes.len())];
        let limits = Limits::start(&options)?;
        send_input(target, pid, first.into == Into::Pty, piece, &limits).await?;
    }
    Ok(())
}

impl From<Fault> for JsValue {
    fn from(fault: Fault) -> Self {
        fault.into_js()
    }
}
