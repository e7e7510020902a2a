//! Watching a directory.

use crate::error::{Fault, Result};
use crate::files::entry_info;
use crate::options::{Options, argument, object, set};
use crate::protocol::events::{Entry, WatchEvent, watch_event};
use crate::protocol::filesystem::EventType;
use crate::stream::{Pull, chunk_stream};
use crate::target::Target;
use crate::transport::connect::{Opening, cut_off, open};
use crate::transport::events::EventStream;
use crate::transport::guard::Held;
use crate::transport::json;
use crate::transport::limits::Limits;
use js_sys::{Date, Object, Promise};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use wasm_bindgen::{JsCast, JsValue};

/// A watch under way.
struct Watch {
    target: Rc<Target>,
    /// The watched directory as it was given, without a slash at its end.
    root: String,
    stream: EventStream,
    done: Cell<bool>,
    ends: RefCell<Option<Held>>,
}

/// One message of a watch.
enum Message {
    Start,
    /// Nothing that the caller hears of.
    Quiet,
    Event(JsValue),
}

/// Opens a watch and waits for the server to confirm it.
pub async fn watch(target: &Rc<Target>, path: &JsValue, options: &Options) -> Result<JsValue> {
    let path = argument("path", path)?;
    let opening = Opening::Watch {
        path: path.clone(),
        recursive: options.boolean("recursive")?.unwrap_or(false),
        include_entry: options.boolean("includeEntry")?.unwrap_or(false),
    };
    let user = options.text("user")?;
    let call = target.call(options)?;
    let limits = Limits::start(&call)?;
    let root = absolute(target, &path, user.as_deref(), &limits).await?;
    let stream = open(target, &opening, user.as_deref(), None, &limits).await?;
    let watch = Rc::new(Watch { target: target.clone(), root, stream, done: Cell::new(false), ends: RefCell::default() });
    loop {
        match watch.message()? {
            Some(Message::Start) => break,
            Some(_) => {}
            None if watch.stream.ended() => return Err(cut_off()),
            None => watch.stream.fill(Some(&limits.guard)).await?,
        }
    }
    let ends = Held::by(call.signal.as_ref());
    let weak = Rc::downgrade(&watch);
    ends.on_fire(Box::new(move |reason| {
        if let Some(watch) = weak.upgrade() {
            watch.stream.guard.fire(&reason);
            watch.stream.cancel();
        }
    }));
    *watch.ends.borrow_mut() = Some(ends);
    Ok(chunk_stream(watch))
}

/// The absolute form of a path: events name what is below it, and callers get absolute paths.
async fn absolute(target: &Target, path: &str, user: Option<&str>, limits: &Limits) -> Result<String> {
    let path = if path.starts_with('/') {
        path.to_owned()
    } else {
        let message = object(&[("path", JsValue::from_str(path))]);
        let call = crate::transport::connect::Unary {
            doing: crate::protocol::failure::Doing::Filesystem,
            method: "/filesystem.Filesystem/Stat",
            message: &message,
            user,
            repeatable: true,
        };
        let answered = crate::transport::connect::unary(target, call, limits).await?;
        json::get(&json::get(&answered, "entry"), "path").as_string().unwrap_or_else(|| path.to_owned())
    };
    Ok(path.trim_end_matches('/').to_owned())
}

impl Watch {
    fn message(&self) -> Result<Option<Message>> {
        self.stream.visit(|message| {
            let read = if self.stream.json { self.read_json(message)? } else { self.read_proto(message)? };
            Ok((true, read))
        })
    }

    fn read_proto(&self, message: &[u8]) -> core::result::Result<Message, crate::protocol::events::Malformed> {
        Ok(match watch_event(message)? {
            WatchEvent::Start => Message::Start,
            WatchEvent::Change { name, kind: Some(kind), entry } => self.event(kind, name, entry.map(|entry| entry_value(&entry))),
            WatchEvent::Change { .. } | WatchEvent::Other => Message::Quiet,
        })
    }

    fn read_json(&self, message: &[u8]) -> core::result::Result<Message, crate::protocol::events::Malformed> {
        let (is_start, change) = json::watch_event(message)?;
        if is_start {
            return Ok(Message::Start);
        }
        let kind = match json::get(&change, "type").as_string().as_deref() {
            Some("EVENT_TYPE_CREATE") => EventType::Create,
            Some("EVENT_TYPE_WRITE") => EventType::Write,
            Some("EVENT_TYPE_REMOVE") => EventType::Remove,
            Some("EVENT_TYPE_RENAME") => EventType::Rename,
            Some("EVENT_TYPE_CHMOD") => EventType::Chmod,
            _ => return Ok(Message::Quiet),
        };
        let name = json::get(&change, "name").as_string().unwrap_or_default();
        let entry = json::get(&change, "entry");
        Ok(self.event(kind, &name, entry.is_object().then(|| entry_info(&entry))))
    }

    fn event(&self, kind: EventType, name: &str, entry: Option<JsValue>) -> Message {
        let kind = match kind {
            EventType::Unspecified => return Message::Quiet,
            EventType::Create => "created",
            EventType::Write | EventType::Chmod => "modified",
            EventType::Remove => "deleted",
            EventType::Rename => "renamed",
        };
        // The directory itself is "." to the server.
        let path = match name {
            "." | "" if self.root.is_empty() => "/".to_owned(),
            "." | "" => self.root.clone(),
            _ => [&self.root, "/", name].concat(),
        };
        let event = object(&[("type", JsValue::from_str(kind)), ("path", JsValue::from_str(&path))]);
        if let Some(entry) = entry {
            set(&event, "entry", &entry);
        }
        Message::Event(event.into())
    }

    fn end(&self) {
        self.done.set(true);
        self.ends.take();
        self.stream.guard.fire(&JsValue::UNDEFINED);
        self.stream.cancel();
    }
}

/// An entry in the form of the JSON codec, which the shared table reads.
fn entry_value(entry: &Entry<'_>) -> JsValue {
    let text = JsValue::from_str;
    let wire = object(&[
        ("name", text(entry.name)),
        ("path", text(entry.path)),
        ("type", entry.kind.into()),
        ("size", JsValue::from_f64(entry.size as f64)),
        ("mode", entry.mode.into()),
        ("permissions", text(entry.permissions)),
        ("owner", text(entry.owner)),
        ("group", text(entry.group)),
    ]);
    if let Some((seconds, nanos)) = entry.modified {
        let ms = seconds as f64 * 1000.0 + f64::from(nanos / 1_000_000);
        set(&wire, "modifiedTime", &Date::new(&JsValue::from_f64(ms)));
    }
    if let Some(target) = entry.symlink_target {
        set(&wire, "symlinkTarget", &text(target));
    }
    if !entry.metadata.is_empty() {
        let metadata = Object::new();
        for (key, value) in &entry.metadata {
            set(&metadata, key, &text(value));
        }
        set(&wire, "metadata", &metadata);
    }
    entry_info(wire.unchecked_ref())
}

impl Pull for Watch {
    fn take(&self) -> Result<Option<JsValue>> {
        while !self.done.get() {
            match self.message()? {
                Some(Message::Event(event)) => return Ok(Some(event)),
                Some(_) => {}
                None => break,
            }
        }
        Ok(None)
    }

    fn next(self: Rc<Self>) -> Promise {
        let target = self.target.clone();
        target.promise(async move {
            loop {
                match self.take() {
                    Ok(Some(event)) => return Ok(event),
                    Ok(None) if self.done.get() => return Ok(JsValue::UNDEFINED),
                    Ok(None) => {}
                    Err(fault) => return self.failed(fault),
                }
                let filled = if self.stream.ended() { Err(cut_off()) } else { self.stream.fill(None).await };
                if let Err(fault) = filled {
                    return self.failed(fault);
                }
            }
        })
    }

    fn cancel(&self) {
        self.end();
    }
}

impl Watch {
    /// The one end of a watch: nothing when it was given up, else the failure.
    fn failed(&self, fault: Fault) -> Result<JsValue> {
        if self.done.get() {
            return Ok(JsValue::UNDEFINED);
        }
        self.end();
        Err(fault)
    }
}
