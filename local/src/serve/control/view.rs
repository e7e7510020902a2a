//! How sandboxes look in answers.

use super::super::hosts::Host;
use super::super::platform::Platform;
use super::super::sandbox::{Phase, Sandbox, Status};
use super::super::wish::{Lifecycle, OnTimeout};
use super::machine::Machine;
use serde_json::{Map, Value, json};

/// The version of envd that this platform's own keeps to.
pub const ENVD_VERSION: &str = "0.6.13";
/// A constant that old clients look for.
const CLIENT_ID: &str = "6532622b";

/// The answer of create, connect and resume.
pub fn session(platform: &Platform, host: &Host, sandbox: &Sandbox) -> Value {
    let mut view = names(sandbox);
    view.insert("envdUrl".into(), envd_url(platform, host, sandbox).into());
    insert(&mut view, "envdAccessToken", sandbox.envd_token.as_deref());
    insert(&mut view, "trafficAccessToken", sandbox.traffic_token.as_deref());
    view.insert("domain".into(), Value::Null);
    Value::Object(view)
}

/// The answer of get.
pub fn detail(platform: &Platform, host: &Host, sandbox: &Sandbox, machine: &Machine) -> Value {
    let mut view = state(sandbox, machine);
    view.insert("envdUrl".into(), envd_url(platform, host, sandbox).into());
    insert(&mut view, "envdAccessToken", sandbox.envd_token.as_deref());
    let network = sandbox.network();
    view.insert("allowInternetAccess".into(), network.allow_internet.map_or(Value::Null, Value::Bool));
    view.insert("domain".into(), Value::Null);
    if let Some(given) = network.given {
        view.insert("network".into(), given.into());
    }
    let Lifecycle { on_timeout, auto_resume } = sandbox.wish.lifecycle;
    let on_timeout = if on_timeout == OnTimeout::Kill { "kill" } else { "pause" };
    view.insert("lifecycle".into(), json!({ "autoResume": auto_resume, "onTimeout": on_timeout }));
    Value::Object(view)
}

/// One element of a list.
pub fn listed(sandbox: &Sandbox, machine: &Machine) -> Value {
    Value::Object(state(sandbox, machine))
}

fn names(sandbox: &Sandbox) -> Map<String, Value> {
    let template = &sandbox.wish.template;
    let mut view = Map::new();
    view.insert("sandboxID".into(), sandbox.id.as_str().into());
    view.insert("templateID".into(), template.id.as_str().into());
    insert(&mut view, "alias", template.alias.as_deref());
    view.insert("clientID".into(), CLIENT_ID.into());
    view.insert("envdVersion".into(), ENVD_VERSION.into());
    view
}

fn state(sandbox: &Sandbox, machine: &Machine) -> Map<String, Value> {
    let mut view = names(sandbox);
    let Status { phase, started, .. } = sandbox.status();
    let state = if phase == Phase::Running { "running" } else { "paused" };
    view.insert("state".into(), state.into());
    if let Phase::Paused { memory } = phase {
        view.insert("pauseMode".into(), if memory { "full" } else { "filesystem" }.into());
    }
    view.insert("startedAt".into(), started.to_string().into());
    view.insert("endAt".into(), sandbox.end_at().to_string().into());
    view.insert("cpuCount".into(), machine.cpus.into());
    view.insert("memoryMB".into(), machine.memory_mb.into());
    view.insert("diskSizeMB".into(), machine.disk_mb.into());
    view.insert("volumeMounts".into(), json!([]));
    if !sandbox.wish.metadata.is_empty() {
        view.insert("metadata".into(), json!(sandbox.wish.metadata));
    }
    view
}

fn insert(view: &mut Map<String, Value>, name: &str, value: Option<&str>) {
    if let Some(value) = value {
        view.insert(name.into(), value.into());
    }
}

fn envd_url(platform: &Platform, host: &Host, sandbox: &Sandbox) -> String {
    format!("{}/s/{}/49983", host.paths_base(platform.listen.ip()), sandbox.id)
}
