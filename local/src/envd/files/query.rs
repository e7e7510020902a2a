//! The query of `/files`, and where it leads.

use super::super::Envd;
use super::super::auth::{FileAccess, check_file_access};
use super::super::error::HttpError;
use super::super::paths::Base;
use super::super::users::User;
use agent_sandbox_web::protocol::signature::Operation;
use http::{Request, StatusCode};
use percent_encoding::percent_decode_str;

/// The query's known values.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// The file.
    pub path: Option<String>,
    username: Option<String>,
    signature: Option<String>,
    expiration: Option<i64>,
}

impl Query {
    /// Reads a query.
    ///
    /// # Errors
    /// 400 in plain text for a value that is there twice or cannot be read.
    pub fn parse(query: &str) -> Result<Self, HttpError> {
        let mut values = Self::default();
        let mut expiration = None;
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let name = decode(name).ok_or_else(|| invalid(name, "it is no UTF-8"))?;
            let slot = match name.as_str() {
                "path" => &mut values.path,
                "username" => &mut values.username,
                "signature" => &mut values.signature,
                "signature_expiration" => &mut expiration,
                _ => continue,
            };
            let value = decode(value).ok_or_else(|| invalid(&name, "it is no UTF-8"))?;
            if slot.replace(value).is_some() {
                return Err(invalid(&name, "multiple values for single value parameter"));
            }
        }
        values.expiration = match expiration {
            None => None,
            Some(text) => Some(text.parse().map_err(|_| invalid("signature_expiration", "it is no whole number"))?),
        };
        Ok(values)
    }

    /// Checks that the caller may do `operation`, and gives the user it is done for.
    ///
    /// # Errors
    /// 401 for a wrong token, signature or user.
    pub fn authorize<B>(&self, envd: &Envd, request: &Request<B>, operation: Operation) -> Result<User, HttpError> {
        let access = FileAccess {
            path: self.path.as_deref().unwrap_or_default(),
            username: self.username.as_deref().unwrap_or_default(),
            signature: self.signature.as_deref(),
            expiration: self.expiration,
        };
        check_file_access(envd.config.access_token.as_deref(), request.headers(), operation, access)?;
        user(envd, self.username.as_deref())
    }
}

/// The user of that name, else the default one.
pub fn user(envd: &Envd, name: Option<&str>) -> Result<User, HttpError> {
    if let Some(name) = name.filter(|name| !name.is_empty()) {
        return User::find(name).ok_or_else(|| HttpError::unauthorized(format!("invalid username: '{name}'")));
    }
    let name = &envd.config.default_user;
    if name.is_empty() {
        return Err(HttpError::bad_request("no user specified"));
    }
    User::find(name).ok_or_else(|| HttpError::unauthorized(format!("invalid default user: '{name}'")))
}

/// The absolute path of a request's path.
pub fn resolve(envd: &Envd, user: &User, path: &str) -> Result<String, HttpError> {
    Base::of(user, &envd.config.default_workdir).resolve(path).map_err(HttpError::bad_request)
}

fn decode(text: &str) -> Option<String> {
    percent_decode_str(&text.replace('+', " ")).decode_utf8().ok().map(Into::into)
}

fn invalid(name: &str, reason: &str) -> HttpError {
    HttpError::Text(StatusCode::BAD_REQUEST, format!("Invalid format for parameter {name}: {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_decoded_and_unknown_ones_skipped() {
        let query = Query::parse("path=a%20b%2Bc+d&x=1&signature_expiration=5&username=").unwrap();
        assert_eq!(query.path.as_deref(), Some("a b+c d"));
        assert_eq!((query.expiration, query.username.as_deref()), (Some(5), Some("")));
        assert_eq!(Query::parse("").unwrap(), Query::default());
    }

    #[test]
    fn what_cannot_be_read_or_is_there_twice_is_refused() {
        for query in ["path=a&path=b", "path=%ff", "signature_expiration=x", "signature_expiration="] {
            assert!(matches!(Query::parse(query), Err(HttpError::Text(StatusCode::BAD_REQUEST, _))), "{query}");
        }
    }
}
