//! Listing: filters, order and pages.

use super::super::error::ApiError;
use super::super::sandbox::Sandbox;
use super::super::template;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE;
use jiff::Timestamp;
use percent_encoding::percent_decode_str;
use serde::Deserialize;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The most sandboxes of one page, and how many there are when nobody says.
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
pub struct Page {
    /// Its sandboxes.
    pub sandboxes: Vec<Arc<Sandbox>>,
    /// Where the next page begins, when there is one.
    pub next: Option<String>,
    /// How many running sandboxes match on all pages; `None` when running ones were not asked for.
    pub total_running: Option<usize>,
}

impl QueryV1 {
    /// Newest first, all of them unless told otherwise.
    ///
    /// # Errors
    /// 400 for a filter that cannot be read.
    pub fn apply(self, mut running: Vec<Arc<Sandbox>>) -> Result<Vec<Arc<Sandbox>>, ApiError> {
        let wanted = metadata(self.metadata.as_deref())?;
        let asked = self.status.as_deref().is_none_or(|status| states(status).any(|state| state == "running"));
        running.retain(|sandbox| asked && matches(sandbox, &wanted));
        running.sort_by(|a, b| compare(a, b, Order::Desc));
        Ok(running.into_iter().skip(self.offset.unwrap_or(0)).take(self.limit.unwrap_or(usize::MAX)).collect())
    }
}

impl QueryV2 {
    /// The page that the query asks for.
    ///
    /// # Errors
    /// 400 for a filter, limit or token that cannot be read.
    pub fn apply(self, mut running: Vec<Arc<Sandbox>>) -> Result<Page, ApiError> {
        let wanted = metadata(self.metadata.as_deref())?;
        let limit = self.limit.unwrap_or(PAGE);
        if !(1..=PAGE).contains(&limit) {
            return Err(ApiError::validation(format!("limit must be between 1 and {PAGE}")));
        }
        if let Some(unknown) =
            self.state.as_deref().and_then(|list| states(list).find(|state| !["running", "paused"].contains(state)))
        {
            return Err(ApiError::validation(format!("unknown state '{unknown}'")));
        }
        let order = self.order.unwrap_or_default();
        let after = self.next_token.as_deref().map(|token| Cursor::parse(token, order)).transpose()?;
        let template = self.template.as_deref().map(str::trim);
        if template.is_some_and(|name| name.contains(':')) {
            return Err(ApiError::bad_request("template must not have a tag"));
        }
        let template = template.map(|name| template::find(name).map(|template| template.id));
        let asked = self.state.as_deref().is_none_or(|list| states(list).any(|state| state == "running"));
        running.retain(|sandbox| {
            asked
                && matches(sandbox, &wanted)
                && self.started_after.is_none_or(|after| sandbox.started >= after)
                && template.is_none_or(|id| id == Some(sandbox.wish.template.id))
        });
        let total_running = asked.then_some(running.len());
        running.sort_by(|a, b| compare(a, b, order));
        if let Some(cursor) = after {
            running.retain(|sandbox| cursor.precedes(sandbox, order));
        }
        let more = running.len() > limit;
        running.truncate(limit);
        let next = running.last().filter(|_| more).map(|last| Cursor::at(last).write(order));
        Ok(Page { sandboxes: running, next, total_running })
    }
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
    order.turn((a.started, &a.id).cmp(&(b.started, &b.id)))
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
        Self { started: sandbox.started, id: sandbox.id.clone() }
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
        order.turn((self.started, &self.id).cmp(&(sandbox.started, &sandbox.id))).is_lt()
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
