//! Changing what a sandbox may reach while it runs.

use super::super::error::ApiError;
use super::super::keeper::Order;
use super::create::{Rules, can_be_kept};
use super::{Reply, Shared, find, json};
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::response::IntoResponse;
use http::StatusCode;
use serde_json::{Map, Value};

/// Members of the `network` object that this call cannot change.
const KEPT: [&str; 2] = ["allowPublicTraffic", "maskRequestHost"];

/// Replaces what is known of a sandbox's egress: what is left out is open.
pub async fn update(State(platform): Shared, Path(id): Path<String>, body: Bytes) -> Reply {
    let mut given = json::<Map<String, Value>>(&body)?;
    let flag = match given.remove("allow_internet_access") {
        None | Some(Value::Null) => None,
        Some(Value::Bool(flag)) => Some(flag),
        Some(_) => return Err(ApiError::validation("allow_internet_access must be a boolean")),
    };
    if let Some(name) = KEPT.iter().find(|name| given.contains_key(**name)) {
        return Err(ApiError::bad_request(format!("{name} can only be given when the sandbox is created")));
    }
    let rules = Rules::parse(Some(&given))?;
    let sandbox = find(&platform, &id)?;
    let mut network = sandbox.network();
    network.online = flag.unwrap_or(true) && !rules.deny_all;
    can_be_kept(&platform, network.online)?;
    network.allow_internet = flag.or(network.allow_internet);
    let mut shown = network.given.take().unwrap_or_default();
    shown.retain(|name, _| KEPT.contains(&name.as_str()));
    shown.append(&mut given);
    network.given = (!shown.is_empty()).then_some(shown);
    sandbox.ask(|reply| Order::Network(network, reply)).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}
