//! The sandboxes of one platform: how they come to be, who is running, how they end.

use super::code_cells::{CodeCells, Equipment};
use super::data::{DataDir, Folders};
use super::error::ApiError;
use super::gateway::Route;
use super::keys::{self, Keys, lock};
use super::sandbox::{Ending, Sandbox, Wish};
use super::walls::{Jail, Launch, Walls};
use crate::handover::EnvdConfig;
use http::StatusCode;
use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::sync::watch;
use tokio_util::task::TaskTracker;

/// What the control plane, the gateway and the console share.
pub struct Platform {
    /// Who may call.
    pub keys: Keys,
    /// Where the platform listens.
    pub listen: SocketAddr,
    /// How sandboxes are kept apart from the machine.
    pub walls: Walls,
    /// Where sandboxes keep their files.
    pub data: DataDir,
    code_cells: CodeCells,
    registry: Mutex<Registry>,
    tasks: TaskTracker,
}

#[derive(Default)]
struct Registry {
    running: HashMap<String, Arc<Sandbox>>,
    closing: bool,
}

impl Platform {
    /// A platform without sandboxes.
    pub fn new(keys: Keys, listen: SocketAddr, walls: Walls, data: DataDir, code_cells: CodeCells) -> Self {
        Self { keys, listen, walls, data, code_cells, registry: Mutex::default(), tasks: TaskTracker::new() }
    }

    /// Makes a sandbox and waits until it answers. It is made to the end even when the client does not wait.
    ///
    /// # Errors
    /// 500 when it does not come up, 503 when the platform stops.
    pub async fn create(self: &Arc<Self>, wish: Wish) -> Result<Arc<Sandbox>, ApiError> {
        let platform = Arc::clone(self);
        let task = self.tasks.spawn(async move { platform.build(wish).await });
        task.await.unwrap_or_else(|_| Err(ApiError::internal("The sandbox could not be made; the platform's log has the cause.")))
    }

    async fn build(self: Arc<Self>, wish: Wish) -> Result<Arc<Sandbox>, ApiError> {
        let mut equipment =
            if wish.template.interpreter { self.code_cells.equip(&self.walls).await? } else { Equipment::default() };
        self.code_cells.add_server(&self.walls, &mut equipment).await;
        let id = keys::sandbox_id();
        let owner = self.walls.owner();
        let folders = self.data.create(&id, owner)?;
        let binds = equipment.binds.clone();
        let config = self.config(&wish, &folders, equipment);
        let launch = Launch { id: &id, folders: &folders, owner, internet: wish.internet(), binds: &binds, config: &config };
        let started = async {
            let jail = self.walls.launch(launch).await?;
            let route = Route::pin(&folders.run)?;
            anyhow::Ok((jail, route))
        };
        let (jail, route) = match started.await {
            Ok(started) => started,
            Err(error) => {
                tracing::error!(sandbox = %id, "the sandbox did not start: {error:#}");
                folders.remove();
                return Err(ApiError::internal("The sandbox did not start; the platform's log has the cause."));
            }
        };
        let traffic_token = (!wish.public_traffic).then(keys::token);
        let (gone, ended) = watch::channel(false);
        let sandbox = Arc::new(Sandbox::new(id, wish, config.access_token, traffic_token, route, ended));
        let admitted = {
            let mut registry = lock(&self.registry);
            if !registry.closing {
                registry.running.insert(sandbox.id.clone(), Arc::clone(&sandbox));
            }
            !registry.closing
        };
        if !admitted {
            sandbox.request_end(Ending::Shutdown);
        }
        tracing::info!(sandbox = %sandbox.id, template = sandbox.wish.template.id, "sandbox started");
        self.tasks.spawn(Arc::clone(&self).supervise(Arc::clone(&sandbox), jail, folders, gone));
        if admitted { Ok(sandbox) } else { Err(ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "The platform is stopping.")) }
    }

    fn config(&self, wish: &Wish, folders: &Folders, equipment: Equipment) -> EnvdConfig {
        // What the client asks for wins over the platform's own.
        let mut env_vars: BTreeMap<_, _> = equipment.variables.into_iter().collect();
        env_vars.extend(wish.env_vars.clone());
        let (default_user, default_workdir) = self.walls.default_user(folders);
        EnvdConfig {
            access_token: wish.secure.then(keys::token),
            env_vars,
            default_user,
            default_workdir,
            interpreter: equipment.interpreter,
        }
    }

    async fn supervise(self: Arc<Self>, sandbox: Arc<Sandbox>, mut jail: Jail, folders: Folders, gone: watch::Sender<bool>) {
        let ending = tokio::select! {
            ending = sandbox.until_end() => ending,
            () = jail.exited() => Ending::Died,
        };
        lock(&self.registry).running.remove(&sandbox.id);
        jail.end().await;
        let removed = tokio::task::spawn_blocking(move || folders.remove()).await;
        if removed.is_err() {
            tracing::warn!(sandbox = %sandbox.id, "the task that removes folders failed");
        }
        tracing::info!(sandbox = %sandbox.id, ?ending, "sandbox ended");
        gone.send_replace(true);
    }

    /// The running sandbox of that id.
    pub fn find(&self, id: &str) -> Option<Arc<Sandbox>> {
        lock(&self.registry).running.get(id).cloned()
    }

    /// Every running sandbox, in no order.
    pub fn running(&self) -> Vec<Arc<Sandbox>> {
        lock(&self.registry).running.values().cloned().collect()
    }

    /// Ends a sandbox and waits until nothing of it is left. False when there is none of that id.
    pub async fn kill(&self, id: &str) -> bool {
        let Some(sandbox) = lock(&self.registry).running.remove(id) else { return false };
        sandbox.request_end(Ending::Killed);
        sandbox.until_gone().await;
        true
    }

    /// Ends every sandbox, those that are just being made too, and waits until nothing of them is left.
    pub async fn shut_down(&self) {
        let running: Vec<_> = {
            let mut registry = lock(&self.registry);
            registry.closing = true;
            registry.running.drain().map(|(_, sandbox)| sandbox).collect()
        };
        for sandbox in running {
            sandbox.request_end(Ending::Shutdown);
        }
        self.code_cells.stop();
        self.tasks.close();
        self.tasks.wait().await;
    }
}
