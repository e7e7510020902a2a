//! How requests travel: the only place that touches fetch, timers and signals.

pub mod connect;
pub mod events;
pub mod fetch;
pub mod guard;
pub mod headers;
pub mod json;
pub mod limits;
pub mod lines;
pub mod runtime;
mod slots;
