//! A client for cloud sandboxes, compiled to WebAssembly for pages, workers, edge runtimes and servers.
//!
//! Built natively, the crate is only [`protocol`], which the local platform uses for the same messages from the other side.

pub mod protocol;
