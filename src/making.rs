//! Making something that lasts: when the caller gives up before the answer is there, the answer is waited for in the background, and what was
//! made is undone. Nobody else knows of it.

use crate::error::Result;
use crate::options::{CallOptions, LIFECYCLE_TIMEOUT};
use crate::target::Work;
use crate::transport::limits::Limits;
use std::future::Future;
use std::pin::Pin;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::spawn_local;

/// Asks for something under limits of its own.
pub type Ask = Box<dyn FnOnce(Limits) -> Work<JsValue>>;

/// Ends what an answer describes. Whether that worked, nobody is left to hear.
pub type Undo = Box<dyn FnOnce(JsValue) -> Pin<Box<dyn Future<Output = ()>>>>;

impl CallOptions {
    /// Limits for work whose outcome must be known, whoever has given up waiting for it.
    pub fn outlasting(&self) -> Self {
        Self { signal: None, timeout: self.timeout.map(|ms| ms.max(LIFECYCLE_TIMEOUT)) }
    }
}

/// What came of it, and how it is undone.
struct Made {
    wire: JsValue,
    undo: Undo,
}

/// What `ask` gives, unless the call is given up first.
pub async fn making(call: &CallOptions, ask: Ask, undo: Undo) -> Result<JsValue> {
    let waiting = Limits::start(call)?;
    let asked = ask(Limits::start(&call.outlasting())?);
    let work: Work<Made> = Box::pin(async move { Ok(Made { wire: asked.await?, undo }) });
    let late = |made: Result<Made>| {
        if let Ok(Made { wire, undo }) = made {
            spawn_local(undo(wire));
        }
    };
    Ok(waiting.guard.work(work, late).await?.wire)
}
