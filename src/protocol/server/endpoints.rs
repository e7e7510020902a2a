//! Every endpoint that has a method here: where it is, what it takes, how long it may take.
//!
//! The table is what keeps sixty methods small: one path through the code reads it. Its ids are the server's; a test compares them with a
//! running server's own list.

/// An endpoint.
#[derive(Debug, Clone, Copy)]
pub struct Endpoint {
    /// The server's name for it.
    pub id: &'static str,
    /// The HTTP method. Fields go into the query of a GET and a DELETE, and into the JSON body of a POST.
    pub method: &'static str,
    /// The path, with the wire names of fields in braces.
    pub path: &'static str,
    /// What it takes.
    pub fields: &'static [Field],
    /// How long its answer may take.
    pub patience: Patience,
    /// The field of the answer that holds bytes as base64.
    pub bytes: Option<&'static str>,
}

/// How long an answer may take, unless the caller says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// The client's own timeout.
    Client,
    /// Ten seconds more than the field `timeoutMs`, whose default on the server is this, in ms.
    Timeout(u32),
    /// Ten seconds and the field `waitMs` more than the client's own timeout.
    Wait,
}

/// Something an endpoint takes.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// Its name here.
    pub name: &'static str,
    /// Its name there.
    pub wire: &'static str,
    /// What it is.
    pub kind: Kind,
    /// Whether it must be there.
    pub required: bool,
}

/// What a field is, and how it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A path: not empty, without NUL, at most 4096 characters.
    Path,
    /// A list of paths.
    Paths,
    /// Any text.
    Text,
    /// A segment of the URL's path: not empty, and nothing that would lead elsewhere.
    Segment,
    /// A list of names, joined with commas.
    Names,
    /// Yes or no.
    Boolean,
    /// A whole number from 0 on.
    Count,
    /// A whole number from 1 on.
    Pid,
    /// A signal's number or name.
    Signal,
    /// A duration in ms, sent in seconds.
    Seconds,
    /// A duration in ms, sent in whole seconds, rounded up.
    WholeSeconds,
    /// A duration in ms, sent as it is.
    Millis,
    /// A map of texts.
    Texts,
    /// Bytes or text, sent as base64; never empty.
    Content,
    /// Bytes sent as base64 in `data_base64`, or text sent as it is.
    Data,
    /// An object that is the whole body.
    Body,
}

const fn must(name: &'static str, wire: &'static str, kind: Kind) -> Field {
    Field { name, wire, kind, required: true }
}

const fn may(name: &'static str, wire: &'static str, kind: Kind) -> Field {
    Field { name, wire, kind, required: false }
}

const fn get(id: &'static str, path: &'static str, fields: &'static [Field]) -> Endpoint {
    Endpoint { id, method: "GET", path, fields, patience: Patience::Client, bytes: None }
}

const fn post(id: &'static str, path: &'static str, fields: &'static [Field]) -> Endpoint {
    Endpoint { id, method: "POST", path, fields, patience: Patience::Client, bytes: None }
}

const fn delete(id: &'static str, path: &'static str, fields: &'static [Field]) -> Endpoint {
    Endpoint { id, method: "DELETE", path, fields, patience: Patience::Client, bytes: None }
}

impl Endpoint {
    const fn patience(mut self, patience: Patience) -> Self {
        self.patience = patience;
        self
    }

    const fn bytes(mut self, field: &'static str) -> Self {
        self.bytes = Some(field);
        self
    }

    /// Whether asking twice does what asking once does. Health is asked about now: another answer later is another question.
    pub fn is_repeatable(&self) -> bool {
        self.method == "GET" && self.id != "health"
    }
}

const PATH: Field = must("path", "path", Kind::Path);
const PID: Field = must("pid", "pid", Kind::Pid);
const SESSION: Field = must("sessionId", "id", Kind::Segment);
const SELECTOR: Field = must("selector", "selector", Kind::Text);
const TIMEOUT_MS: Field = may("timeoutMs", "timeout", Kind::Millis);
const GIT_PATH: Field = may("path", "path", Kind::Path);
const COMMAND: &[Field] = &[
    must("command", "command", Kind::Text),
    may("cwd", "cwd", Kind::Path),
    may("envs", "env", Kind::Texts),
    may("timeoutMs", "timeout", Kind::Seconds),
];

/// How long a command may run when nobody says, in ms: the server's default.
const COMMAND_TIMEOUT: Patience = Patience::Timeout(300_000);

/// The table.
pub const ENDPOINTS: &[Endpoint] = &[
    get("health", "/health", &[]),
    get("capabilities", "/capabilities", &[]),
    post(
        "capabilities_check",
        "/capabilities/check",
        &[
            must("endpoint", "endpoint", Kind::Text),
            may("path", "path", Kind::Text),
            may("paths", "paths", Kind::Paths),
            may("op", "op", Kind::Text),
        ],
    ),
    get("list_commands", "/commands", &[]),
    post("run_command", "/commands/{name}", &[must("name", "name", Kind::Segment), may("args", "", Kind::Body)]),
    get(
        "files_list",
        "/files/list",
        &[PATH, may("recursive", "recursive", Kind::Boolean), may("maxEntries", "max_entries", Kind::Count)],
    ),
    get("files_stat", "/files/stat", &[PATH]),
    post("files_mkdir", "/files/mkdir", &[PATH]),
    delete("files_delete", "/files", &[PATH]),
    post("files_move", "/files/move", &[must("source", "source", Kind::Path), must("destination", "destination", Kind::Path)]),
    post(
        "files_search",
        "/files/search",
        &[
            PATH,
            must("pattern", "pattern", Kind::Text),
            may("maxDepth", "max_depth", Kind::Count),
            may("maxResults", "max_results", Kind::Count),
        ],
    ),
    post("files_upload_stream", "/files/upload-stream", &[PATH, must("data", "content_base64", Kind::Content)]),
    get("files_download_stream", "/files/download-stream", &[PATH]).bytes("content_base64"),
    post("files_archive", "/files/archive", &[must("paths", "paths", Kind::Paths), may("format", "format", Kind::Text)])
        .bytes("content_base64"),
    get(
        "files_watch",
        "/files/watch",
        &[
            PATH,
            may("recursive", "recursive", Kind::Boolean),
            may("intervalMs", "interval", Kind::Seconds),
            may("timeoutMs", "timeout", Kind::Seconds),
        ],
    )
    .patience(COMMAND_TIMEOUT),
    post("shell", "/shell", COMMAND).patience(COMMAND_TIMEOUT),
    post("shell_stream", "/shell/stream", COMMAND).patience(COMMAND_TIMEOUT),
    post(
        "process_start",
        "/process/start",
        &[
            must("command", "command", Kind::Text),
            may("cwd", "cwd", Kind::Path),
            may("envs", "env", Kind::Texts),
            may("captureOutput", "capture_output", Kind::Boolean),
            may("stdin", "stdin", Kind::Boolean),
        ],
    ),
    get("process_list", "/process/list", &[]),
    get("process_detail", "/process/{pid}", &[PID]),
    post("process_signal", "/process/{pid}/signal", &[PID, may("sig", "signal", Kind::Signal)]),
    post("process_stdin", "/process/{pid}/stdin", &[PID, may("data", "data", Kind::Data), may("eof", "eof", Kind::Boolean)]),
    get(
        "process_output",
        "/process/{pid}/output",
        &[PID, may("since", "since", Kind::Count), may("waitMs", "wait", Kind::Seconds)],
    )
    .patience(Patience::Wait),
    post(
        "pty_create_session",
        "/pty/sessions",
        &[
            may("shell", "shell", Kind::Text),
            may("cols", "cols", Kind::Count),
            may("rows", "rows", Kind::Count),
            may("envs", "env", Kind::Texts),
        ],
    ),
    get("pty_list_sessions", "/pty/sessions", &[]),
    get("pty_detail", "/pty/sessions/{id}", &[SESSION]),
    post(
        "pty_resize",
        "/pty/sessions/{id}/resize",
        &[SESSION, must("cols", "cols", Kind::Count), must("rows", "rows", Kind::Count)],
    ),
    delete("pty_delete_session", "/pty/sessions/{id}", &[SESSION]),
    // Over WebSocket, on a port of its own; here so that it has a place among the ids.
    Endpoint { id: "pty_connect", method: "WS", path: "/pty", fields: &[SESSION], patience: Patience::Client, bytes: None },
    get("system_info", "/system/info", &[]),
    get("system_metrics", "/system/metrics", &[]),
    get("env_get", "/env", &[may("names", "filter", Kind::Names)]),
    post("env_set", "/env", &[must("vars", "vars", Kind::Texts)]),
    get("ports", "/ports", &[]),
    get("packages", "/packages", &[may("manager", "manager", Kind::Text)]),
    post(
        "code_run",
        "/code/run",
        &[
            must("code", "code", Kind::Text),
            may("language", "language", Kind::Text),
            may("timeoutMs", "timeout", Kind::WholeSeconds),
        ],
    )
    .patience(Patience::Timeout(30_000)),
    get("git_status", "/git/status", &[GIT_PATH]),
    get("git_diff", "/git/diff", &[GIT_PATH, may("staged", "staged", Kind::Boolean), may("file", "file", Kind::Path)]),
    post(
        "browser_navigate",
        "/browser/navigate",
        &[must("url", "url", Kind::Text), may("waitUntil", "wait_until", Kind::Text), TIMEOUT_MS],
    )
    .patience(Patience::Timeout(30_000)),
    post(
        "browser_screenshot",
        "/browser/screenshot",
        &[
            may("selector", "selector", Kind::Text),
            may("fullPage", "full_page", Kind::Boolean),
            may("format", "format", Kind::Text),
        ],
    )
    .bytes("image_base64"),
    get("browser_content", "/browser/content", &[may("type", "type", Kind::Text)]),
    post("browser_click", "/browser/click", &[SELECTOR, TIMEOUT_MS]).patience(Patience::Timeout(20_000)),
    post(
        "browser_type",
        "/browser/type",
        &[SELECTOR, must("text", "text", Kind::Text), may("delayMs", "delay", Kind::Millis), may("clear", "clear", Kind::Boolean)],
    ),
    post("browser_evaluate", "/browser/evaluate", &[must("script", "script", Kind::Text), TIMEOUT_MS])
        .patience(Patience::Timeout(20_000)),
    post("browser_pdf", "/browser/pdf", &[may("format", "format", Kind::Text), may("landscape", "landscape", Kind::Boolean)])
        .bytes("pdf_base64"),
    get("browser_console", "/browser/console", &[]),
];

/// The endpoint of that id.
pub fn endpoint(id: &str) -> Option<&'static Endpoint> {
    ENDPOINTS.iter().find(|endpoint| endpoint.id == id)
}

/// Whether a text may be a segment of a URL's path: it leads nowhere else, however it is encoded, and no proxy on the way reads it anew.
pub fn is_segment(text: &str) -> bool {
    !text.is_empty()
        && text != "."
        && text != ".."
        && !text.chars().any(|c| c.is_whitespace() || c.is_control() || matches!(c, '/' | '\\'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_routes_are_there_once() {
        for (at, endpoint) in ENDPOINTS.iter().enumerate() {
            let again = &ENDPOINTS[..at];
            assert!(!again.iter().any(|other| other.id == endpoint.id), "{}", endpoint.id);
            assert!(!again.iter().any(|other| (other.method, other.path) == (endpoint.method, endpoint.path)), "{}", endpoint.id);
        }
        assert_eq!(ENDPOINTS.len(), 46);
    }

    #[test]
    fn what_stands_in_a_path_is_required_and_cannot_lead_elsewhere() {
        for endpoint in ENDPOINTS {
            for part in endpoint.path.split('/').filter(|part| part.starts_with('{')) {
                let field = endpoint.fields.iter().find(|field| part == format!("{{{}}}", field.wire)).expect(endpoint.id);
                assert!(field.required && matches!(field.kind, Kind::Pid | Kind::Segment), "{}", endpoint.id);
            }
        }
    }

    #[test]
    fn queries_hold_nothing_that_only_a_body_can() {
        for endpoint in ENDPOINTS.iter().filter(|endpoint| endpoint.method != "POST") {
            for field in endpoint.fields {
                assert!(
                    !matches!(field.kind, Kind::Texts | Kind::Paths | Kind::Content | Kind::Data | Kind::Body),
                    "{}",
                    endpoint.id
                );
            }
        }
    }

    #[test]
    fn segments_cannot_climb() {
        for text in ["", ".", "..", "a/b", "a\\b", "a b", "a\n", "\0"] {
            assert!(!is_segment(text), "{text:?}");
        }
        for text in ["deploy", "a.b", "...", "%2e%2e", "部署", "a?b#c"] {
            assert!(is_segment(text), "{text:?}");
        }
    }
}
