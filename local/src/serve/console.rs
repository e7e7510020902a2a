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
/// Who in the page may turn text into HTML: Lit for its own templates, and what parses HTML into documents in which no script runs.
const TRUSTED_TYPES: &str = "lit-html sandbox-inert";

/// The console's files.
#[derive(Clone)]
pub struct Console {
    files: Option<ServeDir>,
    /// Where else its page may connect to.
    elsewhere: Vec<Source>,
}

/// Another platform's origin, or all hosts below a domain, in the form of a Content-Security-Policy: `https://*.example.com`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source(String);

impl std::str::FromStr for Source {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const FORM: &str = "an origin such as https://api.example.com, http://localhost:7400 or https://*.example.com";
        let text = text.trim_end_matches('/').to_ascii_lowercase();
        let (_, host) = text.split_once("://").filter(|(scheme, _)| matches!(*scheme, "http" | "https")).ok_or(FORM)?;
        let name = host.strip_prefix("*.").unwrap_or(host);
        // Nothing that could end the directive or begin another one.
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b':' | b'[' | b']');
        if name.is_empty() || !name.bytes().all(plain) { Err(FORM) } else { Ok(Self(text)) }
    }
}

impl Console {
    /// Serves the files in `folder`, also in the compressed forms that lie beside them.
    pub fn new(folder: Option<PathBuf>, elsewhere: Vec<Source>) -> Self {
        Self { files: folder.map(|folder| ServeDir::new(folder).precompressed_br().precompressed_gzip()), elsewhere }
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
            (&Method::GET, "/console/config") => self.config(platform, host),
            (&Method::GET | &Method::HEAD, _) => self.file(request).await,
            _ => ApiError::new(StatusCode::NOT_FOUND, "no matching operation was found").into_response(),
        };
        self.protect(response.headers_mut(), host);
        response
    }

    /// What the console needs to know before it has a token.
    fn config(&self, platform: &Platform, host: &Host) -> Response {
        let suffix = host.port_suffix();
        let body = json!({
            "apiUrl": format!("http://localhost{suffix}"),
            "sandboxUrl": format!("{}/s/{{sandboxId}}/{{port}}", host.paths_base(platform.listen.ip())),
            "sandboxHostUrl": format!("http://{{port}}-{{sandboxId}}.localhost{suffix}"),
            "resultsUrl": format!("http://{RESULTS_LABEL}.localhost{suffix}/"),
            "version": env!("CARGO_PKG_VERSION"),
            "isolation": platform.walls.name(),
            "elsewhere": self.elsewhere.iter().map(|Source(source)| source).collect::<Vec<_>>(),
        });
        ([(CACHE_CONTROL, "no-store")], Json(body)).into_response()
    }

    /// Keeps foreign script, frames and sniffing out of the console's origin.
    fn protect(&self, headers: &mut HeaderMap, host: &Host) {
        let port = host.port_suffix();
        let paths = host.paths_base(reachable(std::net::Ipv4Addr::LOCALHOST.into()));
        let elsewhere: String = self.elsewhere.iter().flat_map(|Source(source)| [" ", source]).collect();
        // WebSockets have schemes of their own.
        let sockets = elsewhere.replace(" http", " ws");
        let policy = format!(
            "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; \
             img-src 'self' data: blob: http://*.localhost{port}; media-src 'self' data: blob: http://*.localhost{port}; \
             font-src 'self' data:; worker-src 'self'; manifest-src 'self'; \
             connect-src 'self' {paths} http://*.localhost{port} ws://localhost{port} ws://127.0.0.1{port} \
             ws://*.localhost{port}{elsewhere}{sockets}; \
             frame-src http://*.localhost{port}{elsewhere}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
             object-src 'none'; require-trusted-types-for 'script'; trusted-types {TRUSTED_TYPES}"
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_an_origin_and_nothing_that_changes_the_policy() {
        for good in ["https://api.example.com", "http://localhost:7400", "https://*.example.com", "http://[::1]:80", "HTTPS://E.x/"]
        {
            assert!(good.parse::<Source>().is_ok(), "{good}");
        }
        for bad in [
            "",
            "*",
            "https:",
            "https://",
            "https://*",
            "https://*.",
            "ftp://a",
            "https://a b",
            "https://a;script-src *",
            "https://a/b",
        ] {
            assert!(bad.parse::<Source>().is_err(), "{bad}");
        }
    }
}
