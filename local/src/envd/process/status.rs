//! How the end of a process is told.

use agent_sandbox_web::protocol::process::EndEvent;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// The end event of a status.
pub fn end_event(status: ExitStatus) -> EndEvent {
    let text = match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit status {code}"),
        (None, Some(signal)) => {
            let core = if status.core_dumped() { " (core dumped)" } else { "" };
            format!("signal: {}{core}", signal_name(signal))
        }
        (None, None) => "unknown status".to_owned(),
    };
    EndEvent {
        exit_code: status.code().unwrap_or(-1),
        exited: status.code().is_some(),
        error: (!status.success()).then(|| text.clone()),
        status: text,
    }
}

/// A signal in words.
fn signal_name(number: i32) -> String {
    let name = match number {
        libc::SIGHUP => "hangup",
        libc::SIGINT => "interrupt",
        libc::SIGQUIT => "quit",
        libc::SIGILL => "illegal instruction",
        libc::SIGTRAP => "trace/breakpoint trap",
        libc::SIGABRT => "aborted",
        libc::SIGBUS => "bus error",
        libc::SIGFPE => "floating point exception",
        libc::SIGKILL => "killed",
        libc::SIGUSR1 => "user defined signal 1",
        libc::SIGSEGV => "segmentation fault",
        libc::SIGUSR2 => "user defined signal 2",
        libc::SIGPIPE => "broken pipe",
        libc::SIGALRM => "alarm clock",
        libc::SIGTERM => "terminated",
        _ => return format!("signal {number}"),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_told_as_documented() {
        for (raw, code, exited, text) in [
            (0, 0, true, "exit status 0"),
            (3 << 8, 3, true, "exit status 3"),
            (9, -1, false, "signal: killed"),
            (15, -1, false, "signal: terminated"),
            (11 | 0x80, -1, false, "signal: segmentation fault (core dumped)"),
            (40, -1, false, "signal: signal 40"),
        ] {
            let end = end_event(ExitStatus::from_raw(raw));
            assert_eq!((end.exit_code, end.exited, end.status.as_str()), (code, exited, text));
            assert_eq!(end.error.as_deref(), (raw != 0).then_some(text));
        }
    }
}
