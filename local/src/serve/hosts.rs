//! Which names the platform answers to, and which pages may call it.
//!
//! The platform listens on loopback, where every page in every browser of the machine can reach it. Two checks keep strangers out: the
//! `Host` of a request must be a name that is known to mean this platform (a rebound DNS name is not), and the `Origin` of a call to the
//! control plane must be a page of this machine. Sandbox content never shares an origin with the console: the console lives on
//! `localhost`, sandboxes by path live on loopback addresses, sandboxes by host on `{port}-{id}.localhost`, and what code cells show as
//! HTML on `results.localhost`.

use super::error::ApiError;
use http::{HeaderMap, Uri, header};
use std::net::IpAddr;

/// What kind of name a request was sent to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// `localhost`: the console and the control plane, never sandbox content by path.
    Console,
    /// A loopback address or an allowed name: the control plane and sandboxes by path, never the console.
    Paths,
    /// `{port}-{id}.localhost`: the label that holds port and id.
    Sandbox(String),
    /// `results.localhost`: the empty page that shows HTML results, and nothing else.
    Results,
}

/// The label before `localhost` of the host that shows HTML results. No sandbox can have it: theirs begin with a port.
pub const RESULTS_LABEL: &str = "results";

/// The name and port of a request's `Host`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// The name without its port, in lower case; IPv6 addresses without brackets.
    pub name: String,
    /// The port, when one was given.
    pub port: Option<u16>,
    /// What the name means here.
    pub place: Place,
}

impl Host {
    /// The port as it stands in URLs: `:7300`, or nothing.
    pub fn port_suffix(&self) -> String {
        self.port.map(|port| format!(":{port}")).unwrap_or_default()
    }

    /// The base of paths on the platform for whoever sent this request: scheme, name and port without a trailing slash.
    pub fn paths_base(&self, listen: IpAddr) -> String {
        let name = match self.place {
            Place::Paths => bracketed(&self.name),
            _ => bracketed(&reachable(listen).to_string()),
        };
        format!("http://{name}{}", self.port_suffix())
    }
}

/// The address to write into URLs for a platform that listens on `listen`.
pub fn reachable(listen: IpAddr) -> IpAddr {
    match listen {
        IpAddr::V4(address) if address.is_unspecified() => IpAddr::V4(std::net::Ipv4Addr::LOCALHOST),
        IpAddr::V6(address) if address.is_unspecified() => IpAddr::V6(std::net::Ipv6Addr::LOCALHOST),
        other => other,
    }
}

fn bracketed(name: &str) -> String {
    if name.contains(':') { format!("[{name}]") } else { name.to_owned() }
}

/// The names and origins that flags allow beside loopback.
#[derive(Debug, Clone, Default)]
pub struct Allowed {
    hosts: Vec<String>,
    origins: Vec<String>,
}

impl Allowed {
    /// Takes the values of `--allow-host` and `--origin`.
    pub fn new(hosts: &[String], origins: &[String]) -> Self {
        Self {
            hosts: hosts.iter().map(|name| name.trim_matches(['[', ']', '.']).to_ascii_lowercase()).collect(),
            origins: origins.iter().map(|origin| origin.trim_end_matches('/').to_ascii_lowercase()).collect(),
        }
    }

    /// The host that a request names.
    ///
    /// # Errors
    /// 400 without a readable `Host` or with several, 403 for a name that is not known to be this platform's.
    pub fn host(&self, uri: &Uri, headers: &HeaderMap) -> Result<Host, ApiError> {
        // A proxy in front may have gone by the other one.
        if headers.get_all(header::HOST).iter().count() > 1 {
            return Err(ApiError::bad_request("the request has more than one Host header"));
        }
        let text = match uri.authority() {
            Some(authority) => authority.as_str(),
            None => headers
                .get(header::HOST)
                .and_then(|value| value.to_str().ok())
                .ok_or_else(|| ApiError::bad_request("the request has no Host header"))?,
        };
        let (name, port) = split(text).ok_or_else(|| ApiError::bad_request("the Host header is not a host name"))?;
        match self.place(&name) {
            Some(place) => Ok(Host { name, port, place }),
            None => Err(ApiError::forbidden(
                "This platform does not answer to that Host name. Start it with `--allow-host NAME` to allow the name.",
            )),
        }
    }

    fn place(&self, name: &str) -> Option<Place> {
        if name == "localhost" {
            return Some(Place::Console);
        }
        if is_loopback(name) || self.hosts.iter().any(|allowed| allowed == name) {
            return Some(Place::Paths);
        }
        let parent = std::iter::once("localhost").chain(self.hosts.iter().map(String::as_str));
        parent
            .filter_map(|parent| name.strip_suffix(parent)?.strip_suffix('.'))
            .map(|label| if label == RESULTS_LABEL { Place::Results } else { Place::Sandbox(label.to_owned()) })
            .next()
    }

    /// Who may embed the page that shows HTML results, as sources of a `frame-ancestors`: the pages that may call the control plane.
    pub fn embedders(&self) -> String {
        let own = ["http://localhost:*", "https://localhost:*", "http://127.0.0.1:*", "https://127.0.0.1:*"];
        own.into_iter().chain(self.origins.iter().map(String::as_str)).collect::<Vec<_>>().join(" ")
    }

    /// Refuses a call to the control plane that a foreign page makes. Calls without an `Origin` do not come from another page's script.
    ///
    /// # Errors
    /// 403 that names the flag.
    pub fn check_origin(&self, headers: &HeaderMap) -> Result<(), ApiError> {
        let Some(origin) = headers.get(header::ORIGIN) else { return Ok(()) };
        let origin = origin.to_str().unwrap_or_default().to_ascii_lowercase();
        if self.origins.contains(&origin) || is_own_page(&origin) {
            return Ok(());
        }
        Err(ApiError::forbidden(
            "Pages of that Origin may not call this platform. Start it with `--origin URL` to allow the page's origin.",
        ))
    }
}

/// Whether an origin is a page of this machine that is not sandbox content: `localhost` or a loopback address, on any port. Names below
/// `localhost` are where sandboxes live, and `null` is what sandbox content by path has.
fn is_own_page(origin: &str) -> bool {
    let Some(rest) = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://")) else { return false };
    split(rest).is_some_and(|(name, _)| name == "localhost" || is_loopback(&name))
}

fn is_loopback(name: &str) -> bool {
    name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Splits `name:port`, `[v6]:port` or a bare name.
fn split(text: &str) -> Option<(String, Option<u16>)> {
    let (name, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (name, rest) = rest.split_once(']')?;
            if !rest.is_empty() && !rest.starts_with(':') {
                return None;
            }
            (name, rest.strip_prefix(':'))
        }
        None => match text.split_once(':') {
            Some((name, port)) => (name, Some(port)),
            None => (text, None),
        },
    };
    let name = name.strip_suffix('.').unwrap_or(name);
    if name.is_empty() || name.contains(['/', '@', '?', '#', ' ']) {
        return None;
    }
    let port = port.map(str::parse).transpose().ok()?;
    Some((name.to_ascii_lowercase(), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(allowed: &Allowed, host: &str) -> Option<Place> {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().unwrap());
        allowed.host(&Uri::from_static("/"), &headers).ok().map(|host| host.place)
    }

    fn origin(allowed: &Allowed, origin: &str) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(header::ORIGIN, origin.parse().unwrap());
        allowed.check_origin(&headers).is_ok()
    }

    #[test]
    fn loopback_names_are_told_apart_and_others_refused() {
        let allowed = Allowed::new(&["box.lan".into()], &[]);
        assert_eq!(place(&allowed, "localhost:7300"), Some(Place::Console));
        assert_eq!(place(&allowed, "LOCALHOST"), Some(Place::Console));
        assert_eq!(place(&allowed, "127.0.0.1:7300"), Some(Place::Paths));
        assert_eq!(place(&allowed, "[::1]:1"), Some(Place::Paths));
        assert_eq!(place(&allowed, "[::1]"), Some(Place::Paths));
        assert_eq!(place(&allowed, "box.lan:80"), Some(Place::Paths));
        assert_eq!(place(&allowed, "3000-iabc.localhost:7300"), Some(Place::Sandbox("3000-iabc".into())));
        assert_eq!(place(&allowed, "s2.3000-iabc.box.lan"), Some(Place::Sandbox("s2.3000-iabc".into())));
        assert_eq!(place(&allowed, "results.localhost:7300"), Some(Place::Results));
        assert_eq!(place(&allowed, "s1.results.localhost"), Some(Place::Sandbox("s1.results".into())));
        for foreign in ["evil.example", "localhost.evil.example", "127.0.0.1.nip.io", "notlocalhost", "10.0.0.1:7300"] {
            assert_eq!(place(&allowed, foreign), None, "{foreign}");
        }
    }

    #[test]
    fn a_second_host_header_is_refused() {
        let mut headers = HeaderMap::new();
        headers.append(header::HOST, "localhost".parse().unwrap());
        headers.append(header::HOST, "localhost".parse().unwrap());
        assert!(Allowed::default().host(&Uri::from_static("/"), &headers).is_err_and(|error| error.status == 400));
    }

    #[test]
    fn sandbox_content_and_strangers_are_not_origins_of_the_control_plane() {
        let allowed = Allowed::new(&[], &["https://app.example/".into()]);
        for good in ["http://localhost:5173", "http://127.0.0.1:7300", "http://[::1]:80", "https://app.example"] {
            assert!(origin(&allowed, good), "{good}");
        }
        for bad in ["null", "https://evil.example", "http://3000-iabc.localhost:7300", "http://localhost.evil.example", "file://"] {
            assert!(!origin(&allowed, bad), "{bad}");
        }
    }
}
