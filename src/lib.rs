//! A client for cloud sandboxes, compiled to WebAssembly for pages, workers, edge runtimes and servers.
//!
//! Built natively, the crate is only [`protocol`], which the local platform uses for the same messages from the other side.
//!
//! # The JavaScript face
//! What is exported is what `types/` and `server/*.d.ts` say, with one exception: the calls about a sandbox at the control plane are rows of
//! [`protocol::control::CALLS`], made by [`control::make`]. The package's entries give each its name, and make the methods
//! that only forward to another or are another by an older name: see `pkg/src/core.ts`. Handles, streams and errors are JavaScript
//! classes (`js/*.js`) over sources in WebAssembly. Each class exports one function for all of its members: see [`members`].
//!
//! # Shared paths, which keep the .wasm small
//! What is JavaScript's own is done there and awaited here as a promise: `js/guard.js` (what ends a wait: signals, timers), `js/fetch.js`
//! (one attempt at a request; the chunks of a body), `js/panic.js` (promises for us to settle). From Rust: `guard.promise(…)`,
//! `Held::by(signal)`, `Held::after(ms)`, `Limits`, `Chunks::read`, `Deferred`, `set_text`. Nothing here formats (`format!`, `{}`): the
//! build takes that machinery out, and a lint refuses it.

#![cfg_attr(target_arch = "wasm32", deny(clippy::disallowed_macros, clippy::disallowed_methods))]

pub mod protocol;

#[cfg(target_arch = "wasm32")]
mod client;
#[cfg(target_arch = "wasm32")]
mod code;
#[cfg(target_arch = "wasm32")]
mod commands;
#[cfg(target_arch = "wasm32")]
mod control;
#[cfg(target_arch = "wasm32")]
mod create;
#[cfg(target_arch = "wasm32")]
mod error;
#[cfg(target_arch = "wasm32")]
mod files;
#[cfg(target_arch = "wasm32")]
mod handle;
#[cfg(target_arch = "wasm32")]
mod input;
#[cfg(target_arch = "wasm32")]
mod making;
#[cfg(target_arch = "wasm32")]
mod members;
#[cfg(target_arch = "wasm32")]
mod network;
#[cfg(target_arch = "wasm32")]
mod options;
#[cfg(target_arch = "wasm32")]
mod paginator;
#[cfg(target_arch = "wasm32")]
mod panic;
#[cfg(target_arch = "wasm32")]
mod process;
#[cfg(target_arch = "wasm32")]
mod pty;
#[cfg(target_arch = "wasm32")]
mod reattach;
#[cfg(target_arch = "wasm32")]
mod sandbox;
#[cfg(target_arch = "wasm32")]
mod server;
#[cfg(target_arch = "wasm32")]
mod stream;
#[cfg(target_arch = "wasm32")]
mod target;
#[cfg(target_arch = "wasm32")]
mod terminal;
#[cfg(target_arch = "wasm32")]
mod transport;
#[cfg(target_arch = "wasm32")]
mod unary;
#[cfg(target_arch = "wasm32")]
mod watch;

#[cfg(target_arch = "wasm32")]
#[global_allocator]
static MEMORY: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();
