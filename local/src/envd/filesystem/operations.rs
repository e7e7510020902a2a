//! Changing the tree.

use super::super::error::RpcError;
use super::super::paths::parent;
use super::super::users::User;
use agent_sandbox_web::protocol::connect::Code;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, chown};
use std::path::Path;

/// Makes a directory and its parents.
pub fn make_dir(path: &str, user: &User) -> Result<(), RpcError> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => {
            return Err(RpcError::new(Code::AlreadyExists, format!("directory already exists: {path}")));
        }
        Ok(_) => return Err(RpcError::invalid_argument(format!("path already exists but it is not a directory: {path}"))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(RpcError::internal(format!("error getting file info: {error}"))),
    }
    make_dirs(path, user).map_err(|error| RpcError::internal(format!("error making directory {path}: {error}")))
}

/// Makes a directory and what is missing above it, all of it the user's. Succeeds when it is there.
pub fn make_dirs(path: &str, user: &User) -> io::Result<()> {
    let path = Path::new(path);
    if path.is_dir() {
        return Ok(());
    }
    let mut missing: Vec<&Path> = path.ancestors().take_while(|ancestor| !ancestor.is_dir()).collect();
    while let Some(directory) = missing.pop().filter(|directory| !directory.as_os_str().is_empty()) {
        match DirBuilder::new().mode(0o755).create(directory) {
            Ok(()) if user.must_drop() => chown(directory, Some(user.uid), Some(user.gid))?,
            Ok(()) => {}
            // Made by someone else in the meantime.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && directory.is_dir() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Renames an entry, replacing a file at the destination.
pub fn rename(source: &str, destination: &str, user: &User) -> Result<(), RpcError> {
    let failed = |error: io::Error| RpcError::internal(format!("error renaming {source} to {destination}: {error}"));
    make_dirs(&parent(destination), user).map_err(failed)?;
    let into_directory = fs::symlink_metadata(destination).is_ok_and(|metadata| metadata.is_dir());
    match fs::symlink_metadata(source) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(RpcError::not_found(format!("source file not found: {source}")))
        }
        // The kernel would replace an empty one.
        Ok(_) if into_directory && source != destination => Err(failed(io::Error::from_raw_os_error(libc::EEXIST))),
        _ => fs::rename(source, destination).map_err(failed),
    }
}

/// Deletes an entry with all below it; a missing one is success. A link is deleted, not followed.
pub fn remove(path: &str) -> Result<(), RpcError> {
    let failed = |error: io::Error| RpcError::internal(format!("error removing {path}: {error}"));
    let trimmed = path.trim_end_matches('/');
    if trimmed.is_empty() {
        return Err(RpcError::invalid_argument("the root directory cannot be removed"));
    }
    if trimmed.ends_with("/.") {
        return Err(failed(io::Error::from_raw_os_error(libc::EINVAL)));
    }
    let outcome = match fs::symlink_metadata(trimmed) {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(trimmed),
        Ok(_) => fs::remove_file(trimmed),
        Err(error) => Err(error),
    };
    match outcome {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(error)),
        _ => Ok(()),
    }
}
