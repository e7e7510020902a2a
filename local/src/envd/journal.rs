//! What envd reports to the platform, for the sandbox's log: one line of JSON each on stderr. Never what a process writes, nor its variables.

use serde_json::{Value, json};
use std::io::Write;

/// How much of a command line is reported, in characters.
const LONGEST: usize = 200;

/// A process began. `program` and `arguments` are as the client gave them.
pub fn started(pid: u32, program: &str, arguments: &[String]) {
    let line: Vec<&str> = std::iter::once(program).chain(arguments.iter().map(String::as_str)).collect();
    let line: String = line.join(" ").chars().take(LONGEST).collect();
    write(&json!({ "level": "info", "message": "process started", "fields": { "pid": pid.to_string(), "command": line } }));
}

/// A process ended, by itself or by a signal.
pub fn ended(pid: u32, status: &str) {
    write(&json!({ "level": "info", "message": "process ended", "fields": { "pid": pid.to_string(), "status": status } }));
}

fn write(entry: &Value) {
    // Nobody listens when the sandbox is ending.
    let _ = writeln!(std::io::stderr().lock(), "{entry}");
}
