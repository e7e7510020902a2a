//! Looking through folders.

use anyhow::Result;
use std::path::{Path, PathBuf};

/// Every file below a folder with its path inside it, but not what lies in folders of these names; none when the folder is missing.
pub fn files_below(folder: &Path, without: &[&str]) -> Result<Vec<(PathBuf, PathBuf)>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(current) = folders.pop() {
        if !current.is_dir() {
            continue;
        }
        for entry in std::fs::read_dir(&current)? {
            let path = entry?.path();
            if !path.is_dir() {
                let relative = path.strip_prefix(folder)?.to_path_buf();
                found.push((path, relative));
            } else if !without.iter().any(|name| path.ends_with(name)) {
                folders.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}
