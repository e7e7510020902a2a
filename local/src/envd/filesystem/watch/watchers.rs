//! Watches that are polled.

use super::super::super::error::RpcError;
use super::{Watch, Wish};
use agent_sandbox_web::protocol::filesystem::FilesystemEvent;
use rand::RngExt;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

const ID_LETTERS: &[u8] = b"0123456789abcdefghijklmnopqrstuv";

/// All polled watches, by id. They live until they are removed.
#[derive(Default)]
pub struct Watchers {
    watches: Mutex<HashMap<String, Watch>>,
}

impl Watchers {
    /// Begins a watch and gives its id.
    ///
    /// # Errors
    /// As [`Watch::begin`].
    pub async fn create(&self, wish: Wish) -> Result<String, RpcError> {
        let watch = Watch::begin(wish).await?;
        let mut random = rand::rng();
        let letters = (0..20).map(|_| char::from(ID_LETTERS[random.random_range(0..ID_LETTERS.len())]));
        let id: String = ['w'].into_iter().chain(letters).collect();
        self.lock().insert(id.clone(), watch);
        Ok(id)
    }

    /// What a watch has seen since the last time.
    ///
    /// # Errors
    /// Not found, or what ended the watch.
    pub fn take(&self, id: &str) -> Result<Vec<FilesystemEvent>, RpcError> {
        self.lock().get(id).ok_or_else(|| missing(id))?.queue().take()
    }

    /// Ends a watch.
    ///
    /// # Errors
    /// Not found.
    pub fn remove(&self, id: &str) -> Result<(), RpcError> {
        self.lock().remove(id).map(drop).ok_or_else(|| missing(id))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Watch>> {
        self.watches.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn missing(id: &str) -> RpcError {
    RpcError::not_found(format!("watcher with id {id} not found"))
}
