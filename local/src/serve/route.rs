//! Where a request goes: first its `Host` is understood, then it is a sandbox's, the control plane's or the console's.

use super::console::Console;
use super::control;
use super::error::ApiError;
use super::gateway::{self, Target};
use super::hosts::{Allowed, Host, Place};
use super::platform::Platform;
use super::results;
use crate::received::Received;
use axum::Router;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, Request, StatusCode};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;
use tower_service::Service;

/// Everything that answers requests.
pub struct Front {
    platform: Arc<Platform>,
    allowed: Allowed,
    control: Router,
    console: Console,
}

impl Front {
    /// Puts the parts together.
    pub fn new(platform: Arc<Platform>, allowed: Allowed, console: Console) -> Self {
        let control = control::router(Arc::clone(&platform));
        Self { platform, allowed, control, console }
    }

    /// Answers one request of `peer`. The log gets method, path and status: queries hold signatures, headers hold keys.
    pub async fn answer(&self, request: Request<Received>, peer: IpAddr) -> Response {
        let (method, path, start) = (request.method().clone(), request.uri().path().to_owned(), Instant::now());
        let response = self.dispatch(request, peer).await.unwrap_or_else(ApiError::into_response);
        tracing::debug!(%method, path, status = response.status().as_u16(), ms = start.elapsed().as_millis(), "request");
        response
    }

    async fn dispatch(&self, request: Request<Received>, peer: IpAddr) -> Result<Response, ApiError> {
        let host = self.allowed.host(request.uri(), request.headers())?;
        match &host.place {
            // Whatever else the request says: results know no sandbox and no control plane.
            Place::Results => return Ok(results::answer(&self.platform, &self.allowed, &host, &request).await),
            Place::Sandbox(label) => {
                let target = Target::by_host(label);
                return Ok(gateway::handle(&self.platform, &host, peer, target, request).await);
            }
            Place::Console | Place::Paths => {}
        }
        let path_and_query = request.uri().path_and_query().map_or("/", |path| path.as_str());
        if let Some(target) = Target::by_path(path_and_query, request.headers()) {
            if host.place == Place::Console {
                return Err(ApiError::forbidden(format!(
                    "Sandboxes are not served by path on the console's host. Use {}/s/… or http://{{port}}-{{id}}.localhost{}.",
                    host.paths_base(self.platform.listen.ip()),
                    host.port_suffix()
                )));
            }
            return Ok(gateway::handle(&self.platform, &host, peer, target, request).await);
        }
        if let Some(target) = Target::by_headers(request.headers()) {
            // What a sandbox answers under the console's own addresses could stay in a browser's cache as the console's. Programs have no such
            // thing, and some SDKs know no other address than localhost.
            if host.place == Place::Console && is_of_a_page(request.headers()) {
                return Err(ApiError::forbidden(format!(
                    "Sandboxes are not reached by routing headers from pages on the console's host. Use {} instead.",
                    host.paths_base(self.platform.listen.ip())
                )));
            }
            return Ok(gateway::handle(&self.platform, &host, peer, target, request).await);
        }
        self.allowed.check_origin(request.headers())?;
        if control::owns(request.uri().path()) {
            return Ok(self.control(host, request).await);
        }
        match host.place {
            Place::Console => Ok(self.console.handle(&self.platform, &host, request).await),
            _ if is_console_path(request.uri().path()) => Err(ApiError::forbidden(format!(
                "The console is served at http://localhost{} only, never where sandboxes are served by path.",
                host.port_suffix()
            ))),
            _ => Err(ApiError::new(StatusCode::NOT_FOUND, "no matching operation was found")),
        }
    }

    async fn control(&self, host: Host, request: Request<Received>) -> Response {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(host);
        match self.control.clone().call(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        }
    }
}

/// Whether a browser sends the request: scripts cannot leave these headers out.
fn is_of_a_page(headers: &HeaderMap) -> bool {
    ["origin", "sec-fetch-mode", "sec-fetch-site", "sec-fetch-dest"].iter().any(|name| headers.contains_key(*name))
}

fn is_console_path(path: &str) -> bool {
    matches!(path, "/" | "/index.html") || path.starts_with("/console/") || path.starts_with("/assets/")
}
