//! A sandbox's log over REST, in both forms.

use super::super::error::ApiError;
use super::super::journal::{Entry, Level};
use super::{Reply, Shared, find, parsed};
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::response::IntoResponse;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

/// The most entries of one answer, and how many there are when nobody says.
const MOST: usize = 1000;
/// The longest text to search for, in characters.
const LONGEST_SEARCH: usize = 256;

/// The query of v1: entries from `start` (Unix milliseconds) on.
#[derive(Deserialize)]
pub struct QueryV1 {
    start: Option<i64>,
    limit: Option<usize>,
}

/// The query of v2.
#[derive(Deserialize)]
pub struct QueryV2 {
    cursor: Option<i64>,
    limit: Option<usize>,
    direction: Option<Direction>,
    level: Option<Level>,
    search: Option<String>,
}

/// From the cursor into the past, newest first, or into the future, oldest first.
#[derive(Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Direction {
    Forward,
    #[default]
    Backward,
}

/// The oldest entries first, also as lines of text.
pub async fn v1(State(platform): Shared, Path(id): Path<String>, query: Result<Query<QueryV1>, QueryRejection>) -> Reply {
    let QueryV1 { start, limit } = parsed(query)?;
    let start = start.map(time).transpose()?;
    let limit = checked(limit)?;
    let mut entries = find(&platform, &id)?.journal.entries(|entry| start.is_none_or(|start| entry.timestamp >= start));
    entries.truncate(limit);
    let lines: Vec<Value> =
        entries.iter().map(|entry| json!({ "timestamp": entry.timestamp, "line": json!(entry).to_string() })).collect();
    Ok(Json(json!({ "logs": lines, "logEntries": entries })).into_response())
}

/// What the query asks for.
pub async fn v2(State(platform): Shared, Path(id): Path<String>, query: Result<Query<QueryV2>, QueryRejection>) -> Reply {
    let QueryV2 { cursor, limit, direction, level, search } = parsed(query)?;
    let (limit, direction) = (checked(limit)?, direction.unwrap_or_default());
    if search.as_ref().is_some_and(|search| search.chars().count() > LONGEST_SEARCH) {
        return Err(ApiError::validation(format!("search has at most {LONGEST_SEARCH} characters")));
    }
    let cursor = cursor.map(time).transpose()?;
    let wanted = |entry: &Entry| {
        let at = entry.timestamp.as_millisecond();
        let on_this_side = cursor.is_none_or(|cursor| match direction {
            Direction::Forward => at >= cursor.as_millisecond(),
            Direction::Backward => at <= cursor.as_millisecond(),
        });
        on_this_side
            && level.is_none_or(|level| entry.level >= level)
            && search.as_ref().is_none_or(|search| entry.message.contains(search.as_str()))
    };
    let mut entries = find(&platform, &id)?.journal.entries(wanted);
    if direction == Direction::Backward {
        entries.reverse();
    }
    entries.truncate(limit);
    Ok(Json(json!({ "logs": entries })).into_response())
}

fn time(milliseconds: i64) -> Result<Timestamp, ApiError> {
    Timestamp::from_millisecond(milliseconds).map_err(|_| ApiError::validation("that is no time in milliseconds"))
}

fn checked(limit: Option<usize>) -> Result<usize, ApiError> {
    let limit = limit.unwrap_or(MOST);
    if limit <= MOST { Ok(limit) } else { Err(ApiError::validation(format!("limit must be at most {MOST}"))) }
}
