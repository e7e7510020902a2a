//! What ends a wait early: the caller's signal, a timer, a cancel. JavaScript has all of these; see `js/guard.js`.
//!
//! A [`Guard`] is fired once, with what the waiting call then gives its caller. Whoever waits does so through [`Guard::promise`]; timers and
//! listeners are taken down when their [`Held`] is dropped, so none stays behind a call that has ended.

use crate::error::Result;
use crate::panic::{Deferred, panics};
use crate::target::Work;
use js_sys::Promise;
use std::cell::RefCell;
use std::ops::Deref;
use std::rc::Rc;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::AbortSignal;

#[wasm_bindgen(module = "/src/js/guard.js")]
extern "C" {
    /// Something that can end waits.
    #[derive(Clone)]
    pub type Guard;
    #[wasm_bindgen(constructor)]
    pub fn new() -> Guard;
    /// Ends the waits that are under way and all later ones. The first call counts.
    #[wasm_bindgen(method)]
    pub fn fire(this: &Guard, error: &JsValue);
    #[wasm_bindgen(method, getter, js_name = isFired)]
    pub fn is_fired(this: &Guard) -> bool;
    /// What it was fired with.
    #[wasm_bindgen(method, getter)]
    pub fn error(this: &Guard) -> JsValue;
    #[wasm_bindgen(method, js_name = onFire)]
    fn call_on_fire(this: &Guard, callback: &JsValue);
    /// The promise's value, unless the guard is fired first.
    #[wasm_bindgen(method)]
    pub fn race(this: &Guard, promise: &JsValue) -> Promise;
    /// Is fired by a signal, with its reason.
    #[wasm_bindgen(method)]
    pub fn follow(this: &Guard, signal: &AbortSignal);
    /// Is fired by another guard too.
    #[wasm_bindgen(method, js_name = followGuard)]
    pub fn follow_guard(this: &Guard, other: &Guard);
    /// Is fired after a time in ms, with an error of the class of that name; with `undefined` when the name is empty.
    #[wasm_bindgen(method, js_name = afterWith)]
    pub fn after(this: &Guard, ms: f64, class: &str, message: &str, suggestion: &str);
    /// A signal that aborts when this is fired.
    #[wasm_bindgen(method)]
    pub fn signal(this: &Guard) -> AbortSignal;
    /// Waits for a time in ms, unless the guard is fired first.
    #[wasm_bindgen(method)]
    pub fn sleep(this: &Guard, ms: f64) -> Promise;
    #[wasm_bindgen(method)]
    fn release(this: &Guard);

    /// Something that several can wait for, again and again.
    pub type Bell;
    #[wasm_bindgen(constructor)]
    pub fn new() -> Bell;
    /// Wakes all who wait now.
    #[wasm_bindgen(method)]
    pub fn ring(this: &Bell);
    /// Waits for the next ring.
    #[wasm_bindgen(method)]
    pub fn rung(this: &Bell) -> Promise;
}

#[wasm_bindgen(module = "/src/js/wake.js")]
extern "C" {
    #[wasm_bindgen(extends = Guard)]
    type Wakeable;
    #[wasm_bindgen(constructor)]
    fn new() -> Wakeable;
    /// Is attached again: this is the guard of the stream. On [`Held::wakeable`] alone.
    #[wasm_bindgen(method)]
    pub fn hold(this: &Guard, stream: &Guard);
}

impl Default for Bell {
    fn default() -> Self {
        Self::new()
    }
}

/// Why a wait ended without its value.
#[derive(Debug)]
pub enum Stop {
    /// What was waited for failed with this.
    Failed(JsValue),
    /// The guard was fired with this.
    Fired(JsValue),
}

impl Guard {
    /// The promise's value, unless the guard is fired first.
    pub async fn promise(&self, promise: Promise) -> core::result::Result<JsValue, Stop> {
        let raced = JsFuture::from(self.race(&promise)).await;
        raced.map_err(|error| if self.is_fired() { Stop::Fired(self.error()) } else { Stop::Failed(error) })
    }

    /// Waits for what a callback returned, if that can be waited for, unless the guard is fired first.
    ///
    /// # Errors
    /// What it was rejected with, which is the caller's own and goes back to the caller; what the guard is fired with.
    pub async fn settle(&self, answer: &JsValue) -> core::result::Result<(), JsValue> {
        if answer.is_object() { JsFuture::from(self.race(answer)).await.map(drop) } else { Ok(()) }
    }

    /// Calls `callback` with what the guard is fired with; at once when it has been.
    pub fn on_fire(&self, callback: Box<dyn FnOnce(JsValue)>) {
        self.call_on_fire(&Closure::once(callback).into_js_value());
    }

    /// What `work` gives, unless the guard is fired first. Then the work goes on by itself, and `late` gets what it gives.
    pub async fn work<T: 'static>(&self, work: Work<T>, late: fn(Result<T>)) -> Result<T> {
        let (slot, deferred) = (Rc::new(RefCell::new(None)), Deferred::new(true));
        let done = self.promise(deferred.promise());
        let (filled, guard) = (slot.clone(), self.clone());
        let before = panics();
        spawn_local(async move {
            if panics() != before {
                return;
            }
            let given = work.await;
            if guard.is_fired() {
                late(given);
            } else {
                *filled.borrow_mut() = Some(given);
            }
            deferred.settle(false, &JsValue::UNDEFINED);
        });
        let done = done.await;
        let given = slot.take();
        match (done, given) {
            (Ok(_), Some(given)) => given,
            // It was fired between the work's end and this moment.
            (done, given) => {
                given.map(late);
                match done {
                    Err(Stop::Failed(error) | Stop::Fired(error)) => Err(error.into()),
                    Ok(_) => Err(self.error().into()),
                }
            }
        }
    }
}

/// A guard whose timers and listeners go with this.
pub struct Held(pub Guard);

impl Held {
    /// One that the signal fires.
    pub fn by(signal: Option<&AbortSignal>) -> Self {
        let guard = Guard::new();
        if let Some(signal) = signal {
            guard.follow(signal);
        }
        Self(guard)
    }

    /// One that fires the guard it holds when the computer wakes or gets its network back. Its [`Guard::sleep`] ends then too, and gives
    /// whether it did.
    pub fn wakeable() -> Self {
        Self(Wakeable::new().unchecked_into())
    }

    /// One that is fired after a time in ms, with nothing.
    pub fn after(ms: Option<f64>) -> Self {
        let guard = Guard::new();
        if let Some(ms) = ms {
            guard.after(ms, "", "", "");
        }
        Self(guard)
    }
}

impl Deref for Held {
    type Target = Guard;

    fn deref(&self) -> &Guard {
        &self.0
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.0.release();
    }
}
