//! The contexts of a sandbox, and which of them are the defaults of their languages.

use super::context::{Context, Description};
use super::kernel::{Launcher, StartError};
use super::language::{DEFAULT_LANGUAGE, KernelKind, normalise};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The id that always means the default context of Python.
const DEFAULT_ALIAS: &str = "default";

/// All contexts.
pub struct Contexts {
    launcher: Arc<Launcher>,
    entries: Mutex<Vec<Entry>>,
}

struct Entry {
    context: Arc<Context>,
    /// Whether cells that name only this language run here.
    is_default: bool,
}

impl Contexts {
    /// The contexts of a fresh sandbox: the defaults for Python and, where it can run, JavaScript. Their kernels start when used.
    pub fn new(launcher: Launcher) -> Contexts {
        let contexts = Contexts { launcher: Arc::new(launcher), entries: Mutex::default() };
        for (language, kind) in [(DEFAULT_LANGUAGE, KernelKind::Python), ("javascript", KernelKind::Deno)] {
            if contexts.launcher.supports(kind) {
                contexts.default_of(language, kind);
            }
        }
        contexts
    }

    /// What clients see of each, oldest first.
    pub fn list(&self) -> Vec<Description> {
        self.lock().iter().map(|entry| entry.context.description().clone()).collect()
    }

    /// The context with this id.
    pub fn find(&self, id: &str) -> Option<Arc<Context>> {
        if id == DEFAULT_ALIAS {
            return Some(self.default_of(DEFAULT_LANGUAGE, KernelKind::Python));
        }
        self.lock().iter().find(|entry| entry.context.description().id == id).map(|entry| Arc::clone(&entry.context))
    }

    /// The default context of a language, or of Python; made if there is none or if it was removed.
    pub fn default_for(&self, language: Option<&str>) -> Result<Arc<Context>, StartError> {
        let language = language.map(normalise).filter(|name| !name.is_empty()).unwrap_or_else(|| DEFAULT_LANGUAGE.into());
        let kind = self.kind_of(&language)?;
        Ok(self.default_of(&language, kind))
    }

    /// Makes a context and starts its kernel.
    pub async fn create(&self, language: Option<&str>, cwd: Option<&str>) -> Result<Description, StartError> {
        let language = language.map_or_else(|| DEFAULT_LANGUAGE.into(), normalise);
        let kind = self.kind_of(&language)?;
        let context = self.new_context(language, kind, cwd);
        context.kernel().await?;
        let description = context.description().clone();
        self.lock().push(Entry { context, is_default: false });
        Ok(description)
    }

    /// Takes a context off the list and ends its kernel; whether there was one.
    pub async fn remove(&self, id: &str) -> bool {
        let Some(context) = self.find(id) else { return false };
        self.lock().retain(|entry| !Arc::ptr_eq(&entry.context, &context));
        context.remove().await;
        true
    }

    /// Ends every kernel.
    pub async fn remove_all(&self) {
        let entries = std::mem::take(&mut *self.lock());
        futures_util::future::join_all(entries.iter().map(|entry| entry.context.remove())).await;
    }

    fn kind_of(&self, language: &str) -> Result<KernelKind, StartError> {
        let kind = KernelKind::of(language).ok_or_else(|| StartError::NoKernel { language: language.into() })?;
        if self.launcher.supports(kind) { Ok(kind) } else { Err(StartError::NoDeno) }
    }

    fn default_of(&self, language: &str, kind: KernelKind) -> Arc<Context> {
        let mut entries = self.lock();
        if let Some(entry) = entries.iter().find(|entry| entry.is_default && entry.context.description().language == language) {
            return Arc::clone(&entry.context);
        }
        let context = self.new_context(language.to_owned(), kind, None);
        entries.push(Entry { context: Arc::clone(&context), is_default: true });
        context
    }

    fn new_context(&self, language: String, kind: KernelKind, cwd: Option<&str>) -> Arc<Context> {
        let cwd = cwd.map_or_else(|| self.launcher.home().to_string_lossy().into_owned(), str::to_owned);
        let id = uuid::Uuid::new_v4().to_string();
        Arc::new(Context::new(Description { id, language, cwd }, kind, Arc::clone(&self.launcher)))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
