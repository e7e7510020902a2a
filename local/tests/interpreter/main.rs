//! The interpreter role, driven over HTTP with real kernels. Its Python environment is made once, below `target`.

mod contexts;
mod deno;
mod failures;
mod http;
mod interrupts;
mod output;
mod platform;
mod prepare;
mod python;
mod role;
#[path = "../serve/support/mod.rs"]
mod support;
mod variables;
