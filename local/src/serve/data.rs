//! The data folder: one folder a sandbox, a lock against a second platform, and the removal of what a crash left.

use super::error::ApiError;
use anyhow::Context;
use std::fs::{DirBuilder, File, Permissions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};

/// The data folder, locked for this process.
pub struct DataDir {
    sandboxes: PathBuf,
    _lock: File,
}

/// The folders of one sandbox. They are removed with [`Folders::remove`].
#[derive(Debug, Clone)]
pub struct Folders {
    /// What holds the others; not visible inside.
    pub root: PathBuf,
    /// `/home/user` inside.
    pub home: PathBuf,
    /// `/tmp` inside.
    pub tmp: PathBuf,
    /// Our own `/etc`, read-only inside.
    pub etc: PathBuf,
    /// Where envd puts its sockets.
    pub run: PathBuf,
}

impl DataDir {
    /// Creates and locks the folder, then removes the sandboxes of a platform that did not end by itself.
    ///
    /// # Errors
    /// When the folder cannot be made, or another platform uses it.
    pub fn open(path: &Path) -> anyhow::Result<Self> {
        let sandboxes = path.join("sandboxes");
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&sandboxes)
            .with_context(|| format!("cannot make the data folder {}", path.display()))?;
        let path = path.canonicalize().with_context(|| format!("cannot read the data folder {}", path.display()))?;
        let sandboxes = path.join("sandboxes");
        let lock =
            File::create(path.join("lock")).with_context(|| format!("cannot write to the data folder {}", path.display()))?;
        if lock.try_lock().is_err() {
            anyhow::bail!(
                "the data folder {} is in use by another platform; give this one its own with --data-dir",
                path.display()
            );
        }
        for entry in sandboxes.read_dir().context("cannot read the data folder")? {
            let stale = entry.context("cannot read the data folder")?.path();
            if let Err(error) = remove_tree(&stale) {
                tracing::warn!(folder = %stale.display(), %error, "cannot remove what an earlier run left");
            }
        }
        Ok(Self { sandboxes, _lock: lock })
    }

    /// Makes the folders of a sandbox; what the sandbox may write belongs to `owner`.
    ///
    /// # Errors
    /// 500; the cause is in the log.
    pub fn create(&self, id: &str, owner: Option<u32>) -> Result<Folders, ApiError> {
        let root = self.sandboxes.join(id);
        let folders =
            Folders { home: root.join("home"), tmp: root.join("tmp"), etc: root.join("etc"), run: root.join("run"), root };
        folders.make(owner).map_err(|error| {
            tracing::error!(%error, "cannot make a sandbox's folders");
            folders.remove();
            ApiError::internal("The sandbox's folders cannot be made; the platform's log has the cause.")
        })?;
        Ok(folders)
    }

    /// A handle on the folder, for questions about the disk.
    ///
    /// # Errors
    /// When the folder is gone.
    pub fn handle(&self) -> io::Result<OwnedFd> {
        File::open(&self.sandboxes).map(OwnedFd::from)
    }
}

impl Folders {
    fn make(&self, owner: Option<u32>) -> io::Result<()> {
        DirBuilder::new().mode(0o700).create(&self.root)?;
        for (path, mode) in [(&self.home, 0o755), (&self.tmp, 0o1777), (&self.etc, 0o755), (&self.run, 0o700)] {
            std::fs::create_dir(path)?;
            std::fs::set_permissions(path, Permissions::from_mode(mode))?;
        }
        for path in [&self.home, &self.tmp, &self.run] {
            chown(path, owner, owner)?;
        }
        Ok(())
    }

    /// Removes everything the sandbox left. A failure is logged: nobody waits for this that could act on it.
    pub fn remove(&self) {
        if let Err(error) = remove_tree(&self.root) {
            tracing::warn!(folder = %self.root.display(), %error, "cannot remove a sandbox's folders");
        }
    }
}

/// Removes a tree, also where its owner took away his own permissions inside it. Links are removed, never followed.
fn remove_tree(path: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            open_up(path)?;
            std::fs::remove_dir_all(path)
        }
        other => other,
    }
}

fn open_up(folder: &Path) -> io::Result<()> {
    std::fs::set_permissions(folder, Permissions::from_mode(0o700))?;
    for entry in folder.read_dir()? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            open_up(&entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_platform_is_refused_and_leftovers_go() {
        let folder = tempfile::tempdir().unwrap();
        let data = DataDir::open(folder.path()).unwrap();
        let folders = data.create("iold", None).unwrap();
        let sealed = folders.home.join("sealed/inner");
        std::fs::create_dir_all(&sealed).unwrap();
        std::fs::set_permissions(sealed.parent().unwrap(), Permissions::from_mode(0o000)).unwrap();
        assert!(DataDir::open(folder.path()).is_err());
        drop(data);
        DataDir::open(folder.path()).unwrap();
        assert!(!folders.root.exists());
    }
}
