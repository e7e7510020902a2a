//! Pages of sandboxes.

use crate::client::{Client, Known};
use crate::error::{Result, Thrown};
use crate::options::{CallOptions, Options};
use crate::protocol::failure::{Class, Doing};
use crate::protocol::routing::{decimal, encode, query};
use crate::sandbox::states;
use crate::target::{control, promise};
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
}

/// What is listed, and where the next page starts.
struct Pages {
    client: Client,
    states: Option<Vec<String>>,
    metadata: Option<String>,
    limit: u32,
    /// Where the platform has no offset: what is still to be skipped. Where it has one: where the next page starts.
    offset: Cell<u32>,
    token: RefCell<Option<String>>,
    has_next: Cell<bool>,
    call: CallOptions,
    /// The page that is on its way: pages follow each other.
    last: RefCell<Option<Promise>>,
}

/// Pages of sandboxes.
#[wasm_bindgen(skip_typescript)]
pub struct SandboxPaginator(Rc<Pages>);

impl SandboxPaginator {
    pub fn new(options: &Options) -> Result<Self> {
        let client = Client::new(options)?;
        let states = states(options)?;
        let is_known = |state: &String| matches!(state.as_str(), "running" | "paused");
        if matches!(client.known, Some(Known::E2b | Known::AgentBox))
            && states.as_ref().is_some_and(|states| !states.iter().all(is_known))
        {
            return Err(Thrown::new(Class::ProviderFeature, "This provider lists by the states running and paused only.").into());
        }
        // Keys and values are encoded once for the pairs, and the pairs once more for the query.
        let metadata = options.record("metadata")?.filter(|metadata| !metadata.is_empty()).map(|metadata| {
            let pairs: Vec<_> = metadata.iter().map(|(key, value)| [&encode(key), "=", &encode(value)].concat()).collect();
            pairs.join("&")
        });
        if metadata.is_some() {
            client.refuse_on_alibaba("filter by metadata")?;
        }
        let call = client.call(options)?;
        Ok(Self(Rc::new(Pages {
            states,
            metadata,
            limit: options.integer("limit", 1.0, 100.0)?.unwrap_or(100.0) as u32,
            offset: Cell::new(options.integer("offset", 0.0, f64::from(u32::MAX))?.unwrap_or(0.0) as u32),
            token: RefCell::new(options.text("nextToken")?),
            has_next: Cell::new(true),
            call,
            client,
            last: RefCell::default(),
        })))
    }
}

#[wasm_bindgen]
impl SandboxPaginator {
    #[wasm_bindgen(getter, js_name = hasNext)]
    pub fn has_next(&self) -> bool {
        self.0.has_next.get()
    }

    #[wasm_bindgen(getter, js_name = nextToken)]
    pub fn next_token(&self) -> Option<String> {
        self.0.token.borrow().clone()
    }

    #[wasm_bindgen(js_name = nextItems)]
    pub fn next_items(&self, options: JsValue) -> Promise {
        let pages = self.0.clone();
        let before = self.0.last.borrow().clone();
        let page = promise(async move {
            let options = Options::new(options)?;
            let mut call = options.call(pages.call.timeout)?;
            call.signal = call.signal.or_else(|| pages.call.signal.clone());
            if let Some(before) = before {
                // However it went: a failed page is asked for again.
                let _ = JsFuture::from(before).await;
            }
            pages.next(&call).await.map(JsValue::from)
        });
        *self.0.last.borrow_mut() = Some(page.clone());
        page
    }
}

impl Pages {
    async fn next(&self, call: &CallOptions) -> Result<Array> {
        if !self.has_next.get() {
            return Ok(Array::new());
        }
        let limits = Limits::start(call)?;
        let (limit, states) = (decimal(self.limit.into()), self.states.as_ref().map(|states| states.join(",")));
        if self.client.known == Some(Known::Alibaba) {
            let offset = decimal(self.offset.get().into());
            let query = query(&[("limit", Some(&limit)), ("offset", Some(&offset)), ("status", states.as_deref())]);
            let reply = control(&self.client, Doing::List, "GET", "/sandboxes", &query, None, true, &limits).await?;
            let items = sandbox_infos(&reply.json()?);
            self.offset.set(self.offset.get().saturating_add(items.length()));
            self.has_next.set(items.length() == self.limit);
            return Ok(items);
        }
        let token = self.token.borrow().clone();
        let query = query(&[
            ("metadata", self.metadata.as_deref()),
            ("state", Some(states.as_deref().unwrap_or("running,paused"))),
            ("limit", Some(&limit)),
            ("nextToken", token.as_deref()),
        ]);
        let reply = control(&self.client, Doing::List, "GET", "/v2/sandboxes", &query, None, true, &limits).await?;
        let items = sandbox_infos(&reply.json()?);
        let token = reply.exchange.header("x-next-token").filter(|token| !token.is_empty());
        self.has_next.set(token.is_some());
        *self.token.borrow_mut() = token;
        let skipped = self.offset.get().min(items.length());
        self.offset.set(self.offset.get() - skipped);
        Ok(items.slice(skipped, items.length()))
    }
}
