//! Snapshots: copies of sandboxes' files from which sandboxes are made. One folder each, with a record beside the files.
//!
//! A snapshot is a template with an id of its own, perhaps a name, and one copy of files for each tag. What a sandbox was made from it
//! has for itself, so nothing of a snapshot is in use once the copying is done.

use super::copy::Files;
use super::data;
use super::error::ApiError;
use super::keys::{self, lock};
use super::record;
use super::template::{self, DEFAULT_TAG, NAMESPACE, Name, Template};
use super::wish::Wish;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use tokio::sync::RwLock;

/// The record's name.
const FILE: &str = "snapshot.json";

/// One snapshot, as it is written down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The template that it is; sandboxes made from it have it as theirs.
    pub template: Template,
    /// Under which tag of the template.
    pub tag: String,
    /// The sandbox whose files it holds.
    pub sandbox: String,
    /// When it was made.
    pub made: Timestamp,
    /// The variables that the sandbox was made with; what is made from the snapshot has them too. Absent from older records.
    #[serde(default)]
    pub env_vars: BTreeMap<String, String>,
}

impl Snapshot {
    /// What clients call it.
    pub fn id(&self) -> String {
        match &self.template.alias {
            Some(alias) => format!("{NAMESPACE}/{alias}:{}", self.tag),
            None => format!("{}:{}", self.template.id, self.tag),
        }
    }

    /// Its name, if it has one.
    pub fn name(&self) -> Option<String> {
        self.template.alias.as_ref().map(|alias| format!("{NAMESPACE}/{alias}"))
    }
}

/// A snapshot and where it is.
pub struct Kept {
    /// What it is.
    pub snapshot: Snapshot,
    folder: PathBuf,
    /// Held while its files are read; whoever removes them waits.
    reading: RwLock<()>,
}

impl Kept {
    /// Copies its files with `copy` while nobody can remove them.
    pub async fn read<T>(&self, copy: impl AsyncFnOnce(Files) -> T) -> T {
        let _held = self.reading.read().await;
        copy(Files::below(&self.folder)).await
    }

    async fn remove(&self) {
        let _held = self.reading.write().await;
        let folder = self.folder.clone();
        drop(tokio::task::spawn_blocking(move || data::remove(&folder)).await);
    }
}

/// All snapshots.
pub struct Snapshots {
    folder: PathBuf,
    kept: Mutex<Vec<Arc<Kept>>>,
}

/// A snapshot that is being made. Dropped before it is whole, it is removed.
pub struct Draft {
    folder: Option<PathBuf>,
    snapshot: Snapshot,
}

impl Draft {
    /// Where the files go.
    pub fn files(&self) -> Files {
        Files::below(self.folder.as_deref().unwrap_or(Path::new("")))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if let Some(folder) = &self.folder {
            data::remove(folder);
        }
    }
}

impl Snapshots {
    /// Those in a folder; what is not whole is removed.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn open(folder: &Path) -> io::Result<Self> {
        let mut kept = Vec::new();
        for entry in folder.read_dir()? {
            let folder = entry?.path();
            match record::read::<Snapshot>(&folder, FILE) {
                Some(snapshot) => kept.push(Arc::new(Kept { snapshot, folder, reading: RwLock::default() })),
                None => data::remove(&folder),
            }
        }
        Ok(Self { folder: folder.to_owned(), kept: Mutex::new(kept) })
    }

    /// All of them, newest first.
    pub fn list(&self) -> Vec<Snapshot> {
        let mut all: Vec<Snapshot> = lock(&self.kept).iter().map(|kept| kept.snapshot.clone()).collect();
        all.sort_by_key(|snapshot| std::cmp::Reverse((snapshot.made, snapshot.id())));
        all
    }

    /// The one that a template name means.
    pub fn find(&self, name: &Name) -> Option<Arc<Kept>> {
        let kept = lock(&self.kept);
        kept.iter().find(|kept| is_named(&kept.snapshot, name) && kept.snapshot.tag == name.tag()).cloned()
    }

    /// The id of the template that a name means, whatever its tag.
    pub fn template(&self, name: &Name) -> Option<String> {
        let kept = lock(&self.kept);
        kept.iter().find(|kept| is_named(&kept.snapshot, name)).map(|kept| kept.snapshot.template.id.clone())
    }

    /// Begins a snapshot of a sandbox made as `wish` says; without a name it is a template of its own.
    ///
    /// # Errors
    /// 400 for a name that is a built-in template's, 507 when there is no room.
    pub fn draft(&self, sandbox: &str, wish: &Wish, name: Option<&Name>) -> Result<Draft, ApiError> {
        if let Some(name) = name.filter(|name| template::is_built_in(&name.name)) {
            return Err(ApiError::bad_request(format!("name: '{}' is a template of the platform's own", name.name)));
        }
        let id = name.and_then(|name| self.template(name)).unwrap_or_else(keys::template_id);
        let template = Template { id, alias: name.map(|name| name.name.clone()), interpreter: wish.template.interpreter };
        let tag = name.map_or(DEFAULT_TAG, Name::tag).to_owned();
        let env_vars = wish.env_vars.clone();
        let snapshot = Snapshot { template, tag, sandbox: sandbox.to_owned(), made: Timestamp::now(), env_vars };
        let folder = self.folder.join(keys::template_id());
        DirBuilder::new().mode(0o700).create(&folder).map_err(failed)?;
        Ok(Draft { folder: Some(folder), snapshot })
    }

    /// Makes a draft whose files are there a snapshot; it takes the place of an earlier one of the same name and tag.
    ///
    /// # Errors
    /// 500 when it cannot be written down.
    pub async fn publish(&self, mut draft: Draft) -> Result<Snapshot, ApiError> {
        let Some(folder) = draft.folder.clone() else { return Err(failed(anyhow::anyhow!("the draft has no folder"))) };
        record::write(&folder, FILE, &draft.snapshot).map_err(failed)?;
        draft.folder = None;
        let snapshot = draft.snapshot.clone();
        let new = Arc::new(Kept { snapshot: snapshot.clone(), folder, reading: RwLock::default() });
        let replaced = {
            let mut kept = lock(&self.kept);
            let at = kept.iter().position(|old| old.snapshot.id() == snapshot.id());
            let old = at.map(|at| kept.swap_remove(at));
            kept.push(new);
            old
        };
        if let Some(old) = replaced {
            old.remove().await;
        }
        Ok(snapshot)
    }

    /// Removes a template with all its tags.
    pub async fn delete(&self, template: &str) {
        let gone: Vec<Arc<Kept>> = lock(&self.kept).extract_if(.., |kept| kept.snapshot.template.id == template).collect();
        for kept in gone {
            kept.remove().await;
        }
    }
}

fn is_named(snapshot: &Snapshot, name: &Name) -> bool {
    snapshot.template.id == name.name || snapshot.template.alias.as_ref() == Some(&name.name)
}

fn failed(error: impl Into<anyhow::Error>) -> ApiError {
    let error = error.into();
    tracing::error!(%error, "cannot keep a snapshot");
    ApiError::failed("The snapshot could not be kept", &error)
}

#[cfg(test)]
mod tests {
    use super::super::wish::{Lifecycle, Network, OnTimeout};
    use super::*;
    use std::time::Duration;

    fn base() -> Wish {
        let network = Network { allow_internet: None, given: None, online: true, public_traffic: true };
        Wish {
            template: template::find(&Name::parse("base").unwrap()).unwrap(),
            lifetime: Duration::from_secs(60),
            lifecycle: Lifecycle { on_timeout: OnTimeout::Kill, auto_resume: false },
            secure: false,
            network,
            metadata: BTreeMap::new(),
            env_vars: BTreeMap::from([("NAME".to_owned(), "value".to_owned())]),
        }
    }

    #[tokio::test]
    async fn snapshots_are_there_again_and_drafts_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let snapshots = Snapshots::open(folder.path()).unwrap();
        let name = Name::parse("local/mine:v1").unwrap();
        let first = snapshots.publish(snapshots.draft("ia", &base(), Some(&name)).unwrap()).await.unwrap();
        let again = snapshots.publish(snapshots.draft("ib", &base(), Some(&name)).unwrap()).await.unwrap();
        assert_eq!((first.id(), again.id()), ("local/mine:v1".into(), "local/mine:v1".into()));
        assert_eq!(first.template, again.template, "one name is one template");
        let unnamed = snapshots.publish(snapshots.draft("ia", &base(), None).unwrap()).await.unwrap();
        drop(snapshots.draft("ia", &base(), None).unwrap());
        std::mem::forget(snapshots.draft("ia", &base(), None).unwrap());
        assert!(snapshots.draft("ia", &base(), Some(&Name::parse("base").unwrap())).is_err());
        let snapshots = Snapshots::open(folder.path()).unwrap();
        assert_eq!(snapshots.list(), [unnamed.clone(), again.clone()]);
        assert_eq!(folder.path().read_dir().unwrap().count(), 2);
        assert!(snapshots.find(&Name::parse("mine").unwrap()).is_none(), "there is no tag of that name");
        assert_eq!(snapshots.find(&name).unwrap().snapshot, again);
        assert_eq!(snapshots.find(&Name::parse(&unnamed.id()).unwrap()).unwrap().snapshot, unnamed);
        snapshots.delete(&again.template.id).await;
        assert_eq!(snapshots.list(), [unnamed]);
        assert_eq!(folder.path().read_dir().unwrap().count(), 1);
    }
}
