//! Stopping everything in a sandbox and letting it go on.
//!
//! A control group does it without anybody noticing. Where there is none, signals do: parents are stopped before their children, so that
//! no shell sees a job stop and takes its terminal back, and go on after them. What was stopped before stays stopped.

use super::cgroup::Cgroup;
use super::tree::{Member, members, state};
use anyhow::{Context, ensure};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};
use std::collections::HashSet;
use std::time::{Duration, Instant};

/// How long everything may take to stop.
const STOPS: Duration = Duration::from_secs(10);

/// After this time a process in the middle of an uninterruptible call counts as stopped: it stops when the call returns.
const IN_A_CALL: Duration = Duration::from_secs(1);

/// How often to look whether everything has stopped.
const LOOK: Duration = Duration::from_millis(1);

/// What stops one sandbox.
pub enum Freezer {
    /// Its control group.
    Group(Cgroup),
    /// Signals.
    Signals(Signals),
}

/// Stopping by signals.
pub struct Signals {
    root: u32,
    /// Whether the first process stops too. envd without walls goes on: it ends the others when the platform dies.
    with_root: bool,
    /// What had been stopped already.
    earlier: HashSet<u32>,
}

impl Freezer {
    /// Signals to the processes below `root`.
    pub fn signals(root: u32, with_root: bool) -> Self {
        Self::Signals(Signals { root, with_root, earlier: HashSet::new() })
    }

    /// Stops everything and waits until it has stopped. After an error everything goes on.
    ///
    /// # Errors
    /// When something does not stop.
    pub async fn freeze(&mut self) -> anyhow::Result<()> {
        let frozen = match self {
            Self::Group(group) => freeze_group(group).await,
            Self::Signals(signals) => signals.stop().await,
        };
        if frozen.is_err() {
            drop(self.thaw());
        }
        frozen
    }

    /// Lets everything go on.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn thaw(&mut self) -> anyhow::Result<()> {
        match self {
            Self::Group(group) => group.set_frozen(false).context("cannot thaw a control group"),
            Self::Signals(signals) => signals.resume(),
        }
    }

    /// Removes what the freezer itself stands on, once everything in the sandbox is gone.
    pub async fn remove(self) {
        if let Self::Group(group) = self {
            group.remove().await;
        }
    }
}

async fn freeze_group(group: &Cgroup) -> anyhow::Result<()> {
    group.set_frozen(true).context("cannot freeze a control group")?;
    let start = Instant::now();
    while !group.is_frozen() {
        ensure!(start.elapsed() < STOPS, "the sandbox's processes do not freeze");
        tokio::time::sleep(LOOK).await;
    }
    Ok(())
}

impl Signals {
    async fn stop(&mut self) -> anyhow::Result<()> {
        let start = Instant::now();
        self.earlier = self.members().iter().filter(|member| is_stopped(member.state)).map(|member| member.pid).collect();
        let mut sent: HashSet<u32> = HashSet::new();
        loop {
            // Who forks while it is looked at is found in the next round.
            let moving: Vec<Member> =
                self.members().into_iter().filter(|member| !is_stopped(member.state) && !sent.contains(&member.pid)).collect();
            if moving.is_empty() {
                return Ok(());
            }
            for member in moving {
                sent.insert(member.pid);
                send(member.pid, Signal::STOP)?;
                // One that waits for its children would still see them stop in the moment before it stops itself.
                stopped(member.pid, start).await?;
            }
        }
    }

    fn resume(&mut self) -> anyhow::Result<()> {
        let members = self.members();
        members
            .iter()
            .rev()
            .filter(|member| !self.earlier.contains(&member.pid))
            .try_for_each(|member| send(member.pid, Signal::CONT))
    }

    fn members(&self) -> Vec<Member> {
        members(self.root).into_iter().skip(usize::from(!self.with_root)).collect()
    }
}

/// Waits until a process has stopped, or is gone.
async fn stopped(pid: u32, start: Instant) -> anyhow::Result<()> {
    let asked = Instant::now();
    while let Some(state) = state(pid) {
        let in_a_call = state == 'D' && asked.elapsed() >= IN_A_CALL;
        if is_stopped(state) || in_a_call {
            break;
        }
        ensure!(start.elapsed() < STOPS, "the sandbox's processes do not stop");
        tokio::time::sleep(LOOK).await;
    }
    Ok(())
}

fn is_stopped(state: char) -> bool {
    "Tt".contains(state)
}

fn send(pid: u32, signal: Signal) -> anyhow::Result<()> {
    let pid = Pid::from_raw(pid.cast_signed()).context("no process id")?;
    match kill_process(pid, signal) {
        Ok(()) | Err(Errno::SRCH) => Ok(()),
        Err(error) => Err(error).context("cannot signal a sandbox's process"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[tokio::test]
    async fn what_was_stopped_before_stays_stopped() {
        // Two trees in one: this test's children are below a shell of their own.
        let script = "sleep 60 & kill -STOP $!; sleep 60 & echo; wait";
        let mut shell = Command::new("sh").args(["-c", script]).stdout(std::process::Stdio::piped()).spawn().unwrap();
        std::io::Read::read(&mut shell.stdout.take().unwrap(), &mut [0]).unwrap();
        let mut freezer = Freezer::signals(shell.id(), true);
        while !members(shell.id()).iter().any(|member| member.state == 'T') {
            tokio::time::sleep(LOOK).await;
        }
        freezer.freeze().await.unwrap();
        assert!(members(shell.id()).iter().all(|member| member.state == 'T'));
        freezer.thaw().unwrap();
        while state(shell.id()) == Some('T') {
            tokio::time::sleep(LOOK).await;
        }
        let stopped = members(shell.id()).iter().filter(|member| member.state == 'T').count();
        assert_eq!(stopped, 1, "the one that its shell had stopped");
        for member in members(shell.id()) {
            send(member.pid, Signal::KILL).unwrap();
        }
        shell.wait().unwrap();
    }
}
