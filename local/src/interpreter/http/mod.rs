//! The interpreter's HTTP face: routes, and answers in the form that clients of the wire expect.

mod cors;
mod request;

use self::request::{CreateContext, Execution, Invalid};
use super::cell::{self, Cell};
use super::context::Context;
use super::contexts::Contexts;
use super::kernel::StartError;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, delete, get, post};
use axum::{Json, Router};
use bytes::Bytes;
use futures_util::stream;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::sync::Arc;

/// The largest request body, in bytes: a cell may carry a data set, not a disk.
const BODY_LIMIT: usize = 64 << 20;

/// All routes.
pub fn router(contexts: Arc<Contexts>) -> Router {
    Router::new()
        .route("/health", only_get(get(async || Json("OK"))))
        .route("/execute", post(execute))
        .route("/contexts", only_get(get(list_contexts)).post(create_context))
        .route("/contexts/{id}", delete(remove_context))
        .route("/contexts/{id}/restart", post(restart_context))
        .fallback(not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(DefaultBodyLimit::max(BODY_LIMIT))
        .layer(axum::middleware::from_fn(cors::allow_all))
        .with_state(contexts)
}

/// GET does not imply HEAD here.
fn only_get(route: MethodRouter<Arc<Contexts>>) -> MethodRouter<Arc<Contexts>> {
    route.head(method_not_allowed)
}

async fn not_found(uri: Uri) -> Response {
    let known = |path: &str| matches!(path, "/health" | "/execute" | "/contexts") || path.starts_with("/contexts/");
    match uri.path().strip_suffix('/') {
        Some(path) if known(path) => {
            let target = uri.query().map_or_else(|| path.to_owned(), |query| format!("{path}?{query}"));
            (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, target)]).into_response()
        }
        _ => detail(StatusCode::NOT_FOUND, json!("Not Found")),
    }
}

async fn method_not_allowed() -> Response {
    detail(StatusCode::METHOD_NOT_ALLOWED, json!("Method Not Allowed"))
}

async fn list_contexts(State(contexts): State<Arc<Contexts>>) -> Response {
    Json(contexts.list()).into_response()
}

async fn create_context(State(contexts): State<Arc<Contexts>>, headers: HeaderMap, body: Bytes) -> Response {
    let request = match CreateContext::read(&headers, &body) {
        Ok(request) => request,
        Err(invalid) => return unprocessable(&invalid),
    };
    match contexts.create(request.language.as_deref(), request.cwd.as_deref()).await {
        Ok(description) => Json(description).into_response(),
        Err(error) => not_created(&error),
    }
}

async fn restart_context(State(contexts): State<Arc<Contexts>>, Path(id): Path<String>) -> Response {
    let Some(context) = contexts.find(&id) else { return no_context(&id) };
    // Goes on when the client leaves: a context must not stay without a kernel half-way.
    let restarted = tokio::spawn(async move { context.restart().await }).await;
    match restarted {
        Ok(Ok(())) => Json(Value::Null).into_response(),
        _ => (StatusCode::INTERNAL_SERVER_ERROR, format!("Failed to restart context {id}")).into_response(),
    }
}

async fn remove_context(State(contexts): State<Arc<Contexts>>, Path(id): Path<String>) -> Response {
    if contexts.remove(&id).await { Json(Value::Null).into_response() } else { no_context(&id) }
}

async fn execute(State(contexts): State<Arc<Contexts>>, headers: HeaderMap, body: Bytes) -> Response {
    let request = match Execution::read(&headers, &body) {
        Ok(request) => request,
        Err(invalid) => return unprocessable(&invalid),
    };
    let context = match (&request.context_id, &request.language) {
        (Some(_), Some(_)) => {
            return (StatusCode::BAD_REQUEST, "Only one of context_id or language can be provided").into_response();
        }
        (Some(id), None) => contexts.find(id).ok_or_else(|| no_context(id)),
        (None, language) => contexts.default_for(language.as_deref()).map_err(|error| not_created(&error)),
    };
    match context {
        Ok(context) => run(context, request).await,
        Err(response) => response,
    }
}

async fn run(context: Arc<Context>, request: Execution) -> Response {
    for (name, value) in &request.variables {
        if let Some(reason) = context.kind().refuses_variable(name, value) {
            return (StatusCode::BAD_REQUEST, reason).into_response();
        }
    }
    // The place in the queue is taken here, so that cells run in the order in which they came.
    let mut turn = Box::pin(context.turn());
    let ready = futures_util::poll!(&mut turn);
    let turn = async move {
        match ready {
            std::task::Poll::Ready(turn) => turn,
            std::task::Poll::Pending => turn.await,
        }
    };
    if let Err(error) = context.kernel().await {
        return not_created(&error);
    }
    let lines = cell::start(context, turn, Cell { code: request.code, variables: request.variables });
    let lines = stream::unfold(lines, async |mut lines| lines.recv().await.map(|line| (Ok::<_, Infallible>(line), lines)));
    Response::new(Body::from_stream(lines))
}

fn no_context(id: &str) -> Response {
    (StatusCode::NOT_FOUND, format!("Context {id} not found")).into_response()
}

fn not_created(error: &StartError) -> Response {
    tracing::warn!(%error, "a kernel did not start");
    (StatusCode::INTERNAL_SERVER_ERROR, format!("Failed to create context: {error}")).into_response()
}

fn unprocessable(invalid: &Invalid) -> Response {
    detail(StatusCode::UNPROCESSABLE_ENTITY, invalid.items())
}

fn detail(status: StatusCode, detail: Value) -> Response {
    (status, Json(json!({ "detail": detail }))).into_response()
}
