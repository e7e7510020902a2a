//! The processes there are, and those that were a moment ago.

use super::super::error::RpcError;
use super::super::reaper::{Delivery, Reaper};
use super::fanout::Fanout;
use super::input::Stdin;
use agent_sandbox_web::protocol::connect::Code;
use agent_sandbox_web::protocol::process::{EndEvent, ProcessConfig, ProcessInfo, ProcessSelector, Selector};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How long the end of a process is remembered for those who connect late.
const RETENTION: Duration = Duration::from_secs(30);

/// A process that was started here.
pub struct Process {
    /// Its id.
    pub pid: u32,
    /// What was started.
    pub config: ProcessConfig,
    /// Its label.
    pub tag: Option<String>,
    /// The way into it.
    pub stdin: Stdin,
    /// Who follows it.
    pub fanout: Fanout,
    /// Cancelled when nobody waits for the end of its output any more.
    pub drain: CancellationToken,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    end: Option<EndEvent>,
    signalled: bool,
}

impl Process {
    /// A process that has begun.
    pub fn new(pid: u32, config: ProcessConfig, tag: Option<String>, stdin: Stdin) -> Self {
        let (fanout, drain, state) = (Fanout::default(), CancellationToken::new(), Mutex::default());
        Self { pid, config, tag, stdin, fanout, drain, state }
    }

    /// Notes that the process itself has ended; its output may still be held open by its children.
    pub fn set_end(&self, end: EndEvent) {
        self.change(|state| state.end = Some(end));
    }

    /// How it ended, once nobody waits for its output any more.
    pub fn final_end(&self) -> Option<EndEvent> {
        let state = lock(&self.state);
        state.end.clone().filter(|_| state.signalled)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = lock(&self.state);
        change(&mut state);
        if state.signalled && state.end.is_some() {
            self.drain.cancel();
        }
    }

    fn matches(&self, selector: &Selector) -> bool {
        matches(selector, self.pid, self.tag.as_deref())
    }
}

/// A process that has ended.
pub struct Exited {
    /// What its id was.
    pub pid: u32,
    /// How it ended.
    pub end: EndEvent,
    tag: Option<String>,
}

/// What a selector found.
pub enum Found {
    /// A process that still runs, or whose output does.
    Running(Arc<Process>),
    /// One that has ended a moment ago.
    Exited(Arc<Exited>),
}

/// All processes.
#[derive(Clone)]
pub struct Processes {
    /// Starts and signals them.
    pub reaper: Reaper,
    table: Arc<Mutex<Table>>,
}

#[derive(Default)]
struct Table {
    running: Vec<Arc<Process>>,
    exited: Vec<Arc<Exited>>,
}

impl Processes {
    /// None yet.
    pub fn new(reaper: Reaper) -> Self {
        Self { reaper, table: Arc::default() }
    }

    /// Adds one that has begun.
    pub fn add(&self, process: Arc<Process>) {
        lock(&self.table).running.push(process);
    }

    /// The running ones, oldest first.
    pub fn list(&self) -> Vec<ProcessInfo> {
        let table = lock(&self.table);
        let alive = table.running.iter().filter(|process| process.final_end().is_none());
        alive
            .map(|process| ProcessInfo { config: Some(process.config.clone()), pid: process.pid, tag: process.tag.clone() })
            .collect()
    }

    /// The running process that is meant.
    ///
    /// # Errors
    /// Unimplemented without a choice, not found without a process.
    pub fn running(&self, selector: Option<ProcessSelector>) -> Result<Arc<Process>, RpcError> {
        let selector = chosen(selector)?;
        let table = lock(&self.table);
        let found = table.running.iter().find(|process| process.matches(&selector) && process.final_end().is_none());
        found.cloned().ok_or_else(|| missing(&selector))
    }

    /// The process that is meant, also when it has ended a moment ago.
    ///
    /// # Errors
    /// As [`Self::running`].
    pub fn find(&self, selector: Option<ProcessSelector>) -> Result<Found, RpcError> {
        let selector = chosen(selector)?;
        let table = lock(&self.table);
        if let Some(process) = table.running.iter().find(|process| process.matches(&selector)) {
            return Ok(Found::Running(Arc::clone(process)));
        }
        // The newest first: an id may have been used twice within the time of remembering.
        let exited = table.exited.iter().rev().find(|exited| matches(&selector, exited.pid, exited.tag.as_deref()));
        exited.cloned().map(Found::Exited).ok_or_else(|| missing(&selector))
    }

    /// Signals a process. From then on its end is told as soon as it has ended, even while its children hold its output open.
    pub fn signal(&self, process: &Process, signal: rustix::process::Signal) -> io::Result<Delivery> {
        process.change(|state| state.signalled = true);
        self.reaper.signal(process.pid, signal)
    }

    /// Moves a process to the ended ones, and forgets it after a while.
    pub fn retire(&self, process: &Arc<Process>, end: EndEvent) {
        let exited = Arc::new(Exited { pid: process.pid, tag: process.tag.clone(), end });
        {
            let mut table = lock(&self.table);
            table.running.retain(|running| !Arc::ptr_eq(running, process));
            table.exited.push(Arc::clone(&exited));
        }
        let table = Arc::clone(&self.table);
        tokio::spawn(async move {
            tokio::time::sleep(RETENTION).await;
            lock(&table).exited.retain(|known| !Arc::ptr_eq(known, &exited));
        });
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn chosen(selector: Option<ProcessSelector>) -> Result<Selector, RpcError> {
    selector
        .and_then(|selector| selector.selector)
        .ok_or_else(|| RpcError::new(Code::Unimplemented, "invalid process selector: neither pid nor tag"))
}

fn matches(selector: &Selector, pid: u32, tag: Option<&str>) -> bool {
    match selector {
        Selector::Pid(wanted) => pid == *wanted,
        Selector::Tag(wanted) => tag == Some(wanted),
    }
}

fn missing(selector: &Selector) -> RpcError {
    RpcError::not_found(match selector {
        Selector::Pid(pid) => format!("process with pid {pid} not found"),
        Selector::Tag(tag) => format!("process with tag {tag} not found"),
    })
}
