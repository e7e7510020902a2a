//! The console's own pages: files of one folder, on the host `localhost` alone, under a strict policy, and the exchange of the code in the
//! console's URL for a token.

use super::error::ApiError;
use super::hosts::{Host, RESULTS_LABEL, reachable};
use super::platform::Platform;
use axum::Json;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_SECURITY_POLICY, ORIGIN, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, Uri};
use http_body_util::{BodyExt, Limited};
use serde::Deserialize;
use serde_json::json;
use std::path::PathBuf;
use tower_http::services::ServeDir;
use tower_service::Service;

/// The largest body of the exchange, in bytes.
const MAX_BODY: usize = 4096;
/// Files whose names change with their content; everything else is asked for again.
const HASHED: &str = "/assets/";

/// The console's files.
#[derive(Clone)]
pub struct Console {
    files: Option<ServeDir>,
}

impl Console {
    /// Serves the files in `folder`, also in the compressed forms that lie beside them.
    pub fn new(folder: Option<PathBuf>) -> Self {
        Self { files: folder.map(|folder| ServeDir::new(folder).precompressed_br().precompressed_gzip()) }
    }

    /// Answers a request on the console's host that is not for the control plane.
    pub async fn handle<B>(&self, platform: &Platform, host: &Host, request: Request<B>) -> Response
    where
        B: http_body::Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let mut response = match (request.method(), request.uri().path()) {
            (&Method::POST, "/console/session") => exchange(platform, host, request).await.unwrap_or_else(ApiError::into_response),
            (&Method::GET, "/console/config") => config(platform, host),
            (&Method::GET | &Method::HEAD, _) => self.file(request).await,
            _ => ApiError::new(StatusCode::NOT_FOUND, "no matching operation was found").into_response(),
        };
        protect(response.headers_mut(), host);
        response
    }

    async fn file<B>(&self, request: Request<B>) -> Response {
        let Some(files) = &self.files else {
            return ApiError::new(StatusCode::NOT_FOUND, "This platform was started without a console (--console DIR).")
                .into_response();
        };
        let (parts, _) = request.into_parts();
        let asked = |uri: Uri| {
            let mut request = Request::new(Body::empty());
            *request.method_mut() = parts.method.clone();
            *request.uri_mut() = uri;
            *request.headers_mut() = parts.headers.clone();
            request
        };
        let hashed = parts.uri.path().starts_with(HASHED);
        let mut response = serve(files, asked(parts.uri.clone())).await;
        // A page of the console that is no file: its address is read by the script of the first page.
        if response.status() == StatusCode::NOT_FOUND && !hashed && wants_page(&parts.headers) {
            response = serve(files, asked(Uri::from_static("/index.html"))).await;
        }
        let cache = match response.status() {
            StatusCode::OK | StatusCode::PARTIAL_CONTENT | StatusCode::NOT_MODIFIED if hashed => {
                "public, max-age=31536000, immutable"
            }
            _ => "no-cache",
        };
        response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static(cache));
        response
    }
}

async fn serve(files: &ServeDir, request: Request<Body>) -> Response {
    match files.clone().call(request).await {
        Ok(response) => response.map(Body::new),
        Err(never) => match never {},
    }
}

fn wants_page(headers: &HeaderMap) -> bool {
    headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()).is_some_and(|accept| accept.contains("text/html"))
}

#[derive(Deserialize)]
struct Exchange {
    code: String,
}

/// Gives the console a token for the code of its URL. Only the console's own page may ask.
async fn exchange<B>(platform: &Platform, host: &Host, request: Request<B>) -> Result<Response, ApiError>
where
    B: http_body::Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let own = format!("http://localhost{}", host.port_suffix());
    if request.headers().get(ORIGIN).is_none_or(|origin| origin.as_bytes() != own.as_bytes()) {
        return Err(ApiError::forbidden("Only the console's own page may exchange its code."));
    }
    let body = Limited::new(request.into_body(), MAX_BODY).collect().await;
    let body = body.map_err(|_| ApiError::validation("the body cannot be read"))?.to_bytes();
    let Exchange { code } = serde_json::from_slice(&body).map_err(ApiError::validation)?;
    let token = platform.keys.exchange(&code).ok_or_else(|| {
        ApiError::new(
            StatusCode::UNAUTHORIZED,
            "The code was used before or is of another run. Start the platform again for a new one.",
        )
    })?;
    Ok(([(CACHE_CONTROL, "no-store")], Json(json!({ "token": token }))).into_response())
}

/// What the console needs to know before it has a token.
fn config(platform: &Platform, host: &Host) -> Response {
    let suffix = host.port_suffix();
    let body = json!({
        "apiUrl": format!("http://localhost{suffix}"),
        "sandboxUrl": format!("{}/s/{{sandboxId}}/{{port}}", host.paths_base(platform.listen.ip())),
        "sandboxHostUrl": format!("http://{{port}}-{{sandboxId}}.localhost{suffix}"),
        "resultsUrl": format!("http://{RESULTS_LABEL}.localhost{suffix}/"),
        "version": env!("CARGO_PKG_VERSION"),
        "isolation": platform.walls.name(),
    });
    ([(CACHE_CONTROL, "no-store")], Json(body)).into_response()
}

/// Keeps foreign script, frames and sniffing out of the console's origin.
fn protect(headers: &mut HeaderMap, host: &Host) {
    let port = host.port_suffix();
    let paths = host.paths_base(reachable(std::net::Ipv4Addr::LOCALHOST.into()));
    let policy = format!(
        "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; \
         img-src 'self' data: blob: http://*.localhost{port}; media-src 'self' data: blob: http://*.localhost{port}; \
         font-src 'self' data:; worker-src 'self'; manifest-src 'self'; \
         connect-src 'self' {paths} http://*.localhost{port} ws://localhost{port} ws://127.0.0.1{port} ws://*.localhost{port}; \
         frame-src http://*.localhost{port}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'"
    );
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        headers.insert(CONTENT_SECURITY_POLICY, policy);
    }
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    for (name, value) in [("cross-origin-opener-policy", "same-origin"), ("cross-origin-resource-policy", "same-origin")] {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
}
