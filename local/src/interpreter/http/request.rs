//! Request bodies, and what is wrong with them in the form that clients know (`{type, loc, msg, input}`).

use axum::http::{HeaderMap, header};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// What to run, and where.
#[derive(Debug)]
pub struct Execution {
    /// The code.
    pub code: String,
    /// The context to run it in; empty means none.
    pub context_id: Option<String>,
    /// The language whose default context runs it; empty means none.
    pub language: Option<String>,
    /// Variables for this execution only.
    pub variables: BTreeMap<String, String>,
}

/// The context to make.
#[derive(Debug)]
pub struct CreateContext {
    /// Its language.
    pub language: Option<String>,
    /// Its working directory.
    pub cwd: Option<String>,
}

/// What is wrong with a body.
#[derive(Debug)]
pub struct Invalid(Vec<Value>);

impl Invalid {
    fn one(kind: &str, location: &[&str], message: &str, input: &Value) -> Invalid {
        Invalid(vec![json!({ "type": kind, "loc": location, "msg": message, "input": input })])
    }

    /// One item for each mistake.
    pub fn items(&self) -> Value {
        Value::Array(self.0.clone())
    }
}

impl Execution {
    /// Reads a body.
    pub fn read(headers: &HeaderMap, body: &[u8]) -> Result<Execution, Invalid> {
        let fields = Fields::read(headers, body)?;
        let mut wrong = Vec::new();
        let code = match fields.0.get("code") {
            Some(Value::String(code)) => code.clone(),
            Some(other) => {
                wrong.extend(not_a_string(&["body", "code"], other).0);
                String::new()
            }
            None => {
                wrong.extend(Invalid::one("missing", &["body", "code"], "Field required", &Value::Object(fields.0.clone())).0);
                String::new()
            }
        };
        let context_id = fields.text("context_id", &mut wrong).filter(|id| !id.is_empty());
        let language = fields.text("language", &mut wrong).filter(|language| !language.is_empty());
        let variables = fields.variables(&mut wrong);
        if wrong.is_empty() { Ok(Execution { code, context_id, language, variables }) } else { Err(Invalid(wrong)) }
    }
}

impl CreateContext {
    /// Reads a body.
    pub fn read(headers: &HeaderMap, body: &[u8]) -> Result<CreateContext, Invalid> {
        let fields = Fields::read(headers, body)?;
        let mut wrong = Vec::new();
        let request = CreateContext { language: fields.text("language", &mut wrong), cwd: fields.text("cwd", &mut wrong) };
        if wrong.is_empty() { Ok(request) } else { Err(Invalid(wrong)) }
    }
}

struct Fields(Map<String, Value>);

impl Fields {
    fn read(headers: &HeaderMap, body: &[u8]) -> Result<Fields, Invalid> {
        if body.is_empty() {
            return Err(Invalid::one("missing", &["body"], "Field required", &Value::Null));
        }
        let value = if is_json(headers) {
            serde_json::from_slice(body).map_err(|error| {
                let mut invalid = Invalid::one("json_invalid", &["body"], "JSON decode error", &json!({}));
                invalid.0[0]["ctx"] = json!({ "error": error.to_string() });
                invalid
            })?
        } else {
            Value::String(String::from_utf8_lossy(body).into_owned())
        };
        match value {
            Value::Object(fields) => Ok(Fields(fields)),
            other => Err(Invalid::one(
                "model_attributes_type",
                &["body"],
                "Input should be a valid dictionary or object to extract fields from",
                &other,
            )),
        }
    }

    fn text(&self, name: &str, wrong: &mut Vec<Value>) -> Option<String> {
        match self.0.get(name) {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(text.clone()),
            Some(other) => {
                wrong.extend(not_a_string(&["body", name], other).0);
                None
            }
        }
    }

    fn variables(&self, wrong: &mut Vec<Value>) -> BTreeMap<String, String> {
        let mut variables = BTreeMap::new();
        match self.0.get("env_vars") {
            None | Some(Value::Null) => {}
            Some(Value::Object(given)) => {
                for (name, value) in given {
                    match value {
                        Value::String(value) => drop(variables.insert(name.clone(), value.clone())),
                        other => wrong.extend(not_a_string(&["body", "env_vars", name], other).0),
                    }
                }
            }
            Some(other) => {
                wrong.extend(Invalid::one("dict_type", &["body", "env_vars"], "Input should be a valid dictionary", other).0)
            }
        }
        variables
    }
}

fn not_a_string(location: &[&str], input: &Value) -> Invalid {
    Invalid::one("string_type", location, "Input should be a valid string", input)
}

/// A body without a type is taken as JSON.
fn is_json(headers: &HeaderMap) -> bool {
    let Some(kind) = headers.get(header::CONTENT_TYPE) else { return true };
    let kind = kind.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim().to_lowercase();
    kind == "application/json" || (kind.starts_with("application/") && kind.ends_with("+json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn execution(body: &str) -> Result<Execution, Invalid> {
        Execution::read(&HeaderMap::new(), body.as_bytes())
    }

    #[test]
    fn empty_names_mean_none() {
        let request = execution(r#"{"code":"1","context_id":"","language":null,"env_vars":{"A":"b"}}"#).expect("a request");
        assert_eq!((request.context_id, request.language), (None, None));
        assert_eq!(request.variables["A"], "b");
    }

    #[test]
    fn every_mistake_is_named_with_its_place() {
        let invalid = execution(r#"{"code":1,"language":[],"env_vars":{"A":2}}"#).expect_err("invalid");
        let places: Vec<_> = invalid.items().as_array().expect("a list").iter().map(|item| item["loc"].to_string()).collect();
        assert_eq!(places, [r#"["body","code"]"#, r#"["body","language"]"#, r#"["body","env_vars","A"]"#]);
        for (body, kind) in [("", "missing"), ("{}", "missing"), ("{", "json_invalid"), ("[]", "model_attributes_type")] {
            assert_eq!(execution(body).expect_err("invalid").items()[0]["type"], kind);
        }
    }

    #[test]
    fn text_is_not_taken_as_json() {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, "text/plain".parse().expect("a type"));
        assert!(Execution::read(&headers, br#"{"code":"1"}"#).is_err());
        headers.insert(header::CONTENT_TYPE, "application/json; charset=utf-8".parse().expect("a type"));
        assert!(Execution::read(&headers, br#"{"code":"1"}"#).is_ok());
    }
}
