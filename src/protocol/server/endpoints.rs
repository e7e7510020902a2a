//! Every endpoint that has a method here: where it is, what it takes, how long it may take.
//!
//! The table is what keeps sixty methods small: one path through the code reads it, a line when it is asked for, since text takes a page
//! less room than what it stands for. Its ids are the server's; a test compares them with a running server's own list.

use crate::protocol::routing::split_at;

/// An endpoint.
#[derive(Debug, Clone, Copy)]
pub struct Endpoint {
    /// The server's name for it.
    pub id: &'static str,
    /// The HTTP method. Fields go into the query of a GET and a DELETE, and into the JSON body of a POST.
    pub method: &'static str,
    /// The path, with the wire names of fields in braces.
    pub path: &'static str,
    /// How long its answer may take.
    pub patience: Patience,
    /// The field of the answer that holds bytes as base64.
    pub bytes: Option<&'static str>,
    /// What it takes, as in the table.
    fields: &'static str,
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

/// The kinds by their names in the table.
const KINDS: [(&str, Kind); 16] = [
    ("path", Kind::Path),
    ("paths", Kind::Paths),
    ("text", Kind::Text),
    ("segment", Kind::Segment),
    ("names", Kind::Names),
    ("boolean", Kind::Boolean),
    ("count", Kind::Count),
    ("pid", Kind::Pid),
    ("signal", Kind::Signal),
    ("seconds", Kind::Seconds),
    ("wholeSeconds", Kind::WholeSeconds),
    ("millis", Kind::Millis),
    ("texts", Kind::Texts),
    ("content", Kind::Content),
    ("data", Kind::Data),
    ("body", Kind::Body),
];

/// The table, a line for each endpoint: its method, its id and its path; `@` and the patience in seconds, if it is another than the
/// client's; `#` and the field of the answer that holds bytes; and its fields. These are `name=wire` or a name that is the same on both
/// sides, `!` for one that must be there or `?`, and the kind.
///
/// `pty_connect` is over WebSocket, on a port of its own, and here so that it has a place among the ids.
const ENDPOINTS: &str = "\
GET health /health
GET capabilities /capabilities
POST capabilities_check /capabilities/check endpoint!text path?text paths?paths op?text
GET list_commands /commands
POST run_command /commands/{name} name!segment args=?body
GET files_list /files/list path!path recursive?boolean maxEntries=max_entries?count
GET files_stat /files/stat path!path
POST files_mkdir /files/mkdir path!path
DELETE files_delete /files path!path
POST files_move /files/move source!path destination!path
POST files_search /files/search path!path pattern!text maxDepth=max_depth?count maxResults=max_results?count
POST files_upload_stream /files/upload-stream path!path data=content_base64!content
GET files_download_stream /files/download-stream #content_base64 path!path
POST files_archive /files/archive #content_base64 paths!paths format?text
GET files_watch /files/watch @300 path!path recursive?boolean intervalMs=interval?seconds timeoutMs=timeout?seconds
POST shell /shell @300 command!text cwd?path envs=env?texts timeoutMs=timeout?seconds
POST shell_stream /shell/stream @300 command!text cwd?path envs=env?texts timeoutMs=timeout?seconds
POST process_start /process/start command!text cwd?path envs=env?texts captureOutput=capture_output?boolean stdin?boolean
GET process_list /process/list
GET process_detail /process/{pid} pid!pid
POST process_signal /process/{pid}/signal pid!pid sig=signal?signal
POST process_stdin /process/{pid}/stdin pid!pid data?data eof?boolean
GET process_output /process/{pid}/output @wait pid!pid since?count waitMs=wait?seconds
POST pty_create_session /pty/sessions shell?text cols?count rows?count envs=env?texts
GET pty_list_sessions /pty/sessions
GET pty_detail /pty/sessions/{id} sessionId=id!segment
POST pty_resize /pty/sessions/{id}/resize sessionId=id!segment cols!count rows!count
DELETE pty_delete_session /pty/sessions/{id} sessionId=id!segment
WS pty_connect /pty sessionId=id!segment
GET system_info /system/info
GET system_metrics /system/metrics
GET env_get /env names=filter?names
POST env_set /env vars!texts
GET ports /ports
GET packages /packages manager?text
POST code_run /code/run @30 code!text language?text timeoutMs=timeout?wholeSeconds
GET git_status /git/status path?path
GET git_diff /git/diff path?path staged?boolean file?path
POST browser_navigate /browser/navigate @30 url!text waitUntil=wait_until?text timeoutMs=timeout?millis
POST browser_screenshot /browser/screenshot #image_base64 selector?text fullPage=full_page?boolean format?text
GET browser_content /browser/content type?text
POST browser_click /browser/click @20 selector!text timeoutMs=timeout?millis
POST browser_type /browser/type selector!text text!text delayMs=delay?millis clear?boolean
POST browser_evaluate /browser/evaluate @20 script!text timeoutMs=timeout?millis
POST browser_pdf /browser/pdf #pdf_base64 format?text landscape?boolean
GET browser_console /browser/console
";

/// Takes what stands in front of `mark` from a text; all of it where there is none.
fn take(text: &mut &'static str, mark: &str) -> &'static str {
    let (taken, rest) = split_at(text, mark).unwrap_or((text, ""));
    *text = rest;
    taken
}

/// Every endpoint.
pub fn endpoints() -> impl Iterator<Item = Endpoint> {
    let mut rest = ENDPOINTS;
    std::iter::from_fn(move || (!rest.is_empty()).then(|| Endpoint::read(take(&mut rest, "\n"))))
}

impl Endpoint {
    fn read(mut line: &'static str) -> Self {
        let (method, id, path) = (take(&mut line, " "), take(&mut line, " "), take(&mut line, " "));
        let patience = match if line.starts_with('@') { take(&mut line, " ") } else { "" } {
            "" => Patience::Client,
            "@wait" => Patience::Wait,
            "@20" => Patience::Timeout(20_000),
            "@30" => Patience::Timeout(30_000),
            // How long a command may run.
            _ => Patience::Timeout(300_000),
        };
        let bytes = if line.starts_with('#') { take(&mut line, " ").get(1..) } else { None };
        Self { id, method, path, patience, bytes, fields: line }
    }

    /// What it takes.
    pub fn fields(&self) -> impl Iterator<Item = Field> {
        let mut rest = self.fields;
        std::iter::from_fn(move || (!rest.is_empty()).then(|| Field::read(take(&mut rest, " "))))
    }

    /// Whether asking twice does what asking once does. Health is asked about now: another answer later is another question.
    pub fn is_repeatable(&self) -> bool {
        self.method == "GET" && self.id != "health"
    }
}

impl Field {
    fn read(text: &'static str) -> Self {
        let required = split_at(text, "!");
        let (names, kind) = required.or_else(|| split_at(text, "?")).unwrap_or_default();
        let (name, wire) = split_at(names, "=").unwrap_or((names, names));
        let kind = KINDS.iter().find(|(known, _)| *known == kind).map_or(Kind::Text, |(_, kind)| *kind);
        Self { name, wire, kind, required: required.is_some() }
    }
}

/// The endpoint of that id.
pub fn endpoint(id: &str) -> Option<Endpoint> {
    endpoints().find(|endpoint| endpoint.id == id)
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
        let all: Vec<_> = endpoints().collect();
        for (at, endpoint) in all.iter().enumerate() {
            let again = &all[..at];
            assert!(!again.iter().any(|other| other.id == endpoint.id), "{}", endpoint.id);
            assert!(!again.iter().any(|other| (other.method, other.path) == (endpoint.method, endpoint.path)), "{}", endpoint.id);
        }
        assert_eq!(all.len(), 46);
    }

    #[test]
    fn every_word_of_the_table_is_one_that_is_read() {
        for line in ENDPOINTS.lines() {
            for word in line.split(' ').skip(3) {
                match word.strip_prefix(['@', '#']) {
                    Some(mark) if word.starts_with('@') => assert!(["wait", "20", "30", "300"].contains(&mark), "{line}"),
                    Some(field) => assert!(!field.is_empty(), "{line}"),
                    None => {
                        let (names, kind) = word.split_once(['!', '?']).expect(line);
                        assert!(!names.is_empty() && KINDS.iter().any(|(known, _)| *known == kind), "{line}");
                    }
                }
            }
        }
        let output = endpoint("process_output").unwrap();
        assert_eq!((output.method, output.path, output.patience), ("GET", "/process/{pid}/output", Patience::Wait));
        let archive = endpoint("files_archive").unwrap();
        assert_eq!((archive.patience, archive.bytes), (Patience::Client, Some("content_base64")));
        let fields: Vec<_> = endpoint("files_watch").unwrap().fields().collect();
        let read: Vec<_> = fields.iter().map(|field| (field.name, field.wire, field.kind, field.required)).collect();
        assert_eq!(read[0], ("path", "path", Kind::Path, true));
        assert_eq!(read[2], ("intervalMs", "interval", Kind::Seconds, false));
        assert_eq!(endpoint("run_command").unwrap().fields().last().map(|field| (field.wire, field.kind)), Some(("", Kind::Body)));
    }

    #[test]
    fn what_stands_in_a_path_is_required_and_cannot_lead_elsewhere() {
        for endpoint in endpoints() {
            for part in endpoint.path.split('/').filter(|part| part.starts_with('{')) {
                let field = endpoint.fields().find(|field| part == format!("{{{}}}", field.wire)).expect(endpoint.id);
                assert!(field.required && matches!(field.kind, Kind::Pid | Kind::Segment), "{}", endpoint.id);
            }
        }
    }

    #[test]
    fn queries_hold_nothing_that_only_a_body_can() {
        for endpoint in endpoints().filter(|endpoint| endpoint.method != "POST") {
            for field in endpoint.fields() {
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
