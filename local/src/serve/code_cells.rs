//! What sandboxes use of the host, made by processes of their own when it is first needed: the runtime of code cells, and
//! `agent-sandbox-server`.

use super::error::ApiError;
use super::keys::lock;
use super::server_setup::make_when_wanted;
use super::walls::{Step, TOOL_PATH, Walls, prepare};
use crate::handover::{INTERPRETER_PORT, InterpreterConfig};
use crate::interpreter::runtime::{Bind, Layout, Options, Runtime};
use crate::sandbox_server::ServerFolder;
use anyhow::Context;
use http::StatusCode;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::Command;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

/// How long a client waits for a runtime that is being made, before it is told to come back. Less than clients wait for a sandbox.
const WAIT: Duration = Duration::from_secs(60);

/// The runtime, there or not yet.
#[derive(Clone)]
pub struct CodeCells(Arc<Inner>);

struct Inner {
    folder: PathBuf,
    options: Options,
    runtime: OnceCell<Runtime>,
    /// Where `agent-sandbox-server` is or will be; `None` where it cannot be.
    server: OnceCell<Option<ServerFolder>>,
    progress: Mutex<String>,
    stopping: CancellationToken,
}

/// What a sandbox with code cells needs.
#[derive(Default)]
pub struct Equipment {
    /// What its walls show of the host.
    pub binds: Vec<Bind>,
    /// Variables of its processes.
    pub variables: Vec<(String, String)>,
    /// How its interpreter is started.
    pub interpreter: Option<InterpreterConfig>,
}

impl CodeCells {
    /// Code cells whose runtime is kept in `folder`.
    pub fn new(folder: PathBuf, options: Options) -> Self {
        Self(Arc::new(Inner {
            folder,
            options,
            runtime: OnceCell::new(),
            server: OnceCell::new(),
            progress: Mutex::default(),
            stopping: CancellationToken::new(),
        }))
    }

    /// What a sandbox inside `walls` needs. The first call makes the runtime.
    ///
    /// # Errors
    /// 503 while that takes longer than a client waits, 500 when it fails; both say what to do.
    pub async fn equip(&self, walls: &Walls) -> Result<Equipment, ApiError> {
        let inner = Arc::clone(&self.0);
        // On a task of its own: it goes on when the client leaves, and ends with the platform.
        let made = tokio::spawn(async move {
            let stopping = inner.stopping.clone();
            let runtime = inner.runtime.get_or_try_init(|| inner.make());
            stopping.run_until_cancelled(runtime).await.unwrap_or_else(|| anyhow::bail!("the platform is stopping")).cloned()
        });
        let runtime = match tokio::time::timeout(WAIT, made).await {
            Ok(Ok(Ok(runtime))) => runtime,
            Ok(Ok(Err(error))) => {
                tracing::error!("{error:#}");
                return Err(ApiError::internal(
                    "The runtime of code cells could not be made; the platform's log says why and what to install.",
                ));
            }
            Ok(Err(_)) => return Err(ApiError::internal("The runtime of code cells could not be made.")),
            Err(_) => return Err(self.not_yet()),
        };
        let (layout, port) = match walls {
            Walls::Bwrap(_) => (runtime.inside_walls(), INTERPRETER_PORT),
            Walls::None => (runtime.without_walls(), 0),
        };
        let Layout { binds, arguments, variables } = layout;
        Ok(Equipment { binds, variables, interpreter: Some(InterpreterConfig { port, arguments }) })
    }

    /// Adds what a sandbox needs to have `agent-sandbox-server`. It is made when the first one starts it.
    pub async fn add_server(&self, walls: &Walls, equipment: &mut Equipment) {
        let folder = self.0.server.get_or_init(|| async {
            let runtime = self.0.folder.clone();
            let furnished = tokio::task::spawn_blocking(move || {
                let folder = ServerFolder::new(&runtime)?;
                folder.furnish().map(|()| folder)
            });
            match furnished.await {
                Ok(Ok(folder)) => {
                    self.watch(folder.clone());
                    Some(folder)
                }
                Ok(Err(error)) => {
                    tracing::warn!("sandboxes have no agent-sandbox-server: {error}");
                    None
                }
                Err(_) => None,
            }
        });
        let Some(folder) = folder.await else { return };
        let programs = match walls {
            Walls::Bwrap(_) => {
                let (bind, programs) = folder.inside_walls();
                equipment.binds.push(bind);
                programs
            }
            Walls::None => folder.without_walls(),
        };
        equipment.variables.push(("PATH".to_owned(), format!("{TOOL_PATH}:{}", programs.display())));
    }

    /// Waits, beside everything else, for the first sandbox that wants the server.
    fn watch(&self, folder: ServerFolder) {
        let inner = Arc::clone(&self.0);
        tokio::spawn(async move {
            let make = || async {
                inner.prepare(&["--server-only"], |line| folder.say(line)).await.map(|_| ()).context("it cannot be set up")
            };
            match inner.stopping.run_until_cancelled(make_when_wanted(&folder, make)).await {
                Some(Err(error)) => tracing::warn!("agent-sandbox-server must be made by the role prepare: {error}"),
                Some(Ok(())) => {}
                None if folder.is_complete() => {}
                None => folder.give_up("the platform that was to set it up has stopped"),
            }
        });
    }

    /// Ends a set-up that is under way.
    pub fn stop(&self) {
        self.0.stopping.cancel();
    }

    fn not_yet(&self) -> ApiError {
        let message = format!(
            "Code cells are being set up on this machine for the first time, which takes some minutes ({}). Create the sandbox again then.",
            lock(&self.0.progress)
        );
        ApiError::new(StatusCode::SERVICE_UNAVAILABLE, message)
    }
}

impl Inner {
    /// The prepare role, which ends with the platform.
    fn command(&self, arguments: &[&str]) -> anyhow::Result<Command> {
        let mut command = Command::new(std::env::current_exe().context("cannot find the platform's own program")?);
        command.arg("prepare").arg("--runtime-dir").arg(&self.folder).args(arguments);
        if let Some(index) = &self.options.pip_index {
            // Addresses may hold passwords, and arguments can be read by others.
            command.env("PIP_INDEX_URL", index);
        }
        if let Some(file) = &self.options.ca_file {
            command.arg("--ca-file").arg(file);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        prepare(&mut command, vec![Step::NewSession, Step::DieWithPlatform]);
        Ok(command)
    }

    /// Runs the prepare role, hands on what it says, and gives the folder that it made. An error holds what it said was wrong.
    async fn prepare(&self, arguments: &[&str], mut said: impl FnMut(&str)) -> anyhow::Result<PathBuf> {
        let mut child = self.command(arguments)?.spawn().context("cannot start the set-up")?;
        let stdout = child.stdout.take();
        let mut wrong = String::new();
        if let Some(stderr) = child.stderr.take() {
            let mut lines = BufReader::new(stderr).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                tracing::info!("{line}");
                said(&line);
                // A backtrace may follow.
                if let Some(error) = line.strip_prefix("Error: ") {
                    error.clone_into(&mut wrong);
                }
            }
        }
        let mut folder = String::new();
        if let Some(mut stdout) = stdout {
            stdout.read_to_string(&mut folder).await?;
        }
        anyhow::ensure!(child.wait().await?.success(), "{wrong}");
        Ok(PathBuf::from(folder.trim_end()))
    }

    async fn make(&self) -> anyhow::Result<Runtime> {
        let said = |line: &str| line.clone_into(&mut lock(&self.progress));
        let folder = self.prepare(&[], said).await.context("code cells cannot be set up")?;
        Ok(Runtime::new(folder, self.options.clone()))
    }
}
