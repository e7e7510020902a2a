//! Where things are in a checkout.

use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// One checkout of the project.
pub struct Project {
    root: PathBuf,
}

impl Project {
    /// The checkout that this program was built from.
    pub fn find() -> Result<Self> {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = manifest.parent().context("the xtask crate lies in no workspace")?;
        Ok(Self { root: root.to_path_buf() })
    }

    /// A path inside the checkout.
    pub fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// Where cargo puts what it builds.
    pub fn target(&self) -> PathBuf {
        match std::env::var_os("CARGO_TARGET_DIR") {
            Some(dir) => self.root.join(dir),
            None => self.root.join("target"),
        }
    }

    /// The platform's binary as `build` makes it.
    pub fn platform_binary(&self) -> PathBuf {
        self.target().join("release/agent-sandbox-local")
    }

    /// The platform's binary as `test` makes it.
    pub fn unoptimized_platform_binary(&self) -> PathBuf {
        self.target().join("debug/agent-sandbox-local")
    }

    /// Where the Python environments with other vendors' SDKs and the SandboxServer are.
    pub fn peers(&self) -> PathBuf {
        self.target().join("peers")
    }

    /// Where the runtimes and bundlers are that only the tests of the package use.
    pub fn tools(&self) -> PathBuf {
        self.path("target/tools")
    }

    /// Where the platform keeps what code cells run on, made once and shared by the tests and `dev`.
    pub fn runtime(&self) -> PathBuf {
        self.target().join("runtime")
    }

    /// A program run from the root of the checkout.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root);
        command
    }

    /// Cargo: the one that runs this task where there is one.
    pub fn cargo(&self) -> Command {
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
        let mut command = self.command(&cargo);
        // Meant for this program alone; a nested cargo that inherits them sees other build scripts' inputs change.
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(|name| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")) {
                command.env_remove(name);
            }
        }
        command
    }

    /// A program that an npm package brought, such as `tsc`.
    pub fn npm_tool(&self, name: &str) -> Command {
        self.command(&self.path("node_modules/.bin").join(name).to_string_lossy())
    }

    /// `npm run SCRIPT` in one of the npm workspaces.
    pub fn npm_script(&self, workspace: &str, script: &str) -> Command {
        let mut command = self.command("npm");
        command.args(["run", "--silent", script, "--workspace", workspace]);
        command
    }
}
