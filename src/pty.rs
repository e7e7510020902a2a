//! Pseudo-terminals.

use crate::commands::{envs, input_promise, open_process};
use crate::error::Result;
use crate::handle::{Flavour, ProcessHandle, Started};
use crate::input::Into;
use crate::members::{Answer, Args};
use crate::options::{CallOptions, Options};
use crate::process::{Output, Process};
use crate::protocol::requests::Start;
use crate::target::Target;
use crate::transport::connect::Opening;
use crate::unary::{RESIZE, call, kill};
use js_sys::Array;
use std::rc::Rc;
use wasm_bindgen::prelude::*;

/// What programs need to know of the terminal, unless the caller says otherwise.
const TERMINAL_ENVS: [(&str, &str); 3] = [("TERM", "xterm-256color"), ("LANG", "C.UTF-8"), ("LC_ALL", "C.UTF-8")];

/// Pseudo-terminals.
#[wasm_bindgen(skip_typescript)]
pub struct Pty(Rc<Target>);

impl Pty {
    pub fn new(target: Rc<Target>) -> Self {
        Self(target)
    }
}

/// Columns and rows.
pub fn size(options: &Options) -> Result<(u32, u32)> {
    let cols = options.integer("cols", 1.0, 65_535.0)?.unwrap_or(80.0);
    let rows = options.integer("rows", 1.0, 65_535.0)?.unwrap_or(24.0);
    Ok((cols as u32, rows as u32))
}

/// Starts a shell in a new terminal.
pub async fn start(target: &Rc<Target>, options: &Options, call: &CallOptions) -> Result<Rc<Process>> {
    let size = Some(size(options)?);
    let cmd = options.text("shell")?.unwrap_or_else(|| "/bin/bash".to_owned());
    let takes_flags = matches!(cmd.as_bytes().rsplit(|byte| *byte == b'/').next(), Some(b"bash" | b"sh" | b"zsh"));
    let args = if takes_flags { vec!["-i".to_owned(), "-l".to_owned()] } else { Vec::new() };
    let mut envs = envs(options)?;
    for (name, value) in TERMINAL_ENVS {
        if !envs.iter().any(|(given, _)| given == name) {
            envs.push((name.to_owned(), value.to_owned()));
        }
    }
    let timeout = options.millis("timeoutMs")?.filter(|ms| *ms > 0.0);
    let request = Start { cmd, args, envs, cwd: options.text("cwd")?, size, stdin: None };
    let process = open_process(target, Opening::Start(request), options.text("user")?, timeout, Output::Bytes, call).await?;
    process.end_by(&CallOptions::default(), timeout);
    Ok(process)
}

/// Listens to a terminal that runs.
pub async fn connect(target: &Rc<Target>, pid: u32, call: &CallOptions) -> Result<Rc<Process>> {
    let opening = Opening::Connect(pid);
    open_process(target, opening, None, None, Output::Bytes, call).await
}

#[wasm_bindgen]
impl Pty {
    /// See [`crate::members`].
    #[wasm_bindgen(js_name = __call)]
    pub fn call(&self, member: u32, args: &Array) -> Answer {
        let (target, args) = (&self.0, Args(args));
        let of = target.clone();
        let [first, second] = args.pair();
        Ok(match member {
            0 => target.promise(async move {
                let options = Options::new(first)?;
                let process = start(&of, &options, &of.call(&options)?).await?;
                Ok(ProcessHandle::make(Started::new(process, false, false), Flavour::Pty))
            }),
            1 => crate::commands::connect(target, first, second, Flavour::Pty),
            2 => kill(target, first, second),
            3 => input_promise(target, &first, Into::Pty, &second, args.get(2)),
            _ => call(target, &RESIZE, [first, second], args.get(2)),
        }
        .into())
    }
}
