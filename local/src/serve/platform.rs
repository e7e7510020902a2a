//! The sandboxes of one platform: how they come to be, which there are, how they end.

use super::code_cells::{CodeCells, Equipment};
use super::copy::{Files, copy};
use super::data::{DataDir, Folders, Place};
use super::error::ApiError;
use super::gateway::Route;
use super::journal::{Journal, Level};
use super::keeper::{Keeper, Resume};
use super::keys::{self, Keys, lock};
use super::record::Record;
use super::sandbox::{Ending, Identity, Phase, Sandbox, Status};
use super::snapshots::{Kept, Snapshot, Snapshots};
use super::template::Name;
use super::walls::{Jail, Launch, Walls};
use super::wish::Wish;
use super::{keeper::Order, sandbox};
use crate::handover::EnvdConfig;
use http::StatusCode;
use jiff::Timestamp;
use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio_util::task::TaskTracker;

/// How long a sandbox lives that traffic has woken, unless it was made for longer.
const WOKEN: Duration = Duration::from_secs(300);

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
    /// Copies from which sandboxes are made.
    pub snapshots: Snapshots,
    /// What sandboxes with code cells are equipped with.
    pub code_cells: CodeCells,
    registry: Mutex<Registry>,
    tasks: TaskTracker,
}

#[derive(Default)]
struct Registry {
    sandboxes: HashMap<String, Arc<Sandbox>>,
    closing: bool,
}

fn not_copied(error: &anyhow::Error) -> ApiError {
    tracing::error!("a sandbox's files cannot be copied: {error:#}");
    ApiError::failed("The sandbox's files could not be copied", error)
}

impl Platform {
    /// A platform without sandboxes.
    pub fn new(keys: Keys, listen: SocketAddr, walls: Walls, data: DataDir, snapshots: Snapshots, code_cells: CodeCells) -> Self {
        Self { keys, listen, walls, data, snapshots, code_cells, registry: Mutex::default(), tasks: TaskTracker::new() }
    }

    /// Takes back the paused sandboxes of an earlier run; of those that were paused with their processes only the files are left.
    pub fn take_back(self: &Arc<Self>, paused: Vec<(Record, Folders)>) {
        for (record, folders) in paused {
            let Record { id, owner, wish, envd_token, traffic_token, started, paused, memory } = record;
            tracing::info!(sandbox = %id, lost_memory = memory, "paused sandbox found");
            let status = Status { phase: Phase::Paused { memory: false }, started, paused, route: None, root: None };
            let journal = Arc::new(Journal::default());
            let message = if memory { "found again, without the processes that it was paused with" } else { "found again" };
            journal.add(if memory { Level::Warn } else { Level::Info }, message, &[]);
            self.admit(Identity { id, owner, envd_token, traffic_token, journal }, wish, status, folders, None);
        }
    }

    /// Makes a sandbox, with an empty home or the files of a snapshot, and waits until it answers. It is made to the end even when the client
    /// does not wait.
    ///
    /// # Errors
    /// 500 when it does not come up, 507 when there is no room, 503 when the platform stops.
    pub async fn create(self: &Arc<Self>, wish: Wish, source: Option<Arc<Kept>>) -> Result<Arc<Sandbox>, ApiError> {
        let platform = Arc::clone(self);
        self.to_the_end(async move {
            let identity = platform.identity(&wish);
            let folders = match source {
                None => platform.data.create(&identity.id, identity.owner)?,
                Some(source) => {
                    let place = platform.reserve(&identity)?;
                    let to = Files::from(&*place);
                    source.read(async |from| copy(&from, &to, identity.owner).await).await.map_err(|error| not_copied(&error))?;
                    place.keep()
                }
            };
            platform.start(identity, wish, folders).await
        })
        .await
    }

    /// Makes sandboxes with the files that another has now: what runs in it does not run in them. The outer error is of all of them.
    ///
    /// # Errors
    /// 409 when the other one does not run.
    pub async fn fork(
        self: &Arc<Self>,
        source: Arc<Sandbox>,
        count: usize,
        lifetime: Duration,
    ) -> Result<Vec<Result<Arc<Sandbox>, ApiError>>, ApiError> {
        let platform = Arc::clone(self);
        self.to_the_end(async move {
            let wish = Wish { network: source.network(), lifetime, ..source.wish.clone() };
            let identities = (0..count).map(|_| platform.identity(&wish)).collect::<Vec<_>>();
            let places = identities.iter().map(|identity| platform.reserve(identity)).collect::<Result<Vec<_>, _>>()?;
            let to = places.iter().zip(&identities).map(|(place, identity)| (Files::from(&**place), identity.owner)).collect();
            let copied = source.ask(|reply| Order::Copy(to, reply)).await?;
            let mut forks = Vec::new();
            for ((identity, place), copied) in identities.into_iter().zip(places).zip(copied) {
                forks.push(match copied {
                    Ok(()) => platform.start(identity, wish.clone(), place.keep()).await,
                    Err(error) => Err(not_copied(&error)),
                });
            }
            let made = forks.iter().filter(|fork| fork.is_ok()).count();
            tracing::info!(sandbox = %source.id, made, "sandbox forked, filesystem only");
            source.journal.add(Level::Info, "forked, filesystem only", &[("made", made.to_string())]);
            Ok(forks)
        })
        .await
    }

    /// Keeps the files that a sandbox has now.
    ///
    /// # Errors
    /// 404 when it is paused, 400 for a name that cannot be taken, 507 when there is no room.
    pub async fn snapshot(self: &Arc<Self>, source: Arc<Sandbox>, name: Option<Name>) -> Result<Snapshot, ApiError> {
        if matches!(source.status().phase, Phase::Paused { .. }) {
            let message = format!("Sandbox \"{}\" is paused; only a running sandbox can be snapshotted", source.id);
            return Err(ApiError::new(StatusCode::NOT_FOUND, message));
        }
        let platform = Arc::clone(self);
        self.to_the_end(async move {
            let draft = platform.snapshots.draft(&source.id, &source.wish, name.as_ref())?;
            let copied = source.ask(|reply| Order::Copy(vec![(draft.files(), None)], reply)).await?;
            copied.into_iter().collect::<anyhow::Result<Vec<()>>>().map_err(|error| not_copied(&error))?;
            let snapshot = platform.snapshots.publish(draft).await?;
            tracing::info!(sandbox = %source.id, snapshot = snapshot.id(), "snapshot made, filesystem only");
            source.journal.add(Level::Info, "snapshot made, filesystem only", &[("snapshot", snapshot.id())]);
            Ok(snapshot)
        })
        .await
    }

    /// The folder of a sandbox whose files are about to be copied.
    fn reserve(&self, identity: &Identity) -> Result<Place, ApiError> {
        self.data.reserve(&identity.id).map_err(|error| not_copied(&error.into()))
    }

    /// Does what must not stop half-way, also when the client does not wait.
    async fn to_the_end<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, ApiError>> + Send + 'static,
    ) -> Result<T, ApiError> {
        let task = self.tasks.spawn(work);
        task.await.unwrap_or_else(|_| Err(ApiError::internal("The operation failed; the platform's log has the cause.")))
    }

    fn identity(&self, wish: &Wish) -> Identity {
        Identity {
            id: keys::sandbox_id(),
            owner: self.walls.owner(),
            envd_token: wish.secure.then(keys::token),
            traffic_token: (!wish.network.public_traffic).then(keys::token),
            journal: Arc::default(),
        }
    }

    /// Starts a sandbox on files that are there already. After an error they are gone.
    async fn start(self: &Arc<Self>, identity: Identity, wish: Wish, folders: Folders) -> Result<Arc<Sandbox>, ApiError> {
        let (jail, route) = match self.launch_as(&identity, &wish, wish.network.online, &folders).await {
            Ok(started) => started,
            Err(error) => {
                folders.remove();
                return Err(error);
            }
        };
        let now = Timestamp::now();
        let status =
            Status { phase: Phase::Running, started: now, paused: now, route: Some(Arc::new(route)), root: Some(jail.root()) };
        let (sandbox, admitted) = self.admit(identity, wish, status, folders, Some(jail));
        tracing::info!(sandbox = %sandbox.id, template = sandbox.wish.template.id, "sandbox started");
        sandbox.journal.add(Level::Info, "sandbox started", &[("template", sandbox.wish.template.id.clone())]);
        if admitted { Ok(sandbox) } else { Err(ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "The platform is stopping.")) }
    }

    /// Gives a sandbox its keeper. False when the platform stops: it is ended then.
    fn admit(
        self: &Arc<Self>,
        identity: Identity,
        wish: Wish,
        status: Status,
        folders: Folders,
        jail: Option<Jail>,
    ) -> (Arc<Sandbox>, bool) {
        let (gone, ended) = watch::channel(false);
        let (sender, orders) = mpsc::unbounded_channel();
        let sandbox = Arc::new(Sandbox::new(identity, wish, status, sender, ended));
        let admitted = {
            let mut registry = lock(&self.registry);
            if !registry.closing {
                registry.sandboxes.insert(sandbox.id.clone(), Arc::clone(&sandbox));
            }
            !registry.closing
        };
        if !admitted {
            sandbox.request_end(Ending::Shutdown);
        }
        let keeper = Keeper { platform: Arc::clone(self), sandbox: Arc::clone(&sandbox), folders, jail, orders };
        self.tasks.spawn(keeper.keep(gone));
        (sandbox, admitted)
    }

    /// Starts the processes of a sandbox that has none, on its files.
    ///
    /// # Errors
    /// 500 when they do not come up; nothing of them is left then.
    pub async fn launch(&self, sandbox: &Sandbox, folders: &Folders) -> Result<(Jail, Route), ApiError> {
        let identity = sandbox::Identity {
            id: sandbox.id.clone(),
            owner: sandbox.owner,
            envd_token: sandbox.envd_token.clone(),
            traffic_token: sandbox.traffic_token.clone(),
            journal: Arc::clone(&sandbox.journal),
        };
        self.launch_as(&identity, &sandbox.wish, sandbox.network().online, folders).await
    }

    async fn launch_as(
        &self,
        identity: &Identity,
        wish: &Wish,
        internet: bool,
        folders: &Folders,
    ) -> Result<(Jail, Route), ApiError> {
        let mut equipment =
            if wish.template.interpreter { self.code_cells.equip(&self.walls).await? } else { Equipment::default() };
        self.code_cells.add_server(&self.walls, &mut equipment).await;
        let binds = equipment.binds.clone();
        let config = self.config(identity, wish, folders, equipment);
        let Identity { id, owner, journal, .. } = identity;
        let launch = Launch { id, folders, owner: *owner, internet, binds: &binds, config: &config, journal };
        let started = async {
            folders.renew(*owner)?;
            let jail = self.walls.launch(launch).await?;
            let route = Route::pin(&folders.run);
            let (jail, route) = match route {
                Ok(route) => (jail, route),
                Err(error) => {
                    jail.end().await;
                    return Err(error);
                }
            };
            anyhow::Ok((jail, route))
        };
        started.await.map_err(|error| {
            tracing::error!(sandbox = %id, "the sandbox did not start: {error:#}");
            ApiError::failed("The sandbox did not start", &error)
        })
    }

    fn config(&self, identity: &Identity, wish: &Wish, folders: &Folders, equipment: Equipment) -> EnvdConfig {
        // What the client asks for wins over the platform's own.
        let mut env_vars: BTreeMap<_, _> = equipment.variables.into_iter().collect();
        env_vars.extend(wish.env_vars.clone());
        let (default_user, default_workdir) = self.walls.default_user(folders);
        EnvdConfig {
            access_token: identity.envd_token.clone(),
            env_vars,
            default_user,
            default_workdir,
            shared_network: !self.walls.cut_network(),
            interpreter: equipment.interpreter,
        }
    }

    /// Makes a paused sandbox run because somebody calls it; see [`Order::Resume`].
    ///
    /// # Errors
    /// When it does not start.
    pub async fn wake(&self, sandbox: &Sandbox) -> Result<bool, ApiError> {
        let how = Resume { lifetime: sandbox.wish.lifetime.max(WOKEN), memory: true };
        sandbox.ask(|reply| Order::Resume(how, reply)).await
    }

    /// The sandbox of that id, running or paused.
    pub fn find(&self, id: &str) -> Option<Arc<Sandbox>> {
        lock(&self.registry).sandboxes.get(id).cloned()
    }

    /// Every sandbox, in no order.
    pub fn sandboxes(&self) -> Vec<Arc<Sandbox>> {
        lock(&self.registry).sandboxes.values().cloned().collect()
    }

    /// Takes a sandbox out that begins to end.
    pub fn forget(&self, id: &str) {
        lock(&self.registry).sandboxes.remove(id);
    }

    /// Ends a sandbox and waits until nothing of it is left. False when there is none of that id.
    pub async fn kill(&self, id: &str) -> bool {
        let Some(sandbox) = lock(&self.registry).sandboxes.remove(id) else { return false };
        sandbox.request_end(Ending::Killed);
        sandbox.until_gone().await;
        true
    }

    /// How many sandboxes are paused, and how many are not.
    pub fn count(&self) -> (usize, usize) {
        let sandboxes = self.sandboxes();
        let paused = sandboxes.iter().filter(|sandbox| matches!(sandbox.status().phase, Phase::Paused { .. })).count();
        (paused, sandboxes.len() - paused)
    }

    /// Ends every sandbox, those that are just being made too, and waits until nothing of them is left but the files of paused ones.
    pub async fn shut_down(&self) {
        let sandboxes: Vec<_> = {
            let mut registry = lock(&self.registry);
            registry.closing = true;
            registry.sandboxes.drain().map(|(_, sandbox)| sandbox).collect()
        };
        for sandbox in sandboxes {
            sandbox.request_end(Ending::Shutdown);
        }
        self.code_cells.stop();
        self.tasks.close();
        self.tasks.wait().await;
    }
}
