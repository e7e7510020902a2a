//! The plain HTTP endpoints for the bytes of files.

mod accepted;
mod compose;
mod conditions;
mod content_type;
mod disposition;
mod download;
mod gunzip;
mod metadata;
mod query;
mod upload;
mod writer;

pub use compose::compose;
pub use download::download;
pub use upload::upload;
