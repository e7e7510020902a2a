//! How long a call may take, and what else ends it.

use super::guard::{Guard, Listener, Timer};
use super::runtime::{is_http_page, now};
use crate::error::{Result, Thrown};
use crate::options::CallOptions;
use crate::protocol::failure::Class;
use crate::protocol::routing::decimal;
use std::cell::Cell;
use std::rc::Rc;
use wasm_bindgen::JsValue;

/// A call under way: the caller's signal and the request timeout, for all of its requests together.
pub struct Limits {
    pub guard: Rc<Guard>,
    /// Whether the headers of an answer have come.
    pub begun: Rc<Cell<bool>>,
    /// When the timeout passes, on the clock of [`now`].
    deadline: Option<f64>,
    _listener: Option<Listener>,
    timer: Cell<Option<Timer>>,
}

impl Limits {
    /// Starts the clock.
    ///
    /// # Errors
    /// The signal's reason when it has already aborted.
    pub fn start(options: &CallOptions) -> Result<Self> {
        let (guard, begun) = (Guard::new(), Rc::new(Cell::new(false)));
        let listener = options.signal.as_ref().and_then(|signal| {
            let guard = guard.clone();
            Listener::start(signal, move |reason| guard.fire(reason))
        });
        if let Some(reason) = guard.fired() {
            return Err(reason.into());
        }
        let timer = options.timeout.map(|ms| {
            let (guard, begun) = (guard.clone(), begun.clone());
            Timer::start(ms, move || guard.fire(timed_out(ms, begun.get())))
        });
        let deadline = options.timeout.map(|ms| now() + ms);
        Ok(Self { guard, begun, deadline, _listener: listener, timer: Cell::new(timer) })
    }

    /// Says that the answer has begun, and that this is all that the timeout was for.
    pub fn lift(&self) {
        self.timer.take();
    }

    /// How much time is left, in ms; infinite without a timeout.
    pub fn left(&self) -> f64 {
        self.deadline.map_or(f64::INFINITY, |deadline| deadline - now())
    }

    /// Waits, unless the call is ended first.
    pub async fn sleep(&self, ms: f64) -> Result<()> {
        let wake = Guard::new();
        let _timer = {
            let wake = wake.clone();
            Timer::start(ms, move || wake.fire(JsValue::UNDEFINED))
        };
        let never = std::future::pending::<()>();
        // The inner wait ends when the timer fires; only the outer one is an end of the call.
        let _ = self.guard.wait(Box::pin(wake.wait(Box::pin(never)))).await?;
        Ok(())
    }
}

fn timed_out(ms: f64, begun: bool) -> JsValue {
    let message = if begun { "The answer was not complete within " } else { "No answer within " };
    let message = [message, &decimal(ms as u64), " ms (requestTimeoutMs)."].concat();
    let error = Thrown::new(Class::RequestTimeout, &message);
    if begun || !is_http_page() {
        return error.build();
    }
    error
        .suggestion(
            "On http: a browser opens six connections a host, for all tabs together: close streams that are not needed, or serve page \
             and platform over https. Else raise requestTimeoutMs (0 = no limit).",
        )
        .build()
}
