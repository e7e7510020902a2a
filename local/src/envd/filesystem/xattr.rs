//! Metadata of files, kept in extended attributes.

use rustix::fs::XattrFlags;
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;

/// In front of every key.
pub const METADATA_PREFIX: &str = "user.e2b.";

/// More than the list of names or a value that the kernel gives, in bytes.
const LARGEST: usize = 64 * 1024;

/// The metadata of what stands at `path`. Values that are no text are left out, and where none can be read there are none.
pub fn metadata(path: &str) -> BTreeMap<String, String> {
    let mut few = [0u8; 512];
    let mut many = Vec::new();
    let names = match rustix::fs::listxattr(path, &mut few) {
        Ok(len) => &few[..len],
        Err(Errno::RANGE) => {
            many.resize(LARGEST, 0);
            match rustix::fs::listxattr(path, &mut many) {
                Ok(len) => &many[..len],
                Err(_) => return BTreeMap::new(),
            }
        }
        Err(_) => return BTreeMap::new(),
    };
    let mut metadata = BTreeMap::new();
    for name in names.split(|byte| *byte == 0).filter_map(|name| std::str::from_utf8(name).ok()) {
        let Some(key) = name.strip_prefix(METADATA_PREFIX) else { continue };
        let mut value = vec![0; LARGEST];
        let Ok(len) = rustix::fs::getxattr(path, name, &mut value) else { continue };
        value.truncate(len);
        if let Ok(value) = String::from_utf8(value) {
            metadata.insert(key.to_owned(), value);
        }
    }
    metadata
}

/// Makes `metadata` the whole metadata of a file.
///
/// # Errors
/// What the file system says when it cannot hold it. A file system without attributes is an error only for metadata there is.
pub fn replace_metadata(file: &File, metadata: &BTreeMap<String, String>) -> io::Result<()> {
    let mut names = vec![0; LARGEST];
    match rustix::fs::flistxattr(file, &mut names) {
        Ok(len) => names.truncate(len),
        Err(Errno::OPNOTSUPP) => names.clear(),
        Err(error) => return Err(error.into()),
    }
    for name in names.split(|byte| *byte == 0).filter_map(|name| std::str::from_utf8(name).ok()) {
        if name.strip_prefix(METADATA_PREFIX).is_some_and(|key| !metadata.contains_key(key)) {
            rustix::fs::fremovexattr(file, name)?;
        }
    }
    for (key, value) in metadata {
        rustix::fs::fsetxattr(file, format!("{METADATA_PREFIX}{key}"), value.as_bytes(), XattrFlags::empty())?;
    }
    Ok(())
}
