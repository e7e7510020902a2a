//! Where to connect and as whom: the options of a connection, checked once and kept for all calls.

use crate::error::{Fault, Result, Thrown, invalid, refusal};
use crate::options::{CallOptions, Options, REQUEST_TIMEOUT, Reading, is_callable};
use crate::protocol::control::Clouds;
use crate::protocol::failure::Class;
use crate::protocol::interpreter::INTERPRETER_PORT;
use crate::protocol::routing::{ENVD_PORT, host, split_at, url};
use crate::transport::guard::Guard;
use crate::transport::headers::Headers;
use crate::transport::runtime::{environment, is_browser, proxy_fetch};
use js_sys::{Function, Object, Promise, Reflect};
use std::cell::Cell;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

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

/// What is known of a cloud.
struct Known {
    name: &'static str,
    cloud: Clouds,
    domain: &'static str,
    /// Of the routing headers.
    prefix: &'static str,
    /// In front of the names of workload tokens.
    placeholder: &'static str,
    variables: &'static [Option<&'static str>; 7],
}

static KNOWN: [Known; 3] = [
    Known { name: "e2b", cloud: Clouds::E2B, domain: "e2b.app", prefix: "E2b", placeholder: "e2b", variables: &E2B },
    Known {
        name: "agentbox",
        cloud: Clouds::AGENTBOX,
        domain: "agentbox-runtime.ru",
        prefix: "Agentbox",
        placeholder: "agentbox",
        variables: &AGENTBOX,
    },
    Known {
        name: "alibaba",
        cloud: Clouds::ALIBABA,
        domain: "cn-hangzhou.e2b.fc.aliyuncs.com",
        prefix: "E2b",
        placeholder: "e2b",
        variables: &ALIBABA,
    },
];

#[wasm_bindgen(module = "/src/js/relay.js")]
extern "C" {
    /// A server that has the API key, as a page sees it.
    pub type Relay;
    #[wasm_bindgen(constructor, catch)]
    fn new(url: &str, fetch: &JsValue, headers: &JsValue) -> core::result::Result<Relay, JsValue>;
    /// Absolute, without a slash at its end.
    #[wasm_bindgen(method, getter)]
    fn url(this: &Relay) -> String;
    #[wasm_bindgen(method, getter)]
    fn fetch(this: &Relay) -> JsValue;
    /// The subprotocols of a WebSocket; `undefined` for one that goes elsewhere.
    #[wasm_bindgen(method)]
    pub fn protocols(this: &Relay, url: &str, headers: &Object) -> Promise;
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
    /// Whose calls and options it has.
    pub cloud: Clouds,
    /// Its name, for messages.
    name: String,
    pub domain: String,
    pub api_url: String,
    /// As given; `None` for the domain's own hosts, and without a domain (empty) it is not known where sandboxes are.
    pub sandbox_url: Option<String>,
    pub routing_prefix: String,
    pub traffic_header: String,
    pub codec: Cell<Codec>,
    pub signed_urls: bool,
    /// In front of the names of workload tokens.
    pub placeholder: String,
    /// `undefined` for none.
    pub logger: JsValue,
    /// A constructor to use instead of the runtime's own.
    pub web_socket: Option<Function>,
    /// As given, in ms; 0 for no limit.
    request_timeout: Option<f64>,
    bearer: bool,
    key: Key,
    /// Whether the option was given as `undefined`, as a variable that is not set gives it.
    key_undefined: bool,
    /// The variable that the key could have come from.
    key_variable: &'static str,
    checks_key: bool,
    /// Whether it is of a sandbox that was handed over, without a key.
    pub attached: bool,
    /// Whether commands fail on a non-zero exit code unless their call says otherwise.
    pub check: bool,
    api_headers: Vec<(String, String)>,
    /// The caller's own `fetch`, one through a proxy or a relay's; `undefined` for the runtime's.
    pub fetch: JsValue,
    own_fetch: bool,
    pub relay: Option<Relay>,
}

impl Client {
    /// # Errors
    /// E0001 for a bad option, E1004 for cloud key pairs.
    pub fn new(options: &Options) -> Result<Self> {
        for name in ["accessKeyId", "accessKeySecret"] {
            if options.get(name)?.is_some() {
                return Err(Thrown::new(Class::TokenExchange, "Cloud key pairs cannot be exchanged for an API key here.").into());
            }
        }
        let provider = options.get("provider")?;
        let (known, profile) = match provider.as_ref().map(JsValue::as_string) {
            None => (&KNOWN[0], None),
            Some(None) => {
                let profile = options.object("provider")?.map(|profile| Options::new(profile.into())).transpose()?;
                let like = profile.as_ref().map(|profile| profile.text("like")).transpose()?.flatten();
                (known_as("provider.like", like.as_deref().unwrap_or("e2b"))?, profile)
            }
            Some(Some(name)) => (known_as("provider", &name)?, None),
        };
        // A profile of the caller's own has no environment: its variables are unknown.
        let is_own = profile.is_some();
        let profile = &profile.unwrap_or_default();
        let reading = Reading::default();
        let relay = reading.text(options, "relay");
        // Nor has a client of a relay, which knows everything.
        let variable = |at: usize| if is_own || relay.is_some() { None } else { known.variables[at].and_then(environment) };
        let name = reading.text(profile, "name").unwrap_or_else(|| {
            if is_own {
                reading.refuse("provider.name is missing: a profile needs a name, for messages.");
            }
            known.name.to_owned()
        });
        let is_debug = reading.boolean(options, "debug").unwrap_or_else(|| variable(DEBUG).is_some_and(|value| is_true(&value)));
        if is_debug && known.cloud == Clouds::ALIBABA {
            reading.note(unsupported(&name, "debug"));
        }
        let own_domain = reading.text(options, "domain").or_else(|| variable(DOMAIN));
        let profile_api = if own_domain.is_none() { reading.text(profile, "apiUrl") } else { None };
        let own_domain = own_domain.or_else(|| reading.text(profile, "domain"));
        let own_domain = own_domain.and_then(|domain| reading.keep(checked_domain(domain)));
        let debug_api = is_debug.then(|| "http://localhost:3000".to_owned());
        let mut fetch = reading.function(options, "fetch");
        if let Some(proxy) = reading.text(options, "proxy") {
            if fetch.is_some() {
                reading.refuse("fetch and proxy exclude each other: a fetch of your own finds its own way.");
            } else {
                fetch = reading.keep(checked_proxy(proxy).and_then(|proxy| Ok(proxy_fetch(&proxy)?)));
            }
        }
        let own_fetch = fetch.is_some();
        let mut fetch = fetch.into();
        let relay = relay.as_ref().and_then(|url| {
            for name in ["apiKey", "apiUrl"] {
                if reading.get(options, name).is_some() {
                    reading.note(invalid(&["relay and ", name, " exclude each other: the relay has the key."]));
                }
            }
            let relay = Relay::new(url, &fetch, &reading.get(options, "apiHeaders").unwrap_or_default())
                .map_err(|_| refusal("relay must be a URL; a path does in pages alone."));
            let relay = reading.keep(relay)?;
            fetch = relay.fetch();
            Some(relay)
        });
        let relay_url = relay.as_ref().map(Relay::url);
        let own_api = relay_url.or(reading.text(options, "apiUrl")).or_else(|| variable(API_URL)).or(profile_api).or(debug_api);
        let own_api = own_api.and_then(|url| reading.keep(checked_url("apiUrl", url)));
        // Another control plane has sandboxes of its own: those of the default domain, and whoever reads their tokens, are somebody else's.
        let domain = match (own_domain, &own_api) {
            (Some(domain), _) => domain,
            (None, _) if relay.is_some() => String::new(),
            (None, Some(url)) => host(url).strip_prefix("api.").unwrap_or_default().to_owned(),
            // Nobody's keys go to a cloud that the profile does not name.
            (None, None) if is_own => String::new(),
            (None, None) => known.domain.to_owned(),
        };
        let api_url = own_api.unwrap_or_else(|| if domain.is_empty() { String::new() } else { ["https://api.", &domain].concat() });
        // A platform elsewhere that speaks E2B's protocol has keys of its own form.
        let is_e2b = !is_own && known.cloud == Clouds::E2B;
        let checks_key = match reading.boolean(options, "validateApiKey") {
            Some(checks) => checks && is_e2b,
            None => is_e2b && api_url.ends_with(".e2b.app") && variable(VALIDATE).is_none_or(|value| is_true(&value)),
        };
        let debug_sandbox = is_debug.then(|| "http://localhost:{port}".to_owned());
        let sandbox_url = reading.text(options, "sandboxUrl").or_else(|| variable(SANDBOX_URL)).or(debug_sandbox);
        let sandbox_url = sandbox_url.and_then(|url| reading.keep(checked_url("sandboxUrl", url)));
        if sandbox_url.as_deref().is_some_and(|template| url(template, "", 0).bytes().any(|byte| matches!(byte, b'{' | b'}'))) {
            reading.refuse("sandboxUrl may hold the placeholders {sandboxId} and {port}, and no others.");
        }
        let key = reading.get(options, "apiKey");
        let key_undefined = key.is_none() && Reflect::has(options.value(), &JsValue::from_str("apiKey")).unwrap_or(false);
        let key = match key {
            None => variable(API_KEY).map_or(Key::None, Key::Text),
            Some(key) => match key.as_string() {
                Some(text) => Key::Text(text.trim().to_owned()),
                None => {
                    if !is_callable(&key) {
                        reading.refuse("apiKey must be a string, or a function that gives one.");
                    }
                    Key::Function(key.unchecked_into())
                }
            },
        };
        let bearer = match reading.string(profile, "keyHeader").as_deref() {
            None => known.cloud == Clouds::ALIBABA,
            Some("x-api-key") => false,
            other => {
                if other != Some("bearer") {
                    reading.refuse("keyHeader must be \"x-api-key\" or \"bearer\".");
                }
                true
            }
        };
        let codec = match reading.string(profile, "codec").as_deref() {
            None if known.cloud == Clouds::ALIBABA => Codec::Json,
            None | Some("proto") => Codec::Proto,
            other => {
                if other != Some("json") {
                    reading.refuse("codec must be \"proto\" or \"json\".");
                }
                Codec::Json
            }
        };
        let prefix = reading.text(profile, "routingPrefix").unwrap_or_else(|| known.prefix.to_owned());
        let api_headers = reading.record(options, "apiHeaders");
        if !api_headers.iter().all(|(name, value)| is_header(name, value)) {
            reading.refuse("apiHeaders holds a name or a value that no header can carry.");
        }
        let seconds = variable(TIMEOUT).map(|text| JsValue::from_str(&text).unchecked_into_f64()).filter(|seconds| *seconds > 0.0);
        let client = Self {
            provider: provider.unwrap_or_default(),
            cloud: known.cloud,
            name,
            placeholder: reading.text(profile, "placeholderPrefix").unwrap_or_else(|| known.placeholder.to_owned()),
            domain,
            api_url,
            sandbox_url,
            traffic_header: reading
                .text(profile, "trafficTokenHeader")
                .unwrap_or_else(|| [&prefix, "-Traffic-Access-Token"].concat()),
            routing_prefix: prefix,
            codec: Cell::new(codec),
            signed_urls: reading.boolean(profile, "signedUrls").unwrap_or(known.cloud != Clouds::ALIBABA),
            logger: reading.object(options, "logger").into(),
            web_socket: reading.keep(options.class("webSocket")).flatten(),
            request_timeout: reading.millis(options, "requestTimeoutMs").or(seconds.map(|seconds| seconds * 1000.0)),
            bearer,
            key_undefined,
            key,
            key_variable: if is_own { "" } else { known.variables[API_KEY].unwrap_or_default() },
            checks_key,
            attached: false,
            check: reading.boolean(options, "check").unwrap_or(false),
            api_headers,
            fetch,
            own_fetch,
            relay,
        };
        reading.end(client)
    }

    /// Refuses what needs a sandbox's own address when only another control plane's is known.
    pub fn require_sandbox_address(&self) -> Result<()> {
        if self.sandbox_url.is_none() && self.domain.is_empty() && self.relay.is_none() {
            return Err(refusal("With this apiUrl, sandboxUrl (or domain) must say where the platform's sandboxes are."));
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
        self.own_fetch
    }

    /// Whether the control plane can be asked.
    pub fn has_key(&self) -> bool {
        self.relay.is_some() || !matches!(self.key, Key::None)
    }

    /// Headers of a control-plane request.
    ///
    /// # Errors
    /// E1001 without a key or with one of a wrong form; what the key's function throws.
    pub async fn api_headers(&self, guard: &Guard) -> Result<Headers> {
        let key = match &self.key {
            Key::None if self.relay.is_some() => return Ok(self.with_api_headers("x-sandbox-relay", "1")),
            Key::None => return Err(self.no_key()),
            Key::Text(key) => key.clone(),
            Key::Function(function) => {
                let given = function.call0(&JsValue::UNDEFINED)?;
                // What the caller's own function fails with is the caller's to see.
                let given = JsFuture::from(guard.race(&given)).await?;
                given.as_string().unwrap_or_default().trim().to_owned()
            }
        };
        if key.is_empty() {
            return Err(self.no_key());
        }
        if !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(Thrown::new(Class::InvalidApiKey, "apiKey holds a space or another character that no key has.")
                .suggestion(
                    "Copy the key again: no spaces, quotation marks, dots in the middle of it or letters that only look alike.",
                )
                .into());
        }
        if self.api_url.is_empty() {
            return Err(invalid(&[
                "The provider ",
                &self.name,
                " names neither domain nor apiUrl: where its control plane is, is unknown.",
            ]));
        }
        if self.checks_key && !is_e2b_key(&key) {
            return Err(Thrown::new(Class::InvalidApiKey, "apiKey has not the form of an E2B key: e2b_ and hexadecimal digits.")
                .suggestion("Copy the whole key from the dashboard, or set validateApiKey to false for a platform with other keys.")
                .into());
        }
        Ok(match self.bearer {
            true => self.with_api_headers("authorization", &["Bearer ", &key].concat()),
            false => self.with_api_headers("x-api-key", &key),
        })
    }

    fn with_api_headers(&self, name: &str, value: &str) -> Headers {
        let mut headers = Headers::default();
        headers.set(name, value);
        for (name, value) in &self.api_headers {
            headers.set(name, value);
        }
        headers
    }

    /// Where sandboxes are that nobody gave an address of, with placeholders.
    pub fn default_sandbox_url(&self) -> String {
        match &self.relay {
            Some(_) if self.domain.is_empty() => self.relayed_url(),
            _ => sandboxes_of(&self.domain),
        }
    }

    /// Where the relay passes requests on, with placeholders.
    fn relayed_url(&self) -> String {
        [&self.api_url, "/s/{sandboxId}/{port}"].concat()
    }

    /// Where a port is that is not reached straight, with placeholders: without CORS, or with a token that preflights lack.
    pub fn relayed(&self, port: u16, is_public: bool) -> Option<String> {
        let straight = port == ENVD_PORT || port == INTERPRETER_PORT && is_public;
        (self.relay.is_some() && !straight).then(|| self.relayed_url())
    }

    fn no_key(&self) -> Fault {
        let suggestion = match self.key_variable {
            _ if self.attached => {
                "A sandbox handed over comes without a key: make this call on the server that created it, or attach with the option relay.".to_owned()
            }
            _ if is_browser() => {
                "Make this call on a server: a page should not hold a key. In development, pass the option apiKey.".to_owned()
            }
            "" => "Pass the option apiKey.".to_owned(),
            variable => {
                ["Pass the option apiKey; in Node, Bun and Deno the environment variable ", variable, " is read too."].concat()
            }
        };
        let message = match self.key_undefined && !self.attached {
            true => "This call needs an API key, and the option apiKey is undefined. Is the variable set that it is taken from?",
            false => "This call needs an API key, and there is none.",
        };
        Thrown::new(Class::InvalidApiKey, message).suggestion(&suggestion).into()
    }

    /// # Errors
    /// E8004 when the provider is none of these.
    pub fn require(&self, clouds: Clouds, what: &str) -> Result<()> {
        if clouds.has(self.cloud) { Ok(()) } else { Err(unsupported(&self.name, what)) }
    }
}

/// The hosts of a domain's sandboxes, with placeholders.
pub fn sandboxes_of(domain: &str) -> String {
    ["https://{port}-{sandboxId}.", domain].concat()
}

fn unsupported(provider: &str, what: &str) -> Fault {
    Thrown::new(Class::ProviderFeature, &["The provider ", provider, " has no ", what, "."].concat()).into()
}

fn known_as(option: &str, name: &str) -> Result<&'static Known> {
    match KNOWN.iter().find(|known| known.name == name) {
        Some(known) => Ok(known),
        None => {
            let or = if option == "provider" { " or a profile." } else { "." };
            Err(invalid(&[option, " must be \"e2b\", \"agentbox\", \"alibaba\"", or]))
        }
    }
}

fn is_true(value: &str) -> bool {
    value.eq_ignore_ascii_case("true") || value == "1"
}

/// Positions in a provider's list of environment variables.
const API_KEY: usize = 0;
const DOMAIN: usize = 1;
const API_URL: usize = 2;
const SANDBOX_URL: usize = 3;

const DEBUG: usize = 4;
const VALIDATE: usize = 5;
const TIMEOUT: usize = 6;

const E2B: [Option<&str>; 7] = [
    Some("E2B_API_KEY"),
    Some("E2B_DOMAIN"),
    Some("E2B_API_URL"),
    Some("E2B_SANDBOX_URL"),
    Some("E2B_DEBUG"),
    Some("E2B_VALIDATE_API_KEY"),
    None,
];
const AGENTBOX: [Option<&str>; 7] = [
    Some("AGENTBOX_API_KEY"),
    Some("AGENTBOX_DOMAIN"),
    Some("AGENTBOX_API_URL"),
    Some("AGENTBOX_SANDBOX_URL"),
    Some("AGENTBOX_DEBUG"),
    None,
    None,
];
const ALIBABA: [Option<&str>; 7] = [
    Some("ABX_SANDBOX_API_KEY"),
    Some("ABX_SANDBOX_DOMAIN"),
    Some("ABX_SANDBOX_BASE_URL"),
    None,
    None,
    None,
    Some("SANDBOX_HTTP_TIMEOUT"),
];

/// # Errors
/// E0001. It does not repeat the URL, which may hold a password.
fn checked_url(name: &str, url: String) -> Result<String> {
    let Some((_, rest)) = split_at(&url, "://").filter(|(scheme, _)| matches!(*scheme, "http" | "https")) else {
        return Err(invalid(&[name, " must begin with http:// or https://."]));
    };
    if rest.is_empty() || rest.bytes().any(|byte| matches!(byte, b'@' | b'?' | b'#' | b'\\') || byte.is_ascii_whitespace()) {
        return Err(invalid(&[name, " must be a URL without user name, password, query and fragment."]));
    }
    Ok(url.trim_end_matches('/').to_owned())
}

fn checked_domain(domain: String) -> Result<String> {
    if domain.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b':')) {
        return Ok(domain);
    }
    Err(refusal("domain must be a host name, such as example.com."))
}

/// # Errors
/// E0001. It does not repeat the URL, which may well hold a password.
fn checked_proxy(url: String) -> Result<String> {
    if url.starts_with("http://") || url.starts_with("https://") {
        return Ok(url);
    }
    Err(refusal("proxy must begin with http:// or https://."))
}

/// Whether a header can carry this.
pub fn is_header(name: &str, value: &str) -> bool {
    let is_token = |byte: u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'!' | b'#'..=b'\'' | b'*' | b'+' | b'-' | b'.' | b'^'..=b'`' | b'|' | b'~')
    };
    !name.is_empty()
        && name.bytes().all(is_token)
        && value.chars().all(|one| one == '\t' || (' '..='ÿ').contains(&one) && one != '\x7f')
}

fn is_e2b_key(key: &str) -> bool {
    key.strip_prefix("e2b_")
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')))
}
