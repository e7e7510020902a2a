//! Starts envd and talks to it.

use agent_sandbox_web::protocol::envelope::{EnvelopeReader, write_envelope};
use agent_sandbox_web::protocol::process::*;
use bytes::Bytes;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::process::{Child, ChildStdin, Command};

/// How long anything may take. Nothing waits for it unless something is broken.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits for what must come.
pub async fn soon<F: Future>(what: F) -> F::Output {
    tokio::time::timeout(PATIENCE, what).await.expect("it did not come in time")
}

/// Asks again until the answer is there.
pub async fn until<T, F: Future<Output = Option<T>>>(mut ask: impl FnMut() -> F) -> T {
    soon(async {
        loop {
            if let Some(answer) = ask().await {
                return answer;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    })
    .await
}

/// A running envd with a folder of its own.
pub struct Envd {
    pub child: Child,
    pub stdin: Option<ChildStdin>,
    dir: TempDir,
    /// Who it runs as.
    pub user: Account,
}

/// The account that the tests run with.
#[derive(Clone)]
pub struct Account {
    pub name: String,
    pub home: String,
    pub uid: u32,
}

impl Account {
    fn own() -> Self {
        let uid = rustix::process::geteuid().as_raw();
        let passwd = std::fs::read_to_string("/etc/passwd").unwrap();
        let line =
            passwd.lines().find(|line| line.split(':').nth(2) == Some(&uid.to_string())).expect("the tests' user has no name");
        let fields: Vec<&str> = line.split(':').collect();
        Self { name: fields[0].to_owned(), home: fields[5].to_owned(), uid }
    }
}

pub const TOKEN: &str = "a-token-of-the-tests";

impl Envd {
    /// An open one.
    pub async fn start() -> Self {
        Self::with(json!({})).await
    }

    /// One that wants [`TOKEN`].
    pub async fn secure() -> Self {
        Self::with(json!({ "accessToken": TOKEN })).await
    }

    /// One whose configuration differs from the usual in these fields.
    pub async fn with(different: Value) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let user = Account::own();
        for folder in ["run", "work"] {
            std::fs::create_dir(dir.path().join(folder)).unwrap();
        }
        let mut config = json!({
            "accessToken": null,
            "envVars": { "SANDBOX_WIDE": "one" },
            "defaultUser": user.name,
            "defaultWorkdir": dir.path().join("work"),
        });
        config.as_object_mut().unwrap().extend(different.as_object().unwrap().clone());
        let mut child = Command::new(env!("CARGO_BIN_EXE_agent-sandbox-local"))
            .arg("envd")
            .arg("--run-dir")
            .arg(dir.path().join("run"))
            .env_clear()
            .env("NOT_FOR_PROCESSES", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(format!("{config}\n").as_bytes()).await.unwrap();
        let mut line = String::new();
        soon(BufReader::new(child.stdout.take().unwrap()).read_line(&mut line)).await.unwrap();
        assert_eq!(line, "ready\n");
        Self { child, stdin: Some(stdin), dir, user }
    }

    /// The folder for a test's files, which is the default working directory too.
    pub fn work(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    /// A path in that folder.
    pub fn path(&self, name: &str) -> String {
        self.work().join(name).to_str().unwrap().to_owned()
    }

    /// A socket of its run folder.
    pub fn socket(&self, name: &str) -> PathBuf {
        self.dir.path().join("run").join(name)
    }

    /// Sends a request and waits for the head of its answer.
    pub async fn send(&self, request: Request<BoxBody<Bytes, Infallible>>) -> http::Response<Incoming> {
        soon(async {
            let stream = UnixStream::connect(self.socket("envd.sock")).await.unwrap();
            let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
            tokio::spawn(connection);
            sender.send_request(request).await.expect("the connection broke")
        })
        .await
    }

    /// A whole exchange.
    pub async fn http(&self, method: Method, target: &str, headers: &[(&str, &str)], body: impl Into<Bytes>) -> Answer {
        let mut request = Request::builder().method(method).uri(target).header("host", "envd");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = self.send(request.body(Full::new(body.into()).boxed()).unwrap()).await;
        let (parts, body) = response.into_parts();
        let body = soon(body.collect()).await.map(|body| body.to_bytes());
        Answer { status: parts.status, headers: parts.headers, body: body.unwrap_or_else(|_| Bytes::from_static(b"<broken off>")) }
    }

    pub async fn get(&self, target: &str, headers: &[(&str, &str)]) -> Answer {
        self.http(Method::GET, target, headers, "").await
    }

    pub async fn post(&self, target: &str, headers: &[(&str, &str)], body: impl Into<Bytes>) -> Answer {
        self.http(Method::POST, target, headers, body).await
    }

    /// A unary call.
    pub async fn call<A: Wire>(&self, codec: Codec, method: &str, message: &impl Wire) -> Result<A, Failure> {
        let answer = self.post(method, &[("content-type", codec.unary())], codec.encode(message)).await;
        if answer.status == StatusCode::OK {
            assert_eq!(answer.header("content-type"), codec.unary());
            return Ok(codec.decode(&answer.body));
        }
        assert_eq!(answer.header("content-type"), "application/json");
        Err(Failure::of(&answer.json(), answer.status.as_u16()))
    }

    /// An enveloped call with one request.
    pub async fn open<A: Wire>(&self, codec: Codec, method: &str, message: &impl Wire, headers: &[(&str, &str)]) -> Events<A> {
        let mut body = Vec::new();
        write_envelope(&mut body, 0, &codec.encode(message));
        self.open_raw(codec, method, headers, body).await
    }

    /// An enveloped call with any body.
    pub async fn open_raw<A: Wire>(&self, codec: Codec, method: &str, headers: &[(&str, &str)], body: Vec<u8>) -> Events<A> {
        let mut request = Request::post(method).header("host", "envd").header("content-type", codec.stream());
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = self.send(request.body(Full::new(body.into()).boxed()).unwrap()).await;
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()["content-type"], codec.stream());
        Events { body: response.into_body(), reader: EnvelopeReader::default(), codec, message: std::marker::PhantomData }
    }

    /// Starts a process and follows it.
    pub async fn follow(&self, codec: Codec, request: &StartRequest) -> Process {
        self.follow_with(codec, request, &[]).await
    }

    /// The same with headers.
    pub async fn follow_with(&self, codec: Codec, request: &StartRequest, headers: &[(&str, &str)]) -> Process {
        let mut events = self.open(codec, "/process.Process/Start", request, headers).await;
        Process { pid: events.start().await, events }
    }

    /// Runs a shell script to its end.
    pub async fn run(&self, codec: Codec, script: &str) -> Output {
        self.follow(codec, &sh(script)).await.events.output().await
    }

    /// Follows a process that runs.
    pub async fn connect(&self, codec: Codec, pid: u32) -> Events<StartResponse> {
        let request = ConnectRequest { process: Some(ProcessSelector::pid(pid)) };
        self.open(codec, "/process.Process/Connect", &request, &[]).await
    }

    pub async fn list(&self) -> Vec<ProcessInfo> {
        self.call::<ListResponse>(Codec::Proto, "/process.Process/List", &ListRequest {}).await.unwrap().processes
    }

    pub async fn signal(&self, pid: u32, signal: Signal) -> Result<SendSignalResponse, Failure> {
        let request = SendSignalRequest { process: Some(ProcessSelector::pid(pid)), signal: signal as i32 };
        self.call(Codec::Json, "/process.Process/SendSignal", &request).await
    }

    pub async fn input(&self, pid: u32, input: Input) -> Result<SendInputResponse, Failure> {
        let input = Some(ProcessInput { input: Some(input) });
        let request = SendInputRequest { process: Some(ProcessSelector::pid(pid)), input };
        self.call(Codec::Proto, "/process.Process/SendInput", &request).await
    }

    pub async fn close_stdin(&self, pid: u32) -> Result<CloseStdinResponse, Failure> {
        let request = CloseStdinRequest { process: Some(ProcessSelector::pid(pid)) };
        self.call(Codec::Proto, "/process.Process/CloseStdin", &request).await
    }
}

/// A message that both codecs know.
pub trait Wire: std::fmt::Debug + prost::Message + Default + Serialize + DeserializeOwned {}
impl<T: std::fmt::Debug + prost::Message + Default + Serialize + DeserializeOwned> Wire for T {}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Codec {
    Json,
    Proto,
}

pub const BOTH: [Codec; 2] = [Codec::Json, Codec::Proto];

impl Codec {
    pub fn unary(self) -> &'static str {
        if self == Self::Json { "application/json" } else { "application/proto" }
    }

    pub fn stream(self) -> &'static str {
        if self == Self::Json { "application/connect+json" } else { "application/connect+proto" }
    }

    pub fn encode(self, message: &impl Wire) -> Vec<u8> {
        if self == Self::Json { serde_json::to_vec(message).unwrap() } else { message.encode_to_vec() }
    }

    pub fn decode<T: Wire>(self, bytes: &[u8]) -> T {
        if self == Self::Json { serde_json::from_slice(bytes).unwrap() } else { T::decode(bytes).unwrap() }
    }
}

/// A whole answer.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Answer {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("no JSON: {:?}", self.text()))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Checks envd's own error form and gives the message.
    pub fn message(&self, status: u16) -> String {
        assert_eq!(self.status, status, "{}", self.text());
        assert_eq!(self.header("content-type"), "application/json; charset=utf-8");
        assert_eq!(self.header("x-content-type-options"), "nosniff");
        assert_eq!(self.json()["code"], json!(status));
        self.json()["message"].as_str().unwrap().to_owned()
    }
}

/// An error of a call.
#[derive(Debug, PartialEq, Eq, Clone)]
pub struct Failure {
    pub code: String,
    pub message: String,
    /// Of the HTTP answer; 200 for streams.
    pub status: u16,
}

impl Failure {
    fn of(json: &Value, status: u16) -> Self {
        Self {
            code: json["code"].as_str().expect("a Connect error has a code in words").to_owned(),
            message: json["message"].as_str().unwrap_or_default().to_owned(),
            status,
        }
    }
}

/// The messages of a stream.
pub struct Events<A> {
    body: Incoming,
    reader: EnvelopeReader,
    codec: Codec,
    message: std::marker::PhantomData<A>,
}

/// What comes next in a stream.
#[derive(Debug, PartialEq)]
pub enum Next<A> {
    Message(A),
    /// The end-of-stream message.
    End(Option<Failure>),
    /// The body ended without one.
    Broken,
}

impl<A: Wire> Events<A> {
    /// The next raw envelope.
    pub async fn envelope(&mut self) -> Option<(u8, Vec<u8>)> {
        loop {
            if let Some(envelope) = self.reader.next_envelope().unwrap() {
                return Some((envelope.flags, envelope.payload.to_vec()));
            }
            match soon(self.body.frame()).await {
                Some(Ok(frame)) => self.reader.push(&frame.into_data().unwrap()),
                _ => return None,
            }
        }
    }

    pub async fn next(&mut self) -> Next<A> {
        match self.envelope().await {
            Some((0, payload)) => Next::Message(self.codec.decode(&payload)),
            Some((2, payload)) => {
                let json: Value = serde_json::from_slice(&payload).unwrap();
                Next::End(json.get("error").map(|error| Failure::of(error, 200)))
            }
            Some((flags, _)) => panic!("unexpected flags {flags}"),
            None => Next::Broken,
        }
    }

    /// The next message.
    pub async fn message(&mut self) -> A {
        match self.next().await {
            Next::Message(message) => message,
            other => panic!("no message: {other:?}"),
        }
    }

    /// The error that the stream ends with, after whatever messages.
    pub async fn failure(&mut self) -> Failure {
        loop {
            match self.next().await {
                Next::Message(_) => {}
                Next::End(Some(failure)) => return failure,
                other => panic!("no error: {other:?}"),
            }
        }
    }
}

impl Events<StartResponse> {
    pub async fn event(&mut self) -> Event {
        self.message().await.event.and_then(|event| event.event).expect("an event says something")
    }

    /// The next event; `None` when the deadline has come before it.
    pub async fn event_in_time(&mut self) -> Option<Event> {
        match self.next().await {
            Next::Message(message) => Some(message.event.unwrap().event.unwrap()),
            Next::End(Some(failure)) if failure.code == "deadline_exceeded" => None,
            other => panic!("neither an event nor a deadline: {other:?}"),
        }
    }

    /// The process id in the first event.
    pub async fn start(&mut self) -> u32 {
        match self.event().await {
            Event::Start(start) => start.pid,
            other => panic!("the first event is {other:?}"),
        }
    }

    /// Reads on until the output of all kinds holds `wanted`.
    pub async fn wait_for(&mut self, wanted: &str) -> String {
        let mut seen = Vec::new();
        loop {
            match self.event().await {
                Event::Data(data) => seen.extend_from_slice(bytes_of(data.output.as_ref().unwrap())),
                Event::Keepalive(_) => {}
                other => panic!("{other:?} after {:?}", String::from_utf8_lossy(&seen)),
            }
            let text = String::from_utf8_lossy(&seen);
            if text.contains(wanted) {
                return text.into_owned();
            }
        }
    }

    /// Everything up to the end of the stream.
    pub async fn output(&mut self) -> Output {
        let mut output = Output::default();
        loop {
            match self.next().await {
                Next::Message(message) => match message.event.unwrap().event.unwrap() {
                    Event::Data(data) => match data.output.unwrap() {
                        Output_::Stdout(bytes) => output.stdout.extend_from_slice(&bytes),
                        Output_::Stderr(bytes) => output.stderr.extend_from_slice(&bytes),
                        Output_::Pty(bytes) => output.pty.extend_from_slice(&bytes),
                    },
                    Event::End(end) => output.end = Some(end),
                    Event::Keepalive(_) => output.keepalives += 1,
                    Event::Start(_) => panic!("a second start event"),
                },
                Next::End(failure) => {
                    output.failure = failure;
                    return output;
                }
                Next::Broken => panic!("the stream broke off"),
            }
        }
    }
}

use agent_sandbox_web::protocol::process::Output as Output_;

pub fn bytes_of(output: &Output_) -> &[u8] {
    match output {
        Output_::Stdout(bytes) | Output_::Stderr(bytes) | Output_::Pty(bytes) => bytes,
    }
}

/// A process that was started here.
pub struct Process {
    pub pid: u32,
    pub events: Events<StartResponse>,
}

/// Everything that a process said.
#[derive(Debug, Default)]
pub struct Output {
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub pty: Vec<u8>,
    pub end: Option<EndEvent>,
    pub failure: Option<Failure>,
    pub keepalives: usize,
}

impl Output {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    pub fn end(&self) -> &EndEvent {
        self.end.as_ref().expect("the process has an end")
    }
}

/// A program with arguments, without stdin.
pub fn program(cmd: &str, args: &[&str]) -> StartRequest {
    let config =
        ProcessConfig { cmd: cmd.to_owned(), args: args.iter().map(|arg| (*arg).to_owned()).collect(), ..ProcessConfig::default() };
    StartRequest { process: Some(config), pty: None, tag: None, stdin: Some(false) }
}

/// A shell script, without stdin.
pub fn sh(script: &str) -> StartRequest {
    program("/bin/sh", &["-c", script])
}

/// A shell script in a terminal.
pub fn in_terminal(script: &str, cols: u32, rows: u32) -> StartRequest {
    StartRequest { pty: Some(Pty { size: Some(PtySize { cols, rows }) }), stdin: None, ..sh(script) }
}

/// The state of a process, by the kernel's letter for it.
pub fn state(pid: u32) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next())
}

pub fn is_alive(pid: u32) -> bool {
    !matches!(state(pid), None | Some('Z' | 'X'))
}

/// Sends a signal from outside.
pub fn send_signal(pid: u32, signal: rustix::process::Signal) {
    rustix::process::kill_process(rustix::process::Pid::from_raw(pid.cast_signed()).unwrap(), signal).unwrap();
}

/// Stops a process, which then does nothing until it is continued.
pub async fn stop(pid: u32) {
    send_signal(pid, rustix::process::Signal::STOP);
    until(async || (state(pid) == Some('T')).then_some(())).await;
}

pub fn exists(path: impl AsRef<Path>) -> bool {
    path.as_ref().symlink_metadata().is_ok()
}
