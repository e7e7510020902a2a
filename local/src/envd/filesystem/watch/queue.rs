//! Events between the kernel, which does not wait, and readers, who may be slow.

use super::super::super::error::RpcError;
use agent_sandbox_web::protocol::filesystem::FilesystemEvent;
use futures_util::task::AtomicWaker;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

/// Events that may wait. Far more than a reader leaves behind by being slow, so that none is lost; a reader that has stopped must
/// not fill the memory.
const LIMIT: usize = 1_000_000;

/// Events in their order, and the error after the last one.
#[derive(Default)]
pub struct Queue {
    state: Mutex<State>,
    reader: AtomicWaker,
}

#[derive(Default)]
struct State {
    events: Vec<FilesystemEvent>,
    error: Option<RpcError>,
}

impl Queue {
    /// Adds an event, unless too many wait.
    pub fn push(&self, event: FilesystemEvent) -> bool {
        let mut state = self.lock();
        if state.events.len() >= LIMIT {
            return false;
        }
        state.events.push(event);
        drop(state);
        self.reader.wake();
        true
    }

    /// Ends the queue.
    pub fn fail(&self, error: RpcError) {
        self.lock().error = Some(error);
        self.reader.wake();
    }

    /// All events that wait.
    ///
    /// # Errors
    /// The queue's end, every time.
    pub fn take(&self) -> Result<Vec<FilesystemEvent>, RpcError> {
        let mut state = self.lock();
        match &state.error {
            Some(error) => Err(error.clone()),
            None => Ok(std::mem::take(&mut state.events)),
        }
    }

    /// At least one event, or the queue's end after the last one. For one reader.
    pub fn poll_take(&self, task: &Context) -> Poll<Result<Vec<FilesystemEvent>, RpcError>> {
        self.reader.register(task.waker());
        let mut state = self.lock();
        if !state.events.is_empty() {
            return Poll::Ready(Ok(std::mem::take(&mut state.events)));
        }
        state.error.clone().map_or(Poll::Pending, |error| Poll::Ready(Err(error)))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
