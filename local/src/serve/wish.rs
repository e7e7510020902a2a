//! What a client asked for when it made a sandbox.

use super::template::Template;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::time::Duration;

/// What a client asked for, checked.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Wish {
    /// What it starts as.
    pub template: Template,
    /// How long it lives from its creation, and at least, when traffic wakes it.
    pub lifetime: Duration,
    /// What happens when its time is over, and what wakes it then.
    pub lifecycle: Lifecycle,
    /// Whether envd asks for a token.
    pub secure: bool,
    /// What it may reach and who may reach it.
    pub network: Network,
    /// The client's labels.
    pub metadata: BTreeMap<String, String>,
    /// Variables of every process.
    pub env_vars: BTreeMap<String, String>,
}

/// The end of a lifetime.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lifecycle {
    /// What happens then.
    pub on_timeout: OnTimeout,
    /// Whether traffic resumes the sandbox when it is paused.
    pub auto_resume: bool,
}

/// What happens to a sandbox whose time is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum OnTimeout {
    /// It ends.
    Kill,
    /// It is paused.
    Pause {
        /// With its processes, or as files only.
        memory: bool,
    },
}

/// The network of a sandbox.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Network {
    /// `allow_internet_access`, as last given.
    pub allow_internet: Option<bool>,
    /// The `network` object as given, for GET to repeat.
    pub given: Option<Map<String, Value>>,
    /// Whether it may reach the internet.
    pub online: bool,
    /// Whether ports other than envd's are open without the traffic token.
    pub public_traffic: bool,
}
