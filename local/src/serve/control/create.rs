//! The body of a create call: what it may hold, and what of it this machine can honour. Whatever it cannot is refused by name, never
//! stored or ignored: a client that asked for a wall must not believe that it stands.

use super::super::error::ApiError;
use super::super::platform::Platform;
use super::super::template::{Name, Template};
use super::super::wish::{Lifecycle, Network, OnTimeout, Wish};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::time::Duration;

/// The longest life of a sandbox, in seconds.
pub const MAX_TIMEOUT: i64 = 86_400;
/// What v1 gives a sandbox whose creator names no timeout, in seconds.
pub const DEFAULT_V1: i64 = 15;
/// The same for v2.
pub const DEFAULT_V2: i64 = 300;

/// Which family of routes a call came by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// `/sandboxes`
    V1,
    /// `/v2/sandboxes`: always secure.
    V2,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Body {
    #[serde(rename = "templateID")]
    template_id: String,
    timeout: Option<i64>,
    auto_pause: Option<bool>,
    auto_pause_memory: Option<bool>,
    auto_resume: Option<AutoResume>,
    secure: Option<bool>,
    #[serde(rename = "allow_internet_access")]
    allow_internet_access: Option<bool>,
    network: Option<Map<String, Value>>,
    metadata: Option<BTreeMap<String, String>>,
    env_vars: Option<BTreeMap<String, String>>,
    iam: Option<Map<String, Value>>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

#[derive(Deserialize)]
struct AutoResume {
    enabled: bool,
}

/// Members that ask for something a sandbox here cannot have, with what the refusal says of them.
const REFUSED: [(&str, &str); 6] = [
    ("mcp", "MCP servers are not available"),
    ("volumeMounts", "volumes are not available"),
    ("cpuCount", "a sandbox shares the processors of this machine, its number cannot be chosen"),
    ("memoryMB", "a sandbox shares the memory of this machine, its size cannot be chosen"),
    ("diskSizeMB", "a sandbox shares the disk of this machine, its size cannot be chosen"),
    ("gpu", "GPUs are not available"),
];

/// Members of `network` of the same kind.
const REFUSED_NETWORK: [(&str, &str); 6] = [
    ("allowOut", "egress can only be open or denied as a whole"),
    ("rules", "egress rules are not available"),
    ("egressProxy", "egress proxies are not available"),
    ("maskRequestHost", "servers in a sandbox see the Host that the client wrote"),
    ("dnsServers", "name servers cannot be chosen"),
    ("httpsPorts", "HTTPS ports cannot be chosen"),
];

/// Everything that a deny list of the whole internet is written as.
const EVERYTHING: &str = "0.0.0.0/0";

/// Reads and checks the body. `find` looks a template up.
///
/// # Errors
/// 400 that names the member, 404 for an unknown template.
pub fn parse(bytes: &[u8], family: Family, find: impl FnOnce(&Name) -> Option<Template>) -> Result<Wish, ApiError> {
    let body: Body = serde_json::from_slice(bytes).map_err(ApiError::validation)?;
    refuse(&body.rest, &REFUSED, "")?;
    let default = if family == Family::V2 { DEFAULT_V2 } else { DEFAULT_V1 };
    let lifetime = positive_timeout(body.timeout.unwrap_or(default))?;
    let auto_pause = body.auto_pause.unwrap_or(false);
    if body.auto_pause_memory == Some(false) && !auto_pause {
        return Err(ApiError::bad_request("autoPauseMemory can only be false when autoPause is true"));
    }
    let memory = body.auto_pause_memory.unwrap_or(true);
    let auto_resume = body.auto_resume.is_some_and(|auto_resume| auto_resume.enabled);
    if auto_resume && !memory {
        return Err(ApiError::bad_request(
            "autoResume and autoPauseMemory false exclude each other: traffic resumes only what has memory",
        ));
    }
    let on_timeout = if auto_pause { OnTimeout::Pause { memory } } else { OnTimeout::Kill };
    if body.iam.is_some_and(|iam| iam.values().any(is_something)) {
        return Err(ApiError::bad_request("iam is not available on this platform: there is nobody who issues workload tokens"));
    }
    let secure = family == Family::V2 || body.secure.unwrap_or(false);
    let network = Rules::parse(body.network.as_ref())?;
    if !network.public_traffic && !secure {
        return Err(ApiError::bad_request("network.allowPublicTraffic can only be false when secure is true"));
    }
    let env_vars = body.env_vars.unwrap_or_default();
    if env_vars.iter().any(|(name, value)| name.is_empty() || name.contains(['=', '\0']) || value.contains('\0')) {
        return Err(ApiError::bad_request("envVars: a name is empty or holds `=`, or a name or value holds a NUL"));
    }
    let name = Name::parse(&body.template_id).map_err(|error| ApiError::bad_request(format!("templateID: {error}")))?;
    let template = find(&name)
        .ok_or_else(|| ApiError::new(http::StatusCode::NOT_FOUND, format!("template '{}' not found", body.template_id.trim())))?;
    Ok(Wish {
        template,
        lifetime,
        lifecycle: Lifecycle { on_timeout, auto_resume },
        secure,
        network: Network {
            allow_internet: body.allow_internet_access,
            given: body.network,
            online: body.allow_internet_access.unwrap_or(true) && !network.deny_all,
            public_traffic: network.public_traffic,
        },
        metadata: body.metadata.unwrap_or_default(),
        env_vars,
    })
}

/// Refuses to keep a sandbox from the internet where nothing could.
///
/// # Errors
/// 400 that says so.
pub fn can_be_kept(platform: &Platform, online: bool) -> Result<(), ApiError> {
    if online || platform.walls.cut_network() {
        return Ok(());
    }
    Err(ApiError::bad_request(
        "allow_internet_access and network.denyOut cannot be honoured: this platform runs without walls (--isolation none)",
    ))
}

/// A timeout of more than nothing.
///
/// # Errors
/// 400 for nothing and less, and see [`timeout`].
pub fn positive_timeout(seconds: i64) -> Result<Duration, ApiError> {
    if seconds <= 0 {
        return Err(ApiError::bad_request("Timeout must be greater than 0"));
    }
    timeout(seconds)
}

/// A timeout in seconds, nothing included.
///
/// # Errors
/// 400 below 0 and above [`MAX_TIMEOUT`].
pub fn timeout(seconds: i64) -> Result<Duration, ApiError> {
    if seconds > MAX_TIMEOUT {
        return Err(ApiError::bad_request(format!("Max instance length exceeded: a timeout is at most {MAX_TIMEOUT} seconds")));
    }
    u64::try_from(seconds).map(Duration::from_secs).map_err(|_| ApiError::validation("timeout must be at least 0"))
}

/// What a `network` object asks for, of what there is.
pub struct Rules {
    /// That nothing is reached.
    pub deny_all: bool,
    /// That nobody needs a token for the sandbox's ports.
    pub public_traffic: bool,
}

impl Rules {
    /// Reads it.
    ///
    /// # Errors
    /// 400 for whatever there is not.
    pub fn parse(network: Option<&Map<String, Value>>) -> Result<Self, ApiError> {
        let Some(network) = network else { return Ok(Self { deny_all: false, public_traffic: true }) };
        refuse(network, &REFUSED_NETWORK, "network.")?;
        let public_traffic = match network.get("allowPublicTraffic") {
            None | Some(Value::Null) => true,
            Some(Value::Bool(public)) => *public,
            Some(_) => return Err(ApiError::validation("network.allowPublicTraffic must be a boolean")),
        };
        let denied: Vec<String> = match network.get("denyOut") {
            None | Some(Value::Null) => Vec::new(),
            Some(list) => serde_json::from_value(list.clone())
                .map_err(|_| ApiError::validation("network.denyOut must be an array of strings"))?,
        };
        let deny_all = denied.iter().any(|entry| entry.trim() == EVERYTHING);
        if !deny_all && !denied.is_empty() {
            return Err(ApiError::bad_request(format!(
                "network.denyOut: egress can only be open or denied as a whole; the list that denies it is [\"{EVERYTHING}\"]"
            )));
        }
        Ok(Self { deny_all, public_traffic })
    }
}

fn refuse(given: &Map<String, Value>, refused: &[(&str, &str)], prefix: &str) -> Result<(), ApiError> {
    match refused.iter().find(|(name, _)| given.get(*name).is_some_and(is_something)) {
        Some((name, why)) => Err(ApiError::bad_request(format!("{prefix}{name} is not available on this platform: {why}"))),
        None => Ok(()),
    }
}

/// Whether a member asks for anything: absent, null and empty ask for nothing.
fn is_something(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Array(list) => !list.is_empty(),
        Value::Object(map) => !map.is_empty(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::template;
    use super::*;
    use serde_json::json;

    fn parse_v1(body: Value) -> Result<Wish, ApiError> {
        parse(body.to_string().as_bytes(), Family::V1, template::find)
    }

    #[test]
    fn the_two_families_have_their_own_defaults() {
        let v1 = parse_v1(json!({"templateID": "base"})).unwrap();
        assert_eq!((v1.lifetime.as_secs(), v1.secure), (15, false));
        let v2 = parse(br#"{"templateID":"base","unknown":{"x":1}}"#, Family::V2, template::find).unwrap();
        assert_eq!((v2.lifetime.as_secs(), v2.secure), (300, true));
    }

    #[test]
    fn what_cannot_be_honoured_is_refused_by_name() {
        for (member, body) in [
            ("mcp", json!({"mcp": {"x": {}}})),
            ("volumeMounts", json!({"volumeMounts": [{"name": "a", "path": "/a"}]})),
            ("cpuCount", json!({"cpuCount": 2})),
            ("memoryMB", json!({"memoryMB": 512})),
            ("diskSizeMB", json!({"diskSizeMB": 1})),
            ("gpu", json!({"gpu": "A10"})),
            ("iam", json!({"iam": {"tokens": {"a": {"audience": "b", "tokenType": "JWT-SVID"}}}})),
            ("autoPauseMemory", json!({"autoPauseMemory": false})),
            ("autoResume", json!({"autoPause": true, "autoPauseMemory": false, "autoResume": {"enabled": true}})),
            ("allowOut", json!({"network": {"allowOut": ["1.1.1.1"]}})),
            ("rules", json!({"network": {"rules": {"a.b": []}}})),
            ("egressProxy", json!({"network": {"egressProxy": {"address": "a:1"}}})),
            ("maskRequestHost", json!({"network": {"maskRequestHost": "a"}})),
            ("denyOut", json!({"network": {"denyOut": ["10.0.0.0/8"]}})),
            ("allowPublicTraffic", json!({"network": {"allowPublicTraffic": false}})),
            ("envVars", json!({"envVars": {"A=B": "c"}})),
            ("Timeout", json!({"timeout": 0})),
            ("86400", json!({"timeout": 86_401})),
            ("validation error", json!({"timeout": "10"})),
            ("validation error", json!({"metadata": {"a": 1}})),
        ] {
            let mut body = body;
            body["templateID"] = json!("base");
            let error = parse_v1(body).expect_err(member);
            assert_eq!(error.status, 400, "{member}");
            assert!(error.message.contains(member), "{member}: {}", error.message);
        }
    }

    #[test]
    fn what_asks_for_nothing_passes() {
        let body = json!({"templateID": "base", "mcp": null, "iam": {"tokens": {}}, "volumeMounts": [], "autoPause": false,
            "autoResume": {"enabled": false}, "network": {"allowOut": [], "denyOut": [], "rules": {}}});
        assert!(parse_v1(body).unwrap().network.online);
    }

    #[test]
    fn denying_everything_is_no_internet() {
        let wish = parse_v1(json!({"templateID": "base", "network": {"denyOut": ["0.0.0.0/0"]}})).unwrap();
        assert!(!wish.network.online);
        assert!(!parse_v1(json!({"templateID": "base", "allow_internet_access": false})).unwrap().network.online);
    }

    #[test]
    fn the_end_of_a_lifetime_is_chosen() {
        let lifecycle = |body: Value| parse_v1(body).unwrap().lifecycle;
        assert_eq!(lifecycle(json!({"templateID": "base"})), Lifecycle { on_timeout: OnTimeout::Kill, auto_resume: false });
        assert_eq!(
            lifecycle(json!({"templateID": "base", "autoPause": true, "autoResume": {"enabled": true}})),
            Lifecycle { on_timeout: OnTimeout::Pause { memory: true }, auto_resume: true }
        );
        assert_eq!(
            lifecycle(json!({"templateID": "base", "autoPause": true, "autoPauseMemory": false})).on_timeout,
            OnTimeout::Pause { memory: false }
        );
    }

    #[test]
    fn an_unknown_template_is_404() {
        assert_eq!(parse_v1(json!({"templateID": "ubuntu"})).unwrap_err().status, 404);
    }
}
