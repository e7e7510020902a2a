//! Forks and snapshots over REST.

use super::super::error::ApiError;
use super::super::hosts::Host;
use super::super::platform::Platform;
use super::super::snapshots::Snapshot;
use super::super::template::{self, Name};
use super::create::{DEFAULT_V1, positive_timeout};
use super::list::{Page, limit};
use super::{Reply, Shared, find, in_both_families, optional_json, parsed, valid, view};
use axum::body::Bytes;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Extension, Path, Query, State};
use axum::response::IntoResponse;
use axum::routing::{delete, get, post};
use axum::{Json, Router};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE;
use http::StatusCode;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json as value};
use std::sync::Arc;

/// The most forks of one call.
const MOST_FORKS: usize = 100;
/// What every copy says of itself: what ran in the sandbox does not run in it.
const CONTENTS: &str = "filesystem only";

/// Their routes.
pub fn router() -> Router<Arc<Platform>> {
    let router = Router::new().route("/snapshots", get(list)).route("/templates/{id}", delete(remove));
    in_both_families(in_both_families(router, "fork", post(fork)), "snapshots", post(create))
}

#[derive(Default, Deserialize)]
struct ForkBody {
    timeout: Option<i64>,
    count: Option<usize>,
}

async fn fork(State(platform): Shared, Extension(host): Extension<Host>, Path(id): Path<String>, body: Bytes) -> Reply {
    let body = optional_json::<ForkBody>(&body)?;
    let lifetime = positive_timeout(body.timeout.unwrap_or(DEFAULT_V1))?;
    let count = body.count.unwrap_or(1);
    if !(1..=MOST_FORKS).contains(&count) {
        return Err(ApiError::bad_request(format!("count must be between 1 and {MOST_FORKS}")));
    }
    let forks = platform.fork(find(&platform, &id)?, count, lifetime).await?;
    let items = forks.into_iter().map(|fork| match fork {
        Ok(sandbox) => {
            let mut session = view::session(&platform, &host, &sandbox);
            session["contents"] = CONTENTS.into();
            value!({ "sandbox": session })
        }
        Err(error) => value!({ "error": { "code": error.status.as_u16(), "message": error.message } }),
    });
    Ok((StatusCode::CREATED, Json(items.collect::<Vec<Value>>())).into_response())
}

#[derive(Default, Deserialize)]
struct CreateBody {
    name: Option<String>,
    memory: Option<bool>,
}

async fn create(State(platform): Shared, Path(id): Path<String>, body: Bytes) -> Reply {
    let body = optional_json::<CreateBody>(&body)?;
    if body.memory == Some(true) {
        return Err(ApiError::bad_request("memory is not available on this platform: snapshots are of the file system only"));
    }
    let name = body.name.filter(|name| !name.is_empty());
    let name = name.as_deref().map(Name::parse).transpose().map_err(|error| ApiError::bad_request(format!("name: {error}")))?;
    let sandbox = find(&platform, &id)?;
    let snapshot = platform.snapshot(sandbox, name).await?;
    Ok((StatusCode::CREATED, Json(info(&snapshot))).into_response())
}

fn info(snapshot: &Snapshot) -> Value {
    value!({ "snapshotID": snapshot.id(), "names": snapshot.name().into_iter().collect::<Vec<_>>(), "contents": CONTENTS })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ListQuery {
    #[serde(rename = "sandboxID")]
    sandbox_id: Option<String>,
    name: Option<String>,
    limit: Option<usize>,
    next_token: Option<String>,
}

async fn list(State(platform): Shared, query: Result<Query<ListQuery>, QueryRejection>) -> Reply {
    let query = parsed(query)?;
    let limit = limit(query.limit)?;
    let sandbox = query.sandbox_id.as_deref().map(valid).transpose()?;
    let name = query.name.as_deref().map(Name::parse).transpose();
    let name = name.map_err(|error| ApiError::bad_request(format!("name: {error}")))?;
    let after = query.next_token.as_deref().map(cursor).transpose()?;
    let mut all = platform.snapshots.list();
    all.retain(|snapshot| {
        let named = |name: &Name| {
            let tagged = name.tag.as_ref().is_none_or(|tag| *tag == snapshot.tag);
            tagged && (snapshot.template.alias.as_ref() == Some(&name.name) || snapshot.template.id == name.name)
        };
        sandbox.as_ref().is_none_or(|id| *id == snapshot.sandbox)
            && name.as_ref().is_none_or(named)
            && after.as_ref().is_none_or(|(made, id)| (snapshot.made, &snapshot.id()) < (*made, id))
    });
    let more = all.len() > limit;
    all.truncate(limit);
    let next = all.last().filter(|_| more).map(|last| URL_SAFE.encode(format!("{}__{}", last.made, last.id())));
    Ok(Page { items: all.iter().map(info).collect(), next, total_running: None }.into_response())
}

/// Where the next page begins: behind the snapshot of that time and id, also when it is gone by then.
fn cursor(token: &str) -> Result<(Timestamp, String), ApiError> {
    let read = || {
        let text = String::from_utf8(URL_SAFE.decode(token).ok()?).ok()?;
        let (made, id) = text.split_once("__")?;
        Some((made.parse().ok()?, id.to_owned()))
    };
    read().ok_or_else(|| ApiError::bad_request("Invalid next token"))
}

async fn remove(State(platform): Shared, Path(id): Path<String>) -> Reply {
    let name = Name::parse(&id).map_err(|error| ApiError::bad_request(format!("templateID: {error}")))?;
    if template::is_built_in(&name.name) {
        return Err(ApiError::bad_request(format!("'{}' is a template of the platform's own and stays", name.name)));
    }
    let unknown = || ApiError::new(StatusCode::NOT_FOUND, format!("template '{}' not found", id.trim()));
    let template = platform.snapshots.template(&name).ok_or_else(unknown)?;
    if platform.sandboxes().iter().any(|sandbox| sandbox.wish.template.id == template) {
        let message = format!("cannot delete template '{}' because there are running or paused sandboxes using it", id.trim());
        return Err(ApiError::bad_request(message));
    }
    platform.snapshots.delete(&template).await;
    Ok(StatusCode::NO_CONTENT.into_response())
}
