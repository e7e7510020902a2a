//! POST `/files/compose`: several files become one.

use super::super::Envd;
use super::super::body::{Body, full};
use super::super::error::HttpError;
use super::super::filesystem::make_dirs;
use super::super::paths::{base_name, parent};
use super::super::users::User;
use super::query::{resolve, user};
use super::writer::give;
use crate::received::Received;
use http::header::{self, HeaderValue};
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Limited};
use serde::Deserialize;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::sync::Arc;
use tempfile::NamedTempFile;

/// The longest request, in bytes.
const LARGEST: usize = 4 * 1024 * 1024;

#[derive(Deserialize)]
struct Plan {
    #[serde(default)]
    source_paths: Vec<String>,
    #[serde(default)]
    destination: String,
    username: Option<String>,
}

/// Answers a composition.
pub async fn compose(envd: Arc<Envd>, request: Request<Received>) -> Response<Body> {
    match plan_and_join(&envd, request).await {
        Ok(file) => {
            let mut response = Response::new(full(file.to_string()));
            response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
            response
        }
        Err(error) => error.into_response(),
    }
}

async fn plan_and_join(envd: &Envd, request: Request<Received>) -> Result<Value, HttpError> {
    let invalid = |error: &dyn std::fmt::Display| HttpError::bad_request(format!("invalid request body: {error}"));
    let body = Limited::new(request.into_body(), LARGEST).collect().await.map_err(|error| invalid(&error))?.to_bytes();
    let plan: Plan = serde_json::from_slice(&body).map_err(|error| invalid(&error))?;
    if plan.source_paths.is_empty() {
        return Err(HttpError::bad_request("source_paths cannot be empty"));
    }
    if plan.destination.is_empty() {
        return Err(HttpError::bad_request("destination cannot be empty"));
    }
    let user = user(envd, plan.username.as_deref())?;
    let destination = resolve(envd, &user, &plan.destination)?;
    let sources = plan.source_paths.iter().map(|path| resolve(envd, &user, path)).collect::<Result<Vec<_>, _>>()?;
    let joining = tokio::task::spawn_blocking(move || join(&sources, &destination, &user));
    joining.await.unwrap_or_else(|_| Err(HttpError::Json(StatusCode::INTERNAL_SERVER_ERROR, "composing was abandoned".to_owned())))
}

/// Joins the sources under a temporary name beside the destination, takes its place, and deletes the sources.
fn join(sources: &[String], destination: &str, user: &User) -> Result<Value, HttpError> {
    let standing = fs::metadata(destination).ok();
    if standing.as_ref().is_some_and(fs::Metadata::is_dir) {
        return Err(HttpError::from_io("error replacing the destination", &io::Error::from_raw_os_error(libc::EISDIR)));
    }
    let identity = |metadata: &fs::Metadata| (metadata.dev(), metadata.ino());
    for source in sources {
        let metadata = fs::metadata(source).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => HttpError::not_found(format!("source path '{source}' does not exist")),
            _ => HttpError::from_io(&format!("error looking at '{source}'"), &error),
        })?;
        if !metadata.is_file() {
            return Err(HttpError::bad_request(format!("source path '{source}' is not a regular file")));
        }
        // By what it is, not by how it is spelled: the sources are deleted in the end.
        if source == destination || standing.as_ref().map(identity) == Some(identity(&metadata)) {
            return Err(HttpError::bad_request(format!("source path '{source}' is the destination")));
        }
    }
    let directory = parent(destination);
    make_dirs(&directory, user).map_err(|error| HttpError::from_io("error making directories", &error))?;
    let failed = |error: io::Error| HttpError::from_io("error composing files", &error);
    let mut joined = NamedTempFile::with_prefix_in(".compose-", &directory).map_err(failed)?;
    for source in sources {
        io::copy(&mut File::open(source).map_err(failed)?, joined.as_file_mut()).map_err(failed)?;
    }
    joined.as_file().set_permissions(fs::Permissions::from_mode(0o644)).map_err(failed)?;
    give(joined.as_file(), user).map_err(failed)?;
    joined.persist(destination).map_err(|error| failed(error.error))?;
    for source in sources {
        match fs::remove_file(source) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
    }
    Ok(json!({ "path": destination, "name": base_name(destination), "type": "file" }))
}
