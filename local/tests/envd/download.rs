//! Sections 6.1 and 9.1: GET /files.

use crate::harness::*;
use flate2::read::GzDecoder;
use std::io::Read;
use std::time::{Duration, UNIX_EPOCH};

const THEN: &str = "Tue, 14 Nov 2023 22:13:20 GMT";

/// A file of that name and content, written at [`THEN`], and its target.
fn plant(envd: &Envd, name: &str, content: impl AsRef<[u8]>) -> String {
    std::fs::write(envd.path(name), content).unwrap();
    std::fs::File::open(envd.path(name)).unwrap().set_modified(UNIX_EPOCH + Duration::from_secs(1_700_000_000)).unwrap();
    format!("/files?path={}", envd.path(name))
}

#[tokio::test]
async fn a_file_comes_whole_with_its_properties() {
    let envd = Envd::start().await;
    let answer = envd.get(&plant(&envd, "a.txt", "hello"), &[]).await;
    assert_eq!((answer.status.as_u16(), answer.text().as_str()), (200, "hello"));
    for (name, value) in [
        ("content-length", "5"),
        ("accept-ranges", "bytes"),
        ("last-modified", THEN),
        ("content-type", "text/plain; charset=utf-8"),
        ("content-disposition", "inline; filename=a.txt"),
        ("vary", "Accept-Encoding"),
        ("etag", ""),
    ] {
        assert_eq!(answer.header(name), value, "{name}");
    }
}

#[tokio::test]
async fn large_files_come_through_exactly() {
    let envd = Envd::start().await;
    let bytes: Vec<u8> = (0..5_000_011u32).map(|at| (at * 7 % 253) as u8).collect();
    let target = plant(&envd, "big", &bytes);
    assert!(envd.get(&target, &[]).await.body == bytes);
    let packed = envd.get(&target, &[("accept-encoding", "gzip")]).await;
    let mut plain = Vec::new();
    GzDecoder::new(&packed.body[..]).read_to_end(&mut plain).unwrap();
    assert!(plain == bytes);
}

#[tokio::test]
async fn a_name_that_is_not_ascii_is_encoded_in_the_disposition() {
    let envd = Envd::start().await;
    plant(&envd, "ä b.bin", "x");
    let target = format!("/files?path={}/%C3%A4%20b.bin", envd.work().display());
    assert_eq!(envd.get(&target, &[]).await.header("content-disposition"), "inline; filename*=utf-8''%C3%A4%20b.bin");
}

#[tokio::test]
async fn an_unknown_extension_is_sniffed_unless_packed() {
    let envd = Envd::start().await;
    let target = plant(&envd, "page", "<html>x</html>");
    assert_eq!(envd.get(&target, &[]).await.header("content-type"), "text/html; charset=utf-8");
    let packed = envd.get(&target, &[("accept-encoding", "gzip")]).await;
    assert_eq!(packed.header("content-type"), "application/octet-stream");
}

#[tokio::test]
async fn a_range_is_206() {
    let envd = Envd::start().await;
    let target = plant(&envd, "a", "0123456789");
    for (range, body, span) in [
        ("bytes=2-4", "234", "bytes 2-4/10"),
        ("bytes=0-", "0123456789", "bytes 0-9/10"),
        ("bytes=-3", "789", "bytes 7-9/10"),
        ("bytes=8-100", "89", "bytes 8-9/10"),
    ] {
        let answer = envd.get(&target, &[("range", range), ("accept-encoding", "gzip")]).await;
        assert_eq!((answer.status.as_u16(), answer.text().as_str(), answer.header("content-range")), (206, body, span), "{range}");
        assert_eq!((answer.header("content-encoding"), answer.header("content-length")), ("", &*body.len().to_string()));
    }
}

#[tokio::test]
async fn several_ranges_are_multipart_byteranges() {
    let envd = Envd::start().await;
    let answer = envd.get(&plant(&envd, "a.txt", "0123456789"), &[("range", "bytes=0-1,5-6")]).await;
    assert_eq!(answer.status, 206);
    let boundary = answer.header("content-type").strip_prefix("multipart/byteranges; boundary=").unwrap().to_owned();
    let part = |span: &str, body: &str| {
        format!("--{boundary}\r\nContent-Range: bytes {span}/10\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n{body}\r\n")
    };
    assert_eq!(answer.text(), format!("{}{}--{boundary}--\r\n", part("0-1", "01"), part("5-6", "56")));
    assert_eq!(answer.header("content-length"), answer.body.len().to_string());
}

#[tokio::test]
async fn a_range_outside_or_in_another_form_is_416_in_plain_text() {
    let envd = Envd::start().await;
    let target = plant(&envd, "a", "0123456789");
    for (range, span) in [("bytes=10-", "bytes */10"), ("foo", ""), ("bytes=5-2", "")] {
        let answer = envd.get(&target, &[("range", range)]).await;
        assert_eq!((answer.status.as_u16(), answer.header("content-range")), (416, span), "{range}");
        assert_eq!(answer.header("content-type"), "text/plain; charset=utf-8");
    }
}

#[tokio::test]
async fn a_range_of_an_empty_file_is_200() {
    let envd = Envd::start().await;
    let answer = envd.get(&plant(&envd, "a", ""), &[("range", "bytes=0-")]).await;
    assert_eq!((answer.status.as_u16(), answer.body.len()), (200, 0));
}

#[tokio::test]
async fn an_unchanged_file_is_304() {
    let envd = Envd::start().await;
    let target = plant(&envd, "a", "x");
    let answer = envd.get(&target, &[("if-modified-since", THEN)]).await;
    assert_eq!((answer.status.as_u16(), answer.body.len(), answer.header("content-type")), (304, 0, ""));
    let earlier = "Tue, 14 Nov 2023 22:13:19 GMT";
    assert_eq!(envd.get(&target, &[("if-modified-since", earlier)]).await.status, 200);
    assert_eq!(envd.get(&target, &[("if-unmodified-since", earlier)]).await.status, 412);
}

#[tokio::test]
async fn gzip_has_neither_length_nor_ranges() {
    let envd = Envd::start().await;
    for content in ["", "short", &"long ".repeat(10_000)] {
        let target = plant(&envd, "a", content);
        let answer = envd.get(&target, &[("accept-encoding", "gzip, deflate, br")]).await;
        assert_eq!((answer.status.as_u16(), answer.header("content-encoding")), (200, "gzip"));
        assert_eq!((answer.header("content-length"), answer.header("accept-ranges")), ("", ""));
        let mut plain = String::new();
        GzDecoder::new(&answer.body[..]).read_to_string(&mut plain).unwrap();
        assert_eq!(plain, content);
    }
}

#[tokio::test]
async fn no_acceptable_encoding_is_406() {
    let envd = Envd::start().await;
    let target = plant(&envd, "a", "x");
    envd.get(&target, &[("accept-encoding", "br, identity;q=0")]).await.message(406);
}

#[tokio::test]
async fn a_missing_file_is_404() {
    let envd = Envd::start().await;
    assert_eq!(envd.get("/files?path=/no/such", &[]).await.message(404), "path '/no/such' does not exist");
}

#[tokio::test]
async fn a_directory_is_400() {
    let envd = Envd::start().await;
    assert_eq!(envd.get("/files?path=/etc", &[]).await.message(400), "path '/etc' is a directory");
    let workdir = envd.work().display().to_string();
    assert_eq!(envd.get("/files", &[]).await.message(400), format!("path '{workdir}' is a directory"));
}

#[tokio::test]
async fn a_fifo_is_400_and_waits_for_nobody() {
    let envd = Envd::start().await;
    envd.run(Codec::Proto, "mkfifo fifo").await;
    envd.get(&format!("/files?path={}", envd.path("fifo")), &[]).await.message(400);
}

#[tokio::test]
async fn another_users_home_is_400() {
    let envd = Envd::start().await;
    envd.get("/files?path=~daemon/x", &[]).await.message(400);
}

#[tokio::test]
async fn an_unknown_user_is_401_in_envds_own_form() {
    let envd = Envd::start().await;
    assert_eq!(envd.get("/files?path=/etc/passwd&username=ghost", &[]).await.message(401), "invalid username: 'ghost'");
}

#[tokio::test]
async fn a_value_that_is_there_twice_is_400_in_plain_text() {
    let envd = Envd::start().await;
    let answer = envd.get("/files?path=a&path=b", &[]).await;
    assert_eq!((answer.status.as_u16(), answer.header("content-type")), (400, "text/plain; charset=utf-8"));
}

#[tokio::test]
async fn files_of_the_kernel_come_in_every_encoding() {
    let envd = Envd::start().await;
    for headers in [&[][..], &[("accept-encoding", "gzip")], &[("range", "bytes=0-")]] {
        let answer = envd.get("/files?path=/proc/self/status", headers).await;
        assert_eq!(answer.status, 200);
        let mut text = answer.text();
        if answer.header("content-encoding") == "gzip" {
            text.clear();
            GzDecoder::new(&answer.body[..]).read_to_string(&mut text).unwrap();
        }
        assert!(text.contains("Threads:"), "{headers:?} {text}");
    }
}

#[tokio::test]
async fn a_rewritten_file_is_read_fresh() {
    let envd = Envd::start().await;
    for content in ["one", "two, longer", ""] {
        let target = plant(&envd, "a", content);
        assert_eq!(envd.get(&target, &[]).await.text(), content);
    }
}

#[tokio::test]
async fn a_client_that_leaves_a_download_costs_nothing() {
    let envd = Envd::start().await;
    let target = plant(&envd, "big", vec![0; 50 << 20]);
    for _ in 0..20 {
        let request = http::Request::get(&target).header("host", "envd");
        let body = http_body_util::BodyExt::boxed(http_body_util::Full::new(bytes::Bytes::new()));
        drop(envd.send(request.body(body).unwrap()).await);
    }
    let open = || {
        let fds = std::fs::read_dir(format!("/proc/{}/fd", envd.child.id().unwrap())).unwrap();
        fds.flatten().filter(|fd| std::fs::read_link(fd.path()).is_ok_and(|target| target == envd.work().join("big"))).count()
    };
    until(async || (open() == 0).then_some(())).await;
}
