//! The control plane: sandboxes over REST, on the v1 routes, their v2 forms, and what is not there yet by name.

mod create;
mod list;
mod machine;
mod view;

use super::error::ApiError;
use super::gateway;
use super::hosts::{Host, Place};
use super::keys::Credential;
use super::platform::Platform;
use super::sandbox::Sandbox;
use axum::body::Bytes;
use axum::extract::rejection::QueryRejection;
use axum::extract::{DefaultBodyLimit, Extension, Path, Query, Request, State};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use axum::{Json, Router};
use create::{DEFAULT_V2, Family};
use http::header::{CACHE_CONTROL, HeaderName, HeaderValue, ORIGIN, RETRY_AFTER};
use http::{HeaderMap, Method, StatusCode};
use list::{QueryV1, QueryV2};
use machine::Machine;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;
use std::time::Duration;
use tower_http::cors::{AllowHeaders, AllowOrigin, CorsLayer};

/// The largest request body, in bytes.
const MAX_BODY: usize = 16 * 1024 * 1024;
/// How long a browser may keep the answer to a preflight.
const PREFLIGHT_AGE: Duration = Duration::from_secs(12 * 60 * 60);

type Shared = State<Arc<Platform>>;
type Reply = Result<Response, ApiError>;

/// The routes. The caller has checked `Host` and `Origin`, and hands the former on as an extension.
pub fn router(platform: Arc<Platform>) -> Router {
    let guarded = Router::new()
        .route("/sandboxes", get(list_v1).post(create_v1))
        .route("/v2/sandboxes", get(list_v2).post(create_v2))
        .route("/sandboxes/{id}", get(detail).delete(kill))
        .route("/v2/sandboxes/{id}", get(detail).delete(kill))
        .route("/sandboxes/{id}/timeout", post(set_timeout))
        .route("/v2/sandboxes/{id}/timeout", post(set_timeout))
        .route("/sandboxes/{id}/refreshes", post(refresh))
        .route("/v2/sandboxes/{id}/refreshes", post(refresh))
        .route("/sandboxes/{id}/connect", post(connect_v1))
        .route("/v2/sandboxes/{id}/connect", post(connect_v2))
        .route("/sandboxes/{id}/resume", post(resume))
        .route("/code-cells", get(code_cells))
        .route("/sandboxes/metrics", any(later))
        .route("/sandboxes/{id}/{what}", any(later_of_sandbox))
        .route("/v2/sandboxes/{id}/{what}", any(later_of_sandbox))
        .route("/snapshots", any(later))
        .route("/templates", any(later))
        .route("/v2/templates", any(later))
        .route("/templates/{*rest}", any(later))
        .route("/volumes", any(later))
        .route("/volumes/{id}", any(later))
        .route("/secrets", any(later))
        .route("/secrets/{id}", any(later))
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .method_not_allowed_fallback(wrong_method)
        .layer(middleware::from_fn_with_state(Arc::clone(&platform), require_key));
    Router::new()
        .route("/health", get(|| async { StatusCode::NO_CONTENT }))
        .merge(guarded)
        .fallback(unknown_route)
        .method_not_allowed_fallback(wrong_method)
        .layer(cors())
        .with_state(platform)
}

/// Whether a path belongs to the control plane, so that the console's own pages can have the rest.
pub fn owns(path: &str) -> bool {
    let first = path.trim_start_matches('/').split('/').next().unwrap_or_default();
    ["health", "sandboxes", "v2", "code-cells", "snapshots", "templates", "volumes", "secrets"].contains(&first)
}

/// CORS for the origins that came this far: foreign ones are refused before.
fn cors() -> CorsLayer {
    let methods = [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::HEAD, Method::OPTIONS];
    let exposed = ["x-next-token", "x-total-running", "ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"];
    CorsLayer::new()
        .allow_origin(AllowOrigin::mirror_request())
        .allow_headers(AllowHeaders::mirror_request())
        .allow_methods(methods)
        .allow_private_network(true)
        .expose_headers(exposed.map(HeaderName::from_static).into_iter().chain([RETRY_AFTER]).collect::<Vec<_>>())
        .max_age(PREFLIGHT_AGE)
}

async fn require_key(State(platform): Shared, request: Request, next: Next) -> Response {
    let good = match platform.keys.identify(request.headers()) {
        Some(Credential::ApiKey) => true,
        Some(Credential::Console) => request.extensions().get::<Host>().is_some_and(|host| from_console(host, request.headers())),
        None => false,
    };
    if good {
        return next.run(request).await;
    }
    let message = "Invalid API key: send the platform's key as X-API-Key or as Authorization: Bearer.";
    ApiError::new(StatusCode::UNAUTHORIZED, message).into_response()
}

/// Whether a request comes from the console's own origin: its page says so, or is on the console's own host, where pages send no `Origin`
/// with a GET.
fn from_console(host: &Host, headers: &HeaderMap) -> bool {
    match headers.get(ORIGIN) {
        Some(origin) => origin.as_bytes() == format!("http://localhost{}", host.port_suffix()).as_bytes(),
        None => host.place == Place::Console,
    }
}

async fn unknown_route() -> ApiError {
    ApiError::new(StatusCode::NOT_FOUND, "no matching operation was found")
}

async fn wrong_method() -> ApiError {
    ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "this route does not take that method")
}

async fn later() -> ApiError {
    ApiError::new(StatusCode::NOT_IMPLEMENTED, "This platform does not offer this operation.")
}

async fn later_of_sandbox(Path((_, what)): Path<(String, String)>) -> ApiError {
    match what.as_str() {
        "pause" | "fork" | "snapshots" | "metrics" | "logs" | "network" | "resume" => {
            ApiError::new(StatusCode::NOT_IMPLEMENTED, format!("This platform does not offer the operation '{what}'."))
        }
        _ => unknown_route().await,
    }
}

/// An addition of this platform: whether the first sandbox with code cells must be waited for, and how far that is.
async fn code_cells(State(platform): Shared) -> Reply {
    Ok(([(CACHE_CONTROL, "no-store")], Json(platform.code_cells.status().await)).into_response())
}

async fn create_v1(State(platform): Shared, Extension(host): Extension<Host>, body: Bytes) -> Reply {
    create_sandbox(platform, host, body, Family::V1).await
}

async fn create_v2(State(platform): Shared, Extension(host): Extension<Host>, body: Bytes) -> Reply {
    create_sandbox(platform, host, body, Family::V2).await
}

async fn create_sandbox(platform: Arc<Platform>, host: Host, body: Bytes, family: Family) -> Reply {
    let wish = create::parse(&body, family)?;
    let sandbox = platform.create(wish).await?;
    Ok((StatusCode::CREATED, Json(view::session(&platform, &host, &sandbox))).into_response())
}

async fn list_v1(State(platform): Shared, query: Result<Query<QueryV1>, QueryRejection>) -> Reply {
    let sandboxes = parsed(query)?.apply(platform.running())?;
    let machine = Machine::measure(&platform.data);
    Ok(Json(sandboxes.iter().map(|sandbox| view::listed(sandbox, &machine)).collect::<Vec<_>>()).into_response())
}

async fn list_v2(State(platform): Shared, query: Result<Query<QueryV2>, QueryRejection>) -> Reply {
    let page = parsed(query)?.apply(platform.running())?;
    let machine = Machine::measure(&platform.data);
    let items: Vec<_> = page.sandboxes.iter().map(|sandbox| view::listed(sandbox, &machine)).collect();
    let mut response = Json(items).into_response();
    if let Some(next) = page.next.and_then(|next| HeaderValue::from_str(&next).ok()) {
        response.headers_mut().insert("x-next-token", next);
    }
    if let Some(total) = page.total_running {
        response.headers_mut().insert("x-total-running", total.into());
    }
    Ok(response)
}

async fn detail(State(platform): Shared, Extension(host): Extension<Host>, Path(id): Path<String>) -> Reply {
    let sandbox = find(&platform, &id)?;
    Ok(Json(view::detail(&platform, &host, &sandbox, &Machine::measure(&platform.data))).into_response())
}

async fn kill(State(platform): Shared, Path(id): Path<String>) -> Reply {
    let name = valid(&id)?;
    if platform.kill(&name).await { Ok(StatusCode::NO_CONTENT.into_response()) } else { Err(ApiError::no_sandbox(&name)) }
}

#[derive(Deserialize)]
struct TimeoutBody {
    timeout: i64,
}

async fn set_timeout(State(platform): Shared, Path(id): Path<String>, body: Bytes) -> Reply {
    let lifetime = create::timeout(json::<TimeoutBody>(&body)?.timeout)?;
    find(&platform, &id)?.set_lifetime(lifetime);
    Ok(StatusCode::NO_CONTENT.into_response())
}

#[derive(Default, Deserialize)]
struct RefreshBody {
    duration: Option<i64>,
}

async fn refresh(State(platform): Shared, Path(id): Path<String>, body: Bytes) -> Reply {
    let duration = optional_json::<RefreshBody>(&body)?.duration.unwrap_or(0);
    if !(0..=3600).contains(&duration) {
        return Err(ApiError::validation("duration must be between 0 and 3600"));
    }
    find(&platform, &id)?.extend_lifetime(create::timeout(duration.max(15))?);
    Ok(StatusCode::NO_CONTENT.into_response())
}

#[derive(Default, Deserialize)]
struct ConnectBody {
    timeout: Option<i64>,
}

async fn connect_v1(State(platform): Shared, Extension(host): Extension<Host>, Path(id): Path<String>, body: Bytes) -> Reply {
    let timeout = json::<ConnectBody>(&body)?.timeout.ok_or_else(|| ApiError::validation("timeout is required"))?;
    connect(&platform, &host, &id, timeout)
}

async fn connect_v2(State(platform): Shared, Extension(host): Extension<Host>, Path(id): Path<String>, body: Bytes) -> Reply {
    connect(&platform, &host, &id, optional_json::<ConnectBody>(&body)?.timeout.unwrap_or(DEFAULT_V2))
}

fn connect(platform: &Platform, host: &Host, id: &str, timeout: i64) -> Reply {
    let lifetime = create::timeout(timeout)?;
    let sandbox = find(platform, id)?;
    sandbox.extend_lifetime(lifetime);
    Ok(Json(view::session(platform, host, &sandbox)).into_response())
}

async fn resume(State(platform): Shared, Path(id): Path<String>) -> Reply {
    let sandbox = find(&platform, &id)?;
    Err(ApiError::new(StatusCode::CONFLICT, format!("Sandbox \"{}\" is already running", sandbox.id)))
}

fn valid(id: &str) -> Result<String, ApiError> {
    gateway::sandbox_id(id).map_err(|_| ApiError::bad_request("Invalid sandbox ID"))
}

fn find(platform: &Platform, id: &str) -> Result<Arc<Sandbox>, ApiError> {
    let id = valid(id)?;
    platform.find(&id).ok_or_else(|| ApiError::no_sandbox(&id))
}

fn parsed<T>(query: Result<Query<T>, QueryRejection>) -> Result<T, ApiError> {
    query.map(|Query(query)| query).map_err(|error| ApiError::validation(error.body_text()))
}

fn json<T: DeserializeOwned>(body: &[u8]) -> Result<T, ApiError> {
    serde_json::from_slice(body).map_err(ApiError::validation)
}

fn optional_json<T: DeserializeOwned + Default>(body: &[u8]) -> Result<T, ApiError> {
    if body.is_empty() { Ok(T::default()) } else { json(body) }
}
