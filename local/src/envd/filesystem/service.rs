//! The calls of `filesystem.Filesystem`.

use super::super::connect::{Context, blocking};
use super::super::error::RpcError;
use super::super::paths::{Base, clean};
use super::super::users::{Names, User};
use super::entry::entry;
use super::watch::{Watch, WatchStream, Wish};
use super::{list, operations};
use agent_sandbox_web::protocol::filesystem::*;
use std::io;

/// The user of a call and the absolute path that it means.
fn locate(context: &Context, path: &str) -> Result<(User, String), RpcError> {
    let user = context.user()?;
    let path = Base::of(&user, &context.envd.config.default_workdir).resolve(path).map_err(RpcError::invalid_argument)?;
    Ok((user, path))
}

fn look(path: &str) -> Result<EntryInfo, RpcError> {
    entry(path, &Names::load()).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => RpcError::not_found(format!("file not found: {path}")),
        _ => RpcError::internal(format!("error getting file info: {error}")),
    })
}

/// One entry.
pub async fn stat(context: Context, request: StatRequest) -> Result<StatResponse, RpcError> {
    let (_, path) = locate(&context, &request.path)?;
    blocking(move || Ok(StatResponse { entry: Some(look(&path)?) })).await
}

/// A new directory.
pub async fn make_dir(context: Context, request: MakeDirRequest) -> Result<MakeDirResponse, RpcError> {
    let (user, path) = locate(&context, &request.path)?;
    blocking(move || {
        operations::make_dir(&path, &user)?;
        Ok(MakeDirResponse { entry: Some(look(&path)?) })
    })
    .await
}

/// Another name.
pub async fn rename(context: Context, request: MoveRequest) -> Result<MoveResponse, RpcError> {
    let (user, source) = locate(&context, &request.source)?;
    let (_, destination) = locate(&context, &request.destination)?;
    blocking(move || {
        operations::rename(&source, &destination, &user)?;
        Ok(MoveResponse { entry: Some(look(&destination)?) })
    })
    .await
}

/// What stands in a directory.
pub async fn list_dir(context: Context, request: ListDirRequest) -> Result<ListDirResponse, RpcError> {
    let (_, path) = locate(&context, &request.path)?;
    blocking(move || Ok(ListDirResponse { entries: list::list(&clean(&path), request.depth)? })).await
}

/// Gone.
pub async fn remove(context: Context, request: RemoveRequest) -> Result<RemoveResponse, RpcError> {
    let (_, path) = locate(&context, &request.path)?;
    blocking(move || operations::remove(&path).map(|()| RemoveResponse {})).await
}

/// What the fields that both ways of watching share ask for.
macro_rules! wish {
    ($context:ident, $request:ident) => {
        Wish {
            path: locate(&$context, &$request.path)?.1,
            recursive: $request.recursive,
            include_entry: $request.include_entry,
            allow_network_mounts: $request.allow_network_mounts,
        }
    };
}

/// The changes in a directory, as they happen.
pub async fn watch_dir(context: Context, request: WatchDirRequest) -> Result<WatchStream, RpcError> {
    Watch::begin(wish!(context, request)).await.map(WatchStream::new)
}

/// A watcher to be polled. It outlives the call and has no end of its own.
pub async fn create_watcher(context: Context, request: CreateWatcherRequest) -> Result<CreateWatcherResponse, RpcError> {
    Ok(CreateWatcherResponse { watcher_id: context.envd.watchers.create(wish!(context, request)).await? })
}

/// What a watcher has seen.
pub async fn get_watcher_events(context: Context, request: GetWatcherEventsRequest) -> Result<GetWatcherEventsResponse, RpcError> {
    Ok(GetWatcherEventsResponse { events: context.envd.watchers.take(&request.watcher_id)? })
}

/// The end of a watcher.
pub async fn remove_watcher(context: Context, request: RemoveWatcherRequest) -> Result<RemoveWatcherResponse, RpcError> {
    context.envd.watchers.remove(&request.watcher_id).map(|()| RemoveWatcherResponse {})
}
