//! Listing a directory.

use super::super::error::RpcError;
use super::super::paths::join;
use super::super::users::Names;
use super::entry::describe;
use agent_sandbox_web::protocol::connect::Code;
use agent_sandbox_web::protocol::filesystem::EntryInfo;
use std::fs;
use std::io;
use std::path::Path;

/// Everything below `path` down to `depth` levels (0 means 1), in lexical order, a directory's own entries right behind it.
///
/// Names that are no UTF-8 are shown with U+FFFD, so that one of them does not hide the others. Links below are not followed.
pub fn list(path: &str, depth: u32) -> Result<Vec<EntryInfo>, RpcError> {
    let real = fs::canonicalize(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => RpcError::not_found(format!("path not found: {path}")),
        _ if error.raw_os_error() == Some(libc::ELOOP) => {
            RpcError::new(Code::FailedPrecondition, format!("cyclic symlink or chain too long: {path}"))
        }
        _ => RpcError::internal(format!("error resolving {path}: {error}")),
    })?;
    if !real.is_dir() {
        return Err(RpcError::invalid_argument(format!("path is not a directory: {path}")));
    }
    let mut entries = Vec::new();
    let names = Names::load();
    walk(&real, path, depth.max(1), &names, &mut entries)
        .map_err(|error| RpcError::internal(format!("error reading directory {path}: {error}")))?;
    Ok(entries)
}

fn walk(real: &Path, shown: &str, depth: u32, names: &Names, entries: &mut Vec<EntryInfo>) -> io::Result<()> {
    let mut children = fs::read_dir(real)?.filter_map(|child| child.ok().map(|child| child.file_name())).collect::<Vec<_>>();
    children.sort_unstable();
    for child in children {
        let real = real.join(&child);
        let name = child.to_string_lossy().into_owned();
        // What vanished since the directory was read is not there.
        let Ok(metadata) = fs::symlink_metadata(&real) else { continue };
        let path = join(shown, &name);
        entries.push(describe(&real, name, path.clone(), &metadata, names));
        if depth > 1 && metadata.is_dir() {
            // A directory that vanished, or that may not be read, has no entries to show.
            let _ = walk(&real, &path, depth - 1, names, entries);
        }
    }
    Ok(())
}
