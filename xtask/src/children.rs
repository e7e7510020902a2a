//! The programs that this one has started, and their end when it is told to end.
//!
//! Each runs in a process group of its own: cargo and npm start programs themselves, and do not end those when they are ended. A Ctrl-C
//! reaches only this program, which passes it on.

use crate::run::line;
use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process_group};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a program and those it started may take to end before they are killed.
const GRACE: Duration = Duration::from_secs(10);

/// What a shell shows of a program that Ctrl-C ended.
const INTERRUPTED: i32 = 130;

/// How a program is told to end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// With all that it started.
    Group,
    /// By itself: it ends what it started in its own order, and in its own time.
    Orderly,
}

/// What runs, and whether this program has been told to end.
struct Children {
    running: Vec<(Pid, Ending)>,
    is_ending: bool,
}

static CHILDREN: Mutex<Children> = Mutex::new(Children { running: Vec::new(), is_ending: false });

fn children() -> MutexGuard<'static, Children> {
    CHILDREN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A program that runs.
pub struct Running {
    /// The program, for its pipes.
    pub child: Child,
    pid: Pid,
}

impl Running {
    /// Starts a program without input.
    pub fn start(command: &mut Command, ending: Ending) -> Result<Self> {
        let mut children = children();
        if children.is_ending {
            bail!("stopped");
        }
        command.stdin(Stdio::null()).process_group(0);
        let child = command.spawn().with_context(|| format!("cannot start `{}`", line(command)))?;
        let pid = Pid::from_child(&child);
        children.running.push((pid, ending));
        Ok(Self { child, pid })
    }

    /// Waits for its end.
    pub fn wait(&mut self) -> Result<ExitStatus> {
        self.child.wait().context("waiting for a program")
    }

    /// Tells it, alone, to end.
    pub fn terminate(&self) {
        let _ = kill_process(self.pid, Signal::TERM);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        children().running.retain(|(pid, _)| *pid != self.pid);
    }
}

/// From now on Ctrl-C, SIGTERM and SIGHUP end what runs before they end this program.
pub fn end_with_this_program() -> Result<()> {
    ctrlc::set_handler(|| {
        let running = {
            let mut children = children();
            children.is_ending = true;
            children.running.clone()
        };
        end(&running);
        // Who started an orderly one waits for it, and then ends this program.
        if running.iter().all(|(_, ending)| *ending == Ending::Group) {
            std::process::exit(INTERRUPTED);
        }
    })
    .context("cannot listen for Ctrl-C")
}

fn end(running: &[(Pid, Ending)]) {
    for (pid, ending) in running {
        let _ = match ending {
            Ending::Group => kill_process_group(*pid, Signal::TERM),
            Ending::Orderly => kill_process(*pid, Signal::TERM),
        };
    }
    let mut groups: Vec<Pid> = running.iter().filter(|(_, ending)| *ending == Ending::Group).map(|(pid, _)| *pid).collect();
    let told = Instant::now();
    loop {
        groups.retain(|group| test_kill_process_group(*group).is_ok());
        if groups.is_empty() {
            return;
        }
        if told.elapsed() > GRACE {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    for group in groups {
        let _ = kill_process_group(group, Signal::KILL);
    }
}
