//! What a refusal of the SandboxServer means: the one table from status, type and code to the error a caller gets.

use crate::protocol::failure::Class;

/// How the server said no. Empty texts where it did not say.
#[derive(Debug, Clone, Copy, Default)]
pub struct Refusal<'a> {
    /// The HTTP status.
    pub status: u16,
    /// The field `type`: the class of the exception on the server.
    pub kind: &'a str,
    /// The field `code`.
    pub code: &'a str,
}

/// One row: what came, what it means. Empty lists and no status stand for anything.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The endpoint, where it makes a difference.
    pub endpoint: Option<&'static str>,
    /// The HTTP status.
    pub status: Option<u16>,
    /// One of these types.
    pub kinds: &'static [&'static str],
    /// One of these codes.
    pub codes: &'static [&'static str],
    /// The class of the error.
    pub class: Class,
}

/// Codes of refusals that are about a file's path.
pub const FILE_CODES: &[&str] = &[
    "path_not_allowed",
    "path_denied",
    "read_only",
    "symlink_denied",
    "extension_not_allowed",
    "file_exists",
    "path_invalid",
    "path_too_long",
];

const fn row(status: u16, kinds: &'static [&'static str], codes: &'static [&'static str], class: Class) -> Row {
    Row { endpoint: None, status: Some(status), kinds, codes, class }
}

const fn of_command(status: u16, class: Class) -> Row {
    Row { endpoint: Some("run_command"), status: Some(status), kinds: &[], codes: &[], class }
}

/// The table. The first row that holds counts; without one it is a `ServerAPIError`.
pub const TABLE: &[Row] = &[
    row(401, &[], &[], Class::ServerAuth),
    row(403, &[], FILE_CODES, Class::FilePolicyDenied),
    row(409, &[], FILE_CODES, Class::FilePolicyDenied),
    row(403, &[], &[], Class::PolicyDenied),
    row(409, &["PolicyDenied"], &[], Class::PolicyDenied),
    row(404, &[], &["endpoint_disabled"], Class::EndpointNotAvailable),
    row(404, &["FileNotFoundError", "NotADirectoryError"], &[], Class::FileNotFound),
    row(413, &[], &[], Class::PayloadTooLarge),
    row(429, &["RateLimited"], &[], Class::RateLimited),
    row(429, &[], &["rate_limited", "concurrency_limited"], Class::RateLimited),
    Row { endpoint: None, status: None, kinds: &["TimeoutError"], codes: &[], class: Class::CommandTimeout },
    of_command(404, Class::CommandNotFound),
    of_command(400, Class::CommandArgument),
    of_command(500, Class::CommandExecution),
];

/// The class of a refusal by that endpoint.
pub fn classify(endpoint: &str, refusal: Refusal<'_>) -> Class {
    let holds = |row: &&Row| {
        row.endpoint.is_none_or(|id| id == endpoint)
            && row.status.is_none_or(|status| status == refusal.status)
            && (row.kinds.is_empty() || row.kinds.contains(&refusal.kind))
            && (row.codes.is_empty() || row.codes.contains(&refusal.code))
    };
    TABLE.iter().find(holds).map_or(Class::ServerApi, |row| row.class)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(endpoint: &str, status: u16, kind: &str, code: &str) -> Class {
        classify(endpoint, Refusal { status, kind, code })
    }

    #[test]
    fn every_row_can_be_reached() {
        for (at, row) in TABLE.iter().enumerate() {
            let refusal = Refusal {
                status: row.status.unwrap_or(500),
                kind: row.kinds.first().copied().unwrap_or("ValueError"),
                code: row.codes.first().copied().unwrap_or("other"),
            };
            assert_eq!(classify(row.endpoint.unwrap_or("shell"), refusal), row.class, "row {at}");
        }
    }

    #[test]
    fn a_full_table_of_processes_is_no_rate_limit() {
        assert_eq!(class("process_start", 429, "ResourceError", ""), Class::ServerApi);
        assert_eq!(class("pty_create_session", 429, "RuntimeError", ""), Class::ServerApi);
    }

    #[test]
    fn the_type_of_a_timeout_wins_over_the_command_that_raised_it() {
        assert_eq!(class("run_command", 500, "TimeoutError", ""), Class::CommandTimeout);
        assert_eq!(class("run_command", 500, "KeyError", ""), Class::CommandExecution);
        assert_eq!(class("shell", 500, "FileNotFoundError", ""), Class::ServerApi);
    }

    #[test]
    fn refusals_of_paths_are_told_from_those_of_scopes() {
        assert_eq!(class("files_list", 403, "PolicyDenied", "path_denied"), Class::FilePolicyDenied);
        assert_eq!(class("files_upload_stream", 409, "FileExistsError", "file_exists"), Class::FilePolicyDenied);
        assert_eq!(class("files_list", 403, "PolicyDenied", "missing_scope"), Class::PolicyDenied);
        assert_eq!(class("process_stdin", 409, "ConflictError", ""), Class::ServerApi);
    }
}
