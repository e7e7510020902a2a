//! Methods that are one unary call: a table says how each is asked and what its answer means, and one path does all of them.

use crate::error::Result;
use crate::files::{entry_info, entry_infos};
use crate::options::{Options, argument, integer, object, pid};
use crate::protocol::connect::Code;
use crate::protocol::failure::Doing;
use crate::target::Target;
use crate::transport::connect::{Unary, json, unary};
use crate::transport::json::get;
use crate::transport::limits::Limits;
use js_sys::{Object, Promise};
use std::rc::Rc;
use wasm_bindgen::prelude::*;

#[wasm_bindgen(module = "/src/js/shape.js")]
extern "C" {
    #[wasm_bindgen(js_name = processInfos)]
    fn process_infos(wire: &JsValue) -> JsValue;
}

#[wasm_bindgen(module = "/src/js/values.js")]
extern "C" {
    /// The JSON of a message about a path.
    #[wasm_bindgen(js_name = pathMessage, catch)]
    fn path_message(path: &JsValue) -> core::result::Result<JsValue, JsValue>;
    /// The JSON of a message about two.
    #[wasm_bindgen(js_name = pathsMessage, catch)]
    fn paths_message(source: &JsValue, destination: &JsValue) -> core::result::Result<JsValue, JsValue>;
}

/// A method.
pub struct Method {
    doing: Doing,
    path: &'static str,
    repeatable: bool,
    /// The message as JSON, from the checked arguments and options.
    message: fn(&[JsValue; 2], &Options) -> Result<JsValue>,
    answer: Answer,
}

/// What an answer means to the caller.
enum Answer {
    /// Nothing but that it worked.
    Done,
    /// `true`; and `false` when this code came, unless an earlier attempt of the call brought that about.
    Unless(Code),
    /// Whether something is there: never retried into a yes.
    Exists,
    Entry,
    Entries,
    Processes,
}

const fn files(path: &'static str, message: fn(&[JsValue; 2], &Options) -> Result<JsValue>, answer: Answer) -> Method {
    Method { doing: Doing::Filesystem, path, repeatable: true, message, answer }
}

const fn process(path: &'static str, message: fn(&[JsValue; 2], &Options) -> Result<JsValue>, answer: Answer) -> Method {
    Method { doing: Doing::Process, path, repeatable: true, message, answer }
}

pub static EXISTS: Method = files("/filesystem.Filesystem/Stat", at_path, Answer::Exists);
pub static GET_INFO: Method = files("/filesystem.Filesystem/Stat", at_path, Answer::Entry);
pub static MAKE_DIR: Method = files("/filesystem.Filesystem/MakeDir", at_path, Answer::Unless(Code::AlreadyExists));
pub static REMOVE: Method = files("/filesystem.Filesystem/Remove", at_path, Answer::Done);
pub static LIST_DIR: Method = files("/filesystem.Filesystem/ListDir", listing, Answer::Entries);
pub static MOVE: Method = Method { repeatable: false, ..files("/filesystem.Filesystem/Move", moving, Answer::Entry) };
pub static LIST_PROCESSES: Method = process("/process.Process/List", |_, _| json(&Object::new()), Answer::Processes);
/// Its second argument is the signal's name on the wire.
pub static SIGNAL: Method = process("/process.Process/SendSignal", signalling, Answer::Unless(Code::NotFound));
/// Its second argument is the size.
pub static RESIZE: Method = process("/process.Process/Update", resizing, Answer::Done);

fn at_path([path, _]: &[JsValue; 2], _: &Options) -> Result<JsValue> {
    Ok(path_message(path)?)
}

fn listing(args: &[JsValue; 2], options: &Options) -> Result<JsValue> {
    // Without a path it is the user's home.
    let path = if args[0].is_undefined() { String::new() } else { argument("path", &args[0])? };
    let depth = options.integer("depth", 1.0, f64::from(u32::MAX))?.unwrap_or(1.0);
    json(&object(&[("path", JsValue::from_str(&path)), ("depth", depth.into())]))
}

fn moving([source, destination]: &[JsValue; 2], _: &Options) -> Result<JsValue> {
    Ok(paths_message(source, destination)?)
}

fn signalling(args: &[JsValue; 2], _: &Options) -> Result<JsValue> {
    json(&object(&[("process", selector(pid(&args[0])?)), ("signal", args[1].clone())]))
}

fn resizing(args: &[JsValue; 2], _: &Options) -> Result<JsValue> {
    let size = Options::new(args[1].clone())?;
    let side = |name: &str| integer(name, &size.get(name)?.unwrap_or_default(), 1.0, 65_535.0);
    let size = object(&[("cols", side("cols")?.into()), ("rows", side("rows")?.into())]);
    json(&object(&[("process", selector(pid(&args[0])?)), ("pty", object(&[("size", size.into())]).into())]))
}

/// Names a process in a JSON message.
pub fn selector(pid: u32) -> JsValue {
    object(&[("pid", pid.into())]).into()
}

/// SIGKILL for a process.
pub fn kill(target: &Rc<Target>, pid: JsValue, options: JsValue) -> Promise {
    call(target, &SIGNAL, [pid, JsValue::from_str("SIGNAL_SIGKILL")], options)
}

/// What stands at a path, as the wire says it.
pub async fn stat(target: &Target, path: &str, user: Option<&str>, limits: &Limits) -> Result<JsValue> {
    let message = json(&object(&[("path", JsValue::from_str(path))]))?;
    let call = Unary { doing: Doing::Filesystem, method: GET_INFO.path, message, user, repeatable: true };
    Ok(get(&unary(target, call, limits).await?, "entry"))
}

/// Makes the call.
pub fn call(target: &Rc<Target>, method: &'static Method, args: [JsValue; 2], options: JsValue) -> Promise {
    let of = target.clone();
    target.promise(async move {
        let options = Options::new(options)?;
        let message = (method.message)(&args, &options)?;
        let user = if method.doing == Doing::Filesystem { options.text("user")? } else { None };
        let limits = Limits::start(&of.call(&options)?)?;
        let call =
            Unary { doing: method.doing, method: method.path, message, user: user.as_deref(), repeatable: method.repeatable };
        let message = match (unary(&of, call, &limits).await, &method.answer) {
            (Ok(message), _) => message,
            (Err(fault), Answer::Unless(code)) if fault.code() == Some(*code) => return Ok(fault.repeated().into()),
            (Err(fault), Answer::Exists) if fault.code() == Some(Code::NotFound) => return Ok(false.into()),
            (Err(fault), _) => return Err(fault),
        };
        Ok(match method.answer {
            Answer::Done => JsValue::UNDEFINED,
            Answer::Unless(_) | Answer::Exists => true.into(),
            Answer::Entry => entry_info(&get(&message, "entry")),
            Answer::Entries => entry_infos(&get(&message, "entries")),
            Answer::Processes => process_infos(&get(&message, "processes")),
        })
    })
}
