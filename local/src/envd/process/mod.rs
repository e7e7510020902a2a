//! `process.Process`: starting, following, feeding and ending processes.

mod fanout;
mod frames;
mod input;
pub mod service;
mod spawn;
mod status;
mod supervise;
mod table;

pub use table::Processes;
