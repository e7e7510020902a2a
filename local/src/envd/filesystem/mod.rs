//! `filesystem.Filesystem`: what stands where, and what changes.

mod entry;
mod list;
mod mode;
mod operations;
pub mod service;
mod watch;
mod xattr;

pub use operations::make_dirs;
pub use watch::Watchers;
pub use xattr::{METADATA_PREFIX, replace_metadata};
