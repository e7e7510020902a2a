//! The data folder: one folder a sandbox, one a snapshot, a lock against a second platform, and the removal of what a crash left.

use super::error::ApiError;
use super::gateway;
use super::record::Record;
use super::walls;
use anyhow::Context;
use std::fs::{DirBuilder, File, Permissions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};

/// The data folder, locked for this process.
pub struct DataDir {
    sandboxes: PathBuf,
    /// Where snapshots are.
    pub snapshots: PathBuf,
    lock: File,
}

/// Closing the file would not do: a process that is being started still holds a copy of it, until it runs its own program.
impl Drop for DataDir {
    fn drop(&mut self) {
        if let Err(error) = self.lock.unlock() {
            tracing::warn!(%error, "cannot unlock the data folder");
        }
    }
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
    /// Creates and locks the folder, then removes the sandboxes of a platform that did not end by itself. Gives also the paused ones, which
    /// stay.
    ///
    /// # Errors
    /// When the folder cannot be made, or another platform uses it.
    pub fn open(path: &Path) -> anyhow::Result<(Self, Vec<(Record, Folders)>)> {
        for part in ["sandboxes", "snapshots"] {
            let made = DirBuilder::new().recursive(true).mode(0o700).create(path.join(part));
            made.with_context(|| format!("cannot make the data folder {}", path.display()))?;
        }
        let path = path.canonicalize().with_context(|| format!("cannot read the data folder {}", path.display()))?;
        let (sandboxes, snapshots) = (path.join("sandboxes"), path.join("snapshots"));
        let lock =
            File::create(path.join("lock")).with_context(|| format!("cannot write to the data folder {}", path.display()))?;
        if lock.try_lock().is_err() {
            anyhow::bail!(
                "the data folder {} is in use by another platform; give this one its own with --data-dir",
                path.display()
            );
        }
        let data = Self { sandboxes, snapshots, lock };
        let paused = data.tidy()?;
        Ok((data, paused))
    }

    fn tidy(&self) -> anyhow::Result<Vec<(Record, Folders)>> {
        let mut paused = Vec::new();
        for entry in self.sandboxes.read_dir().context("cannot read the data folder")? {
            let folder = entry.context("cannot read the data folder")?.path();
            let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            walls::remove_stale_group(name);
            match Record::load(&folder, name).filter(|_| gateway::sandbox_id(name).as_deref() == Ok(name)) {
                Some(record) => paused.push((record, self.folders(name))),
                None => remove(&folder),
            }
        }
        Ok(paused)
    }

    /// Where the folders of a sandbox are, or would be.
    pub fn folders(&self, id: &str) -> Folders {
        let root = self.sandboxes.join(id);
        Folders { home: root.join("home"), tmp: root.join("tmp"), etc: root.join("etc"), run: root.join("run"), root }
    }

    /// Makes the folders of a sandbox with an empty home; what the sandbox may write belongs to `owner`.
    ///
    /// # Errors
    /// 507 when the disk is full, else 500; the cause is in the log.
    pub fn create(&self, id: &str, owner: Option<u32>) -> Result<Folders, ApiError> {
        let folders = self.folders(id);
        folders.make(owner).map_err(|error| {
            tracing::error!(%error, "cannot make a sandbox's folders");
            folders.remove();
            ApiError::failed("The sandbox's folders cannot be made", &error.into())
        })?;
        Ok(folders)
    }

    /// The folder of a new sandbox, to copy another's files into.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn reserve(&self, id: &str) -> io::Result<Place> {
        let folders = self.folders(id);
        DirBuilder::new().mode(0o700).create(&folders.root)?;
        Ok(Place { folders, kept: false })
    }

    /// A handle on the folder, for questions about the disk.
    ///
    /// # Errors
    /// When the folder is gone.
    pub fn handle(&self) -> io::Result<OwnedFd> {
        File::open(&self.sandboxes).map(OwnedFd::from)
    }
}

/// The folders of a sandbox that does not exist yet. Dropped before it does, they are removed.
pub struct Place {
    folders: Folders,
    kept: bool,
}

impl Place {
    /// The sandbox exists.
    pub fn keep(mut self) -> Folders {
        self.kept = true;
        self.folders.clone()
    }
}

impl std::ops::Deref for Place {
    type Target = Folders;

    fn deref(&self) -> &Folders {
        &self.folders
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !self.kept {
            self.folders.remove();
        }
    }
}

impl Folders {
    fn make(&self, owner: Option<u32>) -> io::Result<()> {
        DirBuilder::new().mode(0o700).create(&self.root)?;
        for (path, mode) in [(&self.home, 0o755), (&self.tmp, 0o1777)] {
            make(path, mode)?;
            chown(path, owner, owner)?;
        }
        walls::furnish(&self.home, owner)
    }

    /// Makes the folders anew that belong to one run of the sandbox's processes: its `/etc` and where its sockets are.
    ///
    /// # Errors
    /// When they cannot be made.
    pub fn renew(&self, owner: Option<u32>) -> io::Result<()> {
        for (path, mode) in [(&self.etc, 0o755), (&self.run, 0o700)] {
            remove_tree(path)?;
            make(path, mode)?;
        }
        chown(&self.run, owner, owner)
    }

    /// Removes everything the sandbox left. A failure is logged: nobody waits for this that could act on it.
    pub fn remove(&self) {
        remove(&self.root);
    }
}

fn make(path: &Path, mode: u32) -> io::Result<()> {
    std::fs::create_dir(path)?;
    std::fs::set_permissions(path, Permissions::from_mode(mode))
}

/// Removes a folder of the platform's with all that is in it. A failure is logged.
pub fn remove(folder: &Path) {
    if let Err(error) = remove_tree(folder) {
        tracing::warn!(folder = %folder.display(), %error, "cannot remove a folder");
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
        let (data, _) = DataDir::open(folder.path()).unwrap();
        let folders = data.create("iold", None).unwrap();
        let sealed = folders.home.join("sealed/inner");
        std::fs::create_dir_all(&sealed).unwrap();
        std::fs::set_permissions(sealed.parent().unwrap(), Permissions::from_mode(0o000)).unwrap();
        assert!(DataDir::open(folder.path()).is_err());
        let copy = data.lock.try_clone().unwrap();
        drop(data);
        DataDir::open(folder.path()).expect("a copy in a process that is being started does not hold the folder");
        drop(copy);
        assert!(!folders.root.exists());
    }
}
