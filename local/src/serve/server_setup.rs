//! Makes the environment of `agent-sandbox-server` when a sandbox first wants it.
//!
//! The launcher that every sandbox has on its PATH is one file for all of them: when it is opened, in whichever sandbox, somebody wants the
//! server. So the platform watches that file, and nothing is made for those who never ask.

use crate::sandbox_server::ServerFolder;
use futures_util::StreamExt;
use inotify::{Inotify, WatchMask};
use std::future::Future;

/// Watches until the environment is complete. `make` makes it, and is asked again when it failed and somebody wants it again.
///
/// # Errors
/// When the launcher cannot be watched.
pub async fn make_when_wanted<F>(folder: &ServerFolder, mut make: impl FnMut() -> F) -> std::io::Result<()>
where
    F: Future<Output = anyhow::Result<()>>,
{
    while !folder.is_complete() {
        opened(folder).await?;
        folder.say("setting it up on this machine for the first time");
        if let Err(error) = make().await {
            tracing::error!("{error:#}");
            folder.give_up(&format!("{error:#}"));
        }
    }
    Ok(())
}

/// Waits until a launcher is started. Each wait is a watch of its own: those that started during an attempt have been told how it ended.
async fn opened(folder: &ServerFolder) -> std::io::Result<()> {
    let inotify = Inotify::init()?;
    inotify.watches().add(folder.launcher(), WatchMask::OPEN)?;
    inotify.into_event_stream([0; 1024])?.next().await.transpose().map(|_| ())
}
