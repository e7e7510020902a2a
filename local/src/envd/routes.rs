//! From a request to its handler, through the layers that all requests pass.

use super::body::{Body, empty, full};
use super::connect::{Context, client_stream, end_of_stream, is_streaming, server_stream, unary};
use super::error::HttpError;
use super::users::User;
use super::{Envd, auth, cors, files, filesystem, process};
use crate::received::Received;
use http::header::{self, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

/// Answers any request.
pub async fn handle(envd: Arc<Envd>, request: Request<Received>) -> Result<Response<Body>, Infallible> {
    if let Some(answer) = cors::preflight(&request) {
        return Ok(answer);
    }
    let cross_origin = cors::is_cross_origin(&request);
    let mut response = authorized(envd, request).await;
    cors::decorate(response.headers_mut(), cross_origin);
    Ok(response)
}

async fn authorized(envd: Arc<Envd>, request: Request<Received>) -> Response<Body> {
    if let Err(error) = auth::check_token(envd.config.access_token.as_deref(), &request) {
        return error.into_response();
    }
    match auth::basic_user(request.headers()) {
        Ok(user) => route(envd, user, request).await,
        Err(error) => match is_streaming(request.headers()) {
            Some(codec) => end_of_stream(codec, Some(&error)),
            None => error.into_response(),
        },
    }
}

async fn route(envd: Arc<Envd>, basic_user: Option<User>, request: Request<Received>) -> Response<Body> {
    let path = request.uri().path().to_owned();
    if let Some(method) = path.strip_prefix("/process.Process/") {
        return process_call(method, context(envd, basic_user), request).await;
    }
    if let Some(method) = path.strip_prefix("/filesystem.Filesystem/") {
        return filesystem_call(method, context(envd, basic_user), request).await;
    }
    let method = request.method().clone();
    match (path.as_str(), method) {
        ("/health", Method::GET) => {
            let mut response = Response::new(empty());
            *response.status_mut() = StatusCode::NO_CONTENT;
            response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
            response
        }
        ("/files", Method::GET) => files::download(envd, request).await,
        ("/files", Method::POST) => files::upload(envd, request).await,
        ("/files/compose", Method::POST) => files::compose(envd, request).await,
        ("/metrics", Method::GET) => json(&envd.metrics.sample()),
        ("/envs", Method::GET) => json(&serde_json::json!(envd.config.env_vars)),
        ("/health" | "/files" | "/files/compose" | "/metrics" | "/envs", _) => {
            let mut response = Response::new(empty());
            *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
            response
        }
        _ => not_found(),
    }
}

fn context(envd: Arc<Envd>, basic_user: Option<User>) -> Context {
    Context { envd, basic_user, deadline: None, keepalive: Duration::MAX }
}

fn json(value: &serde_json::Value) -> Response<Body> {
    let mut response = Response::new(full(value.to_string()));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn not_found() -> Response<Body> {
    HttpError::Text(StatusCode::NOT_FOUND, "404 page not found".to_owned()).into_response()
}

async fn process_call(method: &str, context: Context, request: Request<Received>) -> Response<Body> {
    use process::service as rpc;
    match method {
        "List" => unary(request, context, rpc::list).await,
        "Start" => server_stream(request, context, rpc::start).await,
        "Connect" => server_stream(request, context, rpc::connect).await,
        "Update" => unary(request, context, rpc::update).await,
        "StreamInput" => client_stream(request, context, rpc::stream_input).await,
        "SendInput" => unary(request, context, rpc::send_input).await,
        "SendSignal" => unary(request, context, rpc::send_signal).await,
        "CloseStdin" => unary(request, context, rpc::close_stdin).await,
        _ => not_found(),
    }
}

async fn filesystem_call(method: &str, context: Context, request: Request<Received>) -> Response<Body> {
    use filesystem::service as rpc;
    match method {
        "Stat" => unary(request, context, rpc::stat).await,
        "MakeDir" => unary(request, context, rpc::make_dir).await,
        "Move" => unary(request, context, rpc::rename).await,
        "ListDir" => unary(request, context, rpc::list_dir).await,
        "Remove" => unary(request, context, rpc::remove).await,
        "WatchDir" => server_stream(request, context, rpc::watch_dir).await,
        "CreateWatcher" => unary(request, context, rpc::create_watcher).await,
        "GetWatcherEvents" => unary(request, context, rpc::get_watcher_events).await,
        "RemoveWatcher" => unary(request, context, rpc::remove_watcher).await,
        _ => not_found(),
    }
}
