//! Conditional and ranged requests.

use http::header::{self, HeaderMap, HeaderName};
use std::ops::Range;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What a request asks for of a file of some size and age.
#[derive(Debug, PartialEq, Eq)]
pub enum Wanted {
    /// All of it.
    Whole,
    /// These bytes of it, at least one range.
    Ranges(Vec<Range<u64>>),
    /// Nothing: the caller has it.
    NotModified,
    /// Nothing: it is not what the caller means.
    PreconditionFailed,
    /// Bytes that are not there; the reason in words, and whether the size helps.
    Unsatisfiable(&'static str, bool),
}

/// What `headers` ask for. Files have no tags here, only `modified`, a time in whole seconds.
pub fn wanted(headers: &HeaderMap, modified: Option<SystemTime>, size: u64) -> Wanted {
    let modified = modified.map(whole_seconds);
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok()).filter(|text| !text.is_empty());
    let date = |name: HeaderName| text(name).and_then(|text| httpdate::parse_http_date(text).ok());
    if let Some(tags) = text(header::IF_MATCH) {
        if !any_tag(tags) {
            return Wanted::PreconditionFailed;
        }
    } else if let (Some(limit), Some(modified)) = (date(header::IF_UNMODIFIED_SINCE), modified)
        && modified > limit
    {
        return Wanted::PreconditionFailed;
    }
    if let Some(tags) = text(header::IF_NONE_MATCH) {
        if any_tag(tags) {
            return Wanted::NotModified;
        }
    } else if let (Some(since), Some(modified)) = (date(header::IF_MODIFIED_SINCE), modified)
        && modified <= since
    {
        return Wanted::NotModified;
    }
    let Some(range) = text(header::RANGE) else { return Wanted::Whole };
    if text(header::IF_RANGE).is_some() && (modified.is_none() || date(header::IF_RANGE) != modified) {
        return Wanted::Whole;
    }
    ranges(range, size)
}

fn any_tag(tags: &str) -> bool {
    tags.split(',').any(|tag| tag.trim() == "*")
}

fn whole_seconds(time: SystemTime) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()))
}

fn ranges(text: &str, size: u64) -> Wanted {
    const INVALID: Wanted = Wanted::Unsatisfiable("invalid range", false);
    let Some(list) = text.strip_prefix("bytes=") else { return INVALID };
    let mut ranges = Vec::new();
    let mut outside = false;
    for part in list.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let Some((first, last)) = part.split_once('-') else { return INVALID };
        let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<u64>().ok()).flatten();
        match (first.trim(), last.trim()) {
            ("", last) => match number(last) {
                Some(0) => outside = true,
                Some(len) => ranges.push(size.saturating_sub(len)..size),
                None => return INVALID,
            },
            (first, last) => {
                let Some(first) = number(first) else { return INVALID };
                let end = if last.is_empty() { Some(size) } else { number(last).map(|last| last.saturating_add(1)) };
                match end {
                    Some(_) if first >= size => outside = true,
                    Some(end) if end > first => ranges.push(first..end.min(size)),
                    _ => return INVALID,
                }
            }
        }
    }
    if ranges.is_empty() || size == 0 {
        return if outside && size > 0 { Wanted::Unsatisfiable("invalid range: failed to overlap", true) } else { Wanted::Whole };
    }
    // More than the file itself is no saving but an attack.
    if ranges.iter().map(|range| range.end - range.start).sum::<u64>() > size {
        return Wanted::Whole;
    }
    Wanted::Ranges(ranges)
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init, reason = "one range among the cases of several")]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn of(pairs: &[(HeaderName, &'static str)], size: u64) -> Wanted {
        let headers = pairs.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value))).collect();
        wanted(&headers, Some(UNIX_EPOCH + Duration::from_millis(1_000_000_000_900)), size)
    }

    const THEN: &str = "Sun, 09 Sep 2001 01:46:40 GMT";
    const BEFORE: &str = "Sun, 09 Sep 2001 01:46:39 GMT";

    #[test]
    fn ranges_are_cut_to_the_size() {
        for (range, expected) in [
            ("bytes=0-", Wanted::Ranges(vec![0..10])),
            ("bytes=2-3", Wanted::Ranges(vec![2..4])),
            ("bytes=2-99", Wanted::Ranges(vec![2..10])),
            ("bytes=-3", Wanted::Ranges(vec![7..10])),
            ("bytes=-99", Wanted::Ranges(vec![0..10])),
            ("bytes=0-1, 4-5", Wanted::Ranges(vec![0..2, 4..6])),
            ("bytes=0-9,0-9", Wanted::Whole),
            ("bytes=10-", Wanted::Unsatisfiable("invalid range: failed to overlap", true)),
            ("bytes=3-2", Wanted::Unsatisfiable("invalid range", false)),
            ("bytes=a-", Wanted::Unsatisfiable("invalid range", false)),
            ("bytes=--1", Wanted::Unsatisfiable("invalid range", false)),
            ("foo", Wanted::Unsatisfiable("invalid range", false)),
        ] {
            let headers = HeaderMap::from_iter([(header::RANGE, HeaderValue::from_str(range).unwrap())]);
            assert_eq!(wanted(&headers, None, 10), expected, "{range}");
        }
        assert_eq!(of(&[(header::RANGE, "bytes=0-")], 0), Wanted::Whole);
    }

    #[test]
    fn conditions_compare_whole_seconds() {
        assert_eq!(of(&[(header::IF_MODIFIED_SINCE, THEN)], 10), Wanted::NotModified);
        assert_eq!(of(&[(header::IF_MODIFIED_SINCE, BEFORE)], 10), Wanted::Whole);
        assert_eq!(of(&[(header::IF_UNMODIFIED_SINCE, BEFORE)], 10), Wanted::PreconditionFailed);
        assert_eq!(of(&[(header::IF_UNMODIFIED_SINCE, THEN)], 10), Wanted::Whole);
        assert_eq!(of(&[(header::IF_NONE_MATCH, "*")], 10), Wanted::NotModified);
        assert_eq!(of(&[(header::IF_NONE_MATCH, "\"x\""), (header::IF_MODIFIED_SINCE, THEN)], 10), Wanted::Whole);
        assert_eq!(of(&[(header::IF_MATCH, "\"x\"")], 10), Wanted::PreconditionFailed);
        assert_eq!(of(&[(header::IF_RANGE, THEN), (header::RANGE, "bytes=1-1")], 10), Wanted::Ranges(vec![1..2]));
        assert_eq!(of(&[(header::IF_RANGE, BEFORE), (header::RANGE, "bytes=1-1")], 10), Wanted::Whole);
    }
}
