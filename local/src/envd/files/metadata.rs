//! Metadata in the headers of an upload.

use super::super::error::HttpError;
use super::super::filesystem::METADATA_PREFIX;
use http::HeaderMap;
use std::collections::BTreeMap;

const HEADER_PREFIX: &str = "x-metadata-";

/// The longest key, in bytes: attribute names have 255.
const LONGEST_KEY: usize = 246;

/// All keys with their prefix, and all values, in bytes.
const LARGEST: usize = 4096;

/// The metadata of an upload.
///
/// # Errors
/// 400 for what a file could not hold.
pub fn from_headers(headers: &HeaderMap) -> Result<BTreeMap<String, String>, HttpError> {
    let mut metadata = BTreeMap::new();
    let mut size = 0;
    for name in headers.keys() {
        let Some(key) = name.as_str().strip_prefix(HEADER_PREFIX) else { continue };
        let Some(value) = headers.get(name) else { continue };
        if key.is_empty() {
            return Err(HttpError::bad_request("a metadata key cannot be empty"));
        }
        if key.len() > LONGEST_KEY {
            return Err(HttpError::bad_request(format!("metadata key '{key}' is longer than {LONGEST_KEY} bytes")));
        }
        let printable = |value: &&str| value.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        let Some(value) = value.to_str().ok().filter(printable) else {
            return Err(HttpError::bad_request(format!("metadata value of '{key}' may hold only printable ASCII")));
        };
        size += METADATA_PREFIX.len() + key.len() + value.len();
        metadata.insert(key.to_owned(), value.to_owned());
    }
    if size > LARGEST {
        return Err(HttpError::bad_request(format!("metadata has {size} bytes; at most {LARGEST} fit")));
    }
    Ok(metadata)
}
