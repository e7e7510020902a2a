//! One process's events to all who follow it.

use super::frames::ProcessFrame;
use futures_util::future::join_all;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc;

/// Events that wait for one subscriber. Beyond them the process waits for its slowest reader, so that no output is lost and no
/// memory grows.
const WAITING_EVENTS: usize = 64;

/// The subscribers of one process.
#[derive(Default)]
pub struct Fanout {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    subscribers: Arc<[mpsc::Sender<ProcessFrame>]>,
    ended: bool,
}

impl Fanout {
    /// Everything from now on, or `None` when the end has been sent.
    pub fn subscribe(&self) -> Option<mpsc::Receiver<ProcessFrame>> {
        let mut state = self.lock();
        if state.ended {
            return None;
        }
        let (sender, receiver) = mpsc::channel(WAITING_EVENTS);
        state.subscribers = state.subscribers.iter().cloned().chain([sender]).collect();
        Some(receiver)
    }

    /// Gives an event to every subscriber, at the pace of the slowest. Without subscribers it is dropped.
    pub async fn send(&self, frame: ProcessFrame) {
        let subscribers = Arc::clone(&self.lock().subscribers);
        let mut left = false;
        for subscriber in &*subscribers {
            left |= subscriber.send(frame.clone()).await.is_err();
        }
        if left {
            let mut state = self.lock();
            state.subscribers = state.subscribers.iter().filter(|subscriber| !subscriber.is_closed()).cloned().collect();
        }
    }

    /// Gives the last event to every subscriber; whoever comes later is not let in.
    pub async fn end(&self, frame: ProcessFrame) {
        let subscribers = {
            let mut state = self.lock();
            state.ended = true;
            std::mem::take(&mut state.subscribers)
        };
        // Together, so that one slow reader does not keep the end from the others.
        join_all(subscribers.iter().map(|subscriber| subscriber.send(frame.clone()))).await;
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
