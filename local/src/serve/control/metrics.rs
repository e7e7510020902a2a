//! Measurements over REST.

use super::super::error::ApiError;
use super::super::metrics::{Sample, refresh};
use super::machine::Machine;
use super::{Reply, Shared, find, parsed, valid};
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::response::IntoResponse;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::HashSet;

/// The most sandboxes of one call.
const MOST: usize = 100;

/// A range of time in Unix seconds, both ends included.
#[derive(Deserialize)]
pub struct Range {
    start: Option<i64>,
    end: Option<i64>,
}

/// The measurements of one sandbox, running or paused.
pub async fn of_one(State(platform): Shared, Path(id): Path<String>, query: Result<Query<Range>, QueryRejection>) -> Reply {
    let Range { start, end } = parsed(query)?;
    let time = |seconds: Option<i64>, default, fraction| match seconds {
        None => Ok(default),
        Some(seconds) => Timestamp::new(seconds, fraction).map_err(|_| ApiError::bad_request("start or end is no time")),
    };
    // The end is the whole second.
    let (start, end) = (time(start, Timestamp::MIN, 0)?, time(end, Timestamp::MAX, 999_999_999)?);
    if start > end {
        return Err(ApiError::bad_request("start must not be after end"));
    }
    let sandbox = find(&platform, &id)?;
    refresh(&platform, vec![sandbox.clone()]).await;
    let machine = Machine::measure(&platform.data);
    Ok(Json(sandbox.history.between(start, end).iter().map(|sample| view(sample, &machine)).collect::<Vec<_>>()).into_response())
}

/// Which sandboxes.
#[derive(Deserialize)]
pub struct Ids {
    sandbox_ids: String,
}

/// The newest measurement of several; who has none, or is none, is left out.
pub async fn of_several(State(platform): Shared, query: Result<Query<Ids>, QueryRejection>) -> Reply {
    let ids: Vec<String> = parsed(query)?.sandbox_ids.split(',').map(valid).collect::<Result<_, _>>()?;
    if ids.len() > MOST {
        return Err(ApiError::bad_request(format!("at most {MOST} sandboxes can be asked for at once")));
    }
    if ids.iter().collect::<HashSet<_>>().len() < ids.len() {
        return Err(ApiError::validation("sandbox_ids must be unique"));
    }
    let sandboxes: Vec<_> = ids.iter().filter_map(|id| platform.find(id)).collect();
    refresh(&platform, sandboxes.clone()).await;
    let machine = Machine::measure(&platform.data);
    let newest = sandboxes.iter().filter_map(|sandbox| Some((sandbox.id.clone(), view(&sandbox.history.newest()?, &machine))));
    Ok(Json(json!({ "sandboxes": newest.collect::<Map<String, Value>>() })).into_response())
}

fn view(sample: &Sample, machine: &Machine) -> Value {
    json!({
        "timestamp": sample.at.to_string(),
        "timestampUnix": sample.at.as_second(),
        "cpuCount": machine.cpus,
        "cpuUsedPct": sample.cpu_pct,
        "memUsed": sample.memory,
        "memTotal": machine.memory_mb << 20,
        // The cache is the machine's; nobody knows whose share is whose.
        "memCache": 0,
        "diskUsed": sample.disk,
        "diskTotal": machine.disk_mb << 20,
    })
}
