//! Watching a directory.

use crate::error::{Fault, Result};
use crate::files::entry_info;
use crate::options::{CallOptions, Options, argument, object, set};
use crate::protocol::events::{Entry, Malformed, WatchEvent, watch_event};
use crate::protocol::filesystem::EventType;
use crate::reattach::{ATTEMPT_TIMEOUT, Attempts, End};
use crate::stream::{Pull, chunk_stream};
use crate::target::{Target, Work};
use crate::transport::connect::{Opening, cut_off, open};
use crate::transport::events::EventStream;
use crate::transport::guard::Held;
use crate::transport::json::{self, text_in};
use crate::transport::limits::Limits;
use crate::unary::stat;
use js_sys::{Date, Object, Promise};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use wasm_bindgen::{JsCast, JsValue};

/// A watch under way.
struct Watch {
    target: Rc<Target>,
    /// The watched directory as it was given, without a slash at its end.
    root: String,
    opening: Opening,
    user: Option<String>,
    /// Another one after each loss of the connection.
    stream: RefCell<Rc<EventStream>>,
    attempts: Attempts,
    /// Fired when it is given up, with the reason.
    stop: Held,
    done: Cell<bool>,
    /// What gives it up: the caller's signal.
    ends: RefCell<Option<Held>>,
}

/// Opens a watch and waits for the server to confirm it.
pub async fn watch(target: &Rc<Target>, path: &JsValue, options: &Options) -> Result<JsValue> {
    let path = argument("path", path)?;
    let opening = Opening::Watch {
        path: path.clone(),
        recursive: options.boolean("recursive")?.unwrap_or(false),
        include_entry: options.boolean("includeEntry")?.unwrap_or(false),
        network_mounts: options.boolean("allowNetworkMounts")?.unwrap_or(false),
    };
    let user = options.text("user")?;
    let call = target.call(options)?;
    let limits = Limits::start(&call)?;
    let root = absolute(target, &path, user.as_deref(), &limits).await?;
    let stream = RefCell::new(begin(target, &opening, user.as_deref(), &limits).await?);
    let (target, ends) = (target.clone(), RefCell::default());
    let (attempts, stop, done) = (Attempts::default(), Held::wakeable(), Cell::new(false));
    stop.hold(&stream.borrow().guard);
    let watch = Rc::new(Watch { target, root, opening, user, stream, attempts, stop, done, ends });
    let ends = Held::by(call.signal.as_ref());
    let weak = Rc::downgrade(&watch);
    ends.on_fire(Box::new(move |reason| {
        if let Some(watch) = weak.upgrade() {
            watch.stop(&reason);
        }
    }));
    *watch.ends.borrow_mut() = Some(ends);
    Ok(chunk_stream(watch))
}

/// Opens the stream and waits for the server to confirm the watch.
async fn begin(target: &Target, opening: &Opening, user: Option<&str>, limits: &Limits) -> Result<Rc<EventStream>> {
    let stream = Rc::new(open(target, opening, user, None, limits).await?);
    loop {
        let is_start = stream.visit(|message| match stream.json {
            true => Ok((true, json::watch_event(message)?.0)),
            false => Ok((true, matches!(watch_event(message)?, WatchEvent::Start))),
        })?;
        match is_start {
            Some(true) => return Ok(stream),
            Some(false) => {}
            None if stream.ended() => return Err(cut_off()),
            None => stream.fill(Some(&limits.guard)).await?,
        }
    }
}

/// The absolute form of a path: events name what is below it, and callers get absolute paths.
async fn absolute(target: &Target, path: &str, user: Option<&str>, limits: &Limits) -> Result<String> {
    let path = if path.starts_with('/') {
        path.to_owned()
    } else {
        json::get(&stat(target, path, user, limits).await?, "path").as_string().unwrap_or_else(|| path.to_owned())
    };
    Ok(path.trim_end_matches('/').to_owned())
}

impl Watch {
    fn stream(&self) -> Rc<EventStream> {
        self.stream.borrow().clone()
    }

    fn message(&self) -> Result<Option<Option<JsValue>>> {
        let stream = self.stream();
        stream.visit(|message| {
            let read = if stream.json { self.read_json(message)? } else { self.read_proto(message)? };
            Ok((true, read))
        })
    }

    fn read_proto(&self, message: &[u8]) -> core::result::Result<Option<JsValue>, Malformed> {
        Ok(match watch_event(message)? {
            WatchEvent::Change { name, kind: Some(kind), entry } => self.event(kind, name, entry.map(|entry| entry_value(&entry))),
            WatchEvent::Change { .. } | WatchEvent::Start | WatchEvent::Other => None,
        })
    }

    fn read_json(&self, message: &[u8]) -> core::result::Result<Option<JsValue>, Malformed> {
        let (_, change) = json::watch_event(message)?;
        let kind = match text_in(&change, "type").as_deref() {
            Some("EVENT_TYPE_CREATE") => EventType::Create,
            Some("EVENT_TYPE_WRITE") => EventType::Write,
            Some("EVENT_TYPE_REMOVE") => EventType::Remove,
            Some("EVENT_TYPE_RENAME") => EventType::Rename,
            Some("EVENT_TYPE_CHMOD") => EventType::Chmod,
            _ => return Ok(None),
        };
        let name = text_in(&change, "name").unwrap_or_default();
        let entry = json::get(&change, "entry");
        Ok(self.event(kind, &name, entry.is_object().then(|| entry_info(&entry))))
    }

    /// An event as the caller hears of it, if that is to be.
    fn event(&self, kind: EventType, name: &str, entry: Option<JsValue>) -> Option<JsValue> {
        let kind = match kind {
            EventType::Unspecified => return None,
            EventType::Create => "created",
            EventType::Write | EventType::Chmod => "modified",
            EventType::Remove => "deleted",
            EventType::Rename => "renamed",
        };
        let event = self.told(kind, name);
        if let Some(entry) = entry {
            set(&event, "entry", &entry);
        }
        Some(event.into())
    }

    fn told(&self, kind: &str, name: &str) -> Object {
        // The directory itself is "." to the server.
        let path = match name {
            "." | "" if self.root.is_empty() => "/".to_owned(),
            "." | "" => self.root.clone(),
            _ => [&self.root, "/", name].concat(),
        };
        object(&[("type", JsValue::from_str(kind)), ("path", JsValue::from_str(&path))])
    }

    fn end(&self) {
        self.done.set(true);
        self.ends.take();
        self.stop(&JsValue::UNDEFINED);
    }

    fn stop(&self, reason: &JsValue) {
        self.stop.fire(reason);
        let stream = self.stream();
        stream.guard.fire(reason);
        stream.cancel();
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

impl Watch {
    /// The next event that is here.
    fn ready(&self) -> Result<Option<JsValue>> {
        while !self.done.get() {
            match self.message()? {
                Some(Some(event)) => return Ok(Some(event)),
                Some(None) => {}
                None => break,
            }
        }
        Ok(None)
    }
}

impl Pull for Watch {
    /// Always to be waited for: a loss that is found on the way to the next event is mended first.
    fn take(&self) -> Result<Option<JsValue>> {
        Ok(None)
    }

    fn next(self: Rc<Self>) -> Promise {
        let target = self.target.clone();
        target.promise(async move {
            loop {
                let stream = self.stream();
                let fault = match self.ready() {
                    Ok(Some(event)) => return Ok(event),
                    Ok(None) if self.done.get() => return Ok(JsValue::UNDEFINED),
                    Ok(None) if stream.ended() => cut_off(),
                    Ok(None) => match stream.fill(None).await {
                        Ok(()) => continue,
                        Err(fault) => fault,
                    },
                    Err(fault) => fault,
                };
                return match self.attach_again(fault).await {
                    Ok(()) => Ok(self.told("gap", ".").into()),
                    Err(end) => self.failed(end.error.into()),
                };
            }
        })
    }

    fn cancel(&self) {
        self.end();
    }
}

impl Watch {
    /// Watches the same directory again.
    async fn attach_again(self: &Rc<Self>, lost: Fault) -> core::result::Result<(), End> {
        if self.stop.is_fired() {
            return Err(self.stop.error().into());
        }
        let attach = || -> Work<()> {
            let watch = self.clone();
            Box::pin(async move {
                let limits = Limits::start(&CallOptions { signal: None, timeout: Some(ATTEMPT_TIMEOUT) })?;
                limits.guard.follow_guard(&watch.stop);
                let stream = begin(&watch.target, &watch.opening, watch.user.as_deref(), &limits).await?;
                if watch.stop.is_fired() {
                    return Err(cut_off());
                }
                watch.stop.hold(&stream.guard);
                *watch.stream.borrow_mut() = stream;
                Ok(())
            })
        };
        self.stream().cancel();
        self.attempts.again(&self.target, lost, &self.stop, &attach).await
    }

    /// The one end of a watch: nothing when it was given up, else the failure.
    fn failed(&self, fault: Fault) -> Result<JsValue> {
        if self.done.get() {
            return Ok(JsValue::UNDEFINED);
        }
        self.end();
        Err(fault)
    }
}
