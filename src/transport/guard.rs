//! What ends a wait early: the caller's signal, a timer, a cancel.
//!
//! A [`Guard`] is fired once, with what the waiting call then gives its caller. Whoever waits does so through [`Guard::wait`]; timers and
//! listeners fire it and are taken down when they are dropped, so none stays behind a call that has ended.

use super::runtime::{clear_interval, clear_timeout, set_interval, set_timeout};
use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::task::{Poll, Waker};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::AbortSignal;

/// Why a wait ended without its value.
#[derive(Debug)]
pub enum Stop {
    /// What was waited for failed with this.
    Failed(JsValue),
    /// The guard was fired with this.
    Fired(JsValue),
}

/// Something that can end waits.
#[derive(Default)]
pub struct Guard {
    fired: RefCell<Option<JsValue>>,
    waker: RefCell<Option<Waker>>,
}

impl Guard {
    pub fn new() -> Rc<Self> {
        Rc::new(Self::default())
    }

    /// Ends the wait that is under way and all later ones. The first call counts.
    pub fn fire(&self, error: JsValue) {
        if self.fired.borrow().is_none() {
            *self.fired.borrow_mut() = Some(error);
        }
        let waker = self.waker.borrow_mut().take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// What it was fired with.
    pub fn fired(&self) -> Option<JsValue> {
        self.fired.borrow().clone()
    }

    /// The future's value, unless the guard is fired first. The future is only borrowed, so that it can be finished elsewhere.
    pub async fn wait<F: Future + Unpin>(&self, mut future: F) -> core::result::Result<F::Output, JsValue> {
        poll_fn(|context| {
            if let Some(error) = self.fired() {
                return Poll::Ready(Err(error));
            }
            let polled = pin!(&mut future).poll(context);
            if polled.is_pending() {
                *self.waker.borrow_mut() = Some(context.waker().clone());
            }
            polled.map(Ok)
        })
        .await
    }

    /// The promise's value, unless the guard is fired first.
    pub async fn promise(&self, promise: js_sys::Promise) -> core::result::Result<JsValue, Stop> {
        match self.wait(JsFuture::from(promise)).await {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(error)) => Err(Stop::Failed(error)),
            Err(error) => Err(Stop::Fired(error)),
        }
    }
}

impl Guard {
    /// Waits for what a callback returned, if that can be waited for, unless the guard is fired first.
    ///
    /// # Errors
    /// What it was rejected with, which is the caller's own and goes back to the caller; what the guard is fired with.
    pub async fn settle(&self, answer: &JsValue) -> core::result::Result<(), JsValue> {
        if !answer.is_object() {
            return Ok(());
        }
        match self.promise(js_sys::Promise::resolve(answer)).await {
            Ok(_) => Ok(()),
            Err(Stop::Failed(error) | Stop::Fired(error)) => Err(error),
        }
    }
}

/// Something that several can wait for, again and again.
#[derive(Default)]
pub struct Bell {
    rings: Cell<u32>,
    waiting: RefCell<Vec<Waker>>,
}

impl Bell {
    /// Wakes all who wait now.
    pub fn ring(&self) {
        self.rings.set(self.rings.get().wrapping_add(1));
        for waker in self.waiting.take() {
            waker.wake();
        }
    }

    /// Waits for the next ring.
    pub async fn rung(&self) {
        let before = self.rings.get();
        poll_fn(|context| {
            if self.rings.get() != before {
                return Poll::Ready(());
            }
            self.waiting.borrow_mut().push(context.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

/// Does something after a time, unless dropped before.
pub struct Timer {
    id: JsValue,
    _callback: Closure<dyn FnMut()>,
}

/// The longest time a runtime's timer keeps, in ms; longer ones would fire at once.
const LONGEST: f64 = 2_147_483_647.0;

impl Timer {
    pub fn start(ms: f64, callback: impl FnOnce() + 'static) -> Self {
        let callback = Closure::once(callback);
        let id = set_timeout(callback.as_ref().unchecked_ref(), ms.min(LONGEST));
        Self { id, _callback: callback }
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        clear_timeout(&self.id);
    }
}

/// Does something again and again, until dropped.
pub struct Ticker {
    id: JsValue,
    _callback: Closure<dyn FnMut()>,
}

impl Ticker {
    pub fn start(ms: f64, callback: impl FnMut() + 'static) -> Self {
        let callback = Closure::new(callback);
        let id = set_interval(callback.as_ref().unchecked_ref(), ms);
        Self { id, _callback: callback }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        clear_interval(&self.id);
    }
}

/// Does something when a signal aborts, unless dropped before.
pub struct Listener {
    signal: AbortSignal,
    callback: Closure<dyn FnMut()>,
}

impl Listener {
    /// Listens. A signal that has already aborted is answered at once.
    pub fn start(signal: &AbortSignal, on_abort: impl FnOnce(JsValue) + 'static) -> Option<Self> {
        if signal.aborted() {
            on_abort(signal.reason());
            return None;
        }
        let callback = {
            let signal = signal.clone();
            Closure::once(move || on_abort(signal.reason()))
        };
        signal.add_event_listener_with_callback("abort", callback.as_ref().unchecked_ref()).ok()?;
        Some(Self { signal: signal.clone(), callback })
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let _ = self.signal.remove_event_listener_with_callback("abort", self.callback.as_ref().unchecked_ref());
    }
}
