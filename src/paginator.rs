//! Pages of sandboxes and of snapshots.

use crate::client::Client;
use crate::error::Result;
use crate::members::Answer;
use crate::options::{CallOptions, Options};
use crate::protocol::control::Clouds;
use crate::protocol::failure::Doing;
use crate::protocol::routing::{decimal, encode, join, query};
use crate::sandbox::states;
use crate::target::{control, promise};
use crate::transport::json::get;
use crate::transport::limits::Limits;
use js_sys::{Array, Promise};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

#[wasm_bindgen(module = "/src/js/shape.js")]
extern "C" {
    #[wasm_bindgen(js_name = sandboxInfos)]
    fn sandbox_infos(wire: &JsValue) -> Array;
    #[wasm_bindgen(js_name = snapshotInfos)]
    fn snapshot_infos(wire: &JsValue) -> Array;
}

/// What is listed.
enum Of {
    Sandboxes {
        states: Option<Vec<String>>,
        metadata: Option<String>,
        /// Where the platform has no offset: what is still to be skipped. Where it has one: where the next page starts.
        offset: Cell<u32>,
    },
    Snapshots {
        sandbox: Option<String>,
        name: Option<String>,
    },
}

/// What is listed, and where the next page starts.
struct Pages {
    client: Rc<Client>,
    of: Of,
    limit: u32,
    token: RefCell<Option<String>>,
    has_next: Cell<bool>,
    call: CallOptions,
    /// The page that is on its way: pages follow each other.
    last: RefCell<Option<Promise>>,
}

/// Pages.
#[wasm_bindgen(skip_typescript)]
pub struct Paginator(Rc<Pages>);

impl Paginator {
    /// Pages of an account's sandboxes.
    pub fn sandboxes(options: &Options) -> Result<Self> {
        let client = Client::new(options)?;
        let states = states(options)?;
        let is_known = |state: &String| matches!(state.as_str(), "running" | "paused");
        if let Some(unknown) = states.iter().flatten().find(|state| !is_known(state)) {
            client.require(Clouds::ALIBABA, &["list by the state ", unknown, ", only by running and paused"].concat())?;
        }
        // Keys and values are encoded once for the pairs, and the pairs once more for the query.
        let metadata = options.record("metadata")?.filter(|metadata| !metadata.is_empty()).map(|metadata| {
            let pairs: Vec<_> = metadata.iter().map(|(key, value)| [&encode(key), "=", &encode(value)].concat()).collect();
            pairs.join("&")
        });
        if metadata.is_some() {
            client.require(Clouds::FAMILY, "filter by metadata")?;
        }
        let offset = Cell::new(options.integer("offset", 0.0, f64::from(u32::MAX))?.unwrap_or(0.0) as u32);
        Self::new(Rc::new(client), Of::Sandboxes { states, metadata, offset }, options)
    }

    /// Pages of snapshots, of one sandbox or of all.
    pub fn snapshots(client: Rc<Client>, sandbox: Option<String>, options: &Options) -> Result<Self> {
        client.require(Clouds::FAMILY, "listSnapshots")?;
        Self::new(client, Of::Snapshots { sandbox, name: options.text("name")? }, options)
    }

    fn new(client: Rc<Client>, of: Of, options: &Options) -> Result<Self> {
        let token = options.text("nextToken")?;
        if token.is_some() {
            client.require(Clouds::FAMILY, "nextToken: use offset")?;
        }
        Ok(Self(Rc::new(Pages {
            of,
            limit: options.integer("limit", 1.0, 100.0)?.unwrap_or(100.0) as u32,
            token: RefCell::new(token),
            has_next: Cell::new(true),
            call: client.call(options)?,
            client,
            last: RefCell::default(),
        })))
    }
}

#[wasm_bindgen]
impl Paginator {
    /// See [`crate::members`].
    #[wasm_bindgen(js_name = __call)]
    pub fn call(&self, member: u32, args: &Array) -> Answer {
        let pages = &self.0;
        Ok(match member {
            0 => pages.has_next.get().into(),
            1 => pages.token.borrow().as_deref().map_or(JsValue::UNDEFINED, JsValue::from_str),
            _ => next_items(pages.clone(), args.get(0)).into(),
        })
    }
}

fn next_items(pages: Rc<Pages>, options: JsValue) -> Promise {
    let (of, before) = (pages.clone(), pages.last.borrow().clone());
    let page = promise(async move {
        let options = Options::new(options)?;
        let mut call = options.call(of.call.timeout)?;
        call.signal = call.signal.or_else(|| of.call.signal.clone());
        if let Some(before) = before {
            // However it went: a failed page is asked for again.
            let _ = JsFuture::from(before).await;
        }
        of.next(&call).await.map(JsValue::from)
    });
    *pages.last.borrow_mut() = Some(page.clone());
    page
}

impl Pages {
    async fn next(&self, call: &CallOptions) -> Result<Array> {
        if !self.has_next.get() {
            return Ok(Array::new());
        }
        let limits = Limits::start(call)?;
        let limit = decimal(self.limit.into());
        let token = self.token.borrow().clone();
        let Of::Sandboxes { states, metadata, offset } = &self.of else {
            return self.snapshots(&limit, token, &limits).await;
        };
        if self.client.cloud == Clouds::ALIBABA {
            return self.by_offset(&limit, states.as_deref(), offset, &limits).await;
        }
        let states = states.as_ref().map(|states| join(states, ","));
        let query = query(&[
            ("metadata", metadata.as_deref()),
            ("state", Some(states.as_deref().unwrap_or("running,paused"))),
            ("limit", Some(&limit)),
            ("nextToken", token.as_deref()),
        ]);
        let items = sandbox_infos(&self.page("/v2/sandboxes", &query, &limits).await?);
        let skipped = offset.get().min(items.length());
        offset.set(offset.get() - skipped);
        Ok(items.slice(skipped, items.length()))
    }

    /// A page, after which the header names the next.
    async fn page(&self, path: &str, query: &str, limits: &Limits) -> Result<JsValue> {
        let reply = control(&self.client, Doing::List, "GET", path, query, None, true, limits).await?;
        let wire = reply.json()?;
        let token = reply.exchange.header("x-next-token").filter(|token| !token.is_empty());
        self.has_next.set(token.is_some());
        *self.token.borrow_mut() = token;
        Ok(wire)
    }

    async fn snapshots(&self, limit: &str, token: Option<String>, limits: &Limits) -> Result<Array> {
        let Of::Snapshots { sandbox, name } = &self.of else { return Ok(Array::new()) };
        let query = query(&[
            ("sandboxID", sandbox.as_deref()),
            ("name", name.as_deref()),
            ("limit", Some(limit)),
            ("nextToken", token.as_deref()),
        ]);
        Ok(snapshot_infos(&self.page("/snapshots", &query, limits).await?))
    }

    /// A page where pages are counted by items and one state at most can be asked for: others are looked for here.
    async fn by_offset(&self, limit: &str, states: Option<&[String]>, offset: &Cell<u32>, limits: &Limits) -> Result<Array> {
        let at = decimal(offset.get().into());
        let one = states.filter(|states| states.len() == 1).map(|states| states[0].as_str());
        let query = query(&[("limit", Some(limit)), ("offset", Some(&at)), ("status", one)]);
        let reply = control(&self.client, Doing::List, "GET", "/sandboxes", &query, None, true, limits).await?;
        let items = sandbox_infos(&reply.json()?);
        offset.set(offset.get().saturating_add(items.length()));
        self.has_next.set(items.length() == self.limit);
        if one.is_some() {
            return Ok(items);
        }
        let wanted =
            |state: &str| states.map_or(matches!(state, "running" | "paused"), |states| states.iter().any(|one| one == state));
        Ok(items.iter().filter(|item| get(item, "status").as_string().is_some_and(|state| wanted(&state))).collect())
    }
}
