//! Sections 5.4 and 9.2: watching directories.

use crate::harness::*;
use agent_sandbox_web::protocol::filesystem::EventType::*;
use agent_sandbox_web::protocol::filesystem::*;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;

const WATCH: &str = "/filesystem.Filesystem/WatchDir";

fn wish(path: &str) -> WatchDirRequest {
    WatchDirRequest { path: path.to_owned(), ..WatchDirRequest::default() }
}

async fn watch(envd: &Envd, codec: Codec, request: &WatchDirRequest) -> Events<WatchDirResponse> {
    let mut events = envd.open::<WatchDirResponse>(codec, WATCH, request, &[]).await;
    assert_eq!(events.message().await.event, Some(WatchEvent::Start(WatchStart {})));
    events
}

async fn next(events: &mut Events<WatchDirResponse>) -> FilesystemEvent {
    match events.message().await.event {
        Some(WatchEvent::Filesystem(event)) => *event,
        other => panic!("{other:?}"),
    }
}

/// The next event of a watch with keepalives every second, of which a slow machine may see some before it.
async fn next_beside_keepalives(events: &mut Events<WatchDirResponse>) -> FilesystemEvent {
    loop {
        match events.message().await.event {
            Some(WatchEvent::Filesystem(event)) => return *event,
            Some(WatchEvent::Keepalive(_)) => {}
            other => panic!("{other:?}"),
        }
    }
}

/// Checks the next events by kind and name.
async fn expect(events: &mut Events<WatchDirResponse>, expected: &[(EventType, &str)]) {
    for (kind, name) in expected {
        let event = next(events).await;
        assert_eq!((event.r#type(), event.name.as_str()), (*kind, *name));
    }
}

/// Makes a file and reads on until it is told: whatever was to come has come before.
async fn until_marker(events: &mut Events<WatchDirResponse>, path: &str, name: &str) -> Vec<FilesystemEvent> {
    std::fs::File::create(path).unwrap();
    let mut seen = Vec::new();
    loop {
        let event = next(events).await;
        if event.name == name {
            return seen;
        }
        seen.push(event);
    }
}

#[tokio::test]
async fn creating_writing_and_deleting_are_told() {
    let envd = Envd::start().await;
    for codec in BOTH {
        let mut events = watch(&envd, codec, &wish("")).await;
        std::fs::write(envd.path("a"), "x").unwrap();
        expect(&mut events, &[(Create, "a"), (Write, "a")]).await;
        std::fs::set_permissions(envd.path("a"), PermissionsExt::from_mode(0o600)).unwrap();
        expect(&mut events, &[(Chmod, "a")]).await;
        std::fs::remove_file(envd.path("a")).unwrap();
        expect(&mut events, &[(Remove, "a")]).await;
    }
}

#[tokio::test]
async fn an_upload_is_create_chmod_write() {
    let envd = Envd::start().await;
    let mut events = watch(&envd, Codec::Proto, &wish("")).await;
    envd.post(&format!("/files?path={}", envd.path("a")), &[("content-type", "application/octet-stream")], "x").await;
    expect(&mut events, &[(Create, "a"), (Chmod, "a"), (Write, "a")]).await;
}

#[tokio::test]
async fn a_touch_is_chmod() {
    let envd = Envd::start().await;
    std::fs::write(envd.path("a"), "").unwrap();
    let mut events = watch(&envd, Codec::Proto, &wish("")).await;
    let now = std::time::SystemTime::now();
    let times = std::fs::FileTimes::new().set_accessed(now).set_modified(now);
    std::fs::File::open(envd.path("a")).unwrap().set_times(times).unwrap();
    expect(&mut events, &[(Chmod, "a")]).await;
}

#[tokio::test]
async fn a_rename_is_rename_of_the_old_name_and_create_of_the_new() {
    let envd = Envd::start().await;
    std::fs::write(envd.path("old"), "").unwrap();
    let mut events = watch(&envd, Codec::Proto, &wish("")).await;
    std::fs::rename(envd.path("old"), envd.path("new")).unwrap();
    expect(&mut events, &[(Rename, "old"), (Create, "new")]).await;
}

#[tokio::test]
async fn moving_out_is_rename_alone() {
    let envd = Envd::start().await;
    std::fs::create_dir(envd.path("dir")).unwrap();
    std::fs::write(envd.path("dir/a"), "").unwrap();
    let mut events = watch(&envd, Codec::Proto, &wish(&envd.path("dir"))).await;
    std::fs::rename(envd.path("dir/a"), envd.path("a")).unwrap();
    let seen = until_marker(&mut events, &envd.path("dir/marker"), "marker").await;
    assert_eq!(seen.iter().map(|event| (event.r#type(), event.name.as_str())).collect::<Vec<_>>(), [(Rename, "a")]);
}

#[tokio::test]
async fn without_recursion_only_the_directory_itself_is_watched() {
    let envd = Envd::start().await;
    std::fs::create_dir(envd.path("sub")).unwrap();
    let mut events = watch(&envd, Codec::Proto, &wish("")).await;
    std::fs::write(envd.path("sub/a"), "x").unwrap();
    assert_eq!(until_marker(&mut events, &envd.path("marker"), "marker").await, []);
}

#[tokio::test]
async fn recursion_covers_old_and_new_directories_with_nested_names() {
    let envd = Envd::start().await;
    std::fs::create_dir_all(envd.path("a/b")).unwrap();
    let mut events = watch(&envd, Codec::Json, &WatchDirRequest { recursive: true, ..wish("") }).await;
    std::fs::File::create(envd.path("a/b/c")).unwrap();
    expect(&mut events, &[(Create, "a/b/c")]).await;
    std::fs::create_dir(envd.path("a/new")).unwrap();
    expect(&mut events, &[(Create, "a/new")]).await;
    std::fs::File::create(envd.path("a/new/d")).unwrap();
    expect(&mut events, &[(Create, "a/new/d")]).await;
    std::fs::remove_dir_all(envd.path("a/new")).unwrap();
    expect(&mut events, &[(Remove, "a/new/d"), (Remove, "a/new")]).await;
}

#[tokio::test]
async fn what_is_made_with_a_new_directory_is_told_once() {
    let envd = Envd::start().await;
    let mut events = watch(&envd, Codec::Proto, &WatchDirRequest { recursive: true, ..wish("") }).await;
    for at in 0..50 {
        let root = format!("d{at}");
        std::fs::create_dir_all(envd.path(&format!("{root}/x/y"))).unwrap();
        std::fs::File::create(envd.path(&format!("{root}/x/y/z"))).unwrap();
        let mut names: Vec<String> = Vec::new();
        while names.len() < 4 {
            let event = next(&mut events).await;
            assert_eq!(event.r#type(), Create);
            names.push(event.name);
        }
        names.sort_unstable();
        assert_eq!(names, ["", "/x", "/x/y", "/x/y/z"].map(|below| format!("{root}{below}")));
    }
    assert_eq!(until_marker(&mut events, &envd.path("marker"), "marker").await, []);
}

#[tokio::test]
async fn a_directory_moved_within_the_tree_is_watched_under_its_new_name() {
    let envd = Envd::start().await;
    std::fs::create_dir_all(envd.path("a/deep")).unwrap();
    let mut events = watch(&envd, Codec::Proto, &WatchDirRequest { recursive: true, ..wish("") }).await;
    std::fs::rename(envd.path("a"), envd.path("b")).unwrap();
    expect(&mut events, &[(Rename, "a"), (Create, "b")]).await;
    std::fs::File::create(envd.path("b/deep/x")).unwrap();
    expect(&mut events, &[(Create, "b/deep/x")]).await;
}

#[tokio::test]
async fn a_directory_moved_out_is_not_watched_any_more() {
    let envd = Envd::start().await;
    std::fs::create_dir_all(envd.path("root/a/deep")).unwrap();
    let mut events = watch(&envd, Codec::Proto, &WatchDirRequest { recursive: true, ..wish(&envd.path("root")) }).await;
    std::fs::rename(envd.path("root/a"), envd.path("a")).unwrap();
    expect(&mut events, &[(Rename, "a")]).await;
    std::fs::File::create(envd.path("a/deep/x")).unwrap();
    assert_eq!(until_marker(&mut events, &envd.path("root/marker"), "marker").await, []);
}

#[tokio::test]
async fn a_deleted_root_is_a_removed_dot_and_the_stream_stays_open() {
    let envd = Envd::start().await;
    std::fs::create_dir(envd.path("root")).unwrap();
    let request = wish(&envd.path("root"));
    let mut events = envd.open::<WatchDirResponse>(Codec::Proto, WATCH, &request, &[("keepalive-ping-interval", "1")]).await;
    events.message().await;
    std::fs::remove_dir(envd.path("root")).unwrap();
    let event = next_beside_keepalives(&mut events).await;
    assert_eq!((event.r#type(), event.name.as_str()), (Remove, "."));
    assert_eq!(events.message().await.event, Some(WatchEvent::Keepalive(WatchKeepAlive {})));
}

#[tokio::test]
async fn a_renamed_root_is_a_renamed_dot_and_then_silence() {
    let envd = Envd::start().await;
    std::fs::create_dir(envd.path("root")).unwrap();
    let request = wish(&envd.path("root"));
    let mut events = envd.open::<WatchDirResponse>(Codec::Proto, WATCH, &request, &[("keepalive-ping-interval", "1")]).await;
    events.message().await;
    std::fs::rename(envd.path("root"), envd.path("other")).unwrap();
    let event = next_beside_keepalives(&mut events).await;
    assert_eq!((event.r#type(), event.name.as_str()), (Rename, "."));
    std::fs::File::create(envd.path("other/x")).unwrap();
    assert_eq!(events.message().await.event, Some(WatchEvent::Keepalive(WatchKeepAlive {})));
}

#[tokio::test]
async fn entries_are_told_only_when_asked_for_and_only_of_what_is_there() {
    let envd = Envd::start().await;
    let mut events = watch(&envd, Codec::Json, &WatchDirRequest { include_entry: true, ..wish("") }).await;
    std::fs::File::create(envd.path("a")).unwrap();
    let created = next(&mut events).await;
    assert_eq!(created.entry.map(|entry| entry.path), Some(envd.path("a")));
    std::fs::rename(envd.path("a"), envd.path("b")).unwrap();
    assert_eq!(next(&mut events).await.entry, None);
    assert!(next(&mut events).await.entry.is_some());
    std::fs::remove_file(envd.path("b")).unwrap();
    assert_eq!(next(&mut events).await.entry, None);
    let mut plain = watch(&envd, Codec::Proto, &wish("")).await;
    std::fs::File::create(envd.path("c")).unwrap();
    assert_eq!(next(&mut plain).await.entry, None);
}

#[tokio::test]
async fn a_name_that_is_no_utf_8_does_not_end_the_watch() {
    let envd = Envd::start().await;
    let mut events = watch(&envd, Codec::Json, &wish("")).await;
    std::fs::File::create(envd.work().join(OsStr::from_bytes(b"b\xff"))).unwrap();
    expect(&mut events, &[(Create, "b\u{fffd}")]).await;
}

#[tokio::test]
async fn nothing_is_lost_before_a_reader_that_is_slow() {
    let envd = Envd::start().await;
    let mut events = watch(&envd, Codec::Proto, &wish("")).await;
    for at in 0..20_000 {
        std::fs::File::create(envd.path(&at.to_string())).unwrap();
    }
    let mut created = 0;
    while created < 20_000 {
        created += usize::from(next(&mut events).await.r#type() == Create);
    }
}

#[tokio::test]
async fn watching_a_missing_path_is_not_found_and_a_file_invalid() {
    let envd = Envd::start().await;
    for (path, code) in [("/no/such", "not_found"), ("/etc/passwd", "invalid_argument")] {
        let failure = envd.open::<WatchDirResponse>(Codec::Json, WATCH, &wish(path), &[]).await.failure().await;
        assert_eq!(failure.code, code);
        let request = CreateWatcherRequest { path: path.to_owned(), ..CreateWatcherRequest::default() };
        let failure = envd.call::<CreateWatcherResponse>(Codec::Json, "/filesystem.Filesystem/CreateWatcher", &request).await;
        assert_eq!(failure.unwrap_err().code, code);
    }
}

#[tokio::test]
async fn a_watch_ends_at_its_deadline_even_when_that_is_at_once() {
    let envd = Envd::start().await;
    for timeout in ["0", "50"] {
        let mut events = envd.open::<WatchDirResponse>(Codec::Proto, WATCH, &wish(""), &[("connect-timeout-ms", timeout)]).await;
        assert_eq!(events.message().await.event, Some(WatchEvent::Start(WatchStart {})));
        assert_eq!(events.failure().await.code, "deadline_exceeded");
    }
}

#[tokio::test]
async fn a_watchs_keepalive_interval_of_zero_hurts_nobody() {
    let envd = Envd::start().await;
    let mut events = envd.open::<WatchDirResponse>(Codec::Proto, WATCH, &wish(""), &[("keepalive-ping-interval", "0")]).await;
    events.message().await;
    std::fs::File::create(envd.path("a")).unwrap();
    expect(&mut events, &[(Create, "a")]).await;
}

#[tokio::test]
async fn watches_end_with_their_clients() {
    let envd = Envd::start().await;
    let count = || {
        let fds = std::fs::read_dir(format!("/proc/{}/fd", envd.child.id().unwrap())).unwrap();
        fds.flatten()
            .filter(|fd| std::fs::read_link(fd.path()).is_ok_and(|target| target.to_string_lossy().contains("inotify")))
            .count()
    };
    let events = watch(&envd, Codec::Proto, &wish("")).await;
    assert_eq!(count(), 1);
    drop(events);
    until(async || (count() == 0).then_some(())).await;
}

async fn poll(envd: &Envd, id: &str) -> Result<Vec<FilesystemEvent>, Failure> {
    let request = GetWatcherEventsRequest { watcher_id: id.to_owned() };
    let answer = envd.call::<GetWatcherEventsResponse>(Codec::Json, "/filesystem.Filesystem/GetWatcherEvents", &request).await;
    answer.map(|answer| answer.events)
}

#[tokio::test]
async fn a_polled_watcher_gives_each_event_once_and_lives_until_removed() {
    let envd = Envd::start().await;
    let request = CreateWatcherRequest { path: String::new(), recursive: true, ..CreateWatcherRequest::default() };
    let created = envd.call::<CreateWatcherResponse>(Codec::Proto, "/filesystem.Filesystem/CreateWatcher", &request).await.unwrap();
    let id = created.watcher_id;
    assert_eq!((id.len(), id.starts_with('w')), (21, true));
    std::fs::File::create(envd.path("a")).unwrap();
    let events = until(async || Some(poll(&envd, &id).await.unwrap()).filter(|events| !events.is_empty())).await;
    assert_eq!((events.len(), events[0].r#type(), events[0].name.as_str()), (1, Create, "a"));
    assert_eq!(poll(&envd, &id).await.unwrap(), []);
    let remove = RemoveWatcherRequest { watcher_id: id.clone() };
    envd.call::<RemoveWatcherResponse>(Codec::Json, "/filesystem.Filesystem/RemoveWatcher", &remove).await.unwrap();
    let again = envd.call::<RemoveWatcherResponse>(Codec::Json, "/filesystem.Filesystem/RemoveWatcher", &remove).await;
    assert_eq!((again.unwrap_err().code, poll(&envd, &id).await.unwrap_err().code), ("not_found".into(), "not_found".into()));
}
