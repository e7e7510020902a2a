//! Following a process from its start to its end.

use super::super::journal;
use super::frames::{Chunk, ProcessFrame, ROOM, Source};
use super::spawn::{Output, PIPE};
use super::status::end_event;
use super::table::{Process, Processes};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::process::ExitStatus;
use std::sync::Arc;
use tokio::io::unix::AsyncFd;
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

/// The longest piece of a pipe's output, in bytes.
const PIPE_CHUNK: usize = 32 * 1024;

/// The longest piece of a terminal's output, in bytes.
const PTY_CHUNK: usize = 16 * 1024;

/// Pieces up to this size, in bytes, get a buffer of their own size, so that waiting events hold no more memory than they need.
const SMALL: usize = 8 * 1024;

/// Carries a process's output to its subscribers, kills it when its time is up, and tells its end.
pub async fn supervise(
    processes: Processes,
    process: Arc<Process>,
    exit: oneshot::Receiver<ExitStatus>,
    outputs: Vec<Output>,
    deadline: Option<Instant>,
) {
    let mut readers = JoinSet::new();
    for output in outputs {
        readers.spawn(forward(output, Arc::clone(&process)));
    }
    let running = async {
        // The reaper lives as long as the runtime does; without a status there is nothing left to tell.
        let end = end_event(exit.await.ok()?);
        process.set_end(end.clone());
        while readers.join_next().await.is_some() {}
        Some(end)
    };
    tokio::pin!(running);
    let end = match deadline {
        None => running.await,
        Some(deadline) => tokio::select! {
            end = &mut running => end,
            () = sleep_until(deadline) => {
                // Whoever waits for the process hears of the deadline; a process that has just ended needs no signal.
                let _ = processes.signal(&process, rustix::process::Signal::KILL);
                running.await
            }
        },
    };
    if let Some(end) = end {
        journal::ended(process.pid, &end.status);
        processes.retire(&process, end.clone());
        process.fanout.end(ProcessFrame::End(end)).await;
    }
}

/// Carries one output until it ends, or until the process was signalled and has ended. Its children may then still hold the
/// output open, but what the process itself said is carried to the end.
async fn forward(output: Output, process: Arc<Process>) {
    let size = if output.source == Source::Pty { PTY_CHUNK } else { PIPE_CHUNK };
    let mut buffer = room(size);
    while !process.drain.is_cancelled() {
        let read = tokio::select! {
            biased;
            read = read(&output.fd, &mut buffer) => read,
            () = process.drain.cancelled() => break,
        };
        match read {
            // A terminal whose last process has gone gives an error instead of an end.
            Ok(0) | Err(_) => return,
            Ok(_) => process.fanout.send(take(output.source, &mut buffer, size)).await,
        }
    }
    let mut rest = PIPE;
    while rest > 0 {
        match read_now(output.fd.get_ref(), &mut buffer) {
            Ok(0) | Err(_) => return,
            Ok(len) => {
                rest = rest.saturating_sub(len);
                process.fanout.send(take(output.source, &mut buffer, size)).await;
            }
        }
    }
}

/// A buffer for output, with room in front.
fn room(size: usize) -> Vec<u8> {
    let mut buffer = Vec::with_capacity(ROOM + size);
    buffer.resize(ROOM, 0);
    buffer
}

/// The buffer's output as an event; leaves an empty buffer behind.
fn take(source: Source, buffer: &mut Vec<u8>, size: usize) -> ProcessFrame {
    let full = if buffer.len() <= SMALL {
        let small = buffer.clone();
        buffer.truncate(ROOM);
        small
    } else {
        std::mem::replace(buffer, room(size))
    };
    ProcessFrame::Data(Chunk::new(source, full))
}

async fn read(fd: &AsyncFd<OwnedFd>, buffer: &mut Vec<u8>) -> io::Result<usize> {
    loop {
        let mut ready = fd.readable().await?;
        if let Ok(outcome) = ready.try_io(|fd| read_now(fd.get_ref(), buffer)) {
            return outcome;
        }
    }
}

/// Appends what is there now.
fn read_now(fd: impl AsFd, buffer: &mut Vec<u8>) -> io::Result<usize> {
    loop {
        match rustix::io::read(&fd, rustix::buffer::spare_capacity(buffer)) {
            Err(rustix::io::Errno::INTR) => {}
            outcome => return Ok(outcome?),
        }
    }
}
