//! A context: one kernel with its state, in which cells run one at a time and in the order in which they came.

use super::kernel::{Kernel, Launcher, StartError};
use super::language::KernelKind;
use serde::Serialize;
use std::future::Future;
use std::path::Path;
use std::sync::Arc;
use tokio::sync::{Mutex, OwnedMutexGuard, watch};

/// What clients see of a context.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Description {
    /// Its id.
    pub id: String,
    /// Its language, normalised.
    pub language: String,
    /// The folder that was asked for, whether it exists or not.
    pub cwd: String,
}

/// A context. Its kernel starts when it is first needed.
pub struct Context {
    description: Description,
    kind: KernelKind,
    launcher: Arc<Launcher>,
    queue: Arc<Mutex<()>>,
    slot: Mutex<Slot>,
    removed: watch::Sender<bool>,
}

struct Slot {
    kernel: Option<Arc<Kernel>>,
    /// Whether a kernel has run here before: only the first starts in the context's folder.
    restarted: bool,
}

/// A cell's turn; the next one begins when it is dropped.
pub type Turn = OwnedMutexGuard<()>;

impl Context {
    /// A context without a kernel.
    pub fn new(description: Description, kind: KernelKind, launcher: Arc<Launcher>) -> Context {
        Context {
            description,
            kind,
            launcher,
            queue: Arc::default(),
            slot: Mutex::new(Slot { kernel: None, restarted: false }),
            removed: watch::Sender::new(false),
        }
    }

    /// What clients see of it.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// The kind of its kernel.
    pub fn kind(&self) -> KernelKind {
        self.kind
    }

    /// Takes a place in the queue at the first poll and resolves when it is this place's turn.
    pub fn turn(&self) -> impl Future<Output = Turn> + Send + use<> {
        Arc::clone(&self.queue).lock_owned()
    }

    /// The kernel, started if there is none or if it has died.
    pub async fn kernel(&self) -> Result<Arc<Kernel>, StartError> {
        let mut slot = self.slot.lock().await;
        match &slot.kernel {
            Some(kernel) if kernel.is_alive() => Ok(Arc::clone(kernel)),
            _ => self.start(&mut slot).await,
        }
    }

    /// Ends the kernel, and with it the cell that runs, and starts a new one in the kernel's own default folder.
    pub async fn restart(&self) -> Result<(), StartError> {
        let mut slot = self.slot.lock().await;
        if let Some(kernel) = slot.kernel.take() {
            kernel.stop();
            kernel.ended().await;
        }
        slot.restarted = true;
        self.start(&mut slot).await?;
        Ok(())
    }

    /// Ends the kernel for good. Cells that wait fail.
    pub async fn remove(&self) {
        self.removed.send_replace(true);
        if let Some(kernel) = self.slot.lock().await.kernel.take() {
            kernel.stop();
            kernel.ended().await;
        }
    }

    /// Resolves when the context is removed.
    pub async fn removed(&self) {
        let mut removed = self.removed.subscribe();
        // The sender lives in this context.
        let _ = removed.wait_for(|removed| *removed).await;
    }

    async fn start(&self, slot: &mut Slot) -> Result<Arc<Kernel>, StartError> {
        if *self.removed.borrow() {
            return Err(StartError::Gone);
        }
        let cwd = if slot.restarted { self.launcher.home() } else { Path::new(&self.description.cwd) };
        let kernel = Kernel::start(&self.launcher, self.kind, cwd).await?;
        slot.kernel = Some(Arc::clone(&kernel));
        slot.restarted = true;
        Ok(kernel)
    }
}
