//! What a failed answer means: the one table from what was being done, and how the server answered, to the error a caller gets.
//!
//! The table is data. Tests walk through it, and the reference page of the guide is made from it.

use super::connect::Code;
use super::routing::split_at;

/// Declares the classes with their names, which are those of `js/errors.js`.
macro_rules! classes {
    ($($(#[$doc:meta])* $name:ident = $class:literal),* $(,)?) => {
        /// A class of errors. Its code and its usual suggestion stand with the class itself, in `js/errors.js`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Class { $($(#[$doc])* $name),* }

        impl Class {
            /// Every class.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The class's name in JavaScript.
            pub fn name(self) -> &'static str {
                match self { $(Self::$name => $class),* }
            }
        }
    };
}

classes! {
    /// No class of its own.
    Sandbox = "SandboxError",
    /// An argument is wrong.
    InvalidArgument = "InvalidArgumentError",
    /// The key or token was refused.
    Authentication = "AuthenticationError",
    /// There is no API key, or one of a wrong form.
    InvalidApiKey = "InvalidAPIKeyError",
    /// Cloud key pairs are no API key.
    TokenExchange = "TokenExchangeError",
    /// The sandbox could not be started.
    SandboxCreation = "SandboxCreationError",
    /// No such template.
    TemplateNotFound = "TemplateNotFoundError",
    /// The platform allows no more.
    QuotaExceeded = "QuotaExceededError",
    /// No such sandbox.
    SandboxNotFound = "SandboxNotFoundError",
    /// Running something failed.
    Execution = "ExecutionError",
    /// A command ran too long.
    CommandTimeout = "CommandTimeoutError",
    /// A command failed, and `check` was asked for.
    Process = "ProcessError",
    /// The sandbox has no such ability.
    CapabilityNotSupported = "CapabilityNotSupportedError",
    /// The SandboxServer has no command of that name.
    CommandNotFound = "CommandNotFoundError",
    /// envd failed in a way without a class of its own.
    EnvdRpc = "EnvdRpcError",
    /// A file operation failed.
    FileOperation = "FileOperationError",
    /// No such file.
    FileNotFound = "FileNotFoundError",
    /// The file may not be touched.
    PermissionDenied = "PermissionDeniedError",
    /// The connection was lost or could not be made.
    SandboxConnection = "SandboxConnectionError",
    /// No answer in time.
    RequestTimeout = "RequestTimeoutError",
    /// Too many requests.
    RateLimit = "RateLimitError",
    /// The sandbox is unreachable or not running.
    Unreachable = "UnreachableError",
    /// The provider cannot do this.
    ProviderFeature = "ProviderFeatureNotSupportedError",
    /// The SandboxServer failed in a way without a class of its own.
    ServerApi = "ServerAPIError",
    /// The arguments of a named command do not fit.
    CommandArgument = "CommandArgumentError",
    /// A named command failed.
    CommandExecution = "CommandExecutionError",
    /// The SandboxServer's token is missing or wrong.
    ServerAuth = "ServerAuthError",
    /// The SandboxServer's policy refuses.
    PolicyDenied = "PolicyDeniedError",
    /// The SandboxServer's policy refuses a path.
    FilePolicyDenied = "FilePolicyDeniedError",
    /// The SandboxServer has the endpoint off.
    EndpointNotAvailable = "EndpointNotAvailableError",
    /// More than the SandboxServer takes or gives.
    PayloadTooLarge = "PayloadTooLargeError",
    /// Too many calls of an endpoint of the SandboxServer.
    RateLimited = "RateLimitedError",
}

/// What was being done when an answer said no.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Doing {
    /// Making a sandbox, at the control plane.
    Create,
    /// Something with one sandbox, at the control plane.
    Sandbox,
    /// Listing sandboxes, at the control plane.
    List,
    /// `process.Process`.
    Process,
    /// `filesystem.Filesystem`.
    Filesystem,
    /// `/files`.
    Files,
    /// The code interpreter.
    Code,
    /// Asking what stands behind a port for its health.
    Health,
    /// The SandboxServer, whose refusals have a table of their own.
    Server,
}

impl Doing {
    /// Everything that can be done.
    pub const ALL: [Self; 9] = [
        Self::Create,
        Self::Sandbox,
        Self::List,
        Self::Process,
        Self::Filesystem,
        Self::Files,
        Self::Code,
        Self::Health,
        Self::Server,
    ];

    /// Whether the control plane was asked, and not the sandbox.
    pub fn is_control(self) -> bool {
        matches!(self, Self::Create | Self::Sandbox | Self::List)
    }

    /// Whether answers carry Connect codes.
    pub fn is_connect(self) -> bool {
        matches!(self, Self::Process | Self::Filesystem)
    }
}

/// How the server answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum On {
    /// With this Connect code, or a status that stands for it.
    Code(Code),
    /// With this HTTP status.
    Status(u16),
    /// With a status in this range, both ends included.
    Statuses(u16, u16),
}

impl On {
    fn holds(self, status: u16, code: Option<Code>) -> bool {
        match self {
            Self::Code(expected) => code == Some(expected),
            Self::Status(expected) => code.is_none() && status == expected,
            Self::Statuses(from, to) => code.is_none() && (from..=to).contains(&status),
        }
    }
}

/// One row: who was asked, what came, what it means.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// What was being done.
    pub doing: &'static [Doing],
    /// What was answered.
    pub on: On,
    /// The class of the error.
    pub class: Class,
    /// What to do about it; empty for the class's own suggestion.
    pub suggestion: &'static str,
}

const fn row(doing: &'static [Doing], on: On, class: Class, suggestion: &'static str) -> Row {
    Row { doing, on, class, suggestion }
}

const CONTROL: &[Doing] = &[Doing::Create, Doing::Sandbox, Doing::List];
const CONNECT: &[Doing] = &[Doing::Process, Doing::Filesystem];
const ANY: &[Doing] = &Doing::ALL;

const FULL: &str = "The platform's disk is full: end sandboxes and delete snapshots that are not needed.";

/// The table. The first row that holds counts.
pub const TABLE: &[Row] = &[
    // The control plane.
    row(CONTROL, On::Status(400), Class::InvalidArgument, "Correct what the message names; the server refused the request."),
    row(CONTROL, On::Status(401), Class::Authentication, "Check that apiKey is a key of this platform and has not been revoked."),
    row(
        CONTROL,
        On::Status(403),
        Class::Authentication,
        "Check that the account of this apiKey is in good standing and may do this.",
    ),
    row(&[Doing::Create], On::Status(404), Class::TemplateNotFound, ""),
    row(&[Doing::Create], On::Statuses(405, 428), Class::SandboxCreation, ""),
    row(&[Doing::Create], On::Status(507), Class::SandboxCreation, FULL),
    row(&[Doing::Create], On::Statuses(500, 599), Class::SandboxCreation, ""),
    row(&[Doing::Sandbox], On::Status(404), Class::SandboxNotFound, ""),
    row(&[Doing::Sandbox], On::Status(409), Class::Sandbox, "The sandbox is changing its state: wait a moment and try again."),
    row(&[Doing::Sandbox], On::Status(507), Class::Sandbox, FULL),
    row(
        CONTROL,
        On::Statuses(502, 504),
        Class::SandboxConnection,
        "The platform is overloaded or restarting: try again in a moment.",
    ),
    // envd's calls.
    row(
        CONNECT,
        On::Code(Code::InvalidArgument),
        Class::InvalidArgument,
        "Correct what the message names; the sandbox refused the request.",
    ),
    row(CONNECT, On::Code(Code::OutOfRange), Class::InvalidArgument, ""),
    row(
        CONNECT,
        On::Code(Code::Unauthenticated),
        Class::Authentication,
        "Check the user's name, and that the sandbox's token is this sandbox's: connect to it again.",
    ),
    row(CONNECT, On::Code(Code::ResourceExhausted), Class::RateLimit, ""),
    row(
        CONNECT,
        On::Code(Code::Unimplemented),
        Class::CapabilityNotSupported,
        "This sandbox's envd is too old for this call: use a template with a newer one.",
    ),
    row(CONNECT, On::Code(Code::Unavailable), Class::Unreachable, ""),
    row(CONNECT, On::Code(Code::Canceled), Class::SandboxConnection, "The sandbox gave the call up: try again."),
    row(&[Doing::Process], On::Code(Code::NotFound), Class::Execution, "Use commands.list to see what runs."),
    row(&[Doing::Process], On::Code(Code::DeadlineExceeded), Class::CommandTimeout, ""),
    row(&[Doing::Process], On::Code(Code::PermissionDenied), Class::Authentication, ""),
    row(&[Doing::Process], On::Code(Code::FailedPrecondition), Class::Execution, ""),
    row(&[Doing::Filesystem], On::Code(Code::NotFound), Class::FileNotFound, ""),
    row(
        &[Doing::Filesystem],
        On::Code(Code::AlreadyExists),
        Class::FileOperation,
        "Use another path, or remove what stands there first.",
    ),
    row(&[Doing::Filesystem], On::Code(Code::PermissionDenied), Class::PermissionDenied, ""),
    row(&[Doing::Filesystem], On::Code(Code::DeadlineExceeded), Class::RequestTimeout, ""),
    row(&[Doing::Filesystem], On::Code(Code::FailedPrecondition), Class::FileOperation, ""),
    row(&[Doing::Filesystem], On::Code(Code::Internal), Class::FileOperation, ""),
    // Reading and writing files.
    row(
        &[Doing::Files],
        On::Status(400),
        Class::InvalidArgument,
        "Correct what the message names; directories are read with files.list.",
    ),
    row(
        &[Doing::Files],
        On::Status(401),
        Class::Authentication,
        "Check the user's name, and that the sandbox's token is this sandbox's: connect to it again.",
    ),
    row(&[Doing::Files], On::Status(403), Class::PermissionDenied, ""),
    row(&[Doing::Files], On::Status(404), Class::FileNotFound, ""),
    row(
        &[Doing::Files],
        On::Status(507),
        Class::FileOperation,
        "The sandbox's disk is full: remove files, or use a template with a larger one.",
    ),
    row(&[Doing::Files, Doing::Code, Doing::Health], On::Statuses(502, 504), Class::Unreachable, ""),
    row(&[Doing::Files], On::Statuses(400, 428), Class::FileOperation, ""),
    row(&[Doing::Files], On::Statuses(500, 599), Class::FileOperation, ""),
    // Code cells.
    row(&[Doing::Code], On::Status(400), Class::InvalidArgument, ""),
    row(&[Doing::Code], On::Status(422), Class::InvalidArgument, ""),
    row(&[Doing::Code], On::Statuses(401, 403), Class::Authentication, ""),
    row(&[Doing::Code], On::Status(404), Class::Execution, "Use code.listContexts to see which contexts there are."),
    row(&[Doing::Code], On::Status(500), Class::Execution, "Check that the sandbox's template has a kernel for this language."),
    row(&[Doing::Health], On::Status(401), Class::Authentication, ""),
    // Everywhere.
    row(ANY, On::Status(429), Class::RateLimit, ""),
];

/// A row for what servers say only in words, whatever code or status they put it under.
#[derive(Debug, Clone, Copy)]
pub struct Words {
    /// What was being done.
    pub doing: &'static [Doing],
    /// A part of the message, in lower case.
    pub part: &'static str,
    /// The class of the error; `None` for the one that [`TABLE`] gives.
    pub class: Option<Class>,
    /// What to do about it; empty for the class's own suggestion.
    pub suggestion: &'static str,
}

const fn words(doing: &'static [Doing], part: &'static str, class: Option<Class>, suggestion: &'static str) -> Words {
    Words { doing, part, class, suggestion }
}

const SANDBOX: &[Doing] = &[Doing::Process, Doing::Filesystem, Doing::Files];
const FILES: &[Doing] = &[Doing::Filesystem, Doing::Files];

/// What counts over [`TABLE`] when a message holds it. The first row that holds counts.
pub const WORDS: &[Words] = &[
    words(
        SANDBOX,
        "invalid username",
        Some(Class::InvalidArgument),
        "Correct the option user: the sandbox has no user of this name.",
    ),
    words(
        FILES,
        "read-only file system",
        Some(Class::PermissionDenied),
        "Use a path that can be written to, such as one in the user's home.",
    ),
    words(FILES, "permission denied", Some(Class::PermissionDenied), ""),
    words(FILES, "name too long", None, "Use a shorter path: a name may have 255 bytes."),
    words(FILES, "file exists", None, "A file stands where the path needs a directory: use another path, or remove it first."),
    words(FILES, "not a directory", None, "Check the path: something on the way is a file and not a directory."),
    words(&[Doing::Process], "stdin not enabled", None, "Start the command with stdin: true to send it input."),
];

/// The class and suggestion of an answer whose message is known too; see [`classify`].
pub fn classify_answer(
    doing: Doing,
    status: u16,
    code: Option<Code>,
    has_retry_after: bool,
    message: &str,
) -> (Class, &'static str) {
    let (class, suggestion) = classify(doing, status, code, has_retry_after);
    let message = message.to_ascii_lowercase();
    match WORDS.iter().find(|row| row.doing.contains(&doing) && split_at(&message, row.part).is_some()) {
        Some(row) => (row.class.unwrap_or(class), row.suggestion),
        None => (class, suggestion),
    }
}

/// The class and suggestion of an answer with that HTTP status and, from envd's calls, that Connect code. Suggestions may be empty.
///
/// A 429 without Retry-After to a creation is a quota and no rate.
pub fn classify(doing: Doing, status: u16, code: Option<Code>, has_retry_after: bool) -> (Class, &'static str) {
    if doing == Doing::Create && status == 429 && !has_retry_after {
        return (Class::QuotaExceeded, "");
    }
    match TABLE.iter().find(|row| row.doing.contains(&doing) && row.on.holds(status, code)) {
        Some(row) => (row.class, row.suggestion),
        None if code.is_some() => (Class::EnvdRpc, ""),
        None => (Class::Sandbox, ""),
    }
}

/// A server's message, fit for an error: one line, no page, nothing that steers a terminal, no more than 500 characters. `None` when there is
/// nothing to say.
pub fn short_message(text: &str) -> Option<String> {
    const LIMIT: usize = 500;
    let text = text.trim();
    if text.is_empty() || text.starts_with('<') {
        return None;
    }
    let mut message = String::new();
    for word in text.split(|one: char| one.is_whitespace() || one.is_control()).filter(|word| !word.is_empty()) {
        if !message.is_empty() {
            message.push(' ');
        }
        message.push_str(word);
        if message.len() > LIMIT {
            let end = (0..=LIMIT).rev().find(|at| message.is_char_boundary(*at)).unwrap_or(0);
            message.truncate(end);
            message.push('…');
            break;
        }
    }
    (!message.is_empty()).then_some(message)
}

#[cfg(test)]
mod page;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_row_is_reached_by_what_it_names() {
        for row in TABLE {
            let (status, code) = match row.on {
                On::Code(code) => (code.http_status(), Some(code)),
                On::Status(status) => (status, None),
                On::Statuses(from, to) => (if from == 400 { 417 } else { to }, None),
            };
            for doing in row.doing {
                if doing.is_connect() && code.is_none() {
                    continue;
                }
                let (class, suggestion) = classify(*doing, status, code, true);
                let shadowed = *doing == Doing::Create && row.on == On::Statuses(502, 504);
                assert!(shadowed || (class, suggestion) == (row.class, row.suggestion), "{doing:?} {:?}", row.on);
            }
        }
    }

    #[test]
    fn every_class_stands_in_the_javascript() {
        let source = include_str!("../js/errors.js");
        let packed: String = source.split_whitespace().collect();
        for class in Class::ALL {
            assert!(source.contains(&format!("export class {} extends ", class.name())), "{class:?}");
            assert!(packed.contains(&format!("[{{{}}},\"E", class.name())), "{class:?}");
        }
    }

    #[test]
    fn too_many_requests_are_a_rate_limit_on_every_path_and_a_quota_only_where_none_can_be_waited_for() {
        for doing in Doing::ALL {
            let code = doing.is_connect().then_some(Code::ResourceExhausted);
            assert_eq!(classify(doing, 429, code, true).0, Class::RateLimit, "{doing:?}");
        }
        assert_eq!(classify(Doing::Create, 429, None, false).0, Class::QuotaExceeded);
        assert_eq!(classify(Doing::Sandbox, 429, None, false).0, Class::RateLimit);
    }

    #[test]
    fn words_count_over_codes() {
        let internal = |doing, message: &str| classify_answer(doing, 500, Some(Code::Internal), false, message);
        for row in WORDS {
            for doing in row.doing {
                let message = ["Error: ", row.part, " (x)"].concat();
                let (class, suggestion) = internal(*doing, &message);
                assert_eq!(
                    (class, suggestion),
                    (row.class.unwrap_or(classify(*doing, 500, Some(Code::Internal), false).0), row.suggestion)
                );
            }
        }
        assert_eq!(internal(Doing::Filesystem, "mkdir /a: Read-only file system").0, Class::PermissionDenied);
        assert_eq!(internal(Doing::Process, "exec: permission denied").0, Class::EnvdRpc);
        let refused = classify_answer(Doing::Process, 401, Some(Code::Unauthenticated), false, "no token");
        assert_eq!(refused.0, Class::Authentication);
    }

    #[test]
    fn what_no_row_names_still_has_a_class() {
        assert_eq!(classify(Doing::Process, 500, Some(Code::DataLoss), false).0, Class::EnvdRpc);
        assert_eq!(classify(Doing::List, 500, None, false).0, Class::Sandbox);
    }

    #[test]
    fn messages_are_one_short_line_and_never_a_page() {
        assert_eq!(short_message("  a\n\tb "), Some("a b".into()));
        assert_eq!(short_message("<!doctype html><title>502</title>"), None);
        assert_eq!(short_message(" \n"), None);
        assert_eq!(short_message("a\u{1b}[31mb\0\u{9b}2Jc\r"), Some("a [31mb 2Jc".into()));
        assert_eq!(short_message("\0\u{1b}"), None);
        assert_eq!(short_message(&"ü".repeat(9000)).map(|text| text.chars().count()), Some(251));
    }

    proptest! {
        #[test]
        fn any_text_is_shortened(text in "\\PC{0,2000}") {
            prop_assert!(short_message(&text).is_none_or(|text| text.len() <= 503));
        }
    }
}
