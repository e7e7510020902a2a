//! envd as its clients see it: the real program on a Unix socket, one test for each documented behaviour.

#[path = "envd/auth.rs"]
mod auth;
#[path = "envd/cors.rs"]
mod cors;
#[path = "envd/download.rs"]
mod download;
#[path = "envd/entries.rs"]
mod entries;
#[path = "envd/filesystem.rs"]
mod filesystem;
#[path = "envd/harness.rs"]
mod harness;
#[path = "envd/lifecycle.rs"]
mod lifecycle;
#[path = "envd/process_calls.rs"]
mod process_calls;
#[path = "envd/process_start.rs"]
mod process_start;
#[path = "envd/process_streams.rs"]
mod process_streams;
#[path = "envd/protocol.rs"]
mod protocol;
#[path = "envd/upload.rs"]
mod upload;
#[path = "envd/watch.rs"]
mod watch;
