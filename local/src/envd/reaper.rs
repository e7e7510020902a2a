//! Collects every child that ends: the started ones, whose status someone waits for, and adopted orphans.

use std::collections::HashMap;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;

type Waiting = HashMap<i32, oneshot::Sender<ExitStatus>>;

/// Knows the children that have not been collected. While one is known, its process id belongs to it and can be signalled.
#[derive(Clone)]
pub struct Reaper {
    waiting: Arc<Mutex<Waiting>>,
}

/// What became of a signal.
#[derive(Debug, PartialEq, Eq)]
pub enum Delivery {
    /// It was delivered.
    Delivered,
    /// The process has ended.
    Gone,
}

impl Reaper {
    /// Begins to collect. Must be called within the runtime.
    pub fn start() -> io::Result<Self> {
        let reaper = Self { waiting: Arc::default() };
        let mut ended = signal(SignalKind::child())?;
        let collecting = reaper.clone();
        tokio::spawn(async move {
            while ended.recv().await.is_some() {
                collecting.collect();
            }
        });
        Ok(reaper)
    }

    /// Starts a child by `spawn`, and gives its id and a receiver of its status.
    pub fn spawn(&self, spawn: impl FnOnce() -> io::Result<Child>) -> io::Result<(Child, oneshot::Receiver<ExitStatus>)> {
        // The lock keeps a child that ends at once from being collected before it is known.
        let mut waiting = self.lock();
        let child = spawn()?;
        let (sender, receiver) = oneshot::channel();
        waiting.insert(child.id().cast_signed(), sender);
        Ok((child, receiver))
    }

    /// Signals a child, never a stranger that was given its id later.
    pub fn signal(&self, pid: u32, signal: rustix::process::Signal) -> io::Result<Delivery> {
        let waiting = self.lock();
        let number = pid.cast_signed();
        let Some(pid) = rustix::process::Pid::from_raw(number).filter(|_| waiting.contains_key(&number)) else {
            return Ok(Delivery::Gone);
        };
        rustix::process::kill_process(pid, signal)?;
        Ok(Delivery::Delivered)
    }

    fn collect(&self) {
        let mut waiting = self.lock();
        while let Ok(Some((pid, status))) = rustix::process::wait(rustix::process::WaitOptions::NOHANG) {
            if let Some(waiter) = waiting.remove(&pid.as_raw_nonzero().get()) {
                // Nobody waits any more when the sandbox is ending.
                let _ = waiter.send(ExitStatus::from_raw(status.as_raw()));
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
