//! Sections 5.2 and 5.3: what is told of an entry, and what a path means.

use crate::harness::*;
use agent_sandbox_web::protocol::filesystem::*;
use serde_json::json;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::{Duration, UNIX_EPOCH};

pub async fn stat(envd: &Envd, codec: Codec, path: &str) -> Result<EntryInfo, Failure> {
    let request = StatRequest { path: path.to_owned() };
    envd.call::<StatResponse>(codec, "/filesystem.Filesystem/Stat", &request).await.map(|answer| answer.entry.unwrap())
}

async fn known(envd: &Envd, path: &str) -> EntryInfo {
    let (json, proto) = (stat(envd, Codec::Json, path).await.unwrap(), stat(envd, Codec::Proto, path).await.unwrap());
    assert_eq!(json, proto);
    proto
}

#[tokio::test]
async fn a_file_has_all_its_fields() {
    let envd = Envd::start().await;
    let path = envd.path("a.txt");
    std::fs::write(&path, "hello").unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
    let file = std::fs::File::open(&path).unwrap();
    file.set_modified(UNIX_EPOCH + Duration::new(1_700_000_000, 123_456_789)).unwrap();
    let entry = known(&envd, &path).await;
    assert_eq!((entry.name.as_str(), entry.path.as_str()), ("a.txt", path.as_str()));
    assert_eq!((entry.r#type(), entry.size, entry.mode), (FileType::File, 5, 0o640));
    assert_eq!(entry.permissions, "-rw-r-----");
    assert_eq!(entry.owner, envd.user.name);
    assert_eq!(entry.modified_time, Some(Timestamp { seconds: 1_700_000_000, nanos: 123_456_789 }));
    assert_eq!(entry.symlink_target, None);
}

#[tokio::test]
async fn in_json_defaults_are_absent_and_the_size_is_text() {
    let envd = Envd::start().await;
    let path = envd.path("empty");
    std::fs::File::create(&path).unwrap().set_modified(UNIX_EPOCH).unwrap();
    let body = json!({ "path": path }).to_string();
    let call =
        async || envd.post("/filesystem.Filesystem/Stat", &[("content-type", "application/json")], body.clone()).await.json();
    let entry = call().await["entry"].clone();
    assert!(entry.get("size").is_none() && entry.get("modifiedTime").is_none() && entry.get("symlinkTarget").is_none(), "{entry}");
    assert_eq!(entry["type"], "FILE_TYPE_FILE");
    std::fs::write(&path, "abc").unwrap();
    assert_eq!(call().await["entry"]["size"], "3");
}

#[tokio::test]
async fn a_link_has_its_targets_type_and_mode_and_its_own_rest() {
    let envd = Envd::start().await;
    std::fs::create_dir(envd.path("dir")).unwrap();
    std::fs::set_permissions(envd.path("dir"), PermissionsExt::from_mode(0o750)).unwrap();
    symlink("dir", envd.path("link")).unwrap();
    let entry = known(&envd, &envd.path("link")).await;
    assert_eq!((entry.r#type(), entry.mode, entry.size), (FileType::Directory, 0o750, 3));
    assert_eq!(entry.permissions, "Lrwxrwxrwx");
    let target = std::fs::canonicalize(envd.path("dir")).unwrap();
    assert_eq!(entry.symlink_target.as_deref(), target.to_str());
}

#[tokio::test]
async fn a_broken_or_cyclic_link_has_no_type_and_leads_to_itself() {
    let envd = Envd::start().await;
    symlink("nowhere", envd.path("broken")).unwrap();
    symlink("cyclic", envd.path("cyclic")).unwrap();
    for name in ["broken", "cyclic"] {
        let entry = known(&envd, &envd.path(name)).await;
        assert_eq!((entry.r#type(), entry.mode), (FileType::Unspecified, 0));
        assert_eq!(entry.symlink_target, Some(envd.path(name)));
    }
}

#[tokio::test]
async fn a_slash_behind_a_link_follows_it_and_stays_in_the_path() {
    let envd = Envd::start().await;
    std::fs::create_dir(envd.path("dir")).unwrap();
    symlink("dir", envd.path("link")).unwrap();
    let path = envd.path("link/");
    let entry = known(&envd, &path).await;
    assert_eq!((entry.path, entry.name.as_str(), entry.symlink_target), (path, "link", None));
    assert_eq!(entry.permissions, "drwxr-xr-x");
}

#[tokio::test]
async fn other_kinds_have_no_type_and_their_letters() {
    let envd = Envd::start().await;
    // A folder of the test's own: the machine's /tmp changes while it is looked at.
    envd.run(Codec::Proto, "mkfifo -m 644 fifo; mkdir -m 1777 shared").await;
    let fifo = known(&envd, &envd.path("fifo")).await;
    assert_eq!((fifo.r#type(), fifo.permissions.as_str()), (FileType::Unspecified, "prw-r--r--"));
    let device = known(&envd, "/dev/null").await;
    assert_eq!((device.r#type(), device.permissions.as_str()), (FileType::Unspecified, "Dcrw-rw-rw-"));
    let sticky = known(&envd, &envd.path("shared")).await;
    assert_eq!(sticky.permissions, "dtrwxrwxrwx");
}

#[tokio::test]
async fn owners_without_a_name_are_numbers() {
    let envd = Envd::start().await;
    if envd.user.uid != 0 {
        return;
    }
    std::fs::write(envd.path("x"), "").unwrap();
    std::os::unix::fs::chown(envd.path("x"), Some(54_321), Some(54_322)).unwrap();
    let entry = known(&envd, &envd.path("x")).await;
    assert_eq!((entry.owner.as_str(), entry.group.as_str()), ("54321", "54322"));
}

#[tokio::test]
async fn metadata_is_told_without_its_prefix() {
    let envd = Envd::start().await;
    let target = format!("/files?path={}", envd.path("x"));
    let headers = [("content-type", "application/octet-stream"), ("x-metadata-author", "me"), ("x-metadata-empty", "")];
    assert_eq!(envd.post(&target, &headers, "x").await.status, 200);
    let metadata = known(&envd, &envd.path("x")).await.metadata;
    assert_eq!(metadata, [("author", "me"), ("empty", "")].map(|(key, value)| (key.to_owned(), value.to_owned())).into());
}

#[tokio::test]
async fn the_empty_path_is_the_default_working_directory() {
    let envd = Envd::start().await;
    assert_eq!(known(&envd, "").await.path, envd.work().to_str().unwrap());
    let without = Envd::with(json!({ "defaultWorkdir": "" })).await;
    assert_eq!(known(&without, "").await.path, without.user.home);
}

#[tokio::test]
async fn a_tilde_is_the_home() {
    let envd = Envd::start().await;
    let home = &envd.user.home;
    assert_eq!(known(&envd, "~").await.path, *home);
    assert_eq!(known(&envd, "~/").await.path, *home);
    let failure = stat(&envd, Codec::Json, "~\\no-such").await.unwrap_err();
    assert!(failure.message.ends_with(&format!("{home}/\\no-such")), "{}", failure.message);
}

#[tokio::test]
async fn another_users_home_is_invalid() {
    let envd = Envd::start().await;
    let failure = stat(&envd, Codec::Json, "~daemon/x").await.unwrap_err();
    assert_eq!((failure.code.as_str(), failure.status), ("invalid_argument", 400));
}

#[tokio::test]
async fn an_absolute_path_stays_as_it_is() {
    let envd = Envd::start().await;
    let path = format!("{}/../work/.", envd.work().display());
    assert_eq!(known(&envd, &path).await.path, path);
}

#[tokio::test]
async fn a_relative_path_starts_at_the_home_and_is_cleaned() {
    let envd = Envd::start().await;
    assert_eq!(known(&envd, "x/../.").await.path, envd.user.home);
}

#[tokio::test]
async fn a_nul_in_a_path_is_invalid() {
    let envd = Envd::start().await;
    assert_eq!(stat(&envd, Codec::Json, "/a\0b").await.unwrap_err().code, "invalid_argument");
}

#[tokio::test]
async fn names_of_every_kind_come_back_exactly() {
    let envd = Envd::start().await;
    let names =
        ["#?%+&", "a\"b\\'c", " spaces  ", "new\nline", "%20", "..x", "日本", "e\u{301}", "\u{e9}", "😀", "$(touch x).txt", "-rf"];
    for name in names {
        std::fs::write(envd.work().join(name), name).unwrap();
        assert_eq!(known(&envd, &envd.path(name)).await.name, name);
    }
    let request = ListDirRequest { path: String::new(), depth: 1 };
    for codec in BOTH {
        let listed = envd.call::<ListDirResponse>(codec, "/filesystem.Filesystem/ListDir", &request).await.unwrap().entries;
        let mut sorted = names;
        sorted.sort_unstable();
        assert_eq!(listed.iter().map(|entry| entry.name.as_str()).collect::<Vec<_>>(), sorted);
    }
}
