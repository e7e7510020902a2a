//! Sections 7 and 9.1: what pages may read.

use crate::harness::*;
use http::Method;

const ORIGIN: (&str, &str) = ("origin", "https://page.example");

#[tokio::test]
async fn a_preflight_is_answered_without_a_token_and_echoes_what_it_asks() {
    let envd = Envd::secure().await;
    let names = "authorization, x-access-token, connect-timeout-ms, x-metadata-a, e2b-sandbox-id";
    let headers = [ORIGIN, ("access-control-request-method", "POST"), ("access-control-request-headers", names)];
    let answer = envd.http(Method::OPTIONS, "/process.Process/Start", &headers, "").await;
    assert_eq!(answer.status, 204);
    assert_eq!(answer.header("access-control-allow-origin"), "*");
    assert_eq!(answer.header("access-control-allow-methods"), "POST");
    assert_eq!(answer.header("access-control-allow-headers"), names);
    assert_eq!(answer.header("access-control-max-age"), "7200");
    assert_eq!(answer.header("access-control-allow-credentials"), "");
    assert_eq!(answer.header("vary"), "Origin, Access-Control-Request-Method, Access-Control-Request-Headers");
}

#[tokio::test]
async fn a_preflight_for_another_method_is_204_without_permission() {
    let envd = Envd::start().await;
    let answer = envd.http(Method::OPTIONS, "/files", &[ORIGIN, ("access-control-request-method", "TRACE")], "").await;
    assert_eq!((answer.status.as_u16(), answer.header("access-control-allow-origin")), (204, ""));
}

#[tokio::test]
async fn a_preflight_from_a_public_page_is_allowed_into_the_private_network() {
    let envd = Envd::start().await;
    let headers = [ORIGIN, ("access-control-request-method", "GET"), ("access-control-request-private-network", "true")];
    let answer = envd.http(Method::OPTIONS, "/health", &headers, "").await;
    assert_eq!(answer.header("access-control-allow-private-network"), "true");
}

#[tokio::test]
async fn answers_and_errors_are_readable_from_any_origin() {
    for (envd, status) in [(Envd::start().await, 200), (Envd::secure().await, 401)] {
        let answer = envd.get("/envs", &[ORIGIN]).await;
        assert_eq!(answer.status, status);
        assert_eq!(answer.headers.get_all("access-control-allow-origin").iter().collect::<Vec<_>>(), ["*"]);
        assert_eq!(answer.header("vary"), "Origin");
        for name in
            ["Grpc-Status", "Grpc-Message", "Grpc-Status-Details-Bin", "Location", "Cache-Control", "X-Content-Type-Options"]
        {
            assert!(answer.header("access-control-expose-headers").contains(name), "{name}");
        }
        let plain = envd.get("/envs", &[]).await;
        assert_eq!(plain.header("access-control-allow-origin"), "");
    }
}

#[tokio::test]
async fn options_that_are_no_preflight_are_405_or_401_with_a_token() {
    assert_eq!(Envd::start().await.http(Method::OPTIONS, "/files", &[], "").await.status, 405);
    assert_eq!(Envd::secure().await.http(Method::OPTIONS, "/files", &[], "").await.status, 401);
}
