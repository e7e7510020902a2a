//! Where to connect and as whom: the options of a connection, checked once and kept for all calls.

use crate::error::{Fault, Result, Thrown, invalid};
use crate::options::{CallOptions, Options, REQUEST_TIMEOUT, set_text};
use crate::protocol::failure::Class;
use crate::protocol::routing::host;
use crate::transport::guard::Guard;
use crate::transport::runtime::{environment, is_browser};
use js_sys::{Function, Object, Promise};
use std::cell::Cell;
use wasm_bindgen::{JsCast, JsValue};

/// How envd streams are encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Codec {
    Proto,
    Json,
}

impl Codec {
    pub fn other(self) -> Self {
        match self {
            Self::Proto => Self::Json,
            Self::Json => Self::Proto,
        }
    }
}

/// A cloud that is known by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    E2b,
    AgentBox,
    Alibaba,
}

/// The API key, or where it comes from.
enum Key {
    None,
    Text(String),
    Function(Function),
}

/// A connection's settings.
pub struct Client {
    /// The provider as it was given, for handing over.
    pub provider: JsValue,
    /// `None` for a profile of the caller's own.
    pub known: Option<Known>,
    pub domain: String,
    pub api_url: String,
    /// As given; `None` for the domain's own hosts, and without a domain (empty) it is not known where sandboxes are.
    pub sandbox_url: Option<String>,
    pub routing_prefix: String,
    pub traffic_header: String,
    pub codec: Cell<Codec>,
    pub signed_urls: bool,
    /// `undefined` for none.
    pub logger: JsValue,
    /// A constructor to use instead of the runtime's own.
    pub web_socket: Option<Function>,
    /// As given, in ms; 0 for no limit.
    request_timeout: Option<f64>,
    bearer: bool,
    key: Key,
    /// The variable that the key could have come from.
    key_variable: &'static str,
    checks_key: bool,
    api_headers: Vec<(String, String)>,
    /// The caller's own `fetch`; `undefined` for the runtime's.
    pub fetch: JsValue,
}

impl Client {
    /// # Errors
    /// E0001 for a bad option, E1004 for cloud key pairs.
    pub fn new(options: &Options) -> Result<Self> {
        for name in ["accessKeyId", "accessKeySecret"] {
            if !options.get(name)?.is_undefined() {
                return Err(Thrown::new(Class::TokenExchange, "Cloud key pairs cannot be exchanged for an API key here.").into());
            }
        }
        let provider = options.get("provider")?;
        let (known, profile) = match provider.as_string().as_deref() {
            None if provider.is_undefined() => (Some(Known::E2b), Options::new(JsValue::UNDEFINED)?),
            None if provider.is_object() => (None, Options::new(provider.clone())?),
            Some("e2b") => (Some(Known::E2b), Options::new(JsValue::UNDEFINED)?),
            Some("agentbox") => (Some(Known::AgentBox), Options::new(JsValue::UNDEFINED)?),
            Some("alibaba") => (Some(Known::Alibaba), Options::new(JsValue::UNDEFINED)?),
            _ => return Err(invalid(&["provider must be \"e2b\", \"agentbox\", \"alibaba\" or a profile."])),
        };
        let (default_domain, prefix, variables) = match known {
            Some(Known::AgentBox) => ("agentbox-runtime.ru", "Agentbox", &AGENTBOX),
            Some(Known::Alibaba) => ("cn-hangzhou.e2b.fc.aliyuncs.com", "E2b", &ALIBABA),
            _ => ("e2b.app", "E2b", &E2B),
        };
        // A profile of the caller's own has no environment: its variables are unknown.
        let variable = |at: usize| known.and_then(|_| variables[at]).and_then(environment);
        let own_domain = options.text("domain")?.or_else(|| variable(DOMAIN));
        let profile_api = if own_domain.is_none() { profile.text("apiUrl")? } else { None };
        let own_domain = match own_domain {
            Some(domain) => Some(domain),
            None => profile.text("domain")?,
        };
        let own_api = match options.text("apiUrl")?.or_else(|| variable(API_URL)).or(profile_api) {
            Some(url) => Some(checked_url("apiUrl", url)?),
            None => None,
        };
        // Another control plane has sandboxes of its own: those of the default domain, and whoever reads their tokens, are somebody else's.
        let domain = match (own_domain, &own_api) {
            (Some(domain), _) => domain,
            (None, Some(url)) => host(url).strip_prefix("api.").unwrap_or_default().to_owned(),
            (None, None) => default_domain.to_owned(),
        };
        let api_url = own_api.unwrap_or_else(|| ["https://api.", &domain].concat());
        // A platform elsewhere that speaks E2B's protocol has keys of its own form.
        let is_e2b = known == Some(Known::E2b) && api_url.ends_with(".e2b.app");
        let checks_key = known == Some(Known::E2b) && options.boolean("validateApiKey")?.unwrap_or(is_e2b);
        let sandbox_url = match options.text("sandboxUrl")?.or_else(|| variable(SANDBOX_URL)) {
            Some(url) => Some(checked_url("sandboxUrl", url)?),
            None => None,
        };
        let key = options.get("apiKey")?;
        let key = match (key.as_string(), key.dyn_ref::<Function>()) {
            (Some(text), _) => Key::Text(text.trim().to_owned()),
            (None, Some(function)) => Key::Function(function.clone()),
            (None, None) if key.is_undefined() => variable(API_KEY).map_or(Key::None, Key::Text),
            (None, None) => return Err(invalid(&["apiKey must be a string, or a function that gives one."])),
        };
        let bearer = match profile.string("keyHeader")?.as_deref() {
            None => known == Some(Known::Alibaba),
            Some("x-api-key") => false,
            Some("bearer") => true,
            Some(_) => return Err(invalid(&["keyHeader must be \"x-api-key\" or \"bearer\"."])),
        };
        let codec = match profile.string("codec")?.as_deref() {
            None if known == Some(Known::Alibaba) => Codec::Json,
            None | Some("proto") => Codec::Proto,
            Some("json") => Codec::Json,
            Some(_) => return Err(invalid(&["codec must be \"proto\" or \"json\"."])),
        };
        let prefix = profile.text("routingPrefix")?.unwrap_or_else(|| prefix.to_owned());
        Ok(Self {
            provider,
            known,
            domain,
            api_url,
            sandbox_url,
            traffic_header: profile.text("trafficTokenHeader")?.unwrap_or_else(|| [&prefix, "-Traffic-Access-Token"].concat()),
            routing_prefix: prefix,
            codec: Cell::new(codec),
            signed_urls: profile.boolean("signedUrls")?.unwrap_or(known != Some(Known::Alibaba)),
            logger: options.object("logger")?.into(),
            web_socket: options.function("webSocket")?,
            request_timeout: options.millis("requestTimeoutMs")?,
            bearer,
            key,
            key_variable: variables[API_KEY].unwrap_or_default(),
            checks_key,
            api_headers: options.record("apiHeaders")?.unwrap_or_default(),
            fetch: options.function("fetch")?.into(),
        })
    }

    /// Refuses what needs a sandbox's own address when only another control plane's is known.
    pub fn require_sandbox_address(&self) -> Result<()> {
        if self.sandbox_url.is_none() && self.domain.is_empty() {
            return Err(invalid(&["With this apiUrl, sandboxUrl (or domain) must say where the platform's sandboxes are."]));
        }
        Ok(())
    }

    /// The request timeout of calls that name none, in ms.
    pub fn timeout_or(&self, default: f64) -> Option<f64> {
        Some(self.request_timeout.unwrap_or(default)).filter(|ms| *ms > 0.0)
    }

    /// A call's options, over the connection's.
    pub fn call(&self, options: &Options) -> Result<CallOptions> {
        options.call(self.timeout_or(REQUEST_TIMEOUT))
    }

    /// Whether requests are made by the caller's own `fetch`.
    pub fn has_own_fetch(&self) -> bool {
        !self.fetch.is_undefined()
    }

    /// Whether the control plane can be asked.
    pub fn has_key(&self) -> bool {
        !matches!(self.key, Key::None)
    }

    /// Headers of a control-plane request.
    ///
    /// # Errors
    /// E1001 without a key or with one of a wrong form; what the key's function throws.
    pub async fn api_headers(&self, guard: &Guard) -> Result<Object> {
        let key = match &self.key {
            Key::None => return Err(self.no_key()),
            Key::Text(key) => key.clone(),
            Key::Function(function) => {
                let given = function.call0(&JsValue::UNDEFINED)?;
                let given = guard.promise(Promise::resolve(&given)).await;
                // What the caller's own function fails with is the caller's to see.
                let given = given.map_err(|stop| match stop {
                    crate::transport::guard::Stop::Failed(error) | crate::transport::guard::Stop::Fired(error) => error,
                })?;
                given.as_string().unwrap_or_default().trim().to_owned()
            }
        };
        if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(self.no_key());
        }
        if self.checks_key && !is_e2b_key(&key) {
            return Err(Thrown::new(Class::InvalidApiKey, "apiKey has not the form of an E2B key: e2b_ and hexadecimal digits.")
                .suggestion("Copy the whole key from the dashboard, or set validateApiKey to false for a platform with other keys.")
                .into());
        }
        let headers = Object::new();
        if self.bearer {
            set_text(&headers, "authorization", &["Bearer ", &key].concat());
        } else {
            set_text(&headers, "x-api-key", &key);
        }
        for (name, value) in &self.api_headers {
            set_text(&headers, name, value);
        }
        Ok(headers)
    }

    fn no_key(&self) -> Fault {
        let suggestion = match self.key_variable {
            _ if is_browser() => {
                "Make this call on a server: a page should not hold a key. In development, pass the option apiKey.".to_owned()
            }
            "" => "Pass the option apiKey.".to_owned(),
            variable => {
                ["Pass the option apiKey; in Node, Bun and Deno the environment variable ", variable, " is read too."].concat()
            }
        };
        Thrown::new(Class::InvalidApiKey, "This call needs an API key, and there is none.").suggestion(&suggestion).into()
    }

    /// Throws E8004 when the provider cannot honour an option.
    pub fn refuse_on_alibaba(&self, option: &str) -> Result<()> {
        if self.known != Some(Known::Alibaba) {
            return Ok(());
        }
        Err(Thrown::new(Class::ProviderFeature, &["The provider alibaba has no ", option, "."].concat()).into())
    }
}

/// Positions in a provider's list of environment variables.
const API_KEY: usize = 0;
const DOMAIN: usize = 1;
const API_URL: usize = 2;
const SANDBOX_URL: usize = 3;

const E2B: [Option<&str>; 4] = [Some("E2B_API_KEY"), Some("E2B_DOMAIN"), Some("E2B_API_URL"), Some("E2B_SANDBOX_URL")];
const AGENTBOX: [Option<&str>; 4] =
    [Some("AGENTBOX_API_KEY"), Some("AGENTBOX_DOMAIN"), Some("AGENTBOX_API_URL"), Some("AGENTBOX_SANDBOX_URL")];
const ALIBABA: [Option<&str>; 4] = [Some("ABX_SANDBOX_API_KEY"), None, None, None];

fn checked_url(name: &str, url: String) -> Result<String> {
    if url.starts_with("http://") || url.starts_with("https://") {
        return Ok(url.trim_end_matches('/').to_owned());
    }
    Err(invalid(&[name, " must begin with http:// or https://."]))
}

fn is_e2b_key(key: &str) -> bool {
    key.strip_prefix("e2b_")
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')))
}
