//! Cells that are abandoned, queued, or cut off.

use super::role::{Role, main_text, of_type, text};
use hyper::Method;
use serde_json::{Value, json};
use std::time::Duration;

/// Waits until something is so; `what` says what it is.
async fn until(what: &str, is_so: impl Fn() -> bool) {
    let wait = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(super::role::PATIENCE, wait).await.unwrap_or_else(|_| panic!("in vain: {what}"));
}

/// Waits until a file is there.
async fn appears(file: &std::path::Path) {
    until(&format!("{} appears", file.display()), || file.exists()).await;
}

fn sleeper(role: &Role) -> String {
    let interrupted = role.home().join("interrupted");
    format!(
        "import time\ntry:\n    print('asleep', flush=True)\n    time.sleep(1000)\nexcept KeyboardInterrupt:\n    open({interrupted:?}, 'w').close()\n    raise"
    )
}

#[tokio::test]
async fn leaving_interrupts_the_cell_and_the_next_one_runs_at_once() {
    let role = Role::start();
    role.python("kept = 1").await;
    for _ in 0..5 {
        let mut cell = role.cell(json!({ "code": sleeper(&role) })).await;
        cell.until("stdout").await;
        drop(cell);
        // No pause: this is where the service hangs.
        assert_eq!(main_text(&role.python("kept + 1").await), "2");
        let interrupted = role.home().join("interrupted");
        appears(&interrupted).await;
        std::fs::remove_file(interrupted).expect("the file is there");
    }
}

#[tokio::test]
async fn leaving_before_the_code_runs_interrupts_it_too() {
    let role = Role::start();
    for _ in 0..5 {
        drop(role.cell(json!({ "code": "import time; time.sleep(1000)" })).await);
        assert_eq!(main_text(&role.python("'free'").await), "free");
    }
}

#[tokio::test]
async fn programs_that_a_cell_started_stop_with_it() {
    let role = Role::start();
    let mut cell = role.cell(json!({ "code": "print('go', flush=True)\n!sleep 1000" })).await;
    cell.until("stdout").await;
    drop(cell);
    assert_eq!(main_text(&role.python("'free'").await), "free");
}

#[tokio::test]
async fn cells_of_a_context_run_in_order_and_one_at_a_time() {
    let role = Role::start();
    let gate = role.home().join("gate");
    role.python("order = []").await;
    let mut first = role.cell(json!({ "code": format!("import os, time\nprint('in', flush=True)\nwhile not os.path.exists({gate:?}): time.sleep(0.01)\norder.append(0)") })).await;
    first.until("stdout").await;
    let mut queued = Vec::new();
    for number in 1..6 {
        queued.push(role.cell(json!({ "code": format!("order.append({number})") })).await);
    }
    // One that is left while it waits never runs.
    let open = role.connections();
    drop(queued.remove(2));
    until("the connection closes", || role.connections() != open).await;
    // A queued cell has its headers and nothing else.
    assert!(tokio::time::timeout(Duration::from_millis(300), queued[0].next()).await.is_err());
    std::fs::write(&gate, "").expect("a file");
    first.rest().await;
    for cell in queued {
        cell.rest().await;
    }
    assert_eq!(main_text(&role.python("str(order)").await), "[0, 1, 2, 4, 5]");
}

#[tokio::test]
async fn contexts_run_beside_each_other() {
    let role = Role::start();
    let (one, two) = (role.context(json!({})).await, role.context(json!({ "language": "python" })).await);
    // Each waits for the other: run one after the other they would never end.
    let meet = |own: &str, other: &str| {
        let (own, other) = (role.home().join(own), role.home().join(other));
        format!(
            "import os, time\nopen({own:?}, 'w').close()\nwhile not os.path.exists({other:?}): time.sleep(0.01)\nmine = {own:?}"
        )
    };
    let (a, b) = tokio::join!(
        role.run(json!({ "code": meet("a", "b"), "context_id": one })),
        role.run(json!({ "code": meet("b", "a"), "context_id": two }))
    );
    assert!(of_type(&a, "error").is_empty() && of_type(&b, "error").is_empty());
    assert!(main_text(&role.run(json!({ "code": "mine", "context_id": one })).await).ends_with("/a"));
    assert!(main_text(&role.run(json!({ "code": "mine", "context_id": two })).await).ends_with("/b"));
}

fn names(events: &[Value]) -> Vec<&str> {
    of_type(events, "error").iter().map(|error| error["name"].as_str().expect("a name")).collect()
}

#[tokio::test]
async fn restarting_or_removing_ends_the_cell_that_runs() {
    let role = Role::start();
    let id = role.context(json!({ "cwd": "/usr" })).await;
    let mut cell = role.cell(json!({ "code": sleeper(&role), "context_id": id })).await;
    cell.until("stdout").await;
    let waiting = role.cell(json!({ "code": "'after'", "context_id": id })).await;
    let (status, _, body) = role.call(Method::POST, &format!("/contexts/{id}/restart"), None).await;
    assert_eq!((status, body.as_str()), (200, "null"));
    assert_eq!(names(&cell.rest().await), ["WebSocketError", "UnexpectedEndOfExecution"]);
    assert_eq!(main_text(&waiting.rest().await), "after");
    // The list shows the folder that was asked for, the kernel is back at home.
    let (_, _, list) = role.call(Method::GET, "/contexts", None).await;
    assert!(list.contains(r#""cwd":"/usr""#), "{list}");
    let home = role.home().display().to_string();
    assert_eq!(main_text(&role.run(json!({ "code": "import os; os.getcwd()", "context_id": id })).await), home);

    let mut cell = role.cell(json!({ "code": sleeper(&role), "context_id": id })).await;
    cell.until("stdout").await;
    let waiting = role.cell(json!({ "code": "1", "context_id": id })).await;
    let (status, _, body) = role.call(Method::DELETE, &format!("/contexts/{id}"), None).await;
    assert_eq!((status, body.as_str()), (200, "null"));
    assert_eq!(names(&cell.rest().await), ["WebSocketError", "UnexpectedEndOfExecution"]);
    assert_eq!(names(&waiting.rest().await), ["WebSocketError", "UnexpectedEndOfExecution"]);
    let (status, _, body) = role.call(Method::POST, "/execute", Some(json!({ "code": "1", "context_id": id }))).await;
    assert_eq!((status, body), (404, format!("Context {id} not found")));
}

#[tokio::test]
async fn a_dead_kernel_is_reported_and_replaced() {
    let role = Role::start();
    let id = role.context(json!({})).await;
    for _ in 0..3 {
        let events = role.run(json!({ "code": "import os\nlost = 1\nos._exit(1)", "context_id": id })).await;
        assert_eq!(names(&events), ["ContextRestarting"]);
        // At once, which is where the service hangs.
        let events = role.run(json!({ "code": "'lost' in globals()", "context_id": id })).await;
        assert_eq!(main_text(&events), "False");
    }
    // One that dies between cells is replaced too.
    let gate = role.home().join("gate");
    let dying = format!(
        "
import os, threading, time
def die():
    while not os.path.exists({gate:?}): time.sleep(0.01)
    os._exit(1)
threading.Thread(target=die).start()
os.getpid()"
    );
    let kernel = main_text(&role.run(json!({ "code": dying, "context_id": id })).await);
    std::fs::write(gate, "").expect("a file");
    gone(&kernel).await;
    assert_eq!(main_text(&role.run(json!({ "code": "2", "context_id": id })).await), "2");
}

#[tokio::test]
async fn the_last_words_of_a_kernel_are_heard() {
    let role = Role::start();
    let gate = role.home().join("gate");
    let socket = role.home().join("socket");
    // One thread of ZeroMQ sends for all sockets, in order: what comes back through it came after the words had left.
    let code = format!(
        "
import os, signal, time, zmq
print(os.getpid(), flush=True)
while not os.path.exists({gate:?}): time.sleep(0.01)
for number in range(20): print(number, flush=True)
context = get_ipython().kernel.iopub_thread.socket.context
there, here = context.socket(zmq.PAIR), context.socket(zmq.PAIR)
there.bind('ipc://' + {socket:?})
here.connect('ipc://' + {socket:?})
there.send(b'')
here.recv()
os.kill(os.getpid(), signal.SIGKILL)"
    );
    let mut cell = role.cell(json!({ "code": code })).await;
    let started = cell.until("stdout").await;
    let kernel = started["text"].as_str().expect("a text").trim().to_owned();
    // The words and the death come to one who has heard nothing in between.
    role.hold();
    std::fs::write(gate, "").expect("a file");
    dead(&kernel).await;
    role.go_on();
    let events = cell.rest().await;
    assert_eq!(names(&events), ["ContextRestarting"]);
    assert_eq!(text(&events, "stdout"), (0..20).map(|number| format!("{number}\n")).collect::<String>());
}

/// Waits until a process has ended, whether or not its parent knows.
async fn dead(pid: &str) {
    let stat = format!("/proc/{pid}/stat");
    until("the process ends", || std::fs::read_to_string(&stat).expect("a child of the role").contains(") Z ")).await;
}

/// Waits until a process has ended and its parent knows.
async fn gone(pid: &str) {
    assert!(pid.parse::<u32>().is_ok(), "{pid} is no process");
    let folder = format!("/proc/{pid}");
    until("the process is gone", || !std::path::Path::new(&folder).exists()).await;
}

#[tokio::test]
async fn the_end_of_the_role_is_the_end_of_its_kernels() {
    for killed in [false, true] {
        let mut role = Role::start();
        let kernel = main_text(&role.python("import os; os.getpid()").await);
        if killed {
            role.kill()
        } else {
            assert!(role.end().success())
        }
        gone(&kernel).await;
        assert_eq!(role.left_something(), killed);
    }
}
