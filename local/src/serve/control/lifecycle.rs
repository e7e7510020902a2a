//! The calls that change whether and how long a sandbox runs.

use super::super::error::ApiError;
use super::super::hosts::Host;
use super::super::keeper::{Order, Resume};
use super::super::platform::Platform;
use super::super::sandbox::{Phase, Sandbox};
use super::create::{DEFAULT_V1, DEFAULT_V2, timeout};
use super::{Reply, Shared, find, in_both_families, json, optional_json, view};
use axum::body::Bytes;
use axum::extract::{Extension, Path, State};
use axum::response::IntoResponse;
use axum::routing::post;
use axum::{Json, Router};
use http::StatusCode;
use serde::Deserialize;
use std::sync::Arc;

/// Their routes.
pub fn router() -> Router<Arc<Platform>> {
    let router = [("timeout", post(set_timeout)), ("refreshes", post(refresh)), ("pause", post(pause)), ("resume", post(resume))]
        .into_iter()
        .fold(Router::new(), |router, (name, handler)| in_both_families(router, name, handler));
    router.route("/sandboxes/{id}/connect", post(connect_v1)).route("/v2/sandboxes/{id}/connect", post(connect_v2))
}

/// The sandbox, if its lifetime runs: 404 for a paused one, 409 for one that is just changing.
fn with_lifetime(platform: &Platform, id: &str) -> Result<Arc<Sandbox>, ApiError> {
    let sandbox = find(platform, id)?;
    match sandbox.status().phase {
        Phase::Running => Ok(sandbox),
        Phase::Paused { .. } => Err(ApiError::no_sandbox(&sandbox.id)),
        Phase::Pausing | Phase::Resuming => Err(sandbox.not_running()),
    }
}

#[derive(Deserialize)]
struct TimeoutBody {
    timeout: i64,
}

async fn set_timeout(State(platform): Shared, Path(id): Path<String>, body: Bytes) -> Reply {
    let lifetime = timeout(json::<TimeoutBody>(&body)?.timeout)?;
    with_lifetime(&platform, &id)?.set_lifetime(lifetime);
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
    with_lifetime(&platform, &id)?.extend_lifetime(timeout(duration.max(15))?);
    Ok(StatusCode::NO_CONTENT.into_response())
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PauseBody {
    memory: Option<bool>,
    require_healthy_guest: Option<bool>,
}

async fn pause(State(platform): Shared, Path(id): Path<String>, body: Bytes) -> Reply {
    let body = optional_json::<PauseBody>(&body)?;
    let (memory, sandbox) = (body.memory.unwrap_or(true), find(&platform, &id)?);
    if let Some(route) = sandbox.status().route.filter(|_| body.require_healthy_guest == Some(true))
        && sandbox.is_running()
        && !route.answers().await
    {
        let error = ApiError::new(StatusCode::CONFLICT, format!("envd of sandbox \"{}\" does not answer", sandbox.id));
        return Err(error.with_code("sandbox_snapshot_guest_agent_unresponsive"));
    }
    sandbox.ask(|reply| Order::Pause(memory, reply)).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

#[derive(Default, Deserialize)]
struct ResumeBody {
    timeout: Option<i64>,
    memory: Option<bool>,
}

impl ResumeBody {
    /// `default` is for a body without a timeout.
    fn how(&self, default: i64) -> Result<Resume, ApiError> {
        Ok(Resume { lifetime: timeout(self.timeout.unwrap_or(default))?, memory: self.memory.unwrap_or(true) })
    }
}

async fn connect_v1(State(platform): Shared, Extension(host): Extension<Host>, Path(id): Path<String>, body: Bytes) -> Reply {
    let body = json::<ResumeBody>(&body)?;
    if body.timeout.is_none() {
        return Err(ApiError::validation("timeout is required"));
    }
    connect(&platform, &host, &id, body.how(DEFAULT_V1)?).await
}

async fn connect_v2(State(platform): Shared, Extension(host): Extension<Host>, Path(id): Path<String>, body: Bytes) -> Reply {
    connect(&platform, &host, &id, optional_json::<ResumeBody>(&body)?.how(DEFAULT_V2)?).await
}

async fn connect(platform: &Platform, host: &Host, id: &str, how: Resume) -> Reply {
    let sandbox = find(platform, id)?;
    let resumed = sandbox.ask(|reply| Order::Resume(how, reply)).await?;
    let status = if resumed { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(view::session(platform, host, &sandbox))).into_response())
}

async fn resume(State(platform): Shared, Extension(host): Extension<Host>, Path(id): Path<String>, body: Bytes) -> Reply {
    let how = optional_json::<ResumeBody>(&body)?.how(DEFAULT_V1)?;
    let sandbox = find(&platform, &id)?;
    if sandbox.status().phase == Phase::Running {
        return Err(ApiError::new(StatusCode::CONFLICT, format!("Sandbox \"{}\" is already running", sandbox.id)));
    }
    sandbox.ask(|reply| Order::Resume(how, reply)).await?;
    Ok((StatusCode::CREATED, Json(view::session(&platform, &host, &sandbox))).into_response())
}
