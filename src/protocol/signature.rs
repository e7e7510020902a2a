//! Signatures of `/files` URLs: whoever holds the sandbox's token can hand out one path, for one direction, for a time.

use super::base64;
use sha2::{Digest, Sha256};

/// What a signed URL allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// GET: the file's bytes.
    Read,
    /// POST: new bytes for the file.
    Write,
}

impl Operation {
    fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

/// The `signature` of a `/files` URL.
///
/// `path` and `username` are the query values as the server decodes them, empty when absent; `expiration` is in Unix seconds. The
/// result has the standard base64 alphabet, so it may hold `+` and `/` and must be percent-encoded in a query.
pub fn sign(path: &str, operation: Operation, username: &str, token: &str, expiration: Option<u64>) -> String {
    let mut hash = Sha256::new();
    for (at, part) in [path, operation.as_str(), username, token].into_iter().enumerate() {
        if at > 0 {
            hash.update(b":");
        }
        hash.update(part.as_bytes());
    }
    if let Some(expiration) = expiration {
        hash.update(b":");
        hash.update(super::routing::decimal(expiration).as_bytes());
    }
    let mut signature = String::from("v1_");
    signature.push_str(&base64::encode(&hash.finalize(), false));
    signature
}

#[cfg(test)]
mod tests {
    use super::*;

    // Expected values: `printf '<message>' | openssl dgst -sha256 -binary | base64` without the padding.
    #[test]
    fn the_message_is_path_operation_username_token() {
        assert_eq!(sign("/home/user/a.txt", Operation::Read, "", "tok", None), "v1_Zkbb3914oLJLvMBzCAHQhm2ydBLxbSx2eQUR/kLdvIY");
        assert_eq!(
            sign("", Operation::Write, "root", "tok", Some(1_900_000_000)),
            "v1_WAlDhKF48FZDVhC6XbheJTMtZz8vHp+h+qPx7h2GXGo"
        );
    }
}
