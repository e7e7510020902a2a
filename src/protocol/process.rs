//! Messages of `process.Process`: starting, watching, feeding and ending processes.
//!
//! Derived by hand from the service's field numbers; a field unknown to us is skipped, so newer servers can be read.

use bytes::Bytes;
use prost::{Enumeration, Message, Oneof};
use std::collections::BTreeMap;

/// The path prefix of every call, before the method's name.
pub const SERVICE: &str = "process.Process";

/// A terminal's size in character cells.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct PtySize {
    /// Columns.
    #[prost(uint32, tag = "1")]
    pub cols: u32,
    /// Rows.
    #[prost(uint32, tag = "2")]
    pub rows: u32,
}

/// Asks for a terminal.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct Pty {
    /// Its size; absent means 0 x 0.
    #[prost(message, optional, tag = "1")]
    pub size: Option<PtySize>,
}

/// What to run and in which surroundings.
#[derive(Clone, PartialEq, Message)]
pub struct ProcessConfig {
    /// The program, executed directly.
    #[prost(string, tag = "1")]
    pub cmd: String,
    /// Its arguments.
    #[prost(string, repeated, tag = "2")]
    pub args: Vec<String>,
    /// Variables on top of the sandbox's own.
    #[prost(btree_map = "string, string", tag = "3")]
    pub envs: BTreeMap<String, String>,
    /// The working directory; relative ones start at the user's home.
    #[prost(string, optional, tag = "4")]
    pub cwd: Option<String>,
}

/// A running process.
#[derive(Clone, PartialEq, Message)]
pub struct ProcessInfo {
    /// What was started.
    #[prost(message, optional, tag = "1")]
    pub config: Option<ProcessConfig>,
    /// Its process id.
    #[prost(uint32, tag = "2")]
    pub pid: u32,
    /// The label it was started with.
    #[prost(string, optional, tag = "3")]
    pub tag: Option<String>,
}

/// Asks for the running processes.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct ListRequest {}

/// The running processes.
#[derive(Clone, PartialEq, Message)]
pub struct ListResponse {
    /// In no order.
    #[prost(message, repeated, tag = "1")]
    pub processes: Vec<ProcessInfo>,
}

/// Starts a process and streams its events.
#[derive(Clone, PartialEq, Message)]
pub struct StartRequest {
    /// What to run.
    #[prost(message, optional, tag = "1")]
    pub process: Option<ProcessConfig>,
    /// A terminal for it.
    #[prost(message, optional, tag = "2")]
    pub pty: Option<Pty>,
    /// A label.
    #[prost(string, optional, tag = "3")]
    pub tag: Option<String>,
    /// Whether stdin is a pipe; absent means yes.
    #[prost(bool, optional, tag = "4")]
    pub stdin: Option<bool>,
}

/// One event of a started process.
#[derive(Clone, PartialEq, Message)]
pub struct StartResponse {
    /// The event.
    #[prost(message, optional, tag = "1")]
    pub event: Option<ProcessEvent>,
}

/// Streams the events of a process that already runs.
#[derive(Clone, PartialEq, Message)]
pub struct ConnectRequest {
    /// Which one.
    #[prost(message, optional, tag = "1")]
    pub process: Option<ProcessSelector>,
}

/// One event of a process that was connected to.
#[derive(Clone, PartialEq, Message)]
pub struct ConnectResponse {
    /// The event.
    #[prost(message, optional, tag = "1")]
    pub event: Option<ProcessEvent>,
}

/// Names a process.
#[derive(Clone, PartialEq, Message)]
pub struct ProcessSelector {
    /// By which property.
    #[prost(oneof = "Selector", tags = "1, 2")]
    pub selector: Option<Selector>,
}

impl ProcessSelector {
    /// The process of that id.
    pub fn pid(pid: u32) -> Self {
        Self { selector: Some(Selector::Pid(pid)) }
    }
}

/// How a process is named.
#[derive(Clone, PartialEq, Oneof)]
pub enum Selector {
    /// By its process id.
    #[prost(uint32, tag = "1")]
    Pid(u32),
    /// By its label.
    #[prost(string, tag = "2")]
    Tag(String),
}

/// Something that happened to a process.
#[derive(Clone, PartialEq, Message)]
pub struct ProcessEvent {
    /// What.
    #[prost(oneof = "Event", tags = "1, 2, 3, 4")]
    pub event: Option<Event>,
}

/// The kinds of [`ProcessEvent`].
#[derive(Clone, PartialEq, Oneof)]
pub enum Event {
    /// The first event.
    #[prost(message, tag = "1")]
    Start(StartEvent),
    /// Output.
    #[prost(message, tag = "2")]
    Data(DataEvent),
    /// The last event.
    #[prost(message, tag = "3")]
    End(EndEvent),
    /// Sent when nothing else was for a while.
    #[prost(message, tag = "4")]
    Keepalive(KeepAlive),
}

/// The process runs.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct StartEvent {
    /// Its id.
    #[prost(uint32, tag = "1")]
    pub pid: u32,
}

/// A piece of output, cut anywhere.
#[derive(Clone, PartialEq, Message)]
pub struct DataEvent {
    /// From where.
    #[prost(oneof = "Output", tags = "1, 2, 3")]
    pub output: Option<Output>,
}

/// Where output came from.
#[derive(Clone, PartialEq, Eq, Oneof)]
pub enum Output {
    /// Standard output.
    #[prost(bytes = "bytes", tag = "1")]
    Stdout(Bytes),
    /// Standard error.
    #[prost(bytes = "bytes", tag = "2")]
    Stderr(Bytes),
    /// The terminal.
    #[prost(bytes = "bytes", tag = "3")]
    Pty(Bytes),
}

/// The process ended.
#[derive(Clone, PartialEq, Message)]
pub struct EndEvent {
    /// Its exit code; -1 when a signal ended it.
    #[prost(sint32, tag = "1")]
    pub exit_code: i32,
    /// Whether it exited by itself.
    #[prost(bool, tag = "2")]
    pub exited: bool,
    /// In words, such as `exit status 3` or `signal: killed`.
    #[prost(string, tag = "3")]
    pub status: String,
    /// The same, unless it succeeded.
    #[prost(string, optional, tag = "4")]
    pub error: Option<String>,
}

/// Nothing happened, and the connection is alive.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct KeepAlive {}

/// Resizes a process's terminal.
#[derive(Clone, PartialEq, Message)]
pub struct UpdateRequest {
    /// Which process.
    #[prost(message, optional, tag = "1")]
    pub process: Option<ProcessSelector>,
    /// The new size; absent means no change.
    #[prost(message, optional, tag = "2")]
    pub pty: Option<Pty>,
}

/// Done.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct UpdateResponse {}

/// Bytes for a process.
#[derive(Clone, PartialEq, Message)]
pub struct ProcessInput {
    /// Which way they go in.
    #[prost(oneof = "Input", tags = "1, 2")]
    pub input: Option<Input>,
}

/// Which way input goes in.
#[derive(Clone, PartialEq, Eq, Oneof)]
pub enum Input {
    /// The pipe of a process without a terminal.
    #[prost(bytes = "bytes", tag = "1")]
    Stdin(Bytes),
    /// The terminal.
    #[prost(bytes = "bytes", tag = "2")]
    Pty(Bytes),
}

/// Sends input.
#[derive(Clone, PartialEq, Message)]
pub struct SendInputRequest {
    /// Which process.
    #[prost(message, optional, tag = "1")]
    pub process: Option<ProcessSelector>,
    /// The bytes.
    #[prost(message, optional, tag = "2")]
    pub input: Option<ProcessInput>,
}

/// Done.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct SendInputResponse {}

/// One message of a stream of input.
#[derive(Clone, PartialEq, Message)]
pub struct StreamInputRequest {
    /// What it says.
    #[prost(oneof = "StreamInput", tags = "1, 2, 3")]
    pub event: Option<StreamInput>,
}

/// The kinds of [`StreamInputRequest`].
#[derive(Clone, PartialEq, Oneof)]
pub enum StreamInput {
    /// Names the process; must come first.
    #[prost(message, tag = "1")]
    Start(StreamInputStart),
    /// Bytes for it.
    #[prost(message, tag = "2")]
    Data(StreamInputData),
    /// Nothing.
    #[prost(message, tag = "3")]
    Keepalive(KeepAlive),
}

/// Names the process of a stream of input.
#[derive(Clone, PartialEq, Message)]
pub struct StreamInputStart {
    /// Which process.
    #[prost(message, optional, tag = "1")]
    pub process: Option<ProcessSelector>,
}

/// Bytes in a stream of input. Field 1 does not exist.
#[derive(Clone, PartialEq, Message)]
pub struct StreamInputData {
    /// The bytes.
    #[prost(message, optional, tag = "2")]
    pub input: Option<ProcessInput>,
}

/// Done.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct StreamInputResponse {}

/// Sends a signal to a process, not to its group.
#[derive(Clone, PartialEq, Message)]
pub struct SendSignalRequest {
    /// Which process.
    #[prost(message, optional, tag = "1")]
    pub process: Option<ProcessSelector>,
    /// Which signal.
    #[prost(enumeration = "Signal", tag = "2")]
    pub signal: i32,
}

/// Done.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct SendSignalResponse {}

/// The signals that can be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
#[repr(i32)]
pub enum Signal {
    /// None; refused.
    Unspecified = 0,
    /// Ends the process at once.
    Sigkill = 9,
    /// Asks the process to end.
    Sigterm = 15,
}

/// Closes a process's stdin.
#[derive(Clone, PartialEq, Message)]
pub struct CloseStdinRequest {
    /// Which process.
    #[prost(message, optional, tag = "1")]
    pub process: Option<ProcessSelector>,
}

/// Done.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct CloseStdinResponse {}
