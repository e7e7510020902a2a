//! Errors on their way to JavaScript.
//!
//! What fails inside is a [`Fault`] for as long as somebody may still make sense of it (a missing process is `false` to `kill`). At the
//! exported methods it becomes an instance of one of the classes in `js/errors.js`.

use crate::options::set;
use crate::protocol::connect::Code;
use crate::protocol::failure::{Class, Doing, classify_answer};
use crate::protocol::routing::decimal;
use crate::transport::guard::Stop;
use js_sys::Object;
use wasm_bindgen::prelude::*;

#[wasm_bindgen(module = "/src/js/errors.js")]
extern "C" {
    #[wasm_bindgen(js_name = makeError)]
    fn make_error(class: &str, message: &str, suggestion: &str, details: &JsValue) -> JsValue;
}

/// Something failed.
#[derive(Debug)]
pub enum Fault {
    /// It is decided what the caller gets: an error of ours, or the caller's own reason for giving up.
    Thrown(JsValue),
    /// A server answered no.
    Answer(Box<Answer>),
    /// There was no answer, or it broke off.
    Network(Box<Lost>),
}

/// What is known of an answer that did not come. Boxed like [`Answer`]: a fault passes through every step of a call, so it is two words.
#[derive(Debug)]
pub struct Lost {
    /// Whether an answer had begun.
    pub begun: bool,
    /// What the runtime said, for `cause`.
    pub cause: JsValue,
    /// Where there was no answer, in a sentence; empty when nothing is known of that.
    pub said: String,
}

/// A server's no.
#[derive(Debug)]
pub struct Answer {
    pub doing: Doing,
    /// The HTTP status; 200 when the error came at the end of a stream.
    pub status: u16,
    /// The Connect code, from envd's calls.
    pub code: Option<Code>,
    /// What the server said, shortened.
    pub message: Option<String>,
    /// What a relay says to do about its refusal.
    pub suggestion: Option<String>,
    /// When to try again, in ms.
    pub retry_after: Option<f64>,
    /// Whether the platform's gateway answered and not the sandbox, and about what.
    pub gateway: Option<Gateway>,
    /// Whether an earlier attempt may have been carried out although its answer was lost.
    pub repeated: bool,
    /// The body as it came, from the SandboxServer.
    pub body: JsValue,
}

/// What a gateway could not reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gateway {
    /// The sandbox does not run.
    Sandbox,
    /// The sandbox is paused.
    Paused,
    /// The sandbox runs; the port is closed.
    Port,
}

/// What can go wrong before an exported method answers.
pub type Result<T> = core::result::Result<T, Fault>;

impl From<JsValue> for Fault {
    fn from(value: JsValue) -> Self {
        Self::Thrown(value)
    }
}

impl From<Stop> for Fault {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Failed(cause) => Self::lost(false, cause),
            Stop::Fired(error) => Self::Thrown(error),
        }
    }
}

impl Fault {
    /// There was no answer, or it broke off.
    pub fn lost(begun: bool, cause: JsValue) -> Self {
        Self::Network(Box::new(Lost { begun, cause, said: String::new() }))
    }

    /// The Connect code, when envd's calls gave one.
    pub fn code(&self) -> Option<Code> {
        match self {
            Self::Answer(answer) => answer.code,
            _ => None,
        }
    }

    /// The HTTP status, when there was an answer.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Answer(answer) => Some(answer.status),
            _ => None,
        }
    }

    /// Whether an earlier attempt of the same call may have been carried out. Then "not there" may be what that attempt did.
    pub fn repeated(&self) -> bool {
        matches!(self, Self::Answer(answer) if answer.repeated)
    }

    pub fn after_repeats(mut self, repeated: bool) -> Self {
        if let Self::Answer(answer) = &mut self {
            answer.repeated = repeated;
        }
        self
    }

    /// What the caller gets when nobody knows more.
    pub fn into_js(self) -> JsValue {
        match self {
            Self::Thrown(error) => error,
            Self::Answer(answer) => answer.into_js(),
            Self::Network(lost) => {
                let message = match &*lost.said {
                    _ if lost.begun => "The connection was lost before the answer was complete.",
                    "" => "There was no answer.",
                    said => said,
                };
                Thrown::new(Class::SandboxConnection, message).cause(&lost.cause).build()
            }
        }
    }
}

impl Answer {
    fn into_js(self) -> JsValue {
        let (class, suggestion) = classify_answer(
            self.doing,
            self.status,
            self.code,
            self.retry_after.is_some(),
            self.message.as_deref().unwrap_or_default(),
        );
        let message = match (&self.message, self.code) {
            (Some(message), _) => message.clone(),
            (None, Some(code)) => ["The sandbox answered ", code.as_str(), "."].concat(),
            (None, None) => ["The server answered with HTTP status ", &decimal(self.status.into()), "."].concat(),
        };
        let mut error = Thrown::new(class, &message).suggestion(self.suggestion.as_deref().unwrap_or(suggestion));
        if self.status != 200 {
            error = error.detail("status", &JsValue::from(self.status));
        }
        if let Some(code) = self.code.filter(|_| class == Class::EnvdRpc) {
            error = error.detail("rpcCode", &JsValue::from_str(code.as_str()));
        }
        if let Some(ms) = self.retry_after.filter(|_| class == Class::RateLimit) {
            error = error.detail("retryAfterMs", &JsValue::from_f64(ms));
        }
        error.build()
    }
}

/// An error in the making.
pub struct Thrown<'a> {
    class: Class,
    message: &'a str,
    suggestion: &'a str,
    details: Object,
}

impl<'a> Thrown<'a> {
    pub fn new(class: Class, message: &'a str) -> Self {
        Self { class, message, suggestion: "", details: Object::new() }
    }

    /// What to do about it, when the class's own suggestion is not the best.
    pub fn suggestion(mut self, suggestion: &'a str) -> Self {
        self.suggestion = suggestion;
        self
    }

    pub fn cause(self, cause: &JsValue) -> Self {
        if cause.is_undefined() { self } else { self.detail("cause", cause) }
    }

    pub fn detail(self, name: &str, value: &JsValue) -> Self {
        set(&self.details, name, value);
        self
    }

    pub fn build(self) -> JsValue {
        make_error(self.class.name(), self.message, self.suggestion, &self.details)
    }
}

impl<'a> From<Thrown<'a>> for Fault {
    fn from(thrown: Thrown<'a>) -> Self {
        Self::Thrown(thrown.build())
    }
}

/// E0001 with this message.
pub fn refusal(message: &str) -> Fault {
    Thrown::new(Class::InvalidArgument, message).into()
}

/// E0001 with a message of these parts.
pub fn invalid(parts: &[&str]) -> Fault {
    refusal(&parts.concat())
}
