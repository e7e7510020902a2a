//! The runtime of code cells, made by a process of its own when the first sandbox needs it.

use super::error::ApiError;
use super::keys::lock;
use super::walls::{Step, TOOL_PATH, Walls, prepare};
use crate::handover::{INTERPRETER_PORT, InterpreterConfig};
use crate::interpreter::runtime::{Bind, Layout, Options, Runtime};
use crate::sandbox_server;
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

    /// Adds what a sandbox needs to have `agent-sandbox-server`, which is made together with the runtime of code cells.
    pub fn add_server(&self, walls: &Walls, equipment: &mut Equipment) {
        let Some(environment) = sandbox_server::find(&self.0.folder) else { return };
        let programs = match walls {
            Walls::Bwrap(_) => {
                let (bind, programs) = sandbox_server::inside_walls(&environment);
                equipment.binds.push(bind);
                programs
            }
            Walls::None => sandbox_server::without_walls(&environment),
        };
        equipment.variables.push(("PATH".to_owned(), format!("{TOOL_PATH}:{}", programs.display())));
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
    fn command(&self) -> anyhow::Result<Command> {
        let mut command = Command::new(std::env::current_exe().context("cannot find the platform's own program")?);
        command.arg("prepare").arg("--runtime-dir").arg(&self.folder);
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

    async fn make(&self) -> anyhow::Result<Runtime> {
        let mut child = self.command()?.spawn().context("cannot start the set-up of code cells")?;
        let stdout = child.stdout.take();
        let mut last = String::new();
        if let Some(stderr) = child.stderr.take() {
            let mut lines = BufReader::new(stderr).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                tracing::info!("{line}");
                lock(&self.progress).clone_from(&line);
                last = line;
            }
        }
        let mut folder = String::new();
        if let Some(mut stdout) = stdout {
            stdout.read_to_string(&mut folder).await?;
        }
        anyhow::ensure!(child.wait().await?.success(), "code cells cannot be set up: {last}");
        Ok(Runtime::new(PathBuf::from(folder.trim_end()), self.options.clone()))
    }
}
