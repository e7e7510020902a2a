//! The gateway: HTTP and WebSocket from the host into sandboxes.
//!
//! A request names its sandbox and port in one of three forms:
//! - by path, on a loopback address: `http://127.0.0.1:P/s/{id}/{port}/…` (a port header that differs wins);
//! - by host: `http://{port}-{id}.localhost:P/…`, or with a shard label `http://s{n}.{port}-{id}.localhost:P/…` (`n` up to seven digits:
//!   pages draw it by chance), so that a page can open more than the six connections that browsers allow to one host name;
//! - by headers, on any path: `E2b-Sandbox-Id` and `E2b-Sandbox-Port`, or `Agentbox-Sandbox-Id` and `Agentbox-Sandbox-Port`.
//!
//! Bodies pass frame by frame in both directions. When the client goes, hyper drops the answer, and with it the request inside.

mod answer;
mod connector;
mod headers;
mod streams;
mod target;

pub use target::{Target, id as sandbox_id};

use super::error::ApiError;
use super::hosts::Host;
use super::keys::same;
use super::platform::Platform;
use super::sandbox::{Phase, Sandbox, Status};
use crate::joined::join;
use crate::received::Received;
use axum::body::Body;
use axum::response::Response;
use connector::{Connector, ENVD_PORT, PortClosed};
use http::{HeaderMap, HeaderValue, Request, StatusCode, Uri, Version};
use hyper::upgrade::OnUpgrade;
use hyper_util::client::legacy::{Client, Error};
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use target::{Form, Malformed};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Routes of envd by which the platform itself steers it; nobody else may.
const CONTROL_ROUTES: [&str; 7] = ["/init", "/freeze", "/unfreeze", "/collapse", "/fsfreeze", "/fsthaw", "/upgrade"];
/// The SandboxServer's usual ports. It knows neither CORS nor preflights, so the gateway answers for it: pages are to use it as runtimes do.
const WITHOUT_CORS: [u16; 2] = [9000, 9001];
/// How long envd may take to say that it is well.
const HEALTH: Duration = Duration::from_secs(5);

/// How the gateway reaches one sandbox.
pub struct Route {
    client: Client<Connector, Received>,
    connector: Connector,
}

impl Route {
    /// Opens the sockets that envd has made in `run`.
    ///
    /// # Errors
    /// When they are not there.
    pub fn pin(run: &Path) -> anyhow::Result<Self> {
        let mut builder = Client::builder(TokioExecutor::new());
        // A connection for each request: a kept one may be closed by the server just as the next request goes out, and a request with a
        // body cannot be sent again. Connecting to a Unix socket costs microseconds.
        builder.pool_max_idle_per_host(0);
        let connector = Connector::pin(run)?;
        Ok(Self { client: builder.build(connector.clone()), connector })
    }

    /// Breaks off every connection, and lets none in until [`Route::open`].
    pub fn close(&self) {
        self.connector.streams().close();
    }

    /// Lets connections in again.
    pub fn open(&self) {
        self.connector.streams().open();
    }

    /// Whether envd answers.
    pub async fn answers(&self) -> bool {
        let asked = async {
            let mut stream = self.connector.connect(ENVD_PORT).await?;
            stream.write_all(b"GET /health HTTP/1.1\r\nHost: envd\r\nConnection: close\r\n\r\n").await?;
            let mut answer = [0; 12];
            stream.read_exact(&mut answer).await?;
            std::io::Result::Ok(answer == *b"HTTP/1.1 204")
        };
        matches!(tokio::time::timeout(HEALTH, asked).await, Ok(Ok(true)))
    }
}

/// Answers a request whose routing was read, or could not be.
pub async fn handle(
    platform: &Platform,
    host: &Host,
    peer: IpAddr,
    target: Result<Target, Malformed>,
    request: Request<Received>,
) -> Response {
    let target = match target {
        Ok(target) => target,
        Err(error) => return answer::malformed(error),
    };
    let preflight = answer::is_preflight(request.method(), request.headers()).then(|| request.headers().clone());
    let refusal = |response| preflight.as_ref().map_or(response, answer::preflight);
    let Some(sandbox) = platform.find(&target.id) else { return refusal(answer::not_running(&target, None)) };
    let answers_cors = WITHOUT_CORS.contains(&target.port);
    // Preflights carry no token; what follows does.
    if let Some(asked) = preflight.as_ref().filter(|_| answers_cors) {
        return answer::preflight(asked);
    }
    if !may_enter(&sandbox, &target, request.headers()) {
        return refusal(answer::no_traffic_token(&target));
    }
    let Some(route) = running(platform, &sandbox, &target, request.headers(), preflight.is_some()).await else {
        return refusal(answer::not_running(&target, Some(&sandbox)));
    };
    let route = match route {
        Ok(route) => route,
        Err(error) => return refusal(answer::not_woken(&target, &error)),
    };
    let path_and_query = match &target.form {
        Form::Path { path_and_query, .. } => path_and_query.as_str(),
        _ => request.uri().path_and_query().map_or("/", |path| path.as_str()),
    };
    let path = path_and_query.split('?').next().unwrap_or_default();
    if target.port == ENVD_PORT && CONTROL_ROUTES.contains(&path) {
        return answer::control_route(path);
    }
    let uri = format!("http://sandbox:{}{path_and_query}", target.port);
    let Ok(uri) = uri.parse::<Uri>() else { return answer::malformed(Malformed::Host) };
    match forward(platform, host, peer, &route, &target, uri, request).await {
        Ok(response) if answers_cors => answer::readable(response),
        Ok(response) => response,
        Err(error) if is_closed(&error) => refusal(answer::port_closed(&target)),
        Err(error) => match platform.find(&target.id) {
            Some(sandbox) if sandbox.is_running() => {
                tracing::debug!(sandbox = %target.id, port = target.port, %error, "the server in the sandbox did not answer");
                refusal(answer::broken_off(&target))
            }
            sandbox => refusal(answer::not_running(&target, sandbox.as_deref())),
        },
    }
}

/// The way into a sandbox that runs, or that this request may wake. `None` for one that stays paused.
async fn running(
    platform: &Platform,
    sandbox: &Sandbox,
    target: &Target,
    request: &HeaderMap,
    preflight: bool,
) -> Option<Result<Arc<Route>, ApiError>> {
    let Status { phase, route, .. } = sandbox.status();
    if phase == Phase::Running {
        return route.map(Ok);
    }
    // Only what has its processes still goes on where it was. Preflights carry no token, so they wake nothing.
    let wakes = sandbox.wish.lifecycle.auto_resume && phase != Phase::Paused { memory: false } && !preflight;
    if !wakes {
        return None;
    }
    if !may_wake(sandbox, target, request) {
        return Some(Err(ApiError::forbidden("The sandbox is paused, and the request has not the token that resumes it")));
    }
    match platform.wake(sandbox).await {
        Ok(_) => sandbox.status().route.map(Ok),
        Err(error) => Some(Err(error)),
    }
}

/// Whoever may not enter envd may not wake it either; the other ports have asked for their token already.
fn may_wake(sandbox: &Sandbox, target: &Target, request: &HeaderMap) -> bool {
    let Some(expected) = sandbox.envd_token.as_deref().filter(|_| target.port == ENVD_PORT) else { return true };
    request.get("x-access-token").and_then(|value| value.to_str().ok()).is_some_and(|given| same(expected, given))
}

fn may_enter(sandbox: &Sandbox, target: &Target, request: &HeaderMap) -> bool {
    let Some(expected) = sandbox.traffic_token.as_deref().filter(|_| target.port != ENVD_PORT) else { return true };
    headers::TRAFFIC.iter().filter_map(|name| request.get(*name)?.to_str().ok()).any(|given| same(expected, given))
}

async fn forward(
    platform: &Platform,
    host: &Host,
    peer: IpAddr,
    route: &Route,
    target: &Target,
    uri: Uri,
    mut request: Request<Received>,
) -> Result<Response, Error> {
    let asked_private_network = headers::asks_private_network(request.headers());
    let upgrade = headers::upgrade(request.headers());
    let outside = upgrade.is_some().then(|| hyper::upgrade::on(&mut request));
    headers::end_to_end(request.headers_mut(), upgrade);
    headers::inward(request.headers_mut(), &target.form, host, peer, &platform.keys);
    *request.uri_mut() = uri;
    *request.version_mut() = Version::HTTP_11;
    let mut response = route.client.request(request).await?;
    let switched: Option<HeaderValue> =
        if response.status() == StatusCode::SWITCHING_PROTOCOLS { headers::upgrade(response.headers()) } else { None };
    if let (Some(outside), true) = (outside, switched.is_some()) {
        tokio::spawn(carry(outside, hyper::upgrade::on(&mut response)));
    }
    headers::end_to_end(response.headers_mut(), switched);
    headers::outward(response.headers_mut(), &target.form, asked_private_network);
    Ok(response.map(Body::new))
}

/// Carries the bytes of a connection that has switched protocols.
async fn carry(outside: OnUpgrade, inside: OnUpgrade) {
    let (Ok(outside), Ok(inside)) = tokio::join!(outside, inside) else { return };
    // An error is the end of the connection like any other.
    drop(join(TokioIo::new(outside), TokioIo::new(inside)).await);
}

fn is_closed(error: &Error) -> bool {
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        if error.is::<PortClosed>() {
            return true;
        }
        // An I/O error keeps what it was made from to itself: its source is its inner error's source.
        if error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref).is_some_and(|inner| inner.is::<PortClosed>()) {
            return true;
        }
        source = error.source();
    }
    false
}
