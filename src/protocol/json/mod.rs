//! The JSON form of the envd messages, as protobuf's JSON mapping defines it: [`serde::Serialize`] and [`serde::Deserialize`] for
//! every message of [`super::process`] and [`super::filesystem`].
//!
//! Written are lowerCamelCase names without default values; read are both spellings, and unknown fields are skipped. A choice
//! (`oneof`) is only its chosen key. What single fields look like stands in [`fields`].

mod fields;
mod filesystem;
mod message;
mod process;
mod timestamp;

#[cfg(test)]
mod tests;
