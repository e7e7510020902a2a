//! Listing: filters, order and pages.

use super::super::error::ApiError;
use super::super::sandbox::Sandbox;
use super::super::template::{self, Name};
use axum::Json;
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE;
use http::HeaderValue;
use jiff::Timestamp;
use percent_encoding::percent_decode_str;
use serde::Deserialize;
use serde_json::Value;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The states that sandboxes have here.
const RUNNING: &str = "running";
/// See [`RUNNING`].
const PAUSED: &str = "paused";

/// The most items of one page, and how many there are when nobody says.
const PAGE: usize = 100;

/// The query of `GET /sandboxes`; `limit`, `offset` and `status` are one provider's.
#[derive(Debug, Default, Deserialize)]
pub struct QueryV1 {
    metadata: Option<String>,
    limit: Option<usize>,
    offset: Option<usize>,
    status: Option<String>,
}

/// The query of `GET /v2/sandboxes`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct QueryV2 {
    metadata: Option<String>,
    state: Option<String>,
    order: Option<Order>,
    started_after: Option<Timestamp>,
    template: Option<String>,
    limit: Option<usize>,
    next_token: Option<String>,
}

/// By start time.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Oldest first.
    Asc,
    /// Newest first.
    #[default]
    Desc,
}

/// One page.
pub struct Page<T> {
    /// What is on it.
    pub items: Vec<T>,
    /// Where the next page begins, when there is one.
    pub next: Option<String>,
    /// How many running sandboxes match on all pages; `None` when running ones were not asked for.
    pub total_running: Option<usize>,
}

impl QueryV1 {
    /// Newest first, all that run unless told otherwise. A status that no sandbox here ever has names none.
    ///
    /// # Errors
    /// 400 for a filter that cannot be read.
    pub fn apply(self, mut sandboxes: Vec<Arc<Sandbox>>) -> Result<Vec<Arc<Sandbox>>, ApiError> {
        let wanted = metadata(self.metadata.as_deref())?;
        let status = self.status.as_deref().unwrap_or(RUNNING);
        sandboxes.retain(|sandbox| is_in(sandbox, status) && matches(sandbox, &wanted));
        sandboxes.sort_by(|a, b| compare(a, b, Order::Desc));
        Ok(sandboxes.into_iter().skip(self.offset.unwrap_or(0)).take(self.limit.unwrap_or(usize::MAX)).collect())
    }
}

impl QueryV2 {
    /// The page that the query asks for.
    ///
    /// # Errors
    /// 400 for a filter, limit or token that cannot be read.
    pub fn apply(self, mut sandboxes: Vec<Arc<Sandbox>>) -> Result<Page<Arc<Sandbox>>, ApiError> {
        let wanted = metadata(self.metadata.as_deref())?;
        let limit = limit(self.limit)?;
        if let Some(unknown) = self.state.as_deref().and_then(|list| states(list).find(|state| ![RUNNING, PAUSED].contains(state)))
        {
            return Err(ApiError::validation(format!("unknown state '{unknown}'")));
        }
        let order = self.order.unwrap_or_default();
        let after = self.next_token.as_deref().map(|token| Cursor::parse(token, order)).transpose()?;
        let template = self.template.as_deref().map(str::trim);
        if template.is_some_and(|name| name.contains(':')) {
            return Err(ApiError::bad_request("template must not have a tag"));
        }
        let template =
            template.map(|name| Name::parse(name).ok().map(|name| template::find(&name).map_or(name.name, |known| known.id)));
        let state = self.state.as_deref();
        sandboxes.retain(|sandbox| {
            state.is_none_or(|state| is_in(sandbox, state))
                && matches(sandbox, &wanted)
                && self.started_after.is_none_or(|after| sandbox.started() >= after)
                && template.as_ref().is_none_or(|id| id.as_deref() == Some(sandbox.wish.template.id.as_str()))
        });
        let counts = state.is_none_or(|list| states(list).any(|state| state == RUNNING));
        let total_running = counts.then(|| sandboxes.iter().filter(|sandbox| sandbox.is_running()).count());
        sandboxes.sort_by(|a, b| compare(a, b, order));
        if let Some(cursor) = after {
            sandboxes.retain(|sandbox| cursor.precedes(sandbox, order));
        }
        let more = sandboxes.len() > limit;
        sandboxes.truncate(limit);
        let next = sandboxes.last().filter(|_| more).map(|last| Cursor::at(last).write(order));
        Ok(Page { items: sandboxes, next, total_running })
    }
}

impl<T> Page<T> {
    /// The same page with its items in another form.
    pub fn map<U>(self, form: impl FnMut(T) -> U) -> Page<U> {
        Page { items: self.items.into_iter().map(form).collect(), next: self.next, total_running: self.total_running }
    }
}

impl IntoResponse for Page<Value> {
    fn into_response(self) -> Response {
        let mut response = Json(self.items).into_response();
        if let Some(next) = self.next.and_then(|next| HeaderValue::from_str(&next).ok()) {
            response.headers_mut().insert("x-next-token", next);
        }
        if let Some(total) = self.total_running {
            response.headers_mut().insert("x-total-running", total.into());
        }
        response
    }
}

/// How many items a page has.
///
/// # Errors
/// 400 for none and for too many.
pub fn limit(asked: Option<usize>) -> Result<usize, ApiError> {
    let limit = asked.unwrap_or(PAGE);
    if (1..=PAGE).contains(&limit) { Ok(limit) } else { Err(ApiError::validation(format!("limit must be between 1 and {PAGE}"))) }
}

/// Whether a sandbox is in one of the states of a list.
fn is_in(sandbox: &Sandbox, list: &str) -> bool {
    let state = if sandbox.is_running() { RUNNING } else { PAUSED };
    states(list).any(|asked| asked == state)
}

fn states(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|state| !state.is_empty())
}

/// Reads `k=v&k=v`, each part percent-encoded once more than the query's own encoding, which is already undone.
fn metadata(text: Option<&str>) -> Result<BTreeMap<String, String>, ApiError> {
    let pairs = text.unwrap_or_default().split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let mut parts = pair.split('=');
            match (parts.next().and_then(decode), parts.next().and_then(decode), parts.next()) {
                (Some(key), Some(value), None) => Ok((key, value)),
                _ => Err(ApiError::bad_request("Invalid metadata filter: each pair is key=value, both percent-encoded")),
            }
        })
        .collect()
}

/// A part of the filter; `+` is a space in it, as in forms.
fn decode(part: &str) -> Option<String> {
    percent_decode_str(&part.replace('+', " ")).decode_utf8().ok().map(|text| text.into_owned())
}

fn matches(sandbox: &Sandbox, wanted: &BTreeMap<String, String>) -> bool {
    wanted.iter().all(|(key, value)| sandbox.wish.metadata.get(key) == Some(value))
}

fn compare(a: &Sandbox, b: &Sandbox, order: Order) -> Ordering {
    order.turn((a.started(), &a.id).cmp(&(b.started(), &b.id)))
}

impl Order {
    fn turn(self, ordering: Ordering) -> Ordering {
        if self == Self::Asc { ordering } else { ordering.reverse() }
    }
}

/// The last sandbox of a page: the next one begins behind it, also when it is gone by then.
struct Cursor {
    started: Timestamp,
    id: String,
}

impl Cursor {
    fn at(sandbox: &Sandbox) -> Self {
        Self { started: sandbox.started(), id: sandbox.id.clone() }
    }

    fn write(&self, order: Order) -> String {
        let suffix = if order == Order::Asc { "__asc" } else { "" };
        URL_SAFE.encode(format!("{}__{}{suffix}", self.started, self.id))
    }

    fn parse(token: &str, order: Order) -> Result<Self, ApiError> {
        let read = || {
            let text = String::from_utf8(URL_SAFE.decode(token).ok()?).ok()?;
            let text = match order {
                Order::Asc => text.strip_suffix("__asc")?,
                Order::Desc => &text,
            };
            let (started, id) = text.split_once("__")?;
            Some(Self { started: started.parse().ok()?, id: id.to_owned() }).filter(|cursor| !cursor.id.contains('_'))
        };
        read().ok_or_else(|| ApiError::bad_request("Invalid next token"))
    }

    fn precedes(&self, sandbox: &Sandbox, order: Order) -> bool {
        order.turn((self.started, &self.id).cmp(&(sandbox.started(), &sandbox.id))).is_lt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_read_as_it_was_written() {
        let read = metadata(Some("a%3Db=c%26d&x=")).unwrap();
        assert_eq!(read.get("a=b").map(String::as_str), Some("c&d"));
        assert_eq!(read.get("x").map(String::as_str), Some(""));
        assert!(metadata(Some("a=b=c")).is_err());
        assert!(metadata(Some("a")).is_err());
    }

    #[test]
    fn a_token_of_the_other_order_is_refused() {
        let cursor = Cursor { started: Timestamp::now(), id: "iabc".into() };
        for (order, other) in [(Order::Asc, Order::Desc), (Order::Desc, Order::Asc)] {
            let token = cursor.write(order);
            let read = Cursor::parse(&token, order).unwrap();
            assert_eq!((read.started, read.id), (cursor.started, "iabc".into()));
            assert!(Cursor::parse(&token, other).is_err());
        }
        assert!(Cursor::parse("!", Order::Desc).is_err());
    }
}
