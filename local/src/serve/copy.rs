//! Copies of a sandbox's files, for forks and snapshots. What runs is never copied: they are of the file system only.

use super::data::Folders;
use super::walls::{Step, prepare, tool};
use anyhow::Context;
use std::fs::{Metadata, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, lchown};
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// How much of what a failing `cp` says goes into the log, in bytes.
const SAID: usize = 500;

/// The folders of a sandbox that are copied.
#[derive(Debug, Clone)]
pub struct Files {
    /// `/home/user` inside.
    pub home: PathBuf,
    /// `/tmp` inside.
    pub tmp: PathBuf,
}

impl Files {
    /// Those below a folder of the platform's.
    pub fn below(root: &Path) -> Self {
        Self { home: root.join("home"), tmp: root.join("tmp") }
    }
}

impl From<&Folders> for Files {
    fn from(folders: &Folders) -> Self {
        Self { home: folders.home.clone(), tmp: folders.tmp.clone() }
    }
}

/// Copies `from` to `to`, whose folders must not exist but their parents must; blocks are shared where the disk can. Everything belongs to
/// `owner` afterwards. What is there of the copy after an error, or when this is dropped, is for the caller to remove.
///
/// # Errors
/// When something cannot be read or does not fit.
pub async fn copy(from: &Files, to: &Files, owner: Option<u32>) -> anyhow::Result<()> {
    for (from, to) in [(&from.home, &to.home), (&from.tmp, &to.tmp)] {
        let mut command = tool("cp");
        // The links, holes, times and attributes of the source; never what a link leads to, and nothing below another mount.
        command.args(["--archive", "--one-file-system", "--reflink=auto", "--no-target-directory", "--"]).arg(from).arg(to);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
        prepare(&mut command, vec![Step::DieWithPlatform]);
        let output = command.output().await.context("cannot run cp")?;
        let said = String::from_utf8_lossy(&output.stderr[..output.stderr.len().min(SAID)]).trim().to_owned();
        if !output.status.success() {
            // Without a language of its own it says it in these words.
            let full = ["No space left on device", "Disk quota exceeded"].iter().any(|words| said.contains(words));
            let kind = if full { io::ErrorKind::StorageFull } else { io::ErrorKind::Other };
            return Err(io::Error::new(kind, format!("cp failed ({}): {said}", output.status)).into());
        }
    }
    let folders = [to.home.clone(), to.tmp.clone()];
    // Whoever runs a platform without rights of his own owns the copies already.
    if rustix::process::geteuid().is_root() {
        let owner = owner.unwrap_or(0);
        let owned = tokio::task::spawn_blocking(move || folders.iter().try_for_each(|folder| give(folder, owner)));
        owned.await?.context("cannot hand over the copy")?;
    }
    Ok(())
}

/// Gives a tree to somebody. Nobody else writes in it meanwhile. What runs as its owner loses that on the way.
fn give(path: &Path, owner: u32) -> io::Result<()> {
    let about: Metadata = path.symlink_metadata()?;
    lchown(path, Some(owner), Some(owner))?;
    if about.is_dir() {
        for entry in path.read_dir()? {
            give(&entry?.path(), owner)?;
        }
    } else if about.is_file() && about.mode() & 0o6000 != 0 {
        std::fs::set_permissions(path, Permissions::from_mode(about.mode() & 0o1777))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[tokio::test]
    async fn links_stay_links_and_what_cannot_be_copied_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let from = Files::below(&folder.path().join("from"));
        fs::create_dir_all(&from.home).unwrap();
        fs::create_dir_all(&from.tmp).unwrap();
        fs::write(from.home.join("file"), "text").unwrap();
        fs::hard_link(from.home.join("file"), from.home.join("twin")).unwrap();
        symlink("/etc/passwd", from.home.join("link")).unwrap();
        fs::create_dir(folder.path().join("to")).unwrap();
        let to = Files::below(&folder.path().join("to"));
        copy(&from, &to, None).await.unwrap();
        assert_eq!(fs::read_link(to.home.join("link")).unwrap(), Path::new("/etc/passwd"));
        assert_eq!(fs::metadata(to.home.join("file")).unwrap().ino(), fs::metadata(to.home.join("twin")).unwrap().ino());
        let nowhere = Files::below(&folder.path().join("no/such"));
        assert!(copy(&from, &nowhere, None).await.is_err());
    }
}
