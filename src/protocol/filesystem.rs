//! Messages of `filesystem.Filesystem`: what stands where, and what changes.

use prost::{Enumeration, Message, Oneof};
use std::collections::BTreeMap;

/// The path prefix of every call, before the method's name.
pub const SERVICE: &str = "filesystem.Filesystem";

/// What an entry is. Of a symbolic link, what its target is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
#[repr(i32)]
pub enum FileType {
    /// A broken link, a socket, a device, a FIFO.
    Unspecified = 0,
    /// A regular file.
    File = 1,
    /// A directory.
    Directory = 2,
    /// Defined by the protocol, sent by no server seen.
    Symlink = 3,
}

/// A point in time.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct Timestamp {
    /// Unix seconds.
    #[prost(int64, tag = "1")]
    pub seconds: i64,
    /// Nanoseconds on top, 0 to 999,999,999.
    #[prost(int32, tag = "2")]
    pub nanos: i32,
}

/// What is known of a file, directory or link.
#[derive(Clone, PartialEq, Message)]
pub struct EntryInfo {
    /// The last part of its path.
    #[prost(string, tag = "1")]
    pub name: String,
    /// What it is.
    #[prost(enumeration = "FileType", tag = "2")]
    pub r#type: i32,
    /// Its path.
    #[prost(string, tag = "3")]
    pub path: String,
    /// Bytes; of the link itself for links.
    #[prost(int64, tag = "4")]
    pub size: i64,
    /// Permission bits, 0 to 0o777; of the target for links.
    #[prost(uint32, tag = "5")]
    pub mode: u32,
    /// The mode in letters, such as `-rw-r--r--`, of the entry itself.
    #[prost(string, tag = "6")]
    pub permissions: String,
    /// The owner's name or number.
    #[prost(string, tag = "7")]
    pub owner: String,
    /// The group's name or number.
    #[prost(string, tag = "8")]
    pub group: String,
    /// When the entry itself was last written.
    #[prost(message, optional, tag = "9")]
    pub modified_time: Option<Timestamp>,
    /// Present exactly for links: where it leads.
    #[prost(string, optional, tag = "10")]
    pub symlink_target: Option<String>,
    /// What was stored with it.
    #[prost(btree_map = "string, string", tag = "11")]
    pub metadata: BTreeMap<String, String>,
}

/// Declares the messages that hold only what the name says.
macro_rules! messages {
    ($($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $ty:ty = $prost:tt),* $(,)? })*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, PartialEq, Message)]
            pub struct $name {
                $($(#[$field_doc])* #[prost $prost] pub $field: $ty,)*
            }
        )*
    };
}

messages! {
    /// Asks for one entry.
    StatRequest {
        /// Its path.
        path: String = (string, tag = "1"),
    }
    /// The entry.
    StatResponse {
        /// The entry.
        entry: Option<EntryInfo> = (message, optional, tag = "1"),
    }
    /// Makes a directory and its parents.
    MakeDirRequest {
        /// Its path.
        path: String = (string, tag = "1"),
    }
    /// The new directory.
    MakeDirResponse {
        /// The entry.
        entry: Option<EntryInfo> = (message, optional, tag = "1"),
    }
    /// Renames an entry, replacing an existing file.
    MoveRequest {
        /// From here.
        source: String = (string, tag = "1"),
        /// To here.
        destination: String = (string, tag = "2"),
    }
    /// The entry in its new place.
    MoveResponse {
        /// The entry.
        entry: Option<EntryInfo> = (message, optional, tag = "1"),
    }
    /// Lists a directory.
    ListDirRequest {
        /// Its path.
        path: String = (string, tag = "1"),
        /// How many levels; 0 means 1.
        depth: u32 = (uint32, tag = "2"),
    }
    /// What stands in it.
    ListDirResponse {
        /// In lexical order, depth first, without the directory itself.
        entries: Vec<EntryInfo> = (message, repeated, tag = "1"),
    }
    /// Deletes an entry and everything below it.
    RemoveRequest {
        /// Its path; a missing one is success.
        path: String = (string, tag = "1"),
    }
    /// Done.
    RemoveResponse {}
    /// Watches a directory.
    WatchDirRequest {
        /// Its path.
        path: String = (string, tag = "1"),
        /// Its subdirectories too.
        recursive: bool = (bool, tag = "2"),
        /// Whether events carry the entry.
        include_entry: bool = (bool, tag = "3"),
        /// Whether network mounts may be watched.
        allow_network_mounts: bool = (bool, tag = "4"),
    }
    /// One message of a watch.
    WatchDirResponse {
        /// What it says.
        event: Option<WatchEvent> = (oneof = "WatchEvent", tags = "1, 2, 3"),
    }
    /// The watch has begun.
    WatchStart {}
    /// Nothing happened, and the connection is alive.
    WatchKeepAlive {}
    /// One change below a watched directory.
    FilesystemEvent {
        /// The changed entry, relative to the watched directory.
        name: String = (string, tag = "1"),
        /// What happened.
        r#type: i32 = (enumeration = "EventType", tag = "2"),
        /// The entry, when asked for and still there.
        entry: Option<EntryInfo> = (message, optional, tag = "3"),
    }
    /// Makes a watcher that is polled.
    CreateWatcherRequest {
        /// The directory.
        path: String = (string, tag = "1"),
        /// Its subdirectories too.
        recursive: bool = (bool, tag = "2"),
        /// Whether events carry the entry.
        include_entry: bool = (bool, tag = "3"),
        /// Whether network mounts may be watched.
        allow_network_mounts: bool = (bool, tag = "4"),
    }
    /// The new watcher.
    CreateWatcherResponse {
        /// Its id.
        watcher_id: String = (string, tag = "1"),
    }
    /// Takes what a watcher has seen.
    GetWatcherEventsRequest {
        /// Its id.
        watcher_id: String = (string, tag = "1"),
    }
    /// What a watcher has seen since the last time.
    GetWatcherEventsResponse {
        /// In order.
        events: Vec<FilesystemEvent> = (message, repeated, tag = "1"),
    }
    /// Ends a watcher.
    RemoveWatcherRequest {
        /// Its id.
        watcher_id: String = (string, tag = "1"),
    }
    /// Done.
    RemoveWatcherResponse {}
}

/// The kinds of [`WatchDirResponse`].
#[derive(Clone, PartialEq, Oneof)]
pub enum WatchEvent {
    /// The first message.
    #[prost(message, tag = "1")]
    Start(WatchStart),
    /// A change.
    #[prost(message, boxed, tag = "2")]
    Filesystem(Box<FilesystemEvent>),
    /// Sent when nothing else was for a while.
    #[prost(message, tag = "3")]
    Keepalive(WatchKeepAlive),
}

/// What happened to an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
#[repr(i32)]
pub enum EventType {
    /// Unknown to us.
    Unspecified = 0,
    /// It came into being.
    Create = 1,
    /// Its content was written.
    Write = 2,
    /// It went away.
    Remove = 3,
    /// It went to another name; the new name follows as a creation.
    Rename = 4,
    /// Its mode, owner or times changed.
    Chmod = 5,
}
