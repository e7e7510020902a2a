//! A sandbox as everybody sees it: what is known about it, how it is reached, what can be asked of it. What it is made of belongs to its
//! [`super::keeper`].

use super::error::ApiError;
use super::gateway::Route;
use super::journal::Journal;
use super::keeper::Order;
use super::keys::lock;
use super::metrics::History;
use super::record::Record;
use super::wish::{Network, Wish};
use http::StatusCode;
use jiff::{SignedDuration, Timestamp};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};

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

/// What a sandbox is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// It answers.
    Running,
    /// It is about to be paused.
    Pausing,
    /// It does nothing until it is resumed.
    Paused {
        /// Whether its processes are there still.
        memory: bool,
    },
    /// It is about to run again.
    Resuming,
}

/// What changes about a sandbox.
#[derive(Clone)]
pub struct Status {
    /// What it is doing.
    pub phase: Phase,
    /// When it began to run the last time.
    pub started: Timestamp,
    /// When it was paused; meaningless while it runs.
    pub paused: Timestamp,
    /// How the gateway reaches it, while it has processes.
    pub route: Option<Arc<Route>>,
    /// The process below which its processes are, while it has some.
    pub root: Option<u32>,
}

/// A sandbox. It is in the registry from the moment it answers until it begins to end.
pub struct Sandbox {
    /// Its id.
    pub id: String,
    /// The host user who owns its files, where that is not the platform's.
    pub owner: Option<u32>,
    /// What it was made from and with; what is true of its network now is in [`Sandbox::network`].
    pub wish: Wish,
    /// The token envd asks for.
    pub envd_token: Option<String>,
    /// The token its ports ask for, when they are not public.
    pub traffic_token: Option<String>,
    /// What happened to it.
    pub journal: Arc<Journal>,
    /// What it used.
    pub history: History,
    network: Mutex<Network>,
    status: watch::Sender<Status>,
    deadline: watch::Sender<Deadline>,
    ending: watch::Sender<Option<Ending>>,
    ended: watch::Receiver<bool>,
    orders: mpsc::UnboundedSender<Order>,
}

/// When a sandbox ends, on the two clocks: the one that is shown and the one that is waited on.
#[derive(Debug, Clone, Copy)]
struct Deadline {
    shown: Timestamp,
    at: tokio::time::Instant,
}

impl Deadline {
    fn after(lifetime: Duration) -> Self {
        let now = Timestamp::now();
        let shown = SignedDuration::try_from(lifetime).ok().and_then(|lifetime| now.checked_add(lifetime).ok());
        Self { shown: shown.unwrap_or(Timestamp::MAX), at: tokio::time::Instant::now() + lifetime }
    }
}

/// Who a new sandbox is.
pub struct Identity {
    /// Its id.
    pub id: String,
    /// See [`Sandbox::owner`].
    pub owner: Option<u32>,
    /// See [`Sandbox::envd_token`].
    pub envd_token: Option<String>,
    /// See [`Sandbox::traffic_token`].
    pub traffic_token: Option<String>,
    /// See [`Sandbox::journal`].
    pub journal: Arc<Journal>,
}

impl Sandbox {
    /// A sandbox whose lifetime begins now. Its keeper takes the orders; `ended` turns true when nothing of it is left.
    pub fn new(
        identity: Identity,
        wish: Wish,
        status: Status,
        orders: mpsc::UnboundedSender<Order>,
        ended: watch::Receiver<bool>,
    ) -> Self {
        let Identity { id, owner, envd_token, traffic_token, journal } = identity;
        let deadline = watch::Sender::new(Deadline::after(wish.lifetime));
        let network = Mutex::new(wish.network.clone());
        let (status, ending) = (watch::Sender::new(status), watch::Sender::new(None));
        let history = History::default();
        Self { id, owner, wish, envd_token, traffic_token, journal, history, network, status, deadline, ending, ended, orders }
    }

    /// What is true of it now.
    pub fn status(&self) -> Status {
        self.status.borrow().clone()
    }

    /// For its keeper alone.
    pub fn set_status(&self, change: impl FnOnce(&mut Status)) {
        self.status.send_modify(change);
    }

    /// Whether it runs.
    pub fn is_running(&self) -> bool {
        self.status.borrow().phase == Phase::Running
    }

    /// When it began to run the last time.
    pub fn started(&self) -> Timestamp {
        self.status.borrow().started
    }

    /// When it ends if nobody does anything; when it was paused, if it is.
    pub fn end_at(&self) -> Timestamp {
        if self.is_running() { self.deadline.borrow().shown } else { self.status.borrow().paused }
    }

    /// What it may reach.
    pub fn network(&self) -> Network {
        lock(&self.network).clone()
    }

    /// For its keeper alone.
    pub fn set_network(&self, network: Network) {
        *lock(&self.network) = network;
    }

    /// What is written down of it while it is paused.
    pub fn record(&self, memory: bool) -> Record {
        Record {
            id: self.id.clone(),
            owner: self.owner,
            wish: Wish { network: self.network(), ..self.wish.clone() },
            envd_token: self.envd_token.clone(),
            traffic_token: self.traffic_token.clone(),
            started: self.started(),
            paused: Timestamp::now(),
            memory,
        }
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

    /// Hands an order to its keeper and waits for the answer. It is carried out also when nobody waits any more.
    ///
    /// # Errors
    /// 404 when the sandbox ends first, otherwise the keeper's refusal.
    pub async fn ask<T>(&self, order: impl FnOnce(oneshot::Sender<Result<T, ApiError>>) -> Order) -> Result<T, ApiError> {
        let (reply, answer) = oneshot::channel();
        let gone = || ApiError::no_sandbox(&self.id);
        self.orders.send(order(reply)).map_err(|_| gone())?;
        answer.await.unwrap_or_else(|_| Err(gone()))
    }

    /// 409 for an order that needs a running sandbox.
    pub fn not_running(&self) -> ApiError {
        ApiError::new(StatusCode::CONFLICT, format!("Sandbox \"{}\" is not running", self.id))
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

    /// Waits until somebody asked for the end.
    pub async fn until_asked_to_end(&self) -> Ending {
        let mut ending = self.ending.subscribe();
        ending.wait_for(Option::is_some).await.ok().and_then(|reason| *reason).unwrap_or(Ending::Shutdown)
    }

    /// Waits until the lifetime is over.
    pub async fn until_time_is_over(&self) {
        let mut deadline = self.deadline.subscribe();
        loop {
            let at = deadline.borrow_and_update().at;
            tokio::select! {
                () = tokio::time::sleep_until(at) => return,
                _ = deadline.changed() => {}
            }
        }
    }

    /// Waits until nothing of it is left, or of a paused one nothing but its files when the platform stops.
    pub async fn until_gone(&self) {
        // An error means that the task which ends sandboxes is gone, and the sandbox with it.
        drop(self.ended.clone().wait_for(|ended| *ended).await);
    }
}
