//! Starts the role on a free port in a home of its own, and speaks to it.

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use rustix::process::{Pid, Signal};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;
use tokio::net::TcpStream;

/// No answer within this time is a hang. Generous: the machine may be slow, and a wait that succeeds costs nothing.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// The binary.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_agent-sandbox-local");

/// Where the runtime of all tests is kept.
pub fn runtime_dir() -> PathBuf {
    Path::new(PROGRAM).ancestors().nth(2).expect("the program lies in target/PROFILE").join("runtime")
}

/// The shared Python environment, made on first use.
pub fn python_env() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let made = Command::new(PROGRAM)
            .args(["prepare", "--runtime-dir"])
            .arg(runtime_dir())
            .stderr(Stdio::inherit())
            .output()
            .expect("prepare runs");
        assert!(made.status.success(), "prepare failed");
        PathBuf::from(String::from_utf8(made.stdout).expect("a path").trim())
    })
}

/// Deno of the workspace's npm packages, if they are installed.
pub fn deno() -> Option<PathBuf> {
    let package = if cfg!(target_arch = "aarch64") { "linux-arm64-glibc" } else { "linux-x64-glibc" };
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../node_modules/@deno").join(package).join("deno");
    file.is_file().then_some(file)
}

/// A running role. Dropping it ends it by closing its stdin.
pub struct Role {
    child: Child,
    stdin: Option<ChildStdin>,
    address: String,
    home: tempfile::TempDir,
    run_dir: tempfile::TempDir,
}

impl Role {
    /// Starts the role and waits until it listens.
    pub fn start() -> Role {
        Role::start_with(&[], deno().as_deref())
    }

    /// The same with variables of its own, and with or without Deno.
    pub fn start_with(variables: &[(&str, &str)], deno: Option<&Path>) -> Role {
        Role::start_everywhere(variables, deno, tempfile::tempdir().expect("a folder"))
    }

    /// The same with a folder for its kernels' sockets.
    pub fn start_in(run_dir: tempfile::TempDir) -> Role {
        Role::start_everywhere(&[], None, run_dir)
    }

    fn start_everywhere(variables: &[(&str, &str)], deno: Option<&Path>, run_dir: tempfile::TempDir) -> Role {
        let home = tempfile::tempdir().expect("a folder");
        let mut command = Command::new(PROGRAM);
        command.args(["interpreter", "--listen", "127.0.0.1:0", "--python-env"]).arg(python_env());
        if let Some(deno) = deno {
            command.arg("--deno").arg(deno);
        }
        command.arg("--run-dir").arg(run_dir.path());
        command.env("HOME", home.path()).env_remove("VIRTUAL_ENV").envs(variables.iter().copied());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the role starts");
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().expect("stdout"));
        stdout.read_line(&mut line).expect("a line");
        let address = line.trim().strip_prefix("ready ").expect("the role is ready").to_owned();
        Role { stdin: child.stdin.take(), child, address, home, run_dir }
    }

    /// The home of its user.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// Whether it has left anything where its kernels have their sockets.
    pub fn left_something(&self) -> bool {
        self.run_dir.path().read_dir().expect("a folder").next().is_some()
    }

    /// The role's process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// How many connections to it are open at its end.
    pub fn connections(&self) -> usize {
        let (_, port) = self.address.rsplit_once(':').expect("a port");
        let own = format!("0100007F:{:04X}", port.parse::<u16>().expect("a number"));
        let table = std::fs::read_to_string("/proc/net/tcp").expect("a table");
        // Established, or left by the other end.
        let is_open = |line: &&str| {
            let fields: Vec<&str> = line.split_ascii_whitespace().collect();
            fields.get(1) == Some(&own.as_str()) && matches!(fields.get(3), Some(&"01" | &"08"))
        };
        table.lines().filter(is_open).count()
    }

    /// Its most resident memory so far, in bytes.
    pub fn peak_memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).expect("the role runs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
        line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") * 1024
    }

    /// Stops it in its tracks until `go_on`.
    pub fn hold(&self) {
        self.signal(Signal::STOP);
    }

    /// Lets it go on.
    pub fn go_on(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.pid().cast_signed()).expect("a process id");
        rustix::process::kill_process(pid, signal).expect("the role runs");
    }

    /// Closes its stdin and waits until it has ended.
    pub fn end(&mut self) -> std::process::ExitStatus {
        drop(self.stdin.take());
        self.child.wait().expect("the role ends")
    }

    /// Kills it, so that it has no time to end anything.
    pub fn kill(&mut self) {
        self.child.kill().expect("the role runs");
        self.end();
    }

    /// Sends a request and gives its answer; the connection is its own.
    pub async fn send(&self, request: Request<Full<Bytes>>) -> (Response<Incoming>, Connection) {
        let stream = TcpStream::connect(&self.address).await.expect("the role listens");
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.expect("HTTP");
        let connection = Connection(tokio::spawn(async move { drop(connection.await) }));
        let response =
            tokio::time::timeout(PATIENCE, sender.send_request(request)).await.expect("headers in time").expect("an answer");
        (response, connection)
    }

    /// Sends JSON, or no body; gives status, headers and body.
    pub async fn call(&self, method: Method, path: &str, body: Option<Value>) -> (u16, hyper::HeaderMap, String) {
        self.call_with(method, path, body, &[]).await
    }

    /// The same with headers.
    pub async fn call_with(
        &self,
        method: Method,
        path: &str,
        body: Option<Value>,
        headers: &[(&str, &str)],
    ) -> (u16, hyper::HeaderMap, String) {
        let mut request = Request::builder().method(method).uri(path).header("host", &self.address);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let body = body.map_or_else(Bytes::new, |body| body.to_string().into());
        let (response, _connection) = self.send(request.body(Full::new(body)).expect("a request")).await;
        let (head, body) = response.into_parts();
        let body = tokio::time::timeout(PATIENCE, body.collect()).await.expect("a body in time").expect("a whole body").to_bytes();
        (head.status.as_u16(), head.headers, String::from_utf8(body.to_vec()).expect("text"))
    }

    /// Starts a cell; resolves with its headers.
    pub async fn cell(&self, body: Value) -> Cell {
        let request = Request::post("/execute").header("host", &self.address).header("content-type", "application/json");
        let (response, connection) = self.send(request.body(Full::new(body.to_string().into())).expect("a request")).await;
        assert_eq!(response.status(), 200);
        Cell { body: response.into_body(), buffer: Vec::new(), _connection: connection }
    }

    /// Runs a cell and gives every event but keepalives.
    pub async fn run(&self, body: Value) -> Vec<Value> {
        self.cell(body).await.rest().await
    }

    /// Runs Python in the default context.
    pub async fn python(&self, code: &str) -> Vec<Value> {
        self.run(json!({ "code": code })).await
    }

    /// Makes a context; gives its id.
    pub async fn context(&self, body: Value) -> String {
        let (status, _, text) = self.call(Method::POST, "/contexts", Some(body)).await;
        assert_eq!(status, 200, "{text}");
        let context: Value = serde_json::from_str(&text).expect("JSON");
        context["id"].as_str().expect("an id").to_owned()
    }
}

impl Drop for Role {
    fn drop(&mut self) {
        if self.stdin.is_some() {
            self.end();
        }
    }
}

/// An open connection. Dropping it closes it.
pub struct Connection(tokio::task::JoinHandle<()>);

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A cell's stream. Dropping it disconnects.
pub struct Cell {
    body: Incoming,
    buffer: Vec<u8>,
    _connection: Connection,
}

impl Cell {
    /// The next event; nothing at the end of the body.
    pub async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.buffer.drain(..=end).collect();
                assert!(line.is_ascii());
                return Some(serde_json::from_slice(&line).expect("JSON"));
            }
            let chunk = self.chunk().await?;
            self.buffer.extend_from_slice(&chunk);
        }
    }

    /// The next bytes as they come.
    pub async fn chunk(&mut self) -> Option<Bytes> {
        let frame = tokio::time::timeout(PATIENCE, self.body.frame()).await.expect("the stream goes on")?.expect("a whole stream");
        Some(frame.into_data().unwrap_or_default())
    }

    /// The next event that is no keepalive.
    pub async fn next_event(&mut self) -> Option<Value> {
        loop {
            match self.next().await {
                Some(event) if event["type"] == "keepalive" => {}
                other => return other,
            }
        }
    }

    /// Waits for an event of this type.
    pub async fn until(&mut self, kind: &str) -> Value {
        loop {
            let event = self.next().await.unwrap_or_else(|| panic!("the stream ended before {kind}"));
            if event["type"] == kind {
                return event;
            }
        }
    }

    /// Every event that is left, keepalives excepted. The stream must be complete.
    pub async fn rest(mut self) -> Vec<Value> {
        let mut events = Vec::new();
        while let Some(event) = self.next_event().await {
            events.push(event);
        }
        assert_eq!(events.last().map(|event| &event["type"]), Some(&json!("end_of_execution")), "{events:?}");
        events
    }
}

/// Installs a wheel that the cell makes and serves itself, and shows where its module and a shared one come from.
pub const INSTALL: &str = r#"
import http.server, threading, zipfile
name = "greeting-1.0-py3-none-any.whl"
with zipfile.ZipFile(name, "w") as wheel:
    wheel.writestr("greeting.py", "word = 'hello'")
    wheel.writestr("greeting-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: greeting\nVersion: 1.0\nRequires-Dist: numpy\n")
    wheel.writestr("greeting-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    wheel.writestr("greeting-1.0.dist-info/RECORD", "")
class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet)
threading.Thread(target=server.serve_forever, daemon=True).start()
get_ipython().run_line_magic("pip", f"install --no-index http://127.0.0.1:{server.server_port}/{name}")
import greeting, numpy
greeting.word, greeting.__file__, numpy.__file__"#;

/// The events of one type.
pub fn of_type<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["type"] == kind).collect()
}

/// The joined text of a stream.
pub fn text(events: &[Value], stream: &str) -> String {
    of_type(events, stream).iter().map(|event| event["text"].as_str().expect("a text")).collect()
}

/// The text of the main result.
pub fn main_text(events: &[Value]) -> String {
    let main: Vec<_> = of_type(events, "result").into_iter().filter(|result| result["is_main_result"] == true).collect();
    assert_eq!(main.len(), 1, "{events:?}");
    main[0]["text"].as_str().unwrap_or_default().to_owned()
}

/// The only error.
pub fn error(events: &[Value]) -> &Value {
    let errors = of_type(events, "error");
    assert_eq!(errors.len(), 1, "{events:?}");
    errors[0]
}
