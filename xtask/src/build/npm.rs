//! The parts that npm scripts build: the package and the console. Neither is built again of files that have not changed.

use super::files::files_below;
use crate::project::Project;
use crate::run::{is_fresh, run_quietly, say, step};
use anyhow::{Context, Result};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Folders that hold what was made, not what it is made of.
const MADE: &[&str] = &["dist", "node_modules"];

/// What both parts are built with.
const TOOLS: &[&str] = &["package-lock.json", "tsconfig.base.json"];

/// An npm workspace with a script `build`.
pub struct Workspace {
    /// What it makes, in a word.
    pub what: &'static str,
    /// Its folder.
    pub folder: &'static str,
    /// What is there once it has been built.
    pub product: &'static str,
    /// Whether a file elsewhere, given by its path inside the checkout, goes into it.
    pub takes: fn(&Path) -> bool,
    /// The folders in which such files lie.
    pub others: &'static [&'static str],
}

/// The npm package, around the glue and the types of the client.
pub const PACKAGE: Workspace = Workspace {
    what: "package",
    folder: "pkg",
    product: "pkg/dist/core.js",
    takes: |path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // The rest of `pkg/dist` is what this part and the console make themselves.
        if path.starts_with("src") { name.ends_with(".d.ts") } else { name.starts_with("agent_sandbox_web.") }
    },
    others: &["src", "pkg/dist"],
};

/// The console, which holds the package.
pub const CONSOLE: Workspace = Workspace {
    what: "console",
    folder: "www",
    product: "www/dist/index.html",
    takes: |path| !path.starts_with("pkg/dist/elements"),
    others: &["pkg/dist"],
};

impl Workspace {
    /// Runs its script `build`, unless what that made last is still what it would make.
    pub fn build(&self, project: &Project) -> Result<()> {
        let sources = self.sources(project)?;
        let stamp = Stamp::of(project, self.what, &sources);
        if stamp.is_fresh(&project.path(self.product), &sources) {
            say(&format!("    the {} is up to date", self.what));
            return Ok(());
        }
        stamp.begin()?;
        step(&format!("build the {}", self.what), || run_quietly(&mut project.npm_script(self.folder, "build")))?;
        stamp.end()
    }

    /// Every file that goes into it.
    fn sources(&self, project: &Project) -> Result<Vec<PathBuf>> {
        let mut sources: Vec<PathBuf> = TOOLS.iter().map(|file| project.path(file)).collect();
        // The package's script copies the licence into its folder.
        let own = files_below(&project.path(self.folder), MADE)?;
        sources.extend(own.into_iter().filter(|(_, inside)| inside != Path::new("LICENSE")).map(|(path, _)| path));
        for folder in self.others {
            let there = files_below(&project.path(folder), &[])?;
            sources.extend(
                there.into_iter().filter(|(_, inside)| (self.takes)(&Path::new(folder).join(inside))).map(|(path, _)| path),
            );
        }
        Ok(sources)
    }
}

/// When a part was last built, and of which files: one that is gone has no time to compare.
struct Stamp {
    file: PathBuf,
    list: String,
}

impl Stamp {
    fn of(project: &Project, what: &str, sources: &[PathBuf]) -> Self {
        let mut list = String::new();
        for source in sources {
            // Writing into a string cannot fail.
            let _ = writeln!(list, "{}", source.display());
        }
        Self { file: project.target().join(format!("xtask/{what}.built")), list }
    }

    fn is_fresh(&self, product: &Path, sources: &[PathBuf]) -> bool {
        product.exists()
            && is_fresh(std::slice::from_ref(&self.file), sources)
            && std::fs::read_to_string(&self.file).is_ok_and(|list| list == self.list)
    }

    /// Takes the time before anything is read: what changes while the script runs is newer.
    fn begin(&self) -> Result<()> {
        let folder = self.file.parent().context("a stamp lies in a folder")?;
        std::fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
        let begun = self.begun();
        std::fs::write(&begun, &self.list).with_context(|| format!("writing {}", begun.display()))
    }

    /// Counts from now on: the script has made everything.
    fn end(&self) -> Result<()> {
        std::fs::rename(self.begun(), &self.file).with_context(|| format!("writing {}", self.file.display()))
    }

    fn begun(&self) -> PathBuf {
        self.file.with_extension("begun")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{File, FileTimes};
    use std::time::{Duration, SystemTime};

    #[test]
    fn a_part_is_built_again_for_a_file_that_is_newer_or_gone_or_when_the_last_time_was_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str, age: u64| {
            let path = folder.path().join(name);
            let time = SystemTime::now() - Duration::from_secs(age);
            File::create(&path).unwrap().set_times(FileTimes::new().set_modified(time)).unwrap();
            path
        };
        let product = at("product", 50);
        let sources = [at("one", 40), at("two", 40)];
        let stamp = |list: &str| Stamp { file: folder.path().join("stamp"), list: list.to_owned() };
        stamp("one two").begin().unwrap();
        assert!(!stamp("one two").is_fresh(&product, &sources));
        stamp("one two").end().unwrap();
        assert!(stamp("one two").is_fresh(&product, &sources));
        assert!(!stamp("one").is_fresh(&product, &sources[..1]));
        assert!(!stamp("one two").is_fresh(&folder.path().join("missing"), &sources));
        File::open(&sources[1])
            .unwrap()
            .set_times(FileTimes::new().set_modified(SystemTime::now() + Duration::from_secs(5)))
            .unwrap();
        assert!(!stamp("one two").is_fresh(&product, &sources));
    }

    #[test]
    fn what_a_part_makes_itself_is_not_what_it_is_made_of() {
        for (workspace, takes, leaves) in [
            (PACKAGE, "pkg/dist/agent_sandbox_web.js", "pkg/dist/core.js"),
            (PACKAGE, "src/types/files.d.ts", "src/lib.rs"),
            (CONSOLE, "pkg/dist/core.js", "pkg/dist/elements/index.js"),
        ] {
            assert!((workspace.takes)(Path::new(takes)) && !(workspace.takes)(Path::new(leaves)), "{}", workspace.what);
        }
    }
}
