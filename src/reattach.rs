//! Attaching again to what goes on in the sandbox after a connection was lost: with growing pauses, and only while it can help.

use crate::error::Fault;
use crate::protocol::connect::Code;
use crate::target::{Target, Work};
use crate::transport::guard::Guard;
use crate::transport::json::get;
use crate::transport::runtime::now;
use std::cell::Cell;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;

/// Attempts after which it is given up. With the pauses between them that is about ten minutes in which the computer is awake.
const ATTEMPTS: u32 = 24;

/// The first pause, in ms. Each is twice as long as the one before, give or take a half.
const FIRST_PAUSE: f64 = 300.0;
const LONGEST_PAUSE: f64 = 30_000.0;

/// How long an attachment must have lasted for the next loss to be a new one, in ms. One that is lost at once is no reason to hurry.
const LASTING: f64 = 30_000.0;

/// How long one attempt may take, in ms.
pub const ATTEMPT_TIMEOUT: f64 = 20_000.0;

/// Why it was given up.
pub struct End {
    /// `exited` when what was listened to is not there any more, `paused`, or `lost`.
    pub reason: &'static str,
    pub error: JsValue,
}

/// How often it was tried, and since when it has held.
#[derive(Default)]
pub struct Attempts {
    made: Cell<u32>,
    since: Cell<f64>,
}

impl Attempts {
    /// Calls `attach` until it succeeds, which puts what it attached to where it belongs. Ends early when `stop` is fired, which `attach`
    /// heeds too.
    ///
    /// The control plane is asked first where it can be: asking wakes nothing, while a request to a paused sandbox may.
    pub async fn again(&self, target: &Target, lost: Fault, stop: &Guard, attach: &dyn Fn() -> Work<()>) -> Result<(), End> {
        if now() - self.since.get() > LASTING {
            self.made.set(0);
        }
        let mut fault = lost;
        loop {
            let made = self.made.replace(self.made.get() + 1);
            let reason = match target.state_after(&fault).await.0.as_deref() {
                _ if fault.code() == Some(Code::NotFound) => "exited",
                Some("paused") => "paused",
                Some("") => "lost",
                _ if made < ATTEMPTS && is_loss(&fault) => "",
                _ => "lost",
            };
            if !reason.is_empty() {
                // What the connection fell silent with says less than the sandbox's state.
                let fault = match fault {
                    Fault::Thrown(cause) if reason == "paused" => Fault::lost(true, cause),
                    fault => fault,
                };
                return Err(End { reason, error: target.explain(fault).await });
            }
            if pause(made, stop).await?.is_truthy() {
                self.made.set(0);
            }
            let attached = attach().await;
            if stop.is_fired() {
                return Err(stop.error().into());
            }
            match attached {
                Ok(()) => {
                    self.since.set(now());
                    return Ok(());
                }
                Err(failed) => fault = failed,
            }
        }
    }
}

impl From<JsValue> for End {
    /// It was given up from outside.
    fn from(error: JsValue) -> Self {
        Self { reason: "lost", error }
    }
}

/// Whether the network, and not the server, ended it.
fn is_loss(fault: &Fault) -> bool {
    match fault {
        Fault::Network(_) => true,
        Fault::Answer(answer) => {
            answer.gateway.is_some() || answer.code == Some(Code::Unavailable) || matches!(answer.status, 429 | 502..=504)
        }
        // A connection that fell silent, and an attempt that took too long.
        Fault::Thrown(error) => matches!(get(error, "code").as_string().as_deref(), Some("E5001" | "E5002")),
    }
}

/// Gives whether the computer woke meanwhile, or got its network back.
async fn pause(made: u32, stop: &Guard) -> Result<JsValue, JsValue> {
    let ms = (FIRST_PAUSE * f64::from(1 << made.min(10))).min(LONGEST_PAUSE) * (0.5 + js_sys::Math::random());
    JsFuture::from(stop.sleep(ms)).await
}
