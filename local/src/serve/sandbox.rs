//! A running sandbox: what is known about it, how it is reached, when it ends.

use super::gateway::Route;
use super::template::Template;
use jiff::{SignedDuration, Timestamp};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::sync::watch;

/// What a client asked for, checked.
#[derive(Debug, Clone)]
pub struct Wish {
    /// What it starts as.
    pub template: &'static Template,
    /// How long it lives.
    pub lifetime: Duration,
    /// Whether envd asks for a token.
    pub secure: bool,
    /// `allow_internet_access`, as given.
    pub allow_internet: Option<bool>,
    /// The `network` object as given, for GET to repeat.
    pub network: Option<serde_json::Value>,
    /// Whether egress is denied by `denyOut`.
    pub deny_all: bool,
    /// Whether ports other than envd's are open without the traffic token.
    pub public_traffic: bool,
    /// The client's labels.
    pub metadata: BTreeMap<String, String>,
    /// Variables of every process.
    pub env_vars: BTreeMap<String, String>,
}

impl Wish {
    /// Whether the sandbox may reach the internet.
    pub fn internet(&self) -> bool {
        self.allow_internet.unwrap_or(true) && !self.deny_all
    }
}

/// Why a sandbox ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// A client asked.
    Killed,
    /// Its lifetime is over.
    TimedOut,
    /// Its processes ended by themselves.
    Died,
    /// The platform stops.
    Shutdown,
}

/// A running sandbox. It is in the registry from the moment it answers until it begins to end.
pub struct Sandbox {
    /// Its id.
    pub id: String,
    /// What it was made from and with.
    pub wish: Wish,
    /// The token envd asks for.
    pub envd_token: Option<String>,
    /// The token its ports ask for, when they are not public.
    pub traffic_token: Option<String>,
    /// When it began.
    pub started: Timestamp,
    /// How the gateway reaches it.
    pub route: Route,
    deadline: watch::Sender<Deadline>,
    ending: watch::Sender<Option<Ending>>,
    ended: watch::Receiver<bool>,
}

/// When a sandbox ends, on the two clocks: the one that is shown and the one that is waited on.
#[derive(Debug, Clone, Copy)]
pub struct Deadline {
    /// Shown as `endAt`.
    pub shown: Timestamp,
    /// Waited on.
    pub at: tokio::time::Instant,
}

impl Deadline {
    fn after(lifetime: Duration) -> Self {
        let now = Timestamp::now();
        let shown = SignedDuration::try_from(lifetime).ok().and_then(|lifetime| now.checked_add(lifetime).ok());
        Self { shown: shown.unwrap_or(Timestamp::MAX), at: tokio::time::Instant::now() + lifetime }
    }
}

impl Sandbox {
    /// A sandbox whose lifetime begins now. `ended` turns true when nothing of it is left.
    pub fn new(
        id: String,
        wish: Wish,
        envd_token: Option<String>,
        traffic_token: Option<String>,
        route: Route,
        ended: watch::Receiver<bool>,
    ) -> Self {
        let deadline = watch::Sender::new(Deadline::after(wish.lifetime));
        let ending = watch::Sender::new(None);
        Self { id, wish, envd_token, traffic_token, started: Timestamp::now(), route, deadline, ending, ended }
    }

    /// When it ends if nobody does anything.
    pub fn end_at(&self) -> Timestamp {
        self.deadline.borrow().shown
    }

    /// Sets what is left of its life to `lifetime` from now, longer or shorter.
    pub fn set_lifetime(&self, lifetime: Duration) {
        self.deadline.send_replace(Deadline::after(lifetime));
    }

    /// The same, but never shortens.
    pub fn extend_lifetime(&self, lifetime: Duration) {
        let wanted = Deadline::after(lifetime);
        self.deadline.send_if_modified(|deadline| {
            let later = wanted.at > deadline.at;
            if later {
                *deadline = wanted;
            }
            later
        });
    }

    /// Asks the sandbox to end; the first reason stays.
    pub fn request_end(&self, ending: Ending) {
        self.ending.send_if_modified(|slot| {
            let first = slot.is_none();
            if first {
                *slot = Some(ending);
            }
            first
        });
    }

    /// Waits until somebody asked for the end or the lifetime is over, whichever comes first.
    pub async fn until_end(&self) -> Ending {
        let mut ending = self.ending.subscribe();
        let mut deadline = self.deadline.subscribe();
        loop {
            let at = deadline.borrow_and_update().at;
            tokio::select! {
                reason = ending.wait_for(Option::is_some) => {
                    return reason.ok().and_then(|reason| *reason).unwrap_or(Ending::Shutdown);
                }
                () = tokio::time::sleep_until(at) => return Ending::TimedOut,
                _ = deadline.changed() => {}
            }
        }
    }

    /// Waits until nothing of it is left.
    pub async fn until_gone(&self) {
        // An error means that the task which ends sandboxes is gone, and the sandbox with it.
        drop(self.ended.clone().wait_for(|ended| *ended).await);
    }
}
