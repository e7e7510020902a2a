//! Which port of which sandbox a request is for.

use http::HeaderMap;

/// The names of the routing headers, one pair for each family of SDKs.
pub const ROUTING: [(&str, &str); 2] = [("e2b-sandbox-id", "e2b-sandbox-port"), ("agentbox-sandbox-id", "agentbox-sandbox-port")];

/// A port of a sandbox, and how the request named it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The sandbox's id; whether it exists is another question.
    pub id: String,
    /// The port.
    pub port: u16,
    /// How they were named.
    pub form: Form,
}

/// The three forms of the gateway.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Form {
    /// `/s/{id}/{port}/…`
    Path {
        /// `/s/{id}/{port}`, which the sandbox's server does not see.
        prefix: String,
        /// What it sees instead.
        path_and_query: String,
    },
    /// `{port}-{id}.localhost`, with an optional shard label before it.
    Host,
    /// `E2b-Sandbox-*` or `Agentbox-Sandbox-*`.
    Headers,
}

/// What is wrong with a request's routing; the texts are the ones that this API's clients know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// The host name does not have the form.
    #[error("Invalid host")]
    Host,
    /// The port is no number between 1 and 65535.
    #[error("Invalid sandbox port")]
    Port,
    /// The id has characters that no id has.
    #[error("Invalid sandbox ID")]
    Id,
    /// Only one of the two routing headers is there.
    #[error("missing header")]
    Header,
}

impl Target {
    /// Reads `/s/{id}/{port}/…`; a port header that differs wins. `None` when the path is not of this form.
    pub fn by_path(path_and_query: &str, headers: &HeaderMap) -> Option<Result<Self, Malformed>> {
        let rest = path_and_query.strip_prefix("/s/")?;
        let (path, query) = rest.find('?').map_or((rest, ""), |at| rest.split_at(at));
        let mut parts = path.splitn(3, '/');
        let (raw_id, raw_port) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let inner = parts.next().unwrap_or_default();
        let named = ROUTING.iter().find_map(|(_, port)| headers.get(*port)?.to_str().ok());
        Some(id(raw_id).and_then(|id| {
            let port = port(named.unwrap_or(raw_port))?;
            let form = Form::Path { prefix: format!("/s/{raw_id}/{raw_port}"), path_and_query: format!("/{inner}{query}") };
            Ok(Self { id, port, form })
        }))
    }

    /// Reads the label `{port}-{id}`, which may follow a shard label `s{number}.`: browsers open six connections to a host name, and every
    /// shard is a host name of its own.
    ///
    /// # Errors
    /// When the label does not have the form.
    pub fn by_host(label: &str) -> Result<Self, Malformed> {
        let label = match label.split_once('.') {
            None => label,
            Some((shard, label)) if is_shard(shard) && !label.contains('.') => label,
            Some(_) => return Err(Malformed::Host),
        };
        let (raw_port, raw_id) = label.split_once('-').ok_or(Malformed::Host)?;
        let raw_id = raw_id.split('-').next().unwrap_or_default();
        Ok(Self { id: id(raw_id)?, port: port(raw_port)?, form: Form::Host })
    }

    /// Reads the routing headers. `None` when there is none.
    pub fn by_headers(headers: &HeaderMap) -> Option<Result<Self, Malformed>> {
        let text = |name| headers.get(name).map(|value: &http::HeaderValue| value.to_str().unwrap_or_default());
        let (raw_id, raw_port) =
            ROUTING.iter().map(|(id, port)| (text(*id), text(*port))).find(|(id, port)| id.is_some() || port.is_some())?;
        let (Some(raw_id), Some(raw_port)) = (raw_id, raw_port) else { return Some(Err(Malformed::Header)) };
        Some(id(raw_id).and_then(|id| Ok(Self { id, port: port(raw_port)?, form: Form::Headers })))
    }
}

fn is_shard(label: &str) -> bool {
    label
        .strip_prefix('s')
        .is_some_and(|number| (1..=7).contains(&number.len()) && number.bytes().all(|digit| digit.is_ascii_digit()))
}

fn port(text: &str) -> Result<u16, Malformed> {
    let digits = !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
    text.parse().ok().filter(|port| digits && *port != 0).ok_or(Malformed::Port)
}

/// An id as paths carry it: `[a-z0-9]+`, and an old client id after a dash that is dropped.
///
/// # Errors
/// For anything else.
pub fn id(text: &str) -> Result<String, Malformed> {
    let (id, rest) = text.split_once('-').map_or((text, None), |(id, rest)| (id, Some(rest)));
    let good = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    let good = good && rest.is_none_or(|rest| !rest.contains('-'));
    good.then(|| id.to_owned()).ok_or(Malformed::Id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (http::HeaderName::from_static(name), value.parse().unwrap())).collect()
    }

    fn path(text: &str) -> Result<(String, u16, String), Malformed> {
        let target = Target::by_path(text, &HeaderMap::new()).expect("a path of the form")?;
        match target.form {
            Form::Path { path_and_query, .. } => Ok((target.id, target.port, path_and_query)),
            _ => unreachable!("paths give paths"),
        }
    }

    #[test]
    fn paths_keep_what_follows_as_it_is() {
        assert_eq!(path("/s/iabc/3000/a%2Fb/../c?q=1/2"), Ok(("iabc".into(), 3000, "/a%2Fb/../c?q=1/2".into())));
        assert_eq!(path("/s/iabc/3000"), Ok(("iabc".into(), 3000, "/".into())));
        assert_eq!(path("/s/iabc-6532622b/3000?x"), Ok(("iabc".into(), 3000, "/?x".into())));
        assert_eq!(path("/s/iabc/99999/"), Err(Malformed::Port));
        assert_eq!(path("/s/iabc/+80/"), Err(Malformed::Port));
        assert_eq!(path("/s/iabc/0/"), Err(Malformed::Port));
        assert_eq!(path("/s/Iabc/80/"), Err(Malformed::Id));
        assert_eq!(path("/s/a-b-c/80/"), Err(Malformed::Id));
        assert!(Target::by_path("/sandboxes", &HeaderMap::new()).is_none());
    }

    #[test]
    fn a_port_header_wins_over_the_path() {
        let headers = headers(&[("e2b-sandbox-port", "49999")]);
        let target = Target::by_path("/s/iabc/49983/execute", &headers).unwrap().unwrap();
        assert_eq!(target.port, 49999);
    }

    #[test]
    fn hosts_may_have_a_shard() {
        for label in ["3000-iabc", "s1.3000-iabc", "s1048576.3000-iabc-client"] {
            let target = Target::by_host(label).unwrap();
            assert_eq!((target.id.as_str(), target.port), ("iabc", 3000), "{label}");
        }
        assert_eq!(Target::by_host("x.3000-iabc"), Err(Malformed::Host));
        assert_eq!(Target::by_host("s12345678.3000-iabc"), Err(Malformed::Host));
        assert_eq!(Target::by_host("s1.s2.3000-iabc"), Err(Malformed::Host));
        assert_eq!(Target::by_host("iabc"), Err(Malformed::Host));
        assert_eq!(Target::by_host("x-iabc"), Err(Malformed::Port));
    }

    #[test]
    fn both_routing_headers_are_needed() {
        assert!(Target::by_headers(&HeaderMap::new()).is_none());
        let both = headers(&[("agentbox-sandbox-id", "iabc"), ("agentbox-sandbox-port", "8000")]);
        assert_eq!(Target::by_headers(&both).unwrap().map(|target| target.port), Ok(8000));
        assert_eq!(Target::by_headers(&headers(&[("e2b-sandbox-id", "iabc")])), Some(Err(Malformed::Header)));
    }
}
