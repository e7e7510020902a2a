//! What kernels run in: Python packages shared by all sandboxes and read-only, and on top of them a virtual environment of the
//! sandbox's own that `%pip install` writes to.

use std::ffi::OsString;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// The Python that everything is built on. It lies inside the walls of every sandbox.
pub const SYSTEM_PYTHON: &str = "/usr/bin/python3";

/// Folder of the shared environment that holds matplotlib's list of fonts.
pub const FONT_CACHE: &str = "matplotlib-cache";

/// `pip` as a command that keeps working when the sandbox's files are copied elsewhere.
const PIP: &str = "#!/bin/sh\nexec \"$(dirname \"$(readlink -f \"$0\")\")/python\" -m pip \"$@\"\n";

/// Where the parts of the environment are.
#[derive(Debug, Clone)]
pub struct Environment {
    shared: PathBuf,
    deno: Option<PathBuf>,
    home: PathBuf,
    own: PathBuf,
}

impl Environment {
    /// An environment on the shared packages in `shared` for the user whose home is `home`.
    pub fn new(shared: PathBuf, deno: Option<PathBuf>, home: PathBuf) -> Environment {
        let own = home.join(".local/share/agent-sandbox/python");
        Environment { shared, deno, home, own }
    }

    /// The user's home.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// The program `deno`, if the platform has it.
    pub fn deno(&self) -> Option<&Path> {
        self.deno.as_deref()
    }

    /// The Python of the sandbox's own environment.
    pub fn python(&self) -> PathBuf {
        self.own.join("bin/python")
    }

    /// Lays the sandbox's own environment out; does nothing if it is there. A copy of another sandbox's files is put right.
    pub fn prepare(&self) -> io::Result<()> {
        let library = library_folder(&self.shared)?;
        let packages = self.own.join("lib").join(&library).join("site-packages");
        // Own packages come first, the shared ones after them, with their own .pth files.
        let shared = self.shared.join("lib").join(&library).join("site-packages");
        let path_file = packages.join("agent-sandbox.pth");
        let path_line = format!("import site; site.addsitedir({:?})\n", shared.to_string_lossy());
        if std::fs::read_to_string(&path_file).is_ok_and(|line| line == path_line) {
            return Ok(());
        }
        let programs = self.own.join("bin");
        std::fs::create_dir_all(&packages)?;
        std::fs::create_dir_all(&programs)?;
        let version = library.trim_start_matches("python");
        std::fs::write(
            self.own.join("pyvenv.cfg"),
            format!("home = /usr/bin\ninclude-system-site-packages = false\nversion = {version}\n"),
        )?;
        for name in ["python", "python3"] {
            replace_link(Path::new(SYSTEM_PYTHON), &programs.join(name))?;
        }
        for name in ["pip", "pip3"] {
            let pip = programs.join(name);
            std::fs::write(&pip, PIP)?;
            std::fs::set_permissions(&pip, std::fs::Permissions::from_mode(0o755))?;
        }
        self.copy_font_list()?;
        // Last, since it says that the rest is there.
        std::fs::write(path_file, path_line)
    }

    /// Gives the sandbox matplotlib's list of fonts, which takes seconds to make.
    fn copy_font_list(&self) -> io::Result<()> {
        let target = self.home.join(".cache/matplotlib");
        let Ok(lists) = std::fs::read_dir(self.shared.join(FONT_CACHE)) else { return Ok(()) };
        std::fs::create_dir_all(&target)?;
        for list in lists.flatten().filter(|entry| entry.path().extension().is_some_and(|extension| extension == "json")) {
            std::fs::copy(list.path(), target.join(list.file_name()))?;
        }
        Ok(())
    }

    /// Variables of every kernel, on top of those of the interpreter itself.
    pub fn variables(&self) -> Vec<(&'static str, OsString)> {
        let mut path = self.own.join("bin").into_os_string();
        if let Some(rest) = std::env::var_os("PATH") {
            path.push(":");
            path.push(rest);
        }
        vec![
            ("PATH", path),
            ("HOME", self.home.clone().into()),
            ("VIRTUAL_ENV", self.own.clone().into()),
            ("PIP_DISABLE_PIP_VERSION_CHECK", "1".into()),
        ]
    }
}

/// `python3.x`, as the shared environment has it.
fn library_folder(shared: &Path) -> io::Result<String> {
    let names = std::fs::read_dir(shared.join("lib"))?.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    names
        .into_iter()
        .find(|name| name.starts_with("python3."))
        .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "the shared Python environment is empty"))
}

fn replace_link(target: &Path, link: &Path) -> io::Result<()> {
    match std::fs::remove_file(link) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    symlink(target, link)
}
