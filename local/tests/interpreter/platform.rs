//! Code cells in sandboxes of the whole platform: inside the walls, as root and as a plain user, and without walls.

use super::role::{INSTALL, error, main_text, of_type, python_env, runtime_dir, text};
use super::support::{Platform, Sandbox, Who};
use http_body_util::BodyExt;
use serde_json::{Value, json};

fn platform(who: Who, arguments: &[&str]) -> Platform {
    // Made by whichever test comes first; a client would not wait that long.
    python_env();
    let runtime = runtime_dir().display().to_string();
    Platform::start_as(who, &[&["--runtime-dir", &runtime], arguments].concat())
}

async fn run(sandbox: &Sandbox, body: Value) -> Vec<Value> {
    let answer = sandbox.call("POST", 49999, "/execute").json(&body).send().await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let events: Vec<Value> = answer.text().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    events.into_iter().filter(|event| event["type"] != "keepalive").collect()
}

async fn python(sandbox: &Sandbox, code: &str) -> Vec<Value> {
    run(sandbox, json!({ "code": code })).await
}

async fn figure_and_table(sandbox: &Sandbox) {
    let events = python(sandbox, "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()").await;
    let [figure] = of_type(&events, "result")[..] else { panic!("one result: {events:?}") };
    assert!(figure["png"].is_string() && figure["chart"]["type"] == "line");
    let events = python(sandbox, "import pandas\npandas.DataFrame({'a': [1]})").await;
    assert_eq!(of_type(&events, "result")[0]["data"], json!({ "a": [1] }));
}

#[tokio::test]
async fn cells_run_inside_the_walls() {
    for who in Who::all() {
        let platform = platform(who, &[]);
        let sandbox =
            platform.sandbox_of(json!({ "templateID": "code-interpreter-v1", "envVars": { "WIDE": "of the sandbox" } })).await;
        figure_and_table(&sandbox).await;
        let events =
            python(&sandbox, "import os; print(os.environ['WIDE'], os.getcwd(), os.getuid())\nopen('made', 'w').write('x')").await;
        assert_eq!(text(&events, "stdout"), "of the sandbox /home/user 1000\n");
        assert_eq!(sandbox.succeed("cat /home/user/made").await, "x");

        // Nothing of the host is seen or changed: neither its folders nor its processes, and the shared packages are read-only.
        let look = "
import os, sys, sysconfig
try:
    open(os.path.join(os.path.dirname(os.path.dirname(__import__('numpy').__file__)), 'x'), 'w')
except OSError as failure:
    print(failure.errno in (13, 30))
print(sorted(os.listdir('/home')), max(int(name) for name in os.listdir('/proc') if name.isdigit()) < 1000)
print([path for path in sys.path if 'target' in path])";
        assert_eq!(text(&python(&sandbox, look).await, "stdout"), "True\n['user'] True\n[]\n");
        let shown = main_text(&python(&sandbox, INSTALL).await);
        assert!(
            shown.contains("'hello'") && shown.contains("/home/user/.local") && shown.contains("/opt/agent-sandbox"),
            "{shown}"
        );
        let listed = sandbox.call("GET", 49999, "/contexts").send().await.value();
        assert_eq!(listed[0]["cwd"], "/home/user");
    }
}

#[tokio::test]
async fn sandboxes_without_walls_have_interpreters_of_their_own() {
    let platform = platform(Who::Me, &["--isolation", "none"]);
    let one = platform.sandbox_of(json!({ "templateID": "code-interpreter" })).await;
    let two = platform.sandbox_of(json!({ "templateID": "code-interpreter" })).await;
    assert_eq!((&one.created["templateID"], &one.created["alias"]), (&json!("code-interpreter-v1"), &json!("code-interpreter")));
    figure_and_table(&one).await;
    python(&one, "mine = 'one'").await;
    assert_eq!(error(&python(&two, "mine").await)["name"], "NameError");
    assert_eq!(main_text(&python(&one, "mine").await), "one");
    let homes = [python(&one, "import os; os.getcwd()").await, python(&two, "import os; os.getcwd()").await]
        .map(|events| main_text(&events));
    assert_ne!(homes[0], homes[1]);
}

#[tokio::test]
async fn base_has_no_interpreter() {
    let platform = platform(Who::Me, &[]);
    let sandbox = platform.sandbox().await;
    let answer = sandbox.call("GET", 49999, "/health").send().await;
    assert_eq!(answer.status, 502, "{}", answer.text());
}

#[tokio::test]
async fn leaving_through_the_gateway_interrupts_the_cell() {
    let platform = platform(Who::Me, &[]);
    let sandbox = platform.sandbox_of(json!({ "templateID": "code-interpreter-v1" })).await;
    let body = json!({ "code": "import time\ntry:\n    print('asleep', flush=True)\n    time.sleep(1000)\nexcept KeyboardInterrupt:\n    stopped = True\n    raise" });
    let mut cell = sandbox.call("POST", 49999, "/execute").json(&body).open().await.into_body();
    let mut seen = String::new();
    while !seen.contains("asleep") {
        let frame = cell.frame().await.expect("a stream").expect("a frame");
        seen.push_str(&String::from_utf8_lossy(&frame.into_data().unwrap_or_default()));
    }
    drop(cell);
    assert_eq!(main_text(&python(&sandbox, "stopped").await), "True");
}

#[tokio::test]
async fn an_interpreter_that_ends_is_started_again() {
    let platform = platform(Who::Me, &[]);
    let sandbox = platform.sandbox_of(json!({ "templateID": "code-interpreter-v1" })).await;
    assert_eq!(main_text(&python(&sandbox, "1").await), "1");
    sandbox.succeed("for process in /proc/[0-9]*; do tr '\\0' ' ' < $process/cmdline | grep -q -- '^[^ ]*agent-sandbox-local interpreter' && kill -9 ${process#/proc/}; done; true").await;
    let back = async {
        while sandbox.call("GET", 49999, "/health").send().await.status != 200 {
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(super::role::PATIENCE, back).await.expect("the interpreter is back");
    assert_eq!(main_text(&python(&sandbox, "2").await), "2");
}

#[tokio::test]
async fn the_platforms_settings_for_pip_reach_the_sandbox_and_the_clients_win() {
    let folder = tempfile::tempdir().expect("a folder");
    let authorities = folder.path().join("ca.pem");
    std::fs::write(&authorities, "no certificates").expect("a file");
    let arguments = ["--pip-index", "http://127.0.0.1:9/simple", "--ca-file", &authorities.display().to_string()];
    let platform = platform(Who::Me, &arguments);
    let sandbox = platform.sandbox_of(json!({ "templateID": "code-interpreter-v1", "envVars": { "PIP_CERT": "/own" } })).await;
    let code = "import os\nprint(os.environ['PIP_INDEX_URL'], os.environ['PIP_CERT'], open(os.environ['SSL_CERT_FILE']).read())";
    assert_eq!(text(&python(&sandbox, code).await, "stdout"), "http://127.0.0.1:9/simple /own no certificates\n");
}

#[tokio::test]
async fn a_platform_that_stops_does_not_wait_for_a_set_up() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let index = format!("http://{}/simple", silent.local_addr().expect("an address"));
    let mut platform = Platform::start_with(&["--pip-index", &index]);
    let create = platform.api("POST", "/sandboxes").json(&json!({ "templateID": "code-interpreter-v1" }));
    let create = tokio::spawn(create.send());
    // pip asks and gets no answer.
    let _connection = tokio::time::timeout(super::role::PATIENCE, silent.accept()).await.expect("pip asks").expect("a connection");
    let begun = std::time::Instant::now();
    platform.signal("TERM");
    assert!(platform.wait().success());
    assert!(begun.elapsed() < std::time::Duration::from_secs(60), "it took {:?}", begun.elapsed());
    drop(create.await);
}
