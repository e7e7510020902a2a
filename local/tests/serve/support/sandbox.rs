//! A sandbox and what runs in it.

use super::http::Call;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// A sandbox of a test's platform.
pub struct Sandbox {
    pub id: String,
    /// The answer to its creation.
    pub created: Value,
    port: u16,
}

/// What a command left.
#[derive(Debug)]
pub struct Outcome {
    /// Both streams.
    pub output: String,
    pub code: i64,
}

impl Sandbox {
    pub fn new(port: u16, created: Value) -> Self {
        Self { id: created["sandboxID"].as_str().unwrap().to_owned(), created, port }
    }

    /// A call to a port of the sandbox, by path.
    pub fn call(&self, method: &str, port: u16, path: &str) -> Call {
        let call = Call::new(self.port, method, &format!("/s/{}/{port}{path}", self.id));
        match self.created["envdAccessToken"].as_str().filter(|_| port == 49983) {
            Some(token) => call.header("x-access-token", token),
            None => call,
        }
    }

    /// The same sandbox on a platform that was restarted, perhaps on another port.
    pub fn on(self, port: u16) -> Self {
        Self { port, ..self }
    }

    /// Runs a shell command to its end.
    pub async fn run(&self, text: &str) -> Outcome {
        let answer = self.start(text).send().await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        let (mut output, mut code, mut rest) = (Vec::new(), None, answer.body.as_ref());
        while let Some((head, tail)) = rest.split_at_checked(5) {
            let length = u32::from_be_bytes(head[1..].try_into().unwrap()) as usize;
            let message: Value = serde_json::from_slice(&tail[..length]).unwrap();
            rest = &tail[length..];
            assert!(message.get("error").is_none(), "{message}");
            let event = &message["event"];
            for stream in ["stdout", "stderr"] {
                if let Some(data) = event["data"][stream].as_str() {
                    output.extend(STANDARD.decode(data).unwrap());
                }
            }
            if let Some(end) = event.get("end") {
                code = Some(end["exitCode"].as_i64().unwrap_or(0));
            }
        }
        Outcome { output: String::from_utf8_lossy(&output).into_owned(), code: code.expect("the command's end") }
    }

    /// Runs a shell command that must succeed and gives its output.
    pub async fn succeed(&self, text: &str) -> String {
        let outcome = self.run(text).await;
        assert_eq!(outcome.code, 0, "{text}: {}", outcome.output);
        outcome.output
    }

    /// Starts a shell command; the answer streams.
    pub fn start(&self, text: &str) -> Call {
        let process = json!({ "cmd": "/bin/bash", "args": ["-c", text] });
        let message = json!({ "process": process, "stdin": false }).to_string();
        let mut body = vec![0];
        body.extend((message.len() as u32).to_be_bytes());
        body.extend(message.as_bytes());
        self.call("POST", 49983, "/process.Process/Start").header("content-type", "application/connect+json").body(body)
    }

    /// Starts a server written in Perl (which every Debian has) and gives its port. The script finds the listening socket in `$server`.
    pub async fn serve(&self, script: &str) -> u16 {
        let script = format!(
            "use IO::Socket::INET; $| = 1; my $server = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 5) or die;\n\
             open(my $file, '>', '/tmp/port.new'); print $file $server->sockport; close $file; rename '/tmp/port.new', '/tmp/port';\n{script}"
        );
        let written = self.call("POST", 49983, "/files?path=/tmp/server.pl").header("content-type", "application/octet-stream");
        assert_eq!(written.body(script).send().await.status, 200);
        let started = "rm -f /tmp/port; setsid perl /tmp/server.pl </dev/null >/tmp/server.log 2>&1 & until [ -e /tmp/port ]; do sleep 0.02; done; cat /tmp/port";
        self.succeed(started).await.trim().parse().unwrap()
    }
}
