//! Storing one uploaded file.

use super::super::error::HttpError;
use super::super::filesystem::{make_dirs, replace_metadata};
use super::super::paths::parent;
use super::super::users::User;
use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use http::StatusCode;
use rustix::process::{Gid, Uid};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use tokio::sync::mpsc;

/// Pieces that wait to be written.
const WAITING: usize = 8;

/// Writes `pieces` to the file at `path`, which is made, or emptied first. A failure leaves what was written until then.
pub async fn store<E: std::fmt::Display>(
    path: String,
    user: User,
    metadata: BTreeMap<String, String>,
    mut pieces: impl Stream<Item = Result<Bytes, E>> + Unpin,
) -> Result<(), HttpError> {
    let (sender, mut receiver) = mpsc::channel::<Bytes>(WAITING);
    let target = path.clone();
    let writing = tokio::task::spawn_blocking(move || {
        let mut file = create(&target, &user)?;
        while let Some(piece) = receiver.blocking_recv() {
            file.write_all(&piece).map_err(|error| HttpError::from_io("error writing file", &error))?;
        }
        replace_metadata(&file, &metadata).map_err(|error| match error.raw_os_error() {
            Some(libc::E2BIG | libc::ERANGE) => {
                HttpError::Json(StatusCode::INSUFFICIENT_STORAGE, format!("error storing metadata: {error}"))
            }
            _ => HttpError::from_io("error storing metadata", &error),
        })
    });
    let mut broken = None;
    while let Some(piece) = pieces.next().await {
        match piece {
            Ok(piece) => {
                if sender.send(piece).await.is_err() {
                    // The writer has failed and says why.
                    break;
                }
            }
            Err(error) => {
                broken = Some(HttpError::Json(StatusCode::INTERNAL_SERVER_ERROR, format!("error reading the upload: {error}")));
                break;
            }
        }
    }
    drop(sender);
    let abandoned = || HttpError::Json(StatusCode::INTERNAL_SERVER_ERROR, format!("writing '{path}' was abandoned"));
    writing.await.unwrap_or_else(|_| Err(abandoned()))?;
    broken.map_or(Ok(()), Err)
}

/// An empty file of the user's.
fn create(path: &str, user: &User) -> Result<File, HttpError> {
    if fs::metadata(path).is_ok_and(|metadata| metadata.is_dir()) {
        return Err(HttpError::bad_request(format!("path is a directory: {path}")));
    }
    make_dirs(&parent(path), user).map_err(|error| HttpError::from_io("error making directories", &error))?;
    // Without waiting: a FIFO would otherwise wait for its reader.
    let options = OpenOptions::new().write(true).create(true).truncate(true).custom_flags(libc::O_NONBLOCK).open(path);
    let file = options.map_err(|error| match error.kind() {
        io::ErrorKind::IsADirectory => HttpError::bad_request(format!("path is a directory: {path}")),
        _ => HttpError::from_io("error opening file", &error),
    })?;
    give(&file, user).map_err(|error| HttpError::from_io("error changing ownership", &error))?;
    Ok(file)
}

/// Makes a file the user's. Only root can give away what is its own, and needs to.
pub fn give(file: &File, user: &User) -> io::Result<()> {
    match rustix::fs::fchown(file, Some(Uid::from_raw(user.uid)), Some(Gid::from_raw(user.gid))) {
        Err(error) if user.must_drop() => Err(error.into()),
        _ => Ok(()),
    }
}
