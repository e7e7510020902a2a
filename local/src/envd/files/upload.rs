//! POST `/files`.

use super::super::Envd;
use super::super::body::{Body, full};
use super::super::error::HttpError;
use super::super::paths::base_name;
use super::super::users::User;
use super::disposition::Disposition;
use super::gunzip::Gunzip;
use super::metadata::from_headers;
use super::query::{Query, resolve};
use super::writer::store;
use crate::received::Received;
use agent_sandbox_web::protocol::signature::Operation;
use bytes::Bytes;
use futures_util::{Stream, StreamExt, TryStreamExt, stream};
use http::header::{self, HeaderMap, HeaderValue};
use http::{Request, Response, StatusCode};
use http_body_util::BodyDataStream;
use multer::Multipart;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::pin::Pin;
use std::sync::Arc;

/// The plain bytes of an upload.
type Pieces = Pin<Box<dyn Stream<Item = io::Result<Bytes>> + Send>>;

/// Answers an upload.
pub async fn upload(envd: Arc<Envd>, request: Request<Received>) -> Response<Body> {
    match store_all(&envd, request).await {
        Ok(files) => {
            let mut response = Response::new(full(Value::from(files).to_string()));
            // What a server says that has not thought about it; clients are told to go by position.
            response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
            response
        }
        Err(error) => error.into_response(),
    }
}

async fn store_all(envd: &Envd, request: Request<Received>) -> Result<Vec<Value>, HttpError> {
    let query = Query::parse(request.uri().query().unwrap_or_default())?;
    let user = query.authorize(envd, &request, Operation::Write)?;
    let metadata = from_headers(request.headers())?;
    let content_type = text(request.headers(), header::CONTENT_TYPE).to_owned();
    let kind = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let (parts, body) = request.into_parts();
    let mut files = Files { envd, user, metadata, stored: BTreeSet::new(), answer: Vec::new() };
    match kind.as_str() {
        "application/octet-stream" => {
            let Some(path) = &query.path else {
                return Err(HttpError::bad_request("path query parameter is required for application/octet-stream"));
            };
            let pieces = plain(&parts.headers, body).await?;
            files.add(path, pieces).await?;
        }
        "multipart/form-data" => {
            let boundary = multer::parse_boundary(&content_type).map_err(|error| {
                HttpError::Json(StatusCode::INTERNAL_SERVER_ERROR, format!("error parsing multipart form: {error}"))
            })?;
            let mut pieces = plain(&parts.headers, body).await?;
            let mut multipart = Multipart::new(&mut pieces, boundary);
            let broken = |error: multer::Error| {
                HttpError::Json(StatusCode::INTERNAL_SERVER_ERROR, format!("error reading multipart form: {error}"))
            };
            while let Some(field) = multipart.next_field().await.map_err(broken)? {
                let disposition = Disposition::of(field.headers());
                if disposition.name.as_deref() != Some("file") {
                    continue;
                }
                let path = match (&query.path, disposition.filename) {
                    (Some(path), _) => path.clone(),
                    (None, Some(name)) if !name.is_empty() => name,
                    _ => return Err(HttpError::bad_request("a file part needs a filename when there is no path query parameter")),
                };
                files.add(&path, field).await?;
            }
            drop(multipart);
            // The form ends before its body does. A body that was not read to its end costs the connection, which the client may be
            // about to use again; what comes after the form, or breaks there, is nobody's loss.
            while let Some(Ok(_)) = pieces.next().await {}
        }
        _ => return Err(HttpError::bad_request(format!("unsupported content type: {content_type}"))),
    }
    Ok(files.answer)
}

/// The files of one request.
struct Files<'a> {
    envd: &'a Envd,
    user: User,
    metadata: BTreeMap<String, String>,
    stored: BTreeSet<String>,
    answer: Vec<Value>,
}

impl Files<'_> {
    async fn add<E: std::fmt::Display>(
        &mut self,
        path: &str,
        pieces: impl Stream<Item = Result<Bytes, E>> + Unpin,
    ) -> Result<(), HttpError> {
        let path = resolve(self.envd, &self.user, path)?;
        if !self.stored.insert(path.clone()) {
            return Err(HttpError::bad_request(format!(
                "you cannot upload multiple files to the same path '{path}' in one request"
            )));
        }
        store(path.clone(), self.user.clone(), self.metadata.clone(), pieces).await?;
        let mut file = json!({ "path": path, "name": base_name(&path), "type": "file" });
        if !self.metadata.is_empty() {
            file["metadata"] = json!(self.metadata);
        }
        self.answer.push(file);
        Ok(())
    }
}

/// The bytes of a body, unpacked where it is packed.
async fn plain(headers: &HeaderMap, body: Received) -> Result<Pieces, HttpError> {
    let bytes = BodyDataStream::new(body).map_err(io::Error::other);
    match text(headers, header::CONTENT_ENCODING).trim().to_ascii_lowercase().as_str() {
        "" | "identity" => Ok(Box::pin(bytes)),
        "gzip" => {
            // Whether it is gzip at all is known before anything is written.
            let mut pieces = Gunzip::new(bytes);
            match pieces.next().await {
                Some(Err(error)) => Err(HttpError::bad_request(format!("the body is no gzip: {error}"))),
                first => Ok(Box::pin(stream::iter(first).chain(pieces))),
            }
        }
        other => Err(HttpError::bad_request(format!("unsupported content encoding: {other}"))),
    }
}

fn text(headers: &HeaderMap, name: header::HeaderName) -> &str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}
