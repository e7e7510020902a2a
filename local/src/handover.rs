//! What `serve` and the `envd` of a sandbox agree on. The two run on different sides of the walls and share only a folder.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The Unix socket in the run folder on which envd serves HTTP (port 49983 of the sandbox).
pub const ENVD_SOCKET: &str = "envd.sock";

/// The Unix socket in the run folder through which `serve` reaches the sandbox's other ports.
///
/// A connection begins with the port as two bytes (big-endian). envd answers with one byte, [`PORT_OPEN`] or [`PORT_CLOSED`];
/// after [`PORT_OPEN`] the connection is the port's own byte stream, in both directions, until either side ends it.
pub const PORTS_SOCKET: &str = "ports.sock";

/// The port was reached; what follows is its stream.
pub const PORT_OPEN: u8 = 0;

/// Nothing listens on that port on the sandbox's loopback (IPv4 or IPv6).
pub const PORT_CLOSED: u8 = 1;

/// The line that envd writes to stdout once both sockets accept connections. When its stdin ends, envd ends itself and every
/// process that it started.
pub const READY: &str = "ready";

/// What envd is told, as one line of JSON on its stdin: arguments and environment can be read by others, stdin cannot.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EnvdConfig {
    /// The token that `X-Access-Token` must match; without one envd is open to whoever reaches it.
    pub access_token: Option<String>,
    /// Sandbox-wide variables, handed to every process. envd adds `E2B_SANDBOX` itself.
    pub env_vars: BTreeMap<String, String>,
    /// Who runs operations that name no user.
    pub default_user: String,
    /// Where processes start that name no working directory.
    pub default_workdir: String,
    /// Whether the sandbox shares its network with the host: then only ports on which its own processes listen are led to.
    pub shared_network: bool,
    /// The interpreter of the sandbox, where it has code cells. envd starts it and is ready once it listens.
    pub interpreter: Option<InterpreterConfig>,
}

/// The port on which clients of a sandbox reach its interpreter.
pub const INTERPRETER_PORT: u16 = 49999;

/// How envd starts the interpreter role.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InterpreterConfig {
    /// Where it listens on the loopback: 0 picks a free port, to which envd leads [`INTERPRETER_PORT`].
    pub port: u16,
    /// Its other arguments.
    pub arguments: Vec<String>,
}
