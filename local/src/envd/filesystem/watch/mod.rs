//! Watching a directory.

mod queue;
mod tree;
mod watchers;

pub use queue::Queue;
pub use watchers::Watchers;

use super::super::connect::{Codec, Frame, blocking};
use super::super::error::RpcError;
use super::super::paths::join;
use super::super::users::Names;
use super::entry::entry;
use agent_sandbox_web::protocol::connect::Code;
use agent_sandbox_web::protocol::filesystem::{
    EventType, FilesystemEvent, WatchDirResponse, WatchEvent, WatchKeepAlive, WatchStart,
};
use bytes::Bytes;
use futures_util::Stream;
use inotify::Inotify;
use std::collections::VecDeque;
use std::fs;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as Task, Poll};
use tokio::io::unix::AsyncFd;
use tokio::task::AbortHandle;
use tree::{Change, Tree};

/// What the kernel is asked for at a time, in bytes.
const BUFFER: usize = 64 * 1024;

/// File systems whose changes may be made on other machines, where the kernel here does not see them: NFS, CIFS, SMB, SMB2, FUSE.
const NETWORK: [u32; 5] = [0x6969, 0xff53_4d42, 0x517b, 0xfe53_4d42, 0x6573_5546];

/// What is to be watched, and how.
#[derive(Debug, Clone)]
pub struct Wish {
    /// The directory.
    pub path: String,
    /// Its subdirectories too.
    pub recursive: bool,
    /// Whether events carry the entry.
    pub include_entry: bool,
    /// Whether network mounts may be watched.
    pub allow_network_mounts: bool,
}

/// A watch that runs until it is dropped.
pub struct Watch {
    queue: Arc<Queue>,
    task: AbortHandle,
}

impl Watch {
    /// Begins to watch. What changes afterwards is seen.
    ///
    /// # Errors
    /// Not found, or invalid argument for what cannot be watched.
    pub async fn begin(wish: Wish) -> Result<Self, RpcError> {
        let (inotify, tree, wish) = blocking(move || prepare(wish)).await?;
        // SAFETY: nothing closes the descriptor that the `AsyncFd` now owns.
        let events = unsafe { AsyncFd::register(inotify) }.map_err(|error| failed(&wish.path, &error.into()))?;
        let queue = Arc::new(Queue::default());
        let task = tokio::spawn(run(events, tree, wish, Arc::clone(&queue))).abort_handle();
        Ok(Self { queue, task })
    }

    /// What was seen and not yet taken.
    pub fn queue(&self) -> &Queue {
        &self.queue
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn failed(path: &str, error: &io::Error) -> RpcError {
    RpcError::internal(format!("error watching {path}: {error}"))
}

fn prepare(wish: Wish) -> Result<(Inotify, Tree, Wish), RpcError> {
    let path = &wish.path;
    let metadata = fs::metadata(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => RpcError::not_found(format!("path {path} not found")),
        _ => RpcError::internal(format!("error getting file info: {error}")),
    })?;
    if !metadata.is_dir() {
        return Err(RpcError::invalid_argument(format!("path {path} not a directory")));
    }
    if !wish.allow_network_mounts {
        let kind = rustix::fs::statfs(path.as_str()).map_err(|error| failed(path, &error.into()))?.f_type;
        if NETWORK.contains(&(kind as u32)) {
            return Err(RpcError::invalid_argument(format!(
                "path {path} is on a network mount, whose changes may go unseen; allow network mounts to watch it"
            )));
        }
    }
    let inotify = Inotify::init().map_err(|error| failed(path, &error))?;
    let tree = Tree::new(inotify.watches(), Path::new(path), wish.recursive).map_err(|error| failed(path, &error))?;
    Ok((inotify, tree, wish))
}

/// Reads the kernel's events as fast as they come, as it keeps only so many.
async fn run(mut inotify: AsyncFd<Inotify>, mut tree: Tree, wish: Wish, queue: Arc<Queue>) {
    let mut buffer = vec![0; BUFFER];
    let error = loop {
        match read(&mut inotify, &mut buffer, &mut tree, &wish, &queue).await {
            Ok(()) => {}
            Err(error) => break error,
        }
    };
    queue.fail(error);
}

/// Takes what there is, after waiting for it.
async fn read(
    inotify: &mut AsyncFd<Inotify>,
    buffer: &mut [u8],
    tree: &mut Tree,
    wish: &Wish,
    queue: &Queue,
) -> Result<(), RpcError> {
    let broken = |error: io::Error| failed(&wish.path, &error);
    let mut ready = inotify.readable_mut().await.map_err(broken)?;
    loop {
        let mut changes = Vec::new();
        match ready.get_inner_mut().read_events(buffer) {
            Ok(events) => {
                for event in events {
                    tree.see(&event, &mut changes).map_err(broken)?;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                tree.settle();
                ready.clear_ready();
                return Ok(());
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(broken(error)),
        }
        for event in told(changes, wish) {
            if !queue.push(event) {
                return Err(RpcError::new(Code::ResourceExhausted, "too many events wait to be read"));
            }
        }
    }
}

/// Changes as messages, with entries where they were asked for and can be had.
fn told(changes: Vec<Change>, wish: &Wish) -> Vec<FilesystemEvent> {
    let names = (wish.include_entry && !changes.is_empty()).then(Names::load);
    let tell = |change: Change| {
        let name = change.path.to_string_lossy().into_owned();
        let carries = matches!(change.kind, EventType::Create | EventType::Write | EventType::Chmod);
        let entry = names.as_ref().filter(|_| carries).and_then(|names| entry(&join(&wish.path, &name), names).ok());
        FilesystemEvent { name, r#type: change.kind as i32, entry }
    };
    changes.into_iter().map(tell).collect()
}

/// One message of a watch's stream.
pub enum WatchFrame {
    /// The first one.
    Start,
    /// A change.
    Change(Box<FilesystemEvent>),
    /// Nothing happened.
    Keepalive,
}

impl Frame for WatchFrame {
    fn keepalive() -> Self {
        Self::Keepalive
    }

    fn envelope(self, codec: Codec) -> Bytes {
        let event = match self {
            Self::Start => WatchEvent::Start(WatchStart {}),
            Self::Change(event) => WatchEvent::Filesystem(event),
            Self::Keepalive => WatchEvent::Keepalive(WatchKeepAlive {}),
        };
        codec.envelope(&WatchDirResponse { event: Some(event) })
    }
}

/// A watch as a stream, which never ends by itself unless it fails.
pub struct WatchStream {
    watch: Watch,
    taken: VecDeque<WatchFrame>,
}

impl WatchStream {
    /// The stream of a watch that has begun.
    pub fn new(watch: Watch) -> Self {
        Self { watch, taken: [WatchFrame::Start].into() }
    }
}

impl Stream for WatchStream {
    type Item = Result<WatchFrame, RpcError>;

    fn poll_next(mut self: Pin<&mut Self>, task: &mut Task) -> Poll<Option<Self::Item>> {
        if self.taken.is_empty() {
            match self.watch.queue.poll_take(task) {
                Poll::Ready(Ok(events)) => self.taken.extend(events.into_iter().map(Box::new).map(WatchFrame::Change)),
                Poll::Ready(Err(error)) => return Poll::Ready(Some(Err(error))),
                Poll::Pending => return Poll::Pending,
            }
        }
        Poll::Ready(self.taken.pop_front().map(Ok))
    }
}
