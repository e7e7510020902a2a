//! Set-up: installs what a task needs and the machine does not have yet.
//!
//! Nothing here asks. What is there already is left as it is, so a second run takes no time. System packages need root; without it
//! set-up says exactly which commands an administrator would have to run, and stops.

use crate::project::Project;
use crate::run::{find_program, line, output, run_quietly, step};
use anyhow::{Context, Result, bail};
use std::path::Path;

const WASM_TARGET: &str = "wasm32-unknown-unknown";
const MINIMUM_NODE: u32 = 20;

/// What a task needs on top of a Rust toolchain and Node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Needs {
    /// To compile: the wasm target and the npm packages.
    Build,
    /// To run the platform too: its walls and its network.
    Platform,
    /// To run the tests and benchmarks too: a browser, the SandboxServer, other vendors' SDKs, and runtimes.
    Tests,
    /// To run the whole matrix too: more browsers, and bundlers.
    Matrix,
}

/// A program or file, and the Debian package that brings it.
struct SystemPart {
    package: &'static str,
    from: Needs,
    present: fn() -> bool,
}

const SYSTEM_PARTS: &[SystemPart] = &[
    SystemPart { package: "bubblewrap", from: Needs::Platform, present: || find_program("bwrap").is_some() },
    SystemPart { package: "passt", from: Needs::Platform, present: || find_program("pasta").is_some() },
    SystemPart { package: "iproute2", from: Needs::Platform, present: || find_program("ip").is_some() },
    SystemPart { package: "chromium", from: Needs::Tests, present: || find_program("chromium").is_some() },
    SystemPart {
        package: "fonts-dejavu-core",
        from: Needs::Tests,
        present: || Path::new("/usr/share/fonts/truetype/dejavu").is_dir(),
    },
    // A sandbox of the tests clones from a server of its own with it.
    SystemPart { package: "git", from: Needs::Tests, present: || find_program("git").is_some() },
    SystemPart { package: "firefox-esr", from: Needs::Tests, present: || find_program("firefox-esr").is_some() },
    SystemPart { package: "webkit2gtk-driver", from: Needs::Matrix, present: || find_program("WebKitWebDriver").is_some() },
    SystemPart { package: "xvfb", from: Needs::Matrix, present: || find_program("Xvfb").is_some() },
    SystemPart { package: "python3-venv", from: Needs::Platform, present: python_makes_environments },
];

/// Brings the machine to what `needs` says.
pub fn ensure(project: &Project, needs: Needs) -> Result<()> {
    machine(project, needs)?;
    packages(project, needs)
}

/// The part of set-up that a compiler needs, and that asks for root if anything does.
pub fn machine(project: &Project, needs: Needs) -> Result<()> {
    step("set-up of the machine", || {
        check_node(project)?;
        system_packages(needs)?;
        wasm_target(project)
    })
}

/// The part of set-up that loads what npm and pip install: it waits for a network more than it computes, and may go on beside a compiler.
pub fn packages(project: &Project, needs: Needs) -> Result<()> {
    step("set-up of packages", || {
        npm_packages(project)?;
        if needs >= Needs::Tests {
            python_environments(project)?;
            npm_tools(project, "runtimes")?;
        }
        if needs >= Needs::Matrix {
            npm_tools(project, "bundlers")?;
        }
        Ok(())
    })
}

/// The environment of code cells, which the platform makes: before any test uses it, and beside what compiles meanwhile.
pub fn runtime(project: &Project) -> Result<()> {
    step("set-up of code cells", || {
        let mut prepare = project.command(&project.unoptimized_platform_binary().to_string_lossy());
        run_quietly(prepare.args(["prepare", "--runtime-dir"]).arg(project.runtime()))
    })
}

fn check_node(project: &Project) -> Result<()> {
    let wanted = format!("install Node {MINIMUM_NODE} or later with npm, then run this again");
    let version = output(project.command("node").arg("--version")).with_context(|| wanted.clone())?;
    let major = version.trim().trim_start_matches('v').split('.').next().and_then(|major| major.parse::<u32>().ok());
    match major {
        Some(major) if major >= MINIMUM_NODE => Ok(()),
        _ => bail!("Node {} is too old: {wanted}", version.trim()),
    }
}

fn system_packages(needs: Needs) -> Result<()> {
    let missing: Vec<&str> =
        SYSTEM_PARTS.iter().filter(|part| part.from <= needs && !(part.present)()).map(|part| part.package).collect();
    if missing.is_empty() {
        return Ok(());
    }
    if find_program("apt-get").is_none() {
        bail!("these Debian packages, or what they hold, are missing and there is no apt-get: {}", missing.join(" "));
    }
    if !rustix::process::geteuid().is_root() {
        let packages = missing.join(" ");
        bail!(
            "system packages are missing, and installing them needs root. Run this, then the task again:\n\n    \
             sudo apt-get update\n    sudo apt-get install --no-install-recommends -y {packages}\n"
        );
    }
    step(&format!("install {}", missing.join(", ")), || {
        run_quietly(&mut apt_get(&["update"]))?;
        run_quietly(apt_get(&["install", "--no-install-recommends", "-y"]).args(&missing))
    })
}

fn apt_get(arguments: &[&str]) -> std::process::Command {
    let mut command = std::process::Command::new("apt-get");
    command.arg("-qq").args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
    command
}

fn wasm_target(project: &Project) -> Result<()> {
    let libraries = output(project.command("rustc").args(["--print", "target-libdir", "--target", WASM_TARGET]))?;
    if Path::new(libraries.trim()).is_dir() {
        return Ok(());
    }
    let mut add = project.command("rustup");
    add.args(["target", "add", WASM_TARGET]);
    step(&format!("install the Rust target {WASM_TARGET}"), || {
        run_quietly(&mut add).with_context(|| {
            format!("the client is compiled for {WASM_TARGET}; this toolchain lacks it and `{}` did not bring it", line(&add))
        })
    })
}

/// `npm ci`, when the lock file differs from the one that node_modules was last installed from.
fn npm_packages(project: &Project) -> Result<()> {
    npm_ci(project, &project.path(""), &project.path("package-lock.json"), "install npm packages")
}

/// What only some of the tests need is installed for them alone: `tests/NAME/package.json`, into `target/tools/NAME`.
fn npm_tools(project: &Project, name: &str) -> Result<()> {
    let (from, tools) = (project.path("tests").join(name), project.tools().join(name));
    std::fs::create_dir_all(&tools).with_context(|| format!("creating {}", tools.display()))?;
    for file in ["package.json", "package-lock.json"] {
        std::fs::copy(from.join(file), tools.join(file)).with_context(|| format!("copying {file} of tests/{name}"))?;
    }
    npm_ci(project, &tools, &tools.join("package-lock.json"), &format!("install the {name} to test with"))
}

fn npm_ci(project: &Project, folder: &Path, lock: &Path, what: &str) -> Result<()> {
    install_once(lock, &folder.join("node_modules/.installed-lock.json"), what, || {
        run_quietly(project.command("npm").current_dir(folder).args(["ci", "--no-audit", "--no-fund", "--loglevel=error"]))
            .context("when package-lock.json does not fit a package.json, run `npm install` there and commit the lock file")
    })
}

/// Of the system's own Python, which sandboxes see too: code cells run in an environment made by it.
fn python_makes_environments() -> bool {
    let python = "/usr/bin/python3";
    Path::new(python).exists() && output(std::process::Command::new(python).args(["-c", "import venv, ensurepip"])).is_ok()
}

/// Where the tests say which Python packages they need.
const PYTHON_REQUIREMENTS: [&str; 2] = ["tests/peers/python", "tests/server/support"];

/// One virtual environment for each `NAME.requirements.txt`: some of the SDKs cannot share one. Made before any test runs, because
/// two that ran side by side would make it twice, each in the other's way.
fn python_environments(project: &Project) -> Result<()> {
    for folder in PYTHON_REQUIREMENTS {
        let Ok(files) = std::fs::read_dir(project.path(folder)) else { continue };
        for file in files {
            let requirements = file?.path();
            let name = requirements.file_name().and_then(|name| name.to_str());
            if let Some(name) = name.and_then(|name| name.strip_suffix(".requirements.txt")) {
                python_environment(project, name, &requirements)?;
            }
        }
    }
    Ok(())
}

fn python_environment(project: &Project, name: &str, requirements: &Path) -> Result<()> {
    let environment = project.peers().join(name);
    install_once(requirements, &environment.join("installed.txt"), &format!("install the Python packages of {name}"), || {
        run_quietly(project.command("/usr/bin/python3").args(["-m", "venv", "--clear"]).arg(&environment))?;
        let pip = environment.join("bin/pip");
        run_quietly(
            project
                .command(&pip.to_string_lossy())
                .args(["install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:", "--requirement"])
                .arg(requirements),
        )
    })
}

/// Installs what a file lists, and keeps a copy of the file as the mark of what is installed.
fn install_once(list: &Path, mark: &Path, what: &str, install: impl FnOnce() -> Result<()>) -> Result<()> {
    let wanted = std::fs::read(list).with_context(|| format!("reading {}", list.display()))?;
    if std::fs::read(mark).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    step(what, install)?;
    std::fs::write(mark, wanted).with_context(|| format!("writing {}", mark.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn installing_happens_once_for_each_content_of_the_list() {
        let dir = std::env::temp_dir().join(format!("xtask-install-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let (list, mark, runs) = (dir.join("list"), dir.join("mark"), Cell::new(0));
        let install = || {
            install_once(&list, &mark, "test", || {
                runs.set(runs.get() + 1);
                Ok(())
            })
        };
        std::fs::write(&list, "one").unwrap();
        install().unwrap();
        install().unwrap();
        assert_eq!(runs.get(), 1);
        std::fs::write(&list, "two").unwrap();
        install().unwrap();
        assert_eq!(runs.get(), 2);
        std::fs::write(&list, "three").unwrap();
        install_once(&list, &mark, "test", || bail!("no network")).unwrap_err();
        install().unwrap();
        assert_eq!(runs.get(), 3, "a failed installation leaves no mark");
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
