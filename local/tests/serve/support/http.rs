//! A small HTTP client: calls to 127.0.0.1 under any `Host`.

use super::PATIENCE;
use http::{HeaderMap, Request};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

/// A request that is being put together.
pub struct Call {
    port: u16,
    request: http::request::Builder,
    body: Bytes,
}

/// An answer with its whole body.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Call {
    pub fn new(port: u16, method: &str, path: &str) -> Self {
        Self { port, request: Request::builder().method(method).uri(path), body: Bytes::new() }
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.request = self.request.header(name, value);
        self
    }

    /// Calls the platform by another name; `{port}` stands for its port.
    pub fn host(self, host: &str) -> Self {
        let host = host.replace("{port}", &self.port.to_string());
        self.header("host", &host)
    }

    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    pub fn json(self, body: &Value) -> Self {
        self.header("content-type", "application/json").body(body.to_string())
    }

    /// Sends it and gives the answer as soon as its head is there. Dropping the answer ends the connection.
    pub async fn open(self) -> http::Response<Incoming> {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).await.unwrap();
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection.with_upgrades());
        let mut request = self.request.body(Full::new(self.body)).unwrap();
        if !request.headers().contains_key("host") {
            let host = format!("127.0.0.1:{}", self.port).parse().unwrap();
            request.headers_mut().insert("host", host);
        }
        tokio::time::timeout(PATIENCE, sender.send_request(request)).await.expect("no answer").unwrap()
    }

    /// Sends it and reads the whole answer.
    pub async fn send(self) -> Answer {
        let (parts, body) = self.open().await.into_parts();
        let body = tokio::time::timeout(PATIENCE, body.collect()).await.expect("the answer does not end").unwrap().to_bytes();
        Answer { status: parts.status.as_u16(), headers: parts.headers, body }
    }
}

impl Answer {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn value(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("no JSON: {}", self.text()))
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// The `message` of an error body.
    pub fn message(&self) -> String {
        self.value()["message"].as_str().unwrap_or_default().to_owned()
    }
}
