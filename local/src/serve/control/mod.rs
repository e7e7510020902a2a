//! The control plane: sandboxes over REST, on the v1 routes, their v2 forms, and what is not there yet by name.

mod create;
mod lifecycle;
mod list;
mod logs;
mod machine;
mod metrics;
mod network;
mod snapshots;
mod view;

use super::error::ApiError;
use super::gateway;
use super::hosts::{Host, Place};
use super::keys::Credential;
use super::platform::Platform;
use super::sandbox::Sandbox;
use super::template;
use axum::body::Bytes;
use axum::extract::rejection::QueryRejection;
use axum::extract::{DefaultBodyLimit, Extension, Path, Query, Request, State};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, any, get, put};
use axum::{Json, Router};
use create::Family;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, ORIGIN, RETRY_AFTER};
use http::{HeaderMap, Method, StatusCode};
use list::{QueryV1, QueryV2};
use machine::Machine;
use serde::de::DeserializeOwned;
use std::sync::Arc;
use std::time::Duration;
use tower_http::cors::{AllowHeaders, AllowOrigin, CorsLayer};

/// The largest request body, in bytes.
const MAX_BODY: usize = 16 * 1024 * 1024;
/// The longest text of a refusal that is passed on, in bytes.
const MAX_REFUSAL: usize = 1024;
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
        .merge(lifecycle::router())
        .merge(snapshots::router())
        .merge(in_both_families(Router::new(), "network", put(network::update)))
        .merge(in_both_families(Router::new(), "metrics", get(metrics::of_one)))
        .route("/sandboxes/metrics", get(metrics::of_several))
        .route("/v2/sandboxes/metrics", get(metrics::of_several))
        .route("/sandboxes/{id}/logs", get(logs::v1))
        .route("/v2/sandboxes/{id}/logs", get(logs::v2))
        .route("/code-cells", get(code_cells))
        .route("/templates", any(later))
        .route("/v2/templates", any(later))
        .route("/templates/aliases/{alias}", any(later))
        .route("/volumes", any(later))
        .route("/volumes/{id}", any(later))
        .route("/secrets", any(later))
        .route("/secrets/{id}", any(later))
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(middleware::map_response(in_form))
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

/// The route `name` of a sandbox, under `/sandboxes` and under `/v2/sandboxes`.
fn in_both_families(router: Router<Arc<Platform>>, name: &str, handler: MethodRouter<Arc<Platform>>) -> Router<Arc<Platform>> {
    router.route(&format!("/sandboxes/{{id}}/{name}"), handler.clone()).route(&format!("/v2/sandboxes/{{id}}/{name}"), handler)
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

/// Gives what the router itself refuses in plain text, such as a body that is too large, the form of every other error.
async fn in_form(response: Response) -> Response {
    let is_text = response.headers().get(CONTENT_TYPE).is_some_and(|value| value.as_bytes().starts_with(b"text/plain"));
    let status = response.status();
    if !status.is_client_error() || !is_text {
        return response;
    }
    if status == StatusCode::PAYLOAD_TOO_LARGE {
        return ApiError::new(status, format!("the body is larger than {} MiB", MAX_BODY >> 20)).into_response();
    }
    let text = axum::body::to_bytes(response.into_body(), MAX_REFUSAL).await.unwrap_or_default();
    ApiError::new(status, String::from_utf8_lossy(&text)).into_response()
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
    let mut source = None;
    let mut wish = create::parse(&body, family, |name| {
        template::find(name).or_else(|| {
            source = platform.snapshots.find(name);
            source.as_ref().map(|kept| kept.snapshot.template.clone())
        })
    })?;
    create::can_be_kept(&platform, wish.network.online)?;
    if let Some(kept) = &source {
        for (name, value) in &kept.snapshot.env_vars {
            wish.env_vars.entry(name.clone()).or_insert_with(|| value.clone());
        }
    }
    let sandbox = platform.create(wish, source).await?;
    Ok((StatusCode::CREATED, Json(view::session(&platform, &host, &sandbox))).into_response())
}

async fn list_v1(State(platform): Shared, query: Result<Query<QueryV1>, QueryRejection>) -> Reply {
    let sandboxes = parsed(query)?.apply(platform.sandboxes())?;
    let machine = Machine::measure(&platform.data);
    Ok(Json(sandboxes.iter().map(|sandbox| view::listed(sandbox, &machine)).collect::<Vec<_>>()).into_response())
}

async fn list_v2(State(platform): Shared, query: Result<Query<QueryV2>, QueryRejection>) -> Reply {
    let page = parsed(query)?.apply(platform.sandboxes())?;
    let machine = Machine::measure(&platform.data);
    Ok(page.map(|sandbox| view::listed(&sandbox, &machine)).into_response())
}

async fn detail(State(platform): Shared, Extension(host): Extension<Host>, Path(id): Path<String>) -> Reply {
    let sandbox = find(&platform, &id)?;
    Ok(Json(view::detail(&platform, &host, &sandbox, &Machine::measure(&platform.data))).into_response())
}

async fn kill(State(platform): Shared, Path(id): Path<String>) -> Reply {
    let name = valid(&id)?;
    if platform.kill(&name).await { Ok(StatusCode::NO_CONTENT.into_response()) } else { Err(ApiError::no_sandbox(&name)) }
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
