//! The messages of `process.Process`.

use super::fields::{Base64, Integer, Named, Names, Plain};
use super::message::json_message;
use crate::protocol::process::*;

impl Names for Signal {
    const NAMES: &'static [(i32, &'static str)] = &[
        (Self::Unspecified as i32, "SIGNAL_UNSPECIFIED"),
        (Self::Sigkill as i32, "SIGNAL_SIGKILL"),
        (Self::Sigterm as i32, "SIGNAL_SIGTERM"),
    ];
}

json_message!(PtySize { cols: Integer = "cols", rows: Integer = "rows" });
json_message!(Pty { size: Plain = "size" });
json_message!(ProcessConfig { cmd: Plain = "cmd", args: Plain = "args", envs: Plain = "envs", cwd: Plain = "cwd" });
json_message!(ProcessInfo { config: Plain = "config", pid: Integer = "pid", tag: Plain = "tag" });
json_message!(ListRequest {});
json_message!(ListResponse { processes: Plain = "processes" });
json_message!(StartRequest { process: Plain = "process", pty: Plain = "pty", tag: Plain = "tag", stdin: Plain = "stdin" });
json_message!(StartResponse { event: Plain = "event" });
json_message!(ConnectRequest { process: Plain = "process" });
json_message!(ConnectResponse { event: Plain = "event" });
json_message!(ProcessSelector {} oneof selector: Selector { Pid: Integer = "pid", Tag: Plain = "tag" });
json_message!(ProcessEvent {} oneof event: Event {
    Start: Plain = "start",
    Data: Plain = "data",
    End: Plain = "end",
    Keepalive: Plain = "keepalive",
});
json_message!(StartEvent { pid: Integer = "pid" });
json_message!(DataEvent {} oneof output: Output { Stdout: Base64 = "stdout", Stderr: Base64 = "stderr", Pty: Base64 = "pty" });
json_message!(EndEvent {
    exit_code: Integer = "exitCode",
    exited: Plain = "exited",
    status: Plain = "status",
    error: Plain = "error"
});
json_message!(KeepAlive {});
json_message!(UpdateRequest { process: Plain = "process", pty: Plain = "pty" });
json_message!(UpdateResponse {});
json_message!(ProcessInput {} oneof input: Input { Stdin: Base64 = "stdin", Pty: Base64 = "pty" });
json_message!(SendInputRequest { process: Plain = "process", input: Plain = "input" });
json_message!(SendInputResponse {});
json_message!(StreamInputRequest {} oneof event: StreamInput {
    Start: Plain = "start",
    Data: Plain = "data",
    Keepalive: Plain = "keepalive",
});
json_message!(StreamInputStart { process: Plain = "process" });
json_message!(StreamInputData { input: Plain = "input" });
json_message!(StreamInputResponse {});
json_message!(SendSignalRequest { process: Plain = "process", signal: Named<Signal> = "signal" });
json_message!(SendSignalResponse {});
json_message!(CloseStdinRequest { process: Plain = "process" });
json_message!(CloseStdinResponse {});
