//! What a caller gets when a call of the SandboxServer failed.

use super::Server;
use crate::error::{Answer, Fault, Gateway, Thrown};
use crate::protocol::failure::{Class, short_message};
use crate::protocol::routing::{decimal, split_at};
use crate::protocol::server::refusal::{Refusal, classify};
use crate::transport::json::{number_in, text_in};
use wasm_bindgen::prelude::*;

#[wasm_bindgen(module = "/src/server/js/answers.js")]
extern "C" {
    /// The object that a text holds as JSON, with what Python writes beyond JSON; `undefined` when it holds none.
    #[wasm_bindgen(js_name = parseAnswer)]
    pub fn parse_answer(text: &JsValue) -> JsValue;
}

/// An error of the SandboxServer's own family, with the properties that all of them have.
pub fn server_error<'a>(
    class: Class,
    message: &'a str,
    status: u16,
    endpoint: &str,
    kind: &str,
    code: &str,
    rule: &str,
) -> Thrown<'a> {
    let mut error = Thrown::new(class, message)
        .detail("statusCode", &JsValue::from(status))
        .detail("errorType", &JsValue::from_str(kind))
        .detail("errorCode", &JsValue::from_str(code))
        .detail("endpoint", &JsValue::from_str(endpoint))
        .detail("rule", &JsValue::from_str(rule));
    if status != 0 {
        error = error.detail("status", &JsValue::from(status));
    }
    error
}

/// An answer that the protocol does not know.
pub fn protocol_error(endpoint: &str, message: &str) -> Fault {
    server_error(Class::ServerApi, message, 200, endpoint, "ProtocolError", "", "")
        .suggestion("Check that baseUrl leads to a SandboxServer of this API version, and not to another server.")
        .into()
}

impl Server {
    /// What a failed call means to its caller.
    pub async fn explain(&self, endpoint: &str, fault: Fault) -> Fault {
        match fault {
            Fault::Answer(answer) if answer.gateway == Some(Gateway::Port) => nobody_listens().into(),
            Fault::Answer(answer) => match &self.of {
                Some((target, ..)) if answer.gateway.is_some() => Fault::Thrown(target.explain(Fault::Answer(answer)).await),
                _ => refused(endpoint, &answer).into(),
            },
            fault => fault,
        }
    }
}

fn nobody_listens() -> JsValue {
    Thrown::new(Class::SandboxConnection, "The sandbox runs, but no SandboxServer answers on that port.")
        .suggestion("Start it with sandbox.startServer(), or name its port.")
        .build()
}

fn refused(endpoint: &str, answer: &Answer) -> JsValue {
    let body = parse_answer(&answer.body);
    let text = |name: &str| if body.is_object() { text_in(&body, name).unwrap_or_default() } else { String::new() };
    let number = |name: &str| if body.is_object() { number_in(&body, name) } else { None };
    if answer.status < 200 || (300..400).contains(&answer.status) {
        return server_error(
            Class::ServerApi,
            "The server answered with a redirect. It was not followed, since the token is for this address alone.",
            answer.status,
            endpoint,
            "BindingRedirect",
            "",
            "",
        )
        .suggestion("Use the address that the server itself has as baseUrl.")
        .build();
    }
    let (kind, code) = (text("type"), text("code"));
    let class = classify(endpoint, Refusal { status: answer.status, kind: &kind, code: &code });
    let said = short_message(&text("error")).or_else(|| answer.message.clone());
    let mut message = said.unwrap_or_else(|| ["Server returned HTTP ", &decimal(answer.status.into())].concat());
    if matches!(class, Class::CommandArgument | Class::CommandExecution) && !kind.is_empty() && split_at(&message, &kind).is_none()
    {
        message = [&kind, ": ", &message].concat();
    }
    let named = text("endpoint");
    let endpoint = if named.is_empty() { endpoint } else { &named };
    // The two that belong to other families have nothing of this one.
    if matches!(class, Class::FileNotFound | Class::CommandTimeout) {
        return Thrown::new(class, &message).detail("status", &JsValue::from(answer.status)).build();
    }
    let mut error = server_error(class, &message, answer.status, endpoint, &kind, &code, &text("rule"));
    match class {
        Class::PolicyDenied | Class::FilePolicyDenied => error = error.detail("scope", &JsValue::from_str(&text("scope"))),
        Class::EndpointNotAvailable => error = error.detail("capability", &JsValue::from_str(endpoint)),
        Class::PayloadTooLarge => {
            if let Some(limit) = number("limit") {
                error = error.detail("limit", &limit.into());
            }
        }
        Class::RateLimited => {
            if let Some(seconds) = number("retry_after").or(answer.retry_after.map(|ms| ms / 1000.0)) {
                error = error.detail("retryAfter", &seconds.into()).detail("retryAfterMs", &(seconds * 1000.0).into());
            }
        }
        _ => {}
    }
    error.build()
}
