//! Bytes in, values out: everything the wire looks like, and nothing about how it is carried.
//!
//! No module here knows a browser, a socket or a clock. The client (wasm32) and the local platform (native) stand on the same
//! definitions from the two ends of the wire, and both are tested natively.

pub mod base64;
pub mod chunks;
pub mod connect;
pub mod control;
pub mod envelope;
pub mod events;
pub mod failure;
pub mod filesystem;
pub mod interpreter;
#[cfg(feature = "json")]
pub mod json;
pub mod process;
pub mod requests;
pub mod routing;
pub mod server;
pub mod signature;
pub mod sse;
pub mod utf8;
