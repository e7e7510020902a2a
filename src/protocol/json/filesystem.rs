//! The messages of `filesystem.Filesystem`.

use super::fields::{Integer, Named, Names, Plain};
use super::message::json_message;
use crate::protocol::filesystem::*;

impl Names for FileType {
    const NAMES: &'static [(i32, &'static str)] = &[
        (Self::Unspecified as i32, "FILE_TYPE_UNSPECIFIED"),
        (Self::File as i32, "FILE_TYPE_FILE"),
        (Self::Directory as i32, "FILE_TYPE_DIRECTORY"),
        (Self::Symlink as i32, "FILE_TYPE_SYMLINK"),
    ];
}

impl Names for EventType {
    const NAMES: &'static [(i32, &'static str)] = &[
        (Self::Unspecified as i32, "EVENT_TYPE_UNSPECIFIED"),
        (Self::Create as i32, "EVENT_TYPE_CREATE"),
        (Self::Write as i32, "EVENT_TYPE_WRITE"),
        (Self::Remove as i32, "EVENT_TYPE_REMOVE"),
        (Self::Rename as i32, "EVENT_TYPE_RENAME"),
        (Self::Chmod as i32, "EVENT_TYPE_CHMOD"),
    ];
}

json_message!(EntryInfo {
    name: Plain = "name",
    r#type: Named<FileType> = "type",
    path: Plain = "path",
    size: Integer = "size",
    mode: Integer = "mode",
    permissions: Plain = "permissions",
    owner: Plain = "owner",
    group: Plain = "group",
    modified_time: Plain = "modifiedTime",
    symlink_target: Plain = "symlinkTarget",
    metadata: Plain = "metadata",
});
json_message!(StatRequest { path: Plain = "path" });
json_message!(StatResponse { entry: Plain = "entry" });
json_message!(MakeDirRequest { path: Plain = "path" });
json_message!(MakeDirResponse { entry: Plain = "entry" });
json_message!(MoveRequest { source: Plain = "source", destination: Plain = "destination" });
json_message!(MoveResponse { entry: Plain = "entry" });
json_message!(ListDirRequest { path: Plain = "path", depth: Integer = "depth" });
json_message!(ListDirResponse { entries: Plain = "entries" });
json_message!(RemoveRequest { path: Plain = "path" });
json_message!(RemoveResponse {});
json_message!(WatchDirRequest {
    path: Plain = "path",
    recursive: Plain = "recursive",
    include_entry: Plain = "includeEntry",
    allow_network_mounts: Plain = "allowNetworkMounts",
});
json_message!(WatchDirResponse {} oneof event: WatchEvent {
    Start: Plain = "start",
    Filesystem: Plain = "filesystem",
    Keepalive: Plain = "keepalive",
});
json_message!(WatchStart {});
json_message!(WatchKeepAlive {});
json_message!(FilesystemEvent { name: Plain = "name", r#type: Named<EventType> = "type", entry: Plain = "entry" });
json_message!(CreateWatcherRequest {
    path: Plain = "path",
    recursive: Plain = "recursive",
    include_entry: Plain = "includeEntry",
    allow_network_mounts: Plain = "allowNetworkMounts",
});
json_message!(CreateWatcherResponse { watcher_id: Plain = "watcherId" });
json_message!(GetWatcherEventsRequest { watcher_id: Plain = "watcherId" });
json_message!(GetWatcherEventsResponse { events: Plain = "events" });
json_message!(RemoveWatcherRequest { watcher_id: Plain = "watcherId" });
json_message!(RemoveWatcherResponse {});
