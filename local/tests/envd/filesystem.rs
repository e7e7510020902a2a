//! Section 5.4: looking at the tree and changing it.

use crate::entries::stat;
use crate::harness::*;
use agent_sandbox_web::protocol::filesystem::*;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};

async fn list(envd: &Envd, path: &str, depth: u32) -> Result<Vec<EntryInfo>, Failure> {
    let request = ListDirRequest { path: path.to_owned(), depth };
    let answer = envd.call::<ListDirResponse>(Codec::Proto, "/filesystem.Filesystem/ListDir", &request).await;
    answer.map(|answer| answer.entries)
}

async fn paths(envd: &Envd, path: &str, depth: u32) -> Vec<String> {
    list(envd, path, depth).await.unwrap().into_iter().map(|entry| entry.path).collect()
}

async fn make_dir(envd: &Envd, path: &str) -> Result<EntryInfo, Failure> {
    let request = MakeDirRequest { path: path.to_owned() };
    let answer = envd.call::<MakeDirResponse>(Codec::Json, "/filesystem.Filesystem/MakeDir", &request).await;
    answer.map(|answer| answer.entry.unwrap())
}

async fn rename(envd: &Envd, source: &str, destination: &str) -> Result<EntryInfo, Failure> {
    let request = MoveRequest { source: source.to_owned(), destination: destination.to_owned() };
    envd.call::<MoveResponse>(Codec::Proto, "/filesystem.Filesystem/Move", &request).await.map(|answer| answer.entry.unwrap())
}

async fn remove(envd: &Envd, path: &str) -> Result<RemoveResponse, Failure> {
    envd.call(Codec::Json, "/filesystem.Filesystem/Remove", &RemoveRequest { path: path.to_owned() }).await
}

#[tokio::test]
async fn stat_of_a_missing_path_is_not_found() {
    let envd = Envd::start().await;
    let path = envd.path("none");
    for codec in BOTH {
        let failure = stat(&envd, codec, &path).await.unwrap_err();
        assert_eq!(failure, Failure { code: "not_found".into(), message: format!("file not found: {path}"), status: 404 });
    }
}

#[tokio::test]
async fn stat_below_a_file_is_internal() {
    let envd = Envd::start().await;
    assert_eq!(stat(&envd, Codec::Proto, "/etc/passwd/x").await.unwrap_err().code, "internal");
}

/// a/, a/b/, a/b/c, d, as files or directories in the working directory.
fn plant(envd: &Envd) {
    std::fs::create_dir_all(envd.path("a/b")).unwrap();
    for file in ["a/b/c", "a-", "d"] {
        std::fs::write(envd.path(file), "").unwrap();
    }
}

#[tokio::test]
async fn list_is_in_lexical_order_depth_first_without_the_directory_itself() {
    let envd = Envd::start().await;
    plant(&envd);
    let expected = |names: &[&str]| names.iter().map(|name| envd.path(name)).collect::<Vec<_>>();
    assert_eq!(paths(&envd, "", 1).await, expected(&["a", "a-", "d"]));
    assert_eq!(paths(&envd, "", 2).await, expected(&["a", "a/b", "a-", "d"]));
    assert_eq!(paths(&envd, "", 9).await, expected(&["a", "a/b", "a/b/c", "a-", "d"]));
}

#[tokio::test]
async fn a_depth_of_0_means_1() {
    let envd = Envd::start().await;
    plant(&envd);
    assert_eq!(paths(&envd, "", 0).await, paths(&envd, "", 1).await);
}

#[tokio::test]
async fn list_through_a_link_keeps_the_requested_path_and_follows_no_link_below() {
    let envd = Envd::start().await;
    plant(&envd);
    symlink("a", envd.path("link")).unwrap();
    symlink("../d", envd.path("a/up")).unwrap();
    symlink("..", envd.path("a/out")).unwrap();
    let found = paths(&envd, &envd.path("link"), 3).await;
    assert_eq!(found, ["link/b", "link/b/c", "link/out", "link/up"].map(|name| envd.path(name)));
}

#[tokio::test]
async fn list_cleans_an_absolute_path() {
    let envd = Envd::start().await;
    plant(&envd);
    assert_eq!(paths(&envd, &envd.path("a/../a//b/"), 1).await, [envd.path("a/b/c")]);
}

#[tokio::test]
async fn list_of_a_missing_path_is_not_found() {
    let envd = Envd::start().await;
    assert_eq!(list(&envd, &envd.path("none"), 1).await.unwrap_err().code, "not_found");
}

#[tokio::test]
async fn list_of_a_file_is_invalid() {
    let envd = Envd::start().await;
    let failure = list(&envd, "/etc/passwd", 1).await.unwrap_err();
    assert_eq!((failure.code.as_str(), failure.message.as_str()), ("invalid_argument", "path is not a directory: /etc/passwd"));
}

#[tokio::test]
async fn list_of_a_link_to_itself_is_a_failed_precondition() {
    let envd = Envd::start().await;
    symlink("loop", envd.path("loop")).unwrap();
    assert_eq!(list(&envd, &envd.path("loop"), 1).await.unwrap_err().code, "failed_precondition");
}

#[tokio::test]
async fn a_name_that_is_no_utf_8_hides_no_other() {
    let envd = Envd::start().await;
    std::fs::write(envd.work().join(OsStr::from_bytes(b"b\xff")), "").unwrap();
    std::fs::write(envd.path("a"), "").unwrap();
    std::fs::write(envd.path("c"), "").unwrap();
    assert_eq!(paths(&envd, "", 1).await, ["a", "b\u{fffd}", "c"].map(|name| envd.path(name)));
}

#[tokio::test]
async fn make_dir_makes_parents_and_tells_the_entry() {
    let envd = Envd::start().await;
    let entry = make_dir(&envd, &envd.path("x/y/z")).await.unwrap();
    assert_eq!((entry.r#type(), entry.path), (FileType::Directory, envd.path("x/y/z")));
    for name in ["x", "x/y", "x/y/z"] {
        assert_eq!(std::fs::metadata(envd.path(name)).unwrap().permissions().mode() & 0o777, 0o755);
    }
}

#[tokio::test]
async fn make_dir_of_an_existing_directory_already_exists() {
    let envd = Envd::start().await;
    let path = envd.work().display().to_string();
    let failure = make_dir(&envd, &path).await.unwrap_err();
    let message = format!("directory already exists: {path}");
    assert_eq!(failure, Failure { code: "already_exists".into(), message, status: 409 });
}

#[tokio::test]
async fn make_dir_over_a_file_is_invalid() {
    let envd = Envd::start().await;
    plant(&envd);
    assert_eq!(make_dir(&envd, &envd.path("d")).await.unwrap_err().code, "invalid_argument");
}

#[tokio::test]
async fn make_dir_below_a_file_is_internal() {
    let envd = Envd::start().await;
    plant(&envd);
    assert_eq!(make_dir(&envd, &envd.path("d/x")).await.unwrap_err().code, "internal");
}

#[tokio::test]
async fn move_renames_and_makes_parents() {
    let envd = Envd::start().await;
    plant(&envd);
    let entry = rename(&envd, &envd.path("a"), &envd.path("new/deep/a")).await.unwrap();
    assert_eq!((entry.path, entry.name.as_str()), (envd.path("new/deep/a"), "a"));
    assert!(exists(envd.path("new/deep/a/b/c")) && !exists(envd.path("a")));
}

#[tokio::test]
async fn move_replaces_a_file() {
    let envd = Envd::start().await;
    std::fs::write(envd.path("from"), "new").unwrap();
    std::fs::write(envd.path("to"), "old").unwrap();
    rename(&envd, &envd.path("from"), &envd.path("to")).await.unwrap();
    assert_eq!(std::fs::read_to_string(envd.path("to")).unwrap(), "new");
}

#[tokio::test]
async fn move_of_a_missing_source_is_not_found_and_makes_the_parents_first() {
    let envd = Envd::start().await;
    let failure = rename(&envd, &envd.path("none"), &envd.path("p/q")).await.unwrap_err();
    assert_eq!(failure.code, "not_found");
    assert!(failure.message.starts_with("source file not found"), "{}", failure.message);
    assert!(exists(envd.path("p")));
}

#[tokio::test]
async fn move_onto_a_directory_even_an_empty_one_is_internal() {
    let envd = Envd::start().await;
    plant(&envd);
    std::fs::create_dir(envd.path("empty")).unwrap();
    for (source, destination) in [("d", "empty"), ("a", "empty"), ("d", "a"), ("empty", "a")] {
        let failure = rename(&envd, &envd.path(source), &envd.path(destination)).await.unwrap_err();
        assert_eq!(failure.code, "internal", "{source} {destination}");
        assert!(failure.message.to_lowercase().contains("file exists"), "{}", failure.message);
    }
}

#[tokio::test]
async fn move_below_itself_is_internal() {
    let envd = Envd::start().await;
    plant(&envd);
    assert_eq!(rename(&envd, &envd.path("a"), &envd.path("a/b/x")).await.unwrap_err().code, "internal");
}

#[tokio::test]
async fn remove_deletes_everything_below() {
    let envd = Envd::start().await;
    plant(&envd);
    remove(&envd, &envd.path("a")).await.unwrap();
    remove(&envd, &envd.path("d")).await.unwrap();
    assert!(!exists(envd.path("a")) && !exists(envd.path("d")));
}

#[tokio::test]
async fn remove_of_a_missing_path_succeeds() {
    let envd = Envd::start().await;
    remove(&envd, &envd.path("none")).await.unwrap();
    remove(&envd, &envd.path("none/below")).await.unwrap();
}

#[tokio::test]
async fn remove_of_a_link_leaves_its_target() {
    let envd = Envd::start().await;
    plant(&envd);
    for name in ["link", "link/"] {
        symlink("a", envd.path("link")).unwrap();
        remove(&envd, &envd.path(name)).await.unwrap();
        assert!(!exists(envd.path("link")) && exists(envd.path("a/b/c")), "{name}");
    }
}

#[tokio::test]
async fn remove_below_a_file_or_of_a_dot_is_internal() {
    let envd = Envd::start().await;
    plant(&envd);
    for name in ["d/x", "a/."] {
        assert_eq!(remove(&envd, &envd.path(name)).await.unwrap_err().code, "internal", "{name}");
    }
    assert!(exists(envd.path("a/b/c")));
}

#[tokio::test]
async fn remove_of_the_root_is_refused() {
    let envd = Envd::start().await;
    // Only what cannot do harm: the check comes before anything is touched.
    assert_eq!(remove(&envd, "//").await.unwrap_err().code, "invalid_argument");
}
