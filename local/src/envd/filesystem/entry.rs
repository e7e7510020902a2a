//! What is known of one entry.

use super::super::paths::base_name;
use super::super::users::Names;
use super::mode::mode_string;
use super::xattr;
use agent_sandbox_web::protocol::filesystem::{EntryInfo, FileType, Timestamp};
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The entry at `path`.
///
/// # Errors
/// When it cannot be looked at, [`io::ErrorKind::NotFound`] above all.
pub fn entry(path: &str, names: &Names) -> io::Result<EntryInfo> {
    let metadata = fs::symlink_metadata(path)?;
    Ok(describe(path.as_ref(), base_name(path).to_owned(), path.to_owned(), &metadata, names))
}

/// The entry of `real`, told under another name and path.
pub fn describe(real: &Path, name: String, path: String, metadata: &Metadata, names: &Names) -> EntryInfo {
    let mut info = EntryInfo {
        name,
        path,
        size: metadata.size().try_into().unwrap_or(i64::MAX),
        permissions: mode_string(metadata.mode()),
        owner: names.user(metadata.uid()),
        group: names.group(metadata.gid()),
        modified_time: modified(metadata),
        metadata: real.to_str().map(xattr::metadata).unwrap_or_default(),
        ..EntryInfo::default()
    };
    if metadata.is_symlink() {
        let target = fs::canonicalize(real).map(|target| target.to_string_lossy().into_owned());
        info.symlink_target = Some(target.unwrap_or_else(|_| info.path.clone()));
        if let Ok(target) = fs::metadata(real) {
            classify(&mut info, &target);
        }
    } else {
        classify(&mut info, metadata);
    }
    info
}

/// Type and mode; of links, those of what they lead to.
fn classify(info: &mut EntryInfo, metadata: &Metadata) {
    let kind = match (metadata.is_file(), metadata.is_dir()) {
        (true, _) => FileType::File,
        (_, true) => FileType::Directory,
        _ => FileType::Unspecified,
    };
    info.r#type = kind as i32;
    info.mode = metadata.mode() & 0o777;
}

/// When it was written; absent at the very beginning of time.
fn modified(metadata: &Metadata) -> Option<Timestamp> {
    let (seconds, nanos) = (metadata.mtime(), metadata.mtime_nsec());
    (seconds != 0 || nanos != 0).then(|| Timestamp { seconds, nanos: nanos.try_into().unwrap_or(0) })
}
