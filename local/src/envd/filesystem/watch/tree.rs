//! From the kernel's events about single directories to changes in a tree.

use agent_sandbox_web::protocol::filesystem::EventType;
use inotify::{Event, EventMask, WatchDescriptor, WatchMask, Watches};
use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// One change.
#[derive(Debug, PartialEq, Eq)]
pub struct Change {
    /// Relative to the watched directory; `.` for that itself.
    pub path: PathBuf,
    /// What happened.
    pub kind: EventType,
}

/// The watched directories below one root.
pub struct Tree {
    watches: Watches,
    root: PathBuf,
    recursive: bool,
    directories: HashMap<WatchDescriptor, Directory>,
    /// The directory that the last event moved away, with the event's cookie: it may arrive elsewhere in the tree.
    departed: Option<(u32, PathBuf)>,
}

#[derive(Default)]
struct Directory {
    /// Relative to the root; empty for that itself.
    path: PathBuf,
    /// Entries that were found when the directory was new, and told. The kernel may still tell of them.
    told: HashSet<OsString>,
}

impl Tree {
    /// Watches `root`, and all directories below it if `recursive`.
    pub fn new(watches: Watches, root: &Path, recursive: bool) -> io::Result<Self> {
        let root = root.to_path_buf();
        let mut tree = Self { watches, root, recursive, directories: HashMap::new(), departed: None };
        tree.adopt(PathBuf::new(), None)?;
        Ok(tree)
    }

    /// Takes one event of the kernel and adds what it means to `changes`.
    ///
    /// # Errors
    /// When events were lost, or a new directory cannot be watched.
    pub fn see(&mut self, event: &Event<&OsStr>, changes: &mut Vec<Change>) -> io::Result<()> {
        if event.mask.contains(EventMask::Q_OVERFLOW) {
            return Err(io::Error::other("the kernel's queue overflowed and events were lost"));
        }
        if event.mask.contains(EventMask::IGNORED) {
            self.directories.remove(&event.wd);
            return Ok(());
        }
        let arrived = self.departed.take_if(|(cookie, _)| event.mask.contains(EventMask::MOVED_TO) && *cookie == event.cookie);
        self.settle_departed();
        let Some(directory) = self.directories.get_mut(&event.wd) else { return Ok(()) };
        let Some(name) = event.name else {
            // What happens to a directory below is told by the one it stands in.
            if directory.path.as_os_str().is_empty() {
                self.see_root(event.mask, changes);
            }
            return Ok(());
        };
        let path = directory.path.join(name);
        // Told of already; after any other event about the name, the next creation is a new one.
        if directory.told.remove(name) && event.mask.contains(EventMask::CREATE) {
            return Ok(());
        }
        changes.extend(kind(event.mask).map(|kind| Change { path: path.clone(), kind }));
        if !self.recursive || !event.mask.contains(EventMask::ISDIR) {
            return Ok(());
        }
        if event.mask.contains(EventMask::MOVED_FROM) {
            self.departed = Some((event.cookie, path));
        } else if let Some((_, old)) = arrived {
            self.rename(&old, &path);
        } else if event.mask.contains(EventMask::MOVED_TO) {
            self.adopt(path, None)?;
        } else if event.mask.contains(EventMask::CREATE) {
            self.adopt(path, Some(changes))?;
        }
        Ok(())
    }

    /// Says that the kernel has no more events for now.
    pub fn settle(&mut self) {
        self.settle_departed();
        for directory in self.directories.values_mut() {
            directory.told = HashSet::new();
        }
    }

    fn see_root(&mut self, mask: EventMask, changes: &mut Vec<Change>) {
        let kind = if mask.contains(EventMask::DELETE_SELF) {
            EventType::Remove
        } else if mask.contains(EventMask::MOVE_SELF) {
            // It has another path now: what changes in it is no longer below the path that was asked for.
            self.forget(Path::new(""));
            EventType::Rename
        } else if mask.contains(EventMask::ATTRIB) && self.root.exists() {
            EventType::Chmod
        } else {
            return;
        };
        changes.push(Change { path: PathBuf::from("."), kind });
    }

    /// A directory that moved away and did not arrive in the tree is not watched any more.
    fn settle_departed(&mut self) {
        if let Some((_, path)) = self.departed.take() {
            self.forget(&path);
        }
    }

    fn forget(&mut self, path: &Path) {
        let gone: Vec<_> = self.directories.extract_if(|_, directory| directory.path.starts_with(path)).collect();
        for (descriptor, _) in gone {
            // A deleted one has lost its watch already.
            let _ = self.watches.remove(descriptor);
        }
    }

    fn rename(&mut self, old: &Path, new: &Path) {
        for directory in self.directories.values_mut() {
            if let Ok(rest) = directory.path.strip_prefix(old) {
                directory.path = if rest.as_os_str().is_empty() { new.to_path_buf() } else { new.join(rest) };
            }
        }
    }

    /// Watches the directory at `path` and all below it. With `changes`, it is new, and what stands in it already is told.
    fn adopt(&mut self, path: PathBuf, mut changes: Option<&mut Vec<Change>>) -> io::Result<()> {
        let mask = WatchMask::CREATE
            | WatchMask::MODIFY
            | WatchMask::ATTRIB
            | WatchMask::DELETE
            | WatchMask::MOVED_FROM
            | WatchMask::MOVED_TO
            | WatchMask::DELETE_SELF
            | WatchMask::MOVE_SELF
            | WatchMask::ONLYDIR;
        let mut todo = vec![path];
        while let Some(path) = todo.pop() {
            let below = !path.as_os_str().is_empty();
            let real = if below { self.root.join(&path) } else { self.root.clone() };
            let mask = if below { mask | WatchMask::DONT_FOLLOW } else { mask };
            let descriptor = match self.watches.add(&real, mask) {
                Ok(descriptor) => descriptor,
                // Gone again, or not for this user to read.
                Err(error) if below && unwatchable(&error) => continue,
                Err(error) => return Err(error),
            };
            let mut directory = Directory { path, told: HashSet::new() };
            if self.recursive {
                for child in fs::read_dir(&real).into_iter().flatten().flatten() {
                    let name = child.file_name();
                    let path = directory.path.join(&name);
                    if let Some(changes) = changes.as_deref_mut() {
                        changes.push(Change { path: path.clone(), kind: EventType::Create });
                        directory.told.insert(name);
                    }
                    if child.file_type().is_ok_and(|kind| kind.is_dir()) {
                        todo.push(path);
                    }
                }
            }
            self.directories.insert(descriptor, directory);
        }
        Ok(())
    }
}

fn unwatchable(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::PermissionDenied)
}

/// The changes that one event tells of, in the order they are told in.
fn kind(mask: EventMask) -> impl Iterator<Item = EventType> {
    [
        (EventMask::CREATE | EventMask::MOVED_TO, EventType::Create),
        (EventMask::MOVED_FROM, EventType::Rename),
        (EventMask::ATTRIB, EventType::Chmod),
        (EventMask::MODIFY, EventType::Write),
        (EventMask::DELETE, EventType::Remove),
    ]
    .into_iter()
    .filter(move |(flags, _)| mask.intersects(*flags))
    .map(|(_, kind)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use inotify::Inotify;

    /// A watched folder with a directory `new` in it that was made later.
    fn grown() -> (tempfile::TempDir, Inotify, Tree) {
        let folder = tempfile::tempdir().unwrap();
        let mut inotify = Inotify::init().unwrap();
        let mut tree = Tree::new(inotify.watches(), folder.path(), true).unwrap();
        fs::create_dir(folder.path().join("new")).unwrap();
        assert_eq!(seen(&mut inotify, &mut tree), [("new".to_owned(), EventType::Create)]);
        (folder, inotify, tree)
    }

    fn seen(inotify: &mut Inotify, tree: &mut Tree) -> Vec<(String, EventType)> {
        let mut buffer = [0; 4096];
        let mut changes = Vec::new();
        for event in inotify.read_events(&mut buffer).unwrap() {
            tree.see(&event, &mut changes).unwrap();
        }
        changes.into_iter().map(|change| (change.path.to_str().unwrap().to_owned(), change.kind)).collect()
    }

    /// As if `name` had been found in `new` while that was adopted.
    fn find(tree: &mut Tree, name: &str) {
        let new = tree.directories.values_mut().find(|directory| directory.path == Path::new("new")).unwrap();
        new.told.insert(name.into());
    }

    #[test]
    fn an_entry_that_was_found_in_a_new_directory_is_not_told_again() {
        let (folder, mut inotify, mut tree) = grown();
        find(&mut tree, "x");
        fs::create_dir(folder.path().join("new/x")).unwrap();
        fs::create_dir(folder.path().join("new/y")).unwrap();
        assert_eq!(seen(&mut inotify, &mut tree), [("new/y".to_owned(), EventType::Create)]);
    }

    #[test]
    fn an_entry_that_was_found_and_made_anew_is_told_again() {
        let (folder, mut inotify, mut tree) = grown();
        let path = folder.path().join("new/x");
        fs::create_dir(&path).unwrap();
        seen(&mut inotify, &mut tree);
        find(&mut tree, "x");
        fs::remove_dir(&path).unwrap();
        fs::create_dir(&path).unwrap();
        let expected = [EventType::Remove, EventType::Create].map(|kind| ("new/x".to_owned(), kind));
        assert_eq!(seen(&mut inotify, &mut tree), expected);
    }

    #[test]
    fn after_a_pause_nothing_is_held_back() {
        let (folder, mut inotify, mut tree) = grown();
        find(&mut tree, "x");
        tree.settle();
        fs::create_dir(folder.path().join("new/x")).unwrap();
        assert_eq!(seen(&mut inotify, &mut tree), [("new/x".to_owned(), EventType::Create)]);
    }
}
