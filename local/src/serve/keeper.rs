//! Who keeps a sandbox: one task that alone owns its processes and files. Whatever changes a sandbox is an order to it, so that pausing,
//! resuming, copying and ending follow one another and none is ever half done.

use super::copy::{Files, copy};
use super::data::Folders;
use super::error::ApiError;
use super::journal::Level;
use super::platform::Platform;
use super::record::Record;
use super::sandbox::{Ending, Phase, Sandbox};
use super::walls::Jail;
use super::wish::{Network, OnTimeout};
use jiff::Timestamp;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};

/// How long a sandbox goes on that was to be paused at the end of its time, and could not be.
const AGAIN: Duration = Duration::from_secs(60);

/// Where the answer to an order goes.
type Reply<T> = oneshot::Sender<Result<T, ApiError>>;

/// What can be asked of a sandbox's keeper.
pub enum Order {
    /// Pause it, with its processes or as files only. 409 when it does not run.
    Pause(bool, Reply<()>),
    /// Make it run for at least, or, if it is paused, exactly this time. True when it was paused.
    Resume(Resume, Reply<bool>),
    /// Copy its files to these places, for these owners, while it stands still. 409 when it does not run.
    Copy(Vec<(Files, Option<u32>)>, Reply<Vec<anyhow::Result<()>>>),
    /// Change what it may reach. 409 when it does not run.
    Network(Network, Reply<()>),
}

/// How to resume.
#[derive(Debug, Clone, Copy)]
pub struct Resume {
    /// How long it lives then.
    pub lifetime: Duration,
    /// False starts it anew on its files though its processes were kept.
    pub memory: bool,
}

/// The task's own.
pub struct Keeper {
    /// Where it lives.
    pub platform: Arc<Platform>,
    /// Who is kept.
    pub sandbox: Arc<Sandbox>,
    /// Its files.
    pub folders: Folders,
    /// Its processes, unless it is paused without them.
    pub jail: Option<Jail>,
    /// What is asked.
    pub orders: mpsc::UnboundedReceiver<Order>,
}

enum Event {
    End(Ending),
    Order(Order),
    Exited,
}

impl Keeper {
    /// Keeps it until it ends, and tells `gone` then.
    pub async fn keep(mut self, gone: watch::Sender<bool>) {
        let ending = loop {
            match self.next().await {
                Event::End(Ending::TimedOut) => match self.sandbox.wish.lifecycle.on_timeout {
                    OnTimeout::Kill => break Ending::TimedOut,
                    OnTimeout::Pause { memory } => {
                        if self.pause(memory).await.is_err() {
                            self.sandbox.set_lifetime(AGAIN);
                        }
                    }
                },
                Event::End(ending) => break ending,
                Event::Order(order) => self.carry_out(order).await,
                Event::Exited if self.sandbox.is_running() => break Ending::Died,
                Event::Exited => self.lose_memory().await,
            }
        };
        self.end(ending).await;
        gone.send_replace(true);
    }

    async fn next(&mut self) -> Event {
        let running = self.sandbox.is_running();
        tokio::select! {
            biased;
            ending = self.sandbox.until_asked_to_end() => Event::End(ending),
            Some(order) = self.orders.recv() => Event::Order(order),
            () = exited(&mut self.jail) => Event::Exited,
            () = self.sandbox.until_time_is_over(), if running => Event::End(Ending::TimedOut),
        }
    }

    /// Answers nobody who has left meanwhile; what was asked is done all the same.
    async fn carry_out(&mut self, order: Order) {
        match order {
            Order::Pause(memory, reply) => {
                let done = if self.sandbox.is_running() { self.pause(memory).await } else { Err(self.already_paused()) };
                drop(reply.send(done));
            }
            Order::Resume(how, reply) => drop(reply.send(self.resume(how).await)),
            Order::Copy(places, reply) => {
                let copied = if self.sandbox.is_running() { self.copy(places).await } else { Err(self.sandbox.not_running()) };
                drop(reply.send(copied));
            }
            Order::Network(network, reply) => {
                let done =
                    if self.sandbox.is_running() { self.set_network(network).await } else { Err(self.sandbox.not_running()) };
                drop(reply.send(done));
            }
        }
    }

    fn already_paused(&self) -> ApiError {
        ApiError::new(http::StatusCode::CONFLICT, format!("Sandbox \"{}\" is already paused", self.sandbox.id))
    }

    async fn pause(&mut self, memory: bool) -> Result<(), ApiError> {
        let id = &self.sandbox.id;
        let Some(jail) = &mut self.jail else { return Err(self.already_paused()) };
        self.sandbox.set_status(|status| status.phase = Phase::Pausing);
        let route = self.sandbox.status().route;
        // Streams end here and not when the sandbox goes on: whoever reads one must not wait for it.
        if let Some(route) = &route {
            route.close();
        }
        let record = self.sandbox.record(memory);
        let kept = async {
            if memory {
                jail.freeze().await?;
            }
            record.store(&self.folders.root)?;
            anyhow::Ok(())
        };
        if let Err(error) = kept.await {
            tracing::error!(sandbox = %id, "the sandbox cannot be paused: {error:#}");
            self.sandbox.journal.add(Level::Error, "a pause failed; the sandbox goes on", &[]);
            if let Err(error) = jail.thaw() {
                tracing::error!(sandbox = %id, "{error:#}");
            }
            if let Some(route) = route {
                route.open();
            }
            self.sandbox.set_status(|status| status.phase = Phase::Running);
            return Err(ApiError::failed("The sandbox could not be paused and goes on", &error));
        }
        if !memory {
            self.end_processes().await;
        }
        self.sandbox.set_status(|status| {
            status.phase = Phase::Paused { memory };
            status.paused = record.paused;
        });
        tracing::info!(sandbox = %self.sandbox.id, memory, "sandbox paused");
        self.sandbox.journal.add(Level::Info, "paused", &[("memory", memory.to_string())]);
        Ok(())
    }

    async fn resume(&mut self, how: Resume) -> Result<bool, ApiError> {
        if self.sandbox.is_running() {
            self.sandbox.extend_lifetime(how.lifetime);
            return Ok(false);
        }
        if !how.memory {
            self.end_processes().await;
        }
        let memory = self.jail.is_some();
        self.sandbox.set_status(|status| status.phase = Phase::Resuming);
        if let Err(error) = self.go_on().await {
            self.sandbox.set_status(|status| status.phase = Phase::Paused { memory: false });
            return Err(error);
        }
        if let Err(error) = Record::discard(&self.folders.root) {
            tracing::warn!(sandbox = %self.sandbox.id, %error, "the record of a paused sandbox stays");
        }
        self.sandbox.set_lifetime(how.lifetime);
        self.sandbox.set_status(|status| {
            status.phase = Phase::Running;
            status.started = Timestamp::now();
        });
        tracing::info!(sandbox = %self.sandbox.id, memory, "sandbox resumed");
        self.sandbox.journal.add(Level::Info, "resumed", &[("memory", memory.to_string())]);
        Ok(true)
    }

    /// Lets the processes go on; without any, or when they do not, starts anew on the files.
    async fn go_on(&mut self) -> Result<(), ApiError> {
        if let Some(jail) = &mut self.jail {
            match jail.thaw() {
                Ok(()) => {
                    if let Some(route) = self.sandbox.status().route {
                        route.open();
                    }
                    return Ok(());
                }
                Err(error) => tracing::error!(sandbox = %self.sandbox.id, "{error:#}: the sandbox starts anew on its files"),
            }
            self.end_processes().await;
        }
        let (jail, route) = self.platform.launch(&self.sandbox, &self.folders).await?;
        self.sandbox.set_status(|status| {
            status.route = Some(Arc::new(route));
            status.root = Some(jail.root());
        });
        self.jail = Some(jail);
        Ok(())
    }

    /// The processes of a paused sandbox have ended by themselves, or somebody else ended them.
    async fn lose_memory(&mut self) {
        tracing::warn!(sandbox = %self.sandbox.id, "the processes of a paused sandbox are gone: only its files are left");
        self.sandbox.journal.add(Level::Warn, "the processes of the paused sandbox are gone, only its files are left", &[]);
        self.end_processes().await;
        self.sandbox.set_status(|status| status.phase = Phase::Paused { memory: false });
    }

    async fn end_processes(&mut self) {
        self.sandbox.set_status(|status| {
            status.route = None;
            status.root = None;
        });
        if let Some(jail) = self.jail.take() {
            jail.end().await;
        }
    }

    /// Everything inside stands still meanwhile, so that the copies are of one moment.
    async fn copy(&mut self, places: Vec<(Files, Option<u32>)>) -> Result<Vec<anyhow::Result<()>>, ApiError> {
        let failed = |error| {
            tracing::error!(sandbox = %self.sandbox.id, "the sandbox's files cannot be copied: {error:#}");
            ApiError::failed("The sandbox's files could not be copied", &error)
        };
        let Some(jail) = &mut self.jail else { return Err(self.sandbox.not_running()) };
        jail.freeze().await.map_err(failed)?;
        let from = Files::from(&self.folders);
        let all = async {
            let mut done = Vec::new();
            for (to, owner) in &places {
                done.push(copy(&from, to, *owner).await);
            }
            done
        };
        let copied = tokio::select! {
            copied = all => Ok(copied),
            _ = self.sandbox.until_asked_to_end() => Err(ApiError::no_sandbox(&self.sandbox.id)),
        };
        jail.thaw().map_err(failed)?;
        copied
    }

    async fn set_network(&mut self, network: Network) -> Result<(), ApiError> {
        let Some(jail) = &mut self.jail else { return Err(self.sandbox.not_running()) };
        if self.platform.walls.cut_network() {
            jail.set_online(network.online, &self.folders.etc).await.map_err(|error| {
                tracing::error!(sandbox = %self.sandbox.id, "the sandbox's network cannot be changed: {error:#}");
                ApiError::internal("The sandbox's network could not be changed and is cut; the platform's log has the cause.")
            })?;
        }
        tracing::info!(sandbox = %self.sandbox.id, online = network.online, "network changed");
        self.sandbox.journal.add(Level::Info, "network changed", &[("online", network.online.to_string())]);
        self.sandbox.set_network(network);
        Ok(())
    }

    async fn end(mut self, ending: Ending) {
        self.platform.forget(&self.sandbox.id);
        // What is asked from here on is refused.
        self.orders.close();
        let paused = matches!(self.sandbox.status().phase, Phase::Paused { .. });
        let memory = self.jail.is_some();
        self.end_processes().await;
        if ending == Ending::Shutdown && paused {
            if memory {
                tracing::warn!(sandbox = %self.sandbox.id, "the platform stops: of the paused sandbox only the files stay, not its processes");
            }
            return;
        }
        let folders = self.folders.clone();
        if tokio::task::spawn_blocking(move || folders.remove()).await.is_err() {
            tracing::warn!(sandbox = %self.sandbox.id, "the task that removes folders failed");
        }
        tracing::info!(sandbox = %self.sandbox.id, ?ending, "sandbox ended");
    }
}

async fn exited(jail: &mut Option<Jail>) {
    match jail {
        Some(jail) => jail.exited().await,
        None => std::future::pending().await,
    }
}
