//! What is written beside a sandbox's files while it is paused, so that it is there again after the platform has been restarted.

use super::wish::Wish;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// The file's name, in a folder that the sandbox does not see.
const FILE: &str = "sandbox.json";

/// A paused sandbox.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Record {
    /// Its id.
    pub id: String,
    /// The host user who owns its files, where that is not the platform's.
    pub owner: Option<u32>,
    /// What it was made from and with.
    pub wish: Wish,
    /// The token that envd asks for.
    pub envd_token: Option<String>,
    /// The token that its ports ask for.
    pub traffic_token: Option<String>,
    /// When it began to run the last time.
    pub started: Timestamp,
    /// When it was paused.
    pub paused: Timestamp,
    /// Whether its processes were kept; they end with the platform.
    pub memory: bool,
}

/// Writes any record as a whole or not at all; it holds secrets.
///
/// # Errors
/// When the disk does not take it; what was there before is there still.
pub fn write(folder: &Path, file: &str, record: &impl Serialize) -> io::Result<()> {
    let fresh = folder.join(format!("{file}.new"));
    let written = (|| {
        let mut out = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&fresh)?;
        out.write_all(&serde_json::to_vec(record)?)?;
        out.sync_all()?;
        fs::rename(&fresh, folder.join(file))?;
        File::open(folder)?.sync_all()
    })();
    if written.is_err() {
        drop(fs::remove_file(&fresh));
    }
    written
}

/// Reads one, if there is one that can be read.
pub fn read<T: for<'de> Deserialize<'de>>(folder: &Path, file: &str) -> Option<T> {
    serde_json::from_slice(&fs::read(folder.join(file)).ok()?).ok()
}

impl Record {
    /// Puts it into the sandbox's folder.
    ///
    /// # Errors
    /// See [`write`].
    pub fn store(&self, folder: &Path) -> io::Result<()> {
        write(folder, FILE, self)
    }

    /// The one in the folder of the sandbox `id`.
    pub fn load(folder: &Path, id: &str) -> Option<Self> {
        read::<Self>(folder, FILE).filter(|record| record.id == id)
    }

    /// Takes it away again: the sandbox runs.
    ///
    /// # Errors
    /// When it stays.
    pub fn discard(folder: &Path) -> io::Result<()> {
        fs::remove_file(folder.join(FILE))
    }
}
