//! What a sandbox must not reach, tried from inside: as root and as a plain user, wherever the test may be both.
//!
//! Every attack aims at something harmless that the test itself has put there, or asks the kernel what would happen.

mod files;
mod machine;
mod neighbours;
mod network;
#[path = "../serve/support/mod.rs"]
mod support;
