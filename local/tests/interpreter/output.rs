//! Output: as it comes, whole, and without filling memory.

use super::role::{Role, main_text, text};
use serde_json::json;

#[tokio::test]
async fn output_arrives_while_the_cell_runs() {
    let role = Role::start();
    let gate = role.home().join("gate");
    let code = format!(
        "import os, time\nprint('waiting', flush=True)\nwhile not os.path.exists({gate:?}): time.sleep(0.01)\nprint('open')"
    );
    let mut cell = role.cell(json!({ "code": code })).await;
    assert_eq!(cell.until("stdout").await["text"], "waiting\n");
    std::fs::write(&gate, "").expect("a file");
    assert_eq!(text(&cell.rest().await, "stdout"), "open\n");
}

#[tokio::test]
async fn silence_is_filled_with_keepalives() {
    let role = Role::start();
    let gate = role.home().join("gate");
    let code = format!("import os, time\nwhile not os.path.exists({gate:?}): time.sleep(0.01)\n'awake'");
    let mut cell = role.cell(json!({ "code": code })).await;
    cell.until("number_of_executions").await;
    assert_eq!(cell.until("keepalive").await, json!({ "type": "keepalive" }));
    cell.until("keepalive").await;
    std::fs::write(&gate, "").expect("a file");
    assert_eq!(main_text(&cell.rest().await), "awake");
}

#[tokio::test]
async fn every_character_survives() {
    let role = Role::start();
    let events = role.python("print('é😀\\u2028\\x00\\x1b[1m' * 50_000)\nprint('lone \\ud83d half')").await;
    let expected = "é😀\u{2028}\0\u{1b}[1m".repeat(50_000) + "\nlone ";
    let shown = text(&events, "stdout");
    assert!(shown.starts_with(&expected), "{} of {} bytes", shown.len(), expected.len());
    assert!(shown.ends_with(" half\n"));
}

#[tokio::test]
async fn a_cell_of_70_kb_runs() {
    let role = Role::start();
    let lines: String = (0..2_000).map(|number| format!("total += {number}  # {}\n", "x".repeat(25))).collect();
    let code = format!("total = 0\n{lines}total");
    assert!(code.len() > 70_000);
    assert_eq!(main_text(&role.python(&code).await), "1999000");
}

#[tokio::test]
async fn a_hundred_megabytes_pass_through_whole_and_flat() {
    let role = Role::start();
    role.python("1").await;
    let before = role.peak_memory();
    let line = "import sys\nfor n in range(1_000_000): print(f'{n:099}')\nsys.stderr.write('done')";
    let mut cell = role.cell(json!({ "code": line })).await;
    let (mut bytes, mut expected, mut rest) = (0, 0u64, String::new());
    loop {
        let event = cell.next_event().await.expect("an event");
        match event["type"].as_str().expect("a type") {
            "stdout" => {
                let text = event["text"].as_str().expect("a text");
                bytes += text.len();
                rest.push_str(text);
                let whole = rest.rfind('\n').map_or(0, |end| end + 1);
                for line in rest.drain(..whole).collect::<String>().lines() {
                    assert_eq!(line.parse::<u64>().expect("a number"), expected);
                    expected += 1;
                }
            }
            "end_of_execution" => break,
            _ => {}
        }
    }
    assert_eq!(bytes, 100_000_000);
    // One write of 100 MB is cut into pieces as well.
    let mut cell = role.cell(json!({ "code": "print('x' * 100_000_000)" })).await;
    let mut bytes = 0;
    while let Some(chunk) = cell.chunk().await {
        bytes += chunk.len();
    }
    assert!(bytes > 100_000_000);
    let grown = role.peak_memory() - before;
    assert!(grown < 64 << 20, "the role grew by {grown} bytes");
}

#[tokio::test]
async fn a_reader_that_stops_makes_the_kernel_wait() {
    let role = Role::start();
    let progress = role.home().join("progress");
    let code = format!(
        "
import resource
for number in range(64):
    print('x' * 1_000_000)
    with open({progress:?}, 'w') as file: file.write(str(number))
resource.getrusage(resource.RUSAGE_SELF).ru_maxrss"
    );
    let mut cell = role.cell(json!({ "code": code })).await;
    let first = cell.until("stdout").await;
    // Nothing more is read while a kernel of another context starts, and writes as much to a reader that does not stop.
    let other = role.context(json!({})).await;
    let code = "for _ in range(64): print('x' * 1_000_000)\n6 * 7";
    assert_eq!(main_text(&role.run(json!({ "code": code, "context_id": other })).await), "42");
    let reached = std::fs::read_to_string(&progress).expect("the kernel has begun");
    assert_ne!(reached, "63", "the kernel does not wait");
    let events = cell.rest().await;
    let shown = first["text"].as_str().expect("a text").len() + text(&events, "stdout").len();
    assert_eq!(shown, 64 * 1_000_001);
    assert!(role.peak_memory() < 200 << 20);
    let kernel_kilobytes: u64 = main_text(&events).parse().expect("a number");
    assert!(kernel_kilobytes < 200 << 10, "the kernel grew to {kernel_kilobytes} KiB");
}

#[tokio::test]
async fn output_of_programs_and_threads_belongs_to_their_cell() {
    let role = Role::start();
    let events = role.python("import subprocess, threading\nsubprocess.run(['sh', '-c', 'echo out'], check=True)\nt = threading.Thread(target=lambda: print('thread'))\nt.start(); t.join()").await;
    assert!(text(&events, "stdout").contains("thread"), "{events:?}");
    let events = role.python("!echo shell").await;
    assert_eq!(text(&events, "stdout").trim_end(), "shell");
}
