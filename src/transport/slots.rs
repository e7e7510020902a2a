//! How many streams a page on plain HTTP may have open.
//!
//! Browsers open six connections a host over HTTP/1.1, shared by all tabs. At most four of them are streams here, so that calls always find
//! one; further streams go to shard hosts, which the local platform answers on. The first shard is drawn by chance, so that tabs, which
//! cannot see each other, do not meet on one host; the sandbox's plain host is left to calls.

use super::runtime::is_http_page;
use crate::error::{Fault, Thrown};
use crate::protocol::failure::Class;
use crate::protocol::routing::{has_shards, host, shard};
use std::cell::RefCell;

const STREAMS_A_HOST: u32 = 4;

/// How many shards a host has: the platform reads numbers of up to three digits.
const SHARDS: u32 = 1000;

thread_local! {
    /// Streams open now, by host. A page has few sandboxes and fewer hosts.
    static OPEN: RefCell<Vec<(String, u32)>> = const { RefCell::new(Vec::new()) };
    static FIRST_SHARD: u32 = (js_sys::Math::random() * f64::from(SHARDS)) as u32;
}

/// A stream's place; dropping it frees the place.
pub struct Slot(Option<String>);

impl Drop for Slot {
    fn drop(&mut self) {
        let Some(host) = self.0.take() else { return };
        OPEN.with_borrow_mut(|open| {
            if let Some(at) = open.iter().position(|(name, _)| *name == host) {
                open[at].1 -= 1;
                if open[at].1 == 0 {
                    open.swap_remove(at);
                }
            }
        });
    }
}

/// Takes a place for a stream to `url`, and says which URL to use instead.
pub fn acquire(template: &str, url: &str) -> Result<(String, Slot), Fault> {
    if !is_http_page() || !url.starts_with("http:") {
        return Ok((url.to_owned(), Slot(None)));
    }
    if has_shards(template) {
        let first = FIRST_SHARD.with(|first| *first);
        for at in 0..SHARDS {
            let sharded = shard(url, (first + at) % SHARDS);
            if let Some(slot) = take(host(&sharded)) {
                return Ok((sharded, slot));
            }
        }
    } else if let Some(slot) = take(host(url)) {
        return Ok((url.to_owned(), slot));
    }
    Err(Thrown::new(Class::SandboxConnection, "This page already has four streams open to this host over http:.")
        .suggestion(
            "Close one, serve page and platform over https, or use a sandboxUrl of the form \
             http://{port}-{sandboxId}.localhost:PORT, which has hosts enough.",
        )
        .into())
}

fn take(host: &str) -> Option<Slot> {
    OPEN.with_borrow_mut(|open| {
        match open.iter_mut().find(|(name, _)| name == host) {
            Some((_, count)) if *count >= STREAMS_A_HOST => return None,
            Some((_, count)) => *count += 1,
            None => open.push((host.to_owned(), 1)),
        }
        Some(Slot(Some(host.to_owned())))
    })
}
