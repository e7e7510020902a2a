//! Bytes into a process.

use super::super::error::RpcError;
use agent_sandbox_web::protocol::connect::Code;
use agent_sandbox_web::protocol::process::{Input, ProcessInput, PtySize};
use rustix::io::Errno;
use rustix::termios::Winsize;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use tokio::io::unix::AsyncFd;
use tokio::sync::Mutex;

/// The way in.
pub enum Stdin {
    /// A pipe, gone once it was closed or when there never was one.
    Pipe(Mutex<Option<AsyncFd<OwnedFd>>>),
    /// The terminal; the lock keeps two writes from mixing.
    Pty(Arc<AsyncFd<OwnedFd>>, Mutex<()>),
}

impl Stdin {
    /// Writes all of the input, waiting while the process does not read.
    pub async fn send(&self, input: Option<ProcessInput>) -> Result<(), RpcError> {
        match (self, input.and_then(|input| input.input)) {
            (_, None) => Err(RpcError::new(Code::Unimplemented, "invalid input type: neither stdin nor pty")),
            (Self::Pipe(pipe), Some(Input::Stdin(bytes))) => match &*pipe.lock().await {
                None => Err(RpcError::internal("error writing to stdin: stdin not enabled or closed")),
                Some(pipe) => write_all(pipe, &bytes)
                    .await
                    .map_err(|error| RpcError::internal(format!("error writing to stdin: {}", words(&error)))),
            },
            (Self::Pty(pty, writing), Some(Input::Pty(bytes))) => {
                let _turn = writing.lock().await;
                write_all(pty, &bytes).await.map_err(|error| RpcError::internal(format!("error writing to tty: {}", words(&error))))
            }
            (Self::Pipe(_), Some(Input::Pty(_))) => {
                Err(RpcError::internal("error writing to tty: tty not assigned to process; send the input as stdin"))
            }
            (Self::Pty(..), Some(Input::Stdin(_))) => {
                Err(RpcError::internal("error writing to stdin: tty assigned to process; send the input as pty"))
            }
        }
    }

    /// Closes the pipe; a closed one stays closed.
    pub async fn close(&self) -> Result<(), RpcError> {
        match self {
            Self::Pipe(pipe) => {
                pipe.lock().await.take();
                Ok(())
            }
            Self::Pty(..) => Err(RpcError::new(
                Code::Unknown,
                "cannot close stdin of a process with a tty; send Ctrl+D (0x04) as pty input instead",
            )),
        }
    }

    /// Resizes the terminal.
    pub fn resize(&self, size: PtySize) -> Result<(), RpcError> {
        let Self::Pty(pty, _) = self else {
            return Err(RpcError::internal("error resizing tty: tty not assigned to process"));
        };
        rustix::termios::tcsetwinsize(pty, winsize(size))
            .map_err(|error| RpcError::internal(format!("error resizing tty: {}", words(&error.into()))))
    }
}

/// A size for the kernel, which counts with 16 bits.
pub fn winsize(size: PtySize) -> Winsize {
    Winsize { ws_row: size.rows as u16, ws_col: size.cols as u16, ws_xpixel: 0, ws_ypixel: 0 }
}

async fn write_all(fd: &AsyncFd<OwnedFd>, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let mut ready = fd.writable().await?;
        match ready.try_io(|fd| Ok(rustix::io::write(fd, bytes)?)) {
            Ok(Ok(written)) => bytes = &bytes[written..],
            Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(Err(error)) => return Err(error),
            Err(_not_ready) => {}
        }
    }
    Ok(())
}

/// What went wrong, in words that do not depend on the library.
fn words(error: &io::Error) -> String {
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::PIPE) => "broken pipe".to_owned(),
        _ => error.to_string(),
    }
}
