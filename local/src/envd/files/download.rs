//! GET `/files`.

use super::super::Envd;
use super::super::body::{Body, Sink, empty, full, produced};
use super::super::error::HttpError;
use super::super::paths::base_name;
use super::accepted::{Encoding, encoding};
use super::conditions::{Wanted, wanted};
use super::content_type::{by_content, by_name, disposition};
use super::query::{Query, resolve};
use crate::received::Received;
use agent_sandbox_web::protocol::signature::Operation;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{self, HeaderMap, HeaderValue};
use http::{Request, Response, StatusCode};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::ops::Range;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// What is read at a time, in bytes.
const PIECE: usize = 256 * 1024;

/// How much of a file tells its type, in bytes.
const HEAD: usize = 512;

/// Answers a download.
pub async fn download(envd: Arc<Envd>, request: Request<Received>) -> Response<Body> {
    let found = async {
        let query = Query::parse(request.uri().query().unwrap_or_default())?;
        let user = query.authorize(&envd, &request, Operation::Read)?;
        let path = resolve(&envd, &user, query.path.as_deref().unwrap_or_default())?;
        let opened = tokio::task::spawn_blocking(move || Opened::open(path)).await;
        opened.unwrap_or_else(|_| Err(HttpError::Json(StatusCode::INTERNAL_SERVER_ERROR, "the file was abandoned".to_owned())))
    };
    match found.await {
        Ok(opened) => {
            let mut response = opened.answer(request.headers());
            response.headers_mut().insert(header::VARY, HeaderValue::from_static("Accept-Encoding"));
            response
        }
        Err(error) => error.into_response(),
    }
}

/// A file that can be downloaded.
struct Opened {
    file: File,
    name: String,
    size: u64,
    modified: Option<SystemTime>,
    head: Vec<u8>,
}

impl Opened {
    fn open(path: String) -> Result<Self, HttpError> {
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => HttpError::not_found(format!("path '{path}' does not exist")),
            _ => HttpError::from_io(&format!("error opening file '{path}'"), &error),
        };
        // Without waiting: a FIFO would otherwise wait for its writer.
        let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(&path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if metadata.is_dir() {
            return Err(HttpError::bad_request(format!("path '{path}' is a directory")));
        }
        if !metadata.is_file() {
            return Err(HttpError::bad_request(format!("path '{path}' is not a regular file")));
        }
        let mut head = Vec::new();
        (&file).take(HEAD as u64).read_to_end(&mut head).map_err(failed)?;
        let modified = metadata.modified().ok().filter(|modified| *modified > UNIX_EPOCH);
        Ok(Self { name: base_name(&path).to_owned(), size: metadata.len(), modified, head, file })
    }

    fn answer(self, headers: &HeaderMap) -> Response<Body> {
        let mut response = match encoding(headers) {
            None => {
                return HttpError::Json(StatusCode::NOT_ACCEPTABLE, "no acceptable encoding: gzip, identity".to_owned())
                    .into_response();
            }
            Some(Encoding::Gzip) => return self.packed(),
            // Files of the kernel's own have content without having a size, and cannot be cut.
            Some(Encoding::Identity) if self.size == 0 => return self.unsized_answer(),
            Some(Encoding::Identity) => match wanted(headers, self.modified, self.size) {
                Wanted::Whole => {
                    let range = 0..self.size;
                    self.span(StatusCode::OK, range)
                }
                Wanted::Ranges(mut ranges) if ranges.len() == 1 => {
                    let range = ranges.remove(0);
                    let content_range = content_range(&range, self.size);
                    let mut response = self.span(StatusCode::PARTIAL_CONTENT, range);
                    insert(response.headers_mut(), header::CONTENT_RANGE, &content_range);
                    response
                }
                Wanted::Ranges(ranges) => self.spans(ranges),
                Wanted::NotModified => {
                    let mut response = self.described(Response::new(empty()), None);
                    *response.status_mut() = StatusCode::NOT_MODIFIED;
                    response
                }
                Wanted::PreconditionFailed => {
                    let mut response = self.described(Response::new(empty()), None);
                    *response.status_mut() = StatusCode::PRECONDITION_FAILED;
                    response
                }
                Wanted::Unsatisfiable(reason, tell_size) => {
                    let mut response = HttpError::Text(StatusCode::RANGE_NOT_SATISFIABLE, reason.to_owned()).into_response();
                    if tell_size {
                        insert(response.headers_mut(), header::CONTENT_RANGE, &format!("bytes */{}", self.size));
                    }
                    response
                }
            },
        };
        response.headers_mut().insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
        response
    }

    /// The headers that every answer about the file has.
    fn described(&self, mut response: Response<Body>, content_type: Option<HeaderValue>) -> Response<Body> {
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_DISPOSITION, disposition(&self.name));
        if let Some(modified) = self.modified {
            insert(headers, header::LAST_MODIFIED, &httpdate::fmt_http_date(modified));
        }
        if let Some(content_type) = content_type {
            headers.insert(header::CONTENT_TYPE, content_type);
        }
        response
    }

    fn content_type(&self) -> HeaderValue {
        by_name(&self.name).unwrap_or_else(|| by_content(&self.head))
    }

    /// One piece of the file.
    fn span(self, status: StatusCode, range: Range<u64>) -> Response<Body> {
        let content_type = self.content_type();
        let mut response = self.described(Response::new(empty()), Some(content_type));
        *response.status_mut() = status;
        response.headers_mut().insert(header::CONTENT_LENGTH, (range.end - range.start).into());
        *response.body_mut() = produced(move |sink| send_range(&self.file, range, sink));
        response
    }

    /// Several pieces of the file, each with a header of its own.
    fn spans(self, ranges: Vec<Range<u64>>) -> Response<Body> {
        let boundary = format!("{:032x}", rand::random::<u128>());
        let content_type = self.content_type();
        let kind = content_type.to_str().unwrap_or("application/octet-stream").to_owned();
        let fronts: Vec<String> = ranges
            .iter()
            .enumerate()
            .map(|(at, range)| {
                let line = if at == 0 { "" } else { "\r\n" };
                let span = content_range(range, self.size);
                format!("{line}--{boundary}\r\nContent-Range: {span}\r\nContent-Type: {kind}\r\n\r\n")
            })
            .collect();
        let back = format!("\r\n--{boundary}--\r\n");
        let len = fronts.iter().map(|front| front.len() as u64).sum::<u64>()
            + ranges.iter().map(|range| range.end - range.start).sum::<u64>()
            + back.len() as u64;
        let mut response = self.described(Response::new(empty()), None);
        *response.status_mut() = StatusCode::PARTIAL_CONTENT;
        insert(response.headers_mut(), header::CONTENT_TYPE, &format!("multipart/byteranges; boundary={boundary}"));
        response.headers_mut().insert(header::CONTENT_LENGTH, len.into());
        *response.body_mut() = produced(move |sink| {
            for (front, range) in fronts.into_iter().zip(ranges) {
                sink.send(front.into())?;
                send_range(&self.file, range, sink)?;
            }
            sink.send(back.into())
        });
        response
    }

    /// A file whose size says nothing: everything up to its end.
    fn unsized_answer(mut self) -> Response<Body> {
        let content_type = self.content_type();
        let mut response = self.described(Response::new(empty()), Some(content_type));
        let head = Bytes::from(std::mem::take(&mut self.head));
        *response.body_mut() = if head.is_empty() {
            full(head)
        } else {
            produced(move |sink| {
                sink.send(head)?;
                copy(&self.file, |piece| sink.send(Bytes::copy_from_slice(piece)))
            })
        };
        response
    }

    /// The whole file in gzip, of a size that nobody knows before its end.
    fn packed(mut self) -> Response<Body> {
        let content_type = by_name(&self.name).unwrap_or(HeaderValue::from_static("application/octet-stream"));
        let mut response = self.described(Response::new(empty()), Some(content_type));
        response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        let head = std::mem::take(&mut self.head);
        *response.body_mut() = produced(move |sink| {
            let mut encoder = GzEncoder::new(Packed { sink, waiting: Vec::new() }, Compression::fast());
            encoder.write_all(&head)?;
            let mut read = head.len() as u64;
            copy(&self.file, |piece| {
                read += piece.len() as u64;
                encoder.write_all(piece)
            })?;
            // No length was promised that would tell the client. Some files of the kernel's own hold less than their size at all times.
            if read < self.size && self.file.metadata()?.len() != self.size {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            encoder.finish()?.flush()
        });
        response
    }
}

/// Collects what an encoder writes into pieces of a useful size.
struct Packed<'a> {
    sink: &'a Sink,
    waiting: Vec<u8>,
}

impl Write for Packed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.waiting.extend_from_slice(bytes);
        if self.waiting.len() >= PIECE / 4 {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.waiting.is_empty() { Ok(()) } else { self.sink.send(std::mem::take(&mut self.waiting).into()) }
    }
}

/// Sends a range. A file that has become shorter breaks the answer off, as its length was promised.
fn send_range(file: &File, range: Range<u64>, sink: &Sink) -> io::Result<()> {
    let mut at = range.start;
    while at < range.end {
        let len = usize::try_from(range.end - at).unwrap_or(usize::MAX).min(PIECE);
        let mut piece = vec![0; len];
        let read = match file.read_at(&mut piece, at) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        piece.truncate(read);
        at += read as u64;
        sink.send(piece.into())?;
    }
    Ok(())
}

/// Reads on to the end.
fn copy(mut file: &File, mut each: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    let mut piece = vec![0; PIECE];
    loop {
        match file.read(&mut piece) {
            Ok(0) => return Ok(()),
            Ok(read) => each(&piece[..read])?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn content_range(range: &Range<u64>, size: u64) -> String {
    format!("bytes {}-{}/{size}", range.start, range.end - 1)
}

fn insert(headers: &mut HeaderMap, name: header::HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}
