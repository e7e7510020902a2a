//! What sandboxes use of the host, made by processes of their own when it is first needed: the runtime of code cells, and
//! `agent-sandbox-server`.

use super::error::ApiError;
use super::keys::lock;
use super::server_setup::make_when_wanted;
use super::walls::{Step, TOOL_PATH, Walls, prepare};
use crate::handover::{INTERPRETER_PORT, InterpreterConfig};
use crate::interpreter::runtime::{self, Bind, Layout, Options, Runtime, SIZE_MB, USUAL_MINUTES};
use crate::sandbox_server::ServerFolder;
use anyhow::Context;
use http::StatusCode;
use serde::Serialize;
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
    attempt: Mutex<Attempt>,
    stopping: CancellationToken,
}

/// How far the making of the runtime is.
#[derive(Default)]
enum Attempt {
    /// Nobody has needed it yet.
    #[default]
    None,
    /// It is being made; the last line of its progress.
    UnderWay(String),
    /// It could not be made; why.
    Failed(String),
}

/// What can be known of the runtime before a sandbox with code cells is asked for, and while one is waited for.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// `ready`; `absent`: the first sandbox with code cells makes it; `making`; or `failed`: the next such sandbox tries again.
    state: &'static str,
    /// While it is made, what is being done; after a failure, why.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    /// How many packages are installed.
    packages: usize,
    /// About how much they take on the disk, in MB.
    megabytes: u32,
    /// How long it usually takes, in minutes, such as `1 to 4`.
    minutes: &'static str,
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
            attempt: Mutex::default(),
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
        let made = tokio::spawn(async move { inner.made().await });
        let runtime = match tokio::time::timeout(WAIT, made).await {
            Ok(Ok(Some(runtime))) => runtime,
            Ok(_) => {
                return Err(ApiError::internal(
                    "The runtime of code cells could not be made; the platform's log says why and what to install.",
                ));
            }
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

    /// How far the runtime is.
    pub async fn status(&self) -> Status {
        let (state, detail) = match &*lock(&self.0.attempt) {
            _ if self.0.runtime.initialized() => ("ready", None),
            Attempt::UnderWay(line) => ("making", Some(line.clone())),
            Attempt::Failed(reason) => ("failed", Some(reason.clone())),
            Attempt::None => ("absent", None),
        };
        let state = if state == "absent" && self.is_made().await { "ready" } else { state };
        Status { state, detail, packages: runtime::package_count(), megabytes: SIZE_MB, minutes: USUAL_MINUTES }
    }

    /// The script that draws plotly's figures, once the runtime is in use.
    pub fn plotly_script(&self) -> Option<PathBuf> {
        self.0.runtime.get()?.plotly_script()
    }

    /// Says in the log what the first sandbox with code cells is going to install, when the runtime is not there.
    pub async fn announce(self) {
        if self.is_made().await {
            return;
        }
        let folder = self.0.folder.display();
        let program = std::env::current_exe().unwrap_or_else(|_| "agent-sandbox-local".into());
        tracing::info!(
            "Code cells are not set up yet: the first sandbox of the template code-interpreter-v1 installs {} Python packages in {folder} \
             (about {SIZE_MB} MB, usually {USUAL_MINUTES} minutes, once). To do it now: {} prepare --runtime-dir {folder}",
            runtime::package_count(),
            program.display()
        );
    }

    /// Whether the runtime lies on the disk. A machine whose Python will not do has none.
    async fn is_made(&self) -> bool {
        let folder = self.0.folder.clone();
        tokio::task::spawn_blocking(move || runtime::is_made(&folder)).await.is_ok_and(|made| made.unwrap_or(false))
    }

    /// Ends a set-up that is under way.
    pub fn stop(&self) {
        self.0.stopping.cancel();
    }

    fn not_yet(&self) -> ApiError {
        let done = match &*lock(&self.0.attempt) {
            Attempt::UnderWay(line) => format!(" ({line})"),
            _ => String::new(),
        };
        let message = format!(
            "Code cells are being set up on this machine for the first time, which usually takes {USUAL_MINUTES} minutes{done}. Create \
             the sandbox again then."
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
        // The last line of its errors is the reason, and none of a backtrace.
        command.env("RUST_BACKTRACE", "0").env("RUST_LIB_BACKTRACE", "0");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        prepare(&mut command, vec![Step::NewSession, Step::DieWithPlatform]);
        Ok(command)
    }

    /// The runtime, made unless it is there. Nothing when that failed: the log and [`Attempt::Failed`] have the reason.
    async fn made(&self) -> Option<Runtime> {
        let runtime = self.runtime.get_or_try_init(|| self.make());
        let outcome = self.stopping.run_until_cancelled(runtime).await.unwrap_or_else(|| anyhow::bail!("the platform is stopping"));
        match outcome {
            Ok(runtime) => Some(runtime.clone()),
            Err(error) => {
                let reason = format!("{error:#}");
                tracing::error!("{reason}");
                *lock(&self.attempt) = Attempt::Failed(reason);
                None
            }
        }
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
        *lock(&self.attempt) = Attempt::UnderWay("Starting".to_owned());
        let said = |line: &str| *lock(&self.attempt) = Attempt::UnderWay(line.to_owned());
        let folder = self.prepare(&[], said).await.context("code cells cannot be set up")?;
        Ok(Runtime::new(folder, self.options.clone()))
    }
}
