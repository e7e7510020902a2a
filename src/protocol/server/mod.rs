//! The SandboxServer's HTTP surface: its endpoints, and what its refusals mean.

pub mod endpoints;
pub mod pacing;
pub mod refusal;
