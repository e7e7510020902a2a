//! The messages that a client sends on and beside streams, written out directly.
//!
//! They are few and small. Writing them by hand keeps the general encoder, and the maps it works on, out of what a page downloads; each is
//! tested against prost's own encoding.

/// What to start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Start {
    /// The program.
    pub cmd: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables on top of the sandbox's own.
    pub envs: Vec<(String, String)>,
    /// The working directory.
    pub cwd: Option<String>,
    /// Columns and rows, for a process with a terminal.
    pub size: Option<(u32, u32)>,
    /// Whether stdin is a pipe; `None` for a process with a terminal.
    pub stdin: Option<bool>,
}

impl Start {
    /// A shell with these arguments.
    pub fn bash(args: &[&str]) -> Self {
        Self { cmd: "/bin/bash".to_owned(), args: args.iter().map(|arg| (*arg).to_owned()).collect(), ..Self::default() }
    }
}

impl Start {
    /// A `StartRequest`.
    pub fn encode(&self) -> Vec<u8> {
        let mut process = Vec::new();
        text(&mut process, 1, &self.cmd);
        for arg in &self.args {
            bytes(&mut process, 2, arg.as_bytes());
        }
        for (name, value) in &self.envs {
            let mut pair = Vec::new();
            text(&mut pair, 1, name);
            text(&mut pair, 2, value);
            bytes(&mut process, 3, &pair);
        }
        if let Some(cwd) = &self.cwd {
            bytes(&mut process, 4, cwd.as_bytes());
        }
        let mut out = Vec::new();
        bytes(&mut out, 1, &process);
        if let Some((cols, rows)) = self.size {
            let (mut size, mut pty) = (Vec::new(), Vec::new());
            number(&mut size, 1, cols);
            number(&mut size, 2, rows);
            bytes(&mut pty, 1, &size);
            bytes(&mut out, 2, &pty);
        }
        if let Some(stdin) = self.stdin {
            out.extend([4 << 3, u8::from(stdin)]);
        }
        out
    }
}

/// A `ConnectRequest` for the process of that id.
pub fn connect(pid: u32) -> Vec<u8> {
    let mut out = Vec::new();
    bytes(&mut out, 1, &selector(pid));
    out
}

/// A `WatchDirRequest`.
pub fn watch_dir(path: &str, recursive: bool, include_entry: bool, network_mounts: bool) -> Vec<u8> {
    let mut out = Vec::new();
    text(&mut out, 1, path);
    number(&mut out, 2, recursive.into());
    number(&mut out, 3, include_entry.into());
    number(&mut out, 4, network_mounts.into());
    out
}

/// A `SendInputRequest`, for the terminal or for stdin.
pub fn send_input(pid: u32, is_pty: bool, data: &[u8]) -> Vec<u8> {
    let mut input = Vec::with_capacity(data.len() + 6);
    bytes(&mut input, if is_pty { 2 } else { 1 }, data);
    let mut out = Vec::with_capacity(input.len() + 16);
    bytes(&mut out, 1, &selector(pid));
    bytes(&mut out, 2, &input);
    out
}

/// A `ProcessSelector`. A oneof is written even when it is 0.
fn selector(pid: u32) -> Vec<u8> {
    let mut out = vec![1 << 3];
    varint(&mut out, pid);
    out
}

/// A text field, left out when empty.
fn text(out: &mut Vec<u8>, field: u8, value: &str) {
    if !value.is_empty() {
        bytes(out, field, value.as_bytes());
    }
}

/// A number field, left out when 0.
fn number(out: &mut Vec<u8>, field: u8, value: u32) {
    if value != 0 {
        out.push(field << 3);
        varint(out, value);
    }
}

/// A length-delimited field. Field numbers here are below 16, so the tag is one byte.
fn bytes(out: &mut Vec<u8>, field: u8, value: &[u8]) {
    out.push(field << 3 | 2);
    varint(out, value.len() as u32);
    out.extend_from_slice(value);
}

fn varint(out: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::super::{filesystem, process};
    use super::*;
    use proptest::prelude::*;
    use prost::Message;

    proptest! {
        #[test]
        fn a_start_is_written_as_prost_writes_it(
            cmd in "\\PC{0,9}",
            args in prop::collection::vec("\\PC{0,200}", 0..4),
            envs in prop::collection::btree_map("\\PC{0,5}", "\\PC{0,5}", 0..4),
            cwd in prop::option::of("\\PC{0,9}"),
            size in prop::option::of((any::<u32>(), any::<u32>())),
            stdin in prop::option::of(any::<bool>()),
        ) {
            let start = Start { cmd: cmd.clone(), args: args.clone(), envs: envs.clone().into_iter().collect(), cwd: cwd.clone(), size, stdin };
            let expected = process::StartRequest {
                process: Some(process::ProcessConfig { cmd, args, envs, cwd }),
                pty: size.map(|(cols, rows)| process::Pty { size: Some(process::PtySize { cols, rows }) }),
                tag: None,
                stdin,
            };
            prop_assert_eq!(process::StartRequest::decode(&*start.encode()), Ok(expected));
        }

        #[test]
        fn the_other_messages_are_written_as_prost_writes_them(pid: u32, path in "\\PC{0,300}", flags: [bool; 3], data in prop::collection::vec(any::<u8>(), 0..300)) {
            let selector = Some(process::ProcessSelector::pid(pid));
            prop_assert_eq!(connect(pid), process::ConnectRequest { process: selector.clone() }.encode_to_vec());
            let watch = filesystem::WatchDirRequest { path: path.clone(), recursive: flags[0], include_entry: flags[1], allow_network_mounts: flags[2] };
            prop_assert_eq!(watch_dir(&path, flags[0], flags[1], flags[2]), watch.encode_to_vec());
            let bytes = bytes::Bytes::from(data.clone());
            let input = if flags[0] { process::Input::Pty(bytes) } else { process::Input::Stdin(bytes) };
            let input = process::SendInputRequest { process: selector, input: Some(process::ProcessInput { input: Some(input) }) };
            prop_assert_eq!(send_input(pid, flags[0], &data), input.encode_to_vec());
        }
    }
}
