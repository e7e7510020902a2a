//! The client as WebAssembly: compile, generate the glue, shrink both.
//!
//! Into `pkg/dist` go
//! - `agent_sandbox_web_bg.wasm`, after `wasm-opt`;
//! - `agent_sandbox_web.js`, the glue (target "web": nothing happens on import, the default export starts it, and the module must be handed
//!   to it: which way of getting at the .wasm fits a runtime is for the package's entries to know) and the crate's own
//!   JavaScript, in one small module. What the entries need of the latter, `src/js/face.js` exports.

use super::files::files_below;
use super::{compile, slim};
use crate::project::Project;
use crate::run::{is_fresh, run_quietly, say, step};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

const NAME: &str = "agent_sandbox_web";

/// Makes the wasm part of `pkg/dist`.
pub fn build(project: &Project) -> Result<()> {
    step("compile the client to WebAssembly", || {
        compile(project.cargo().args([
            "build",
            "--package",
            "agent-sandbox-web",
            "--lib",
            "--target",
            "wasm32-unknown-unknown",
            "--profile",
            "wasm",
        ]))
    })?;
    let compiled = project.target().join(format!("wasm32-unknown-unknown/wasm/{NAME}.wasm"));
    let dist = project.path("pkg/dist");
    let products = ["_bg.wasm", ".js"].map(|ending| dist.join(format!("{NAME}{ending}")));
    let [bundler, settle] = ["bundle", "settle"].map(|name| project.path(&format!("xtask/js/{name}.mjs")));
    // The program itself counts as a source: it holds the generator of the glue.
    let mut sources = vec![compiled.clone(), bundler.clone(), settle, std::env::current_exe()?];
    // Cargo knows of those files alone that the crate names, not of what they import.
    let scripts = files_below(&project.path("src"), &[])?.into_iter().map(|(path, _)| path);
    sources.extend(scripts.filter(|path| path.extension().is_some_and(|extension| extension == "js")));
    if is_fresh(&products, &sources) {
        say("    the glue is up to date");
        return Ok(());
    }
    let raw = project.target().join("xtask/glue");
    step("generate the glue", || generate(project, &compiled, &raw))?;
    std::fs::create_dir_all(&dist)?;
    let [wasm, glue] = products;
    step("shrink the WebAssembly", || {
        let input = raw.join(format!("{NAME}_bg.wasm"));
        // Inlining whatever has one caller saves few bytes and compresses worse.
        run_quietly(
            project
                .npm_tool("wasm-opt")
                .args(["-O2", "-Oz", "--converge", "--one-caller-inline-max-function-size=30"])
                .arg(&input)
                .arg("-o")
                .arg(&wasm),
        )
    })?;
    step("bundle and shrink the glue", || {
        // Earlier builds had the crate's own files there.
        remove_folder(&dist.join("snippets"))?;
        run_quietly(project.command("node").arg(&bundler).arg(raw.join("face.js")).arg(&glue))
    })
}

fn generate(project: &Project, compiled: &Path, out: &Path) -> Result<()> {
    remove_folder(out)?;
    let output = wasm_bindgen_cli_support::Bindgen::new()
        .input_path(compiled)
        .out_name(NAME)
        .web(true)?
        .typescript(false)
        .remove_producers_section(true)
        .generate_output()
        .with_context(|| format!("generating the glue for {}", compiled.display()))?;
    slim::emit(output, &std::fs::read(compiled)?, out, NAME)?;
    settle_snippets(out)?;
    complete_snippets(project, &out.join("snippets"))?;
    let face = format!(
        "export * from \"./{NAME}.js\";\nexport {{ default }} from \"./{NAME}.js\";\nexport * from \"./snippets/src/js/face.js\";\n"
    );
    Ok(std::fs::write(out.join("face.js"), face)?)
}

/// Adds the files that snippets import: wasm-bindgen copies those alone that the crate names. A folder with one of them is taken whole.
fn complete_snippets(project: &Project, snippets: &Path) -> Result<()> {
    let mut folders: Vec<PathBuf> =
        files_below(snippets, &[])?.into_iter().filter_map(|(_, relative)| relative.parent().map(Path::to_path_buf)).collect();
    folders.dedup();
    for folder in folders {
        for entry in std::fs::read_dir(project.path(&folder.to_string_lossy()))? {
            let from = entry?.path();
            let to = snippets.join(&folder).join(from.file_name().unwrap_or_default());
            if from.extension().is_some_and(|extension| extension == "js") && !to.exists() {
                std::fs::copy(&from, &to)?;
            }
        }
    }
    Ok(())
}

/// Gives the snippets a path that stays: wasm-bindgen puts them under `snippets/CRATE-HASH/`, where the hash changes with the crate.
fn settle_snippets(out: &Path) -> Result<()> {
    let Ok(folders) = std::fs::read_dir(out.join("snippets")) else { return Ok(()) };
    let glue_file = out.join(format!("{NAME}.js"));
    let mut glue = std::fs::read_to_string(&glue_file)?;
    for folder in folders {
        let folder = folder?;
        let hashed = folder.file_name().to_string_lossy().into_owned();
        for entry in std::fs::read_dir(folder.path())? {
            let entry = entry?;
            std::fs::rename(entry.path(), out.join("snippets").join(entry.file_name()))?;
        }
        std::fs::remove_dir(folder.path())?;
        // Only where files are imported: the keys of the imports object are names that the .wasm itself asks for.
        for quote in ['\'', '"'] {
            glue = glue.replace(&format!("from {quote}./snippets/{hashed}/"), &format!("from {quote}./snippets/"));
        }
    }
    std::fs::write(&glue_file, glue)?;
    Ok(())
}

fn remove_folder(folder: &Path) -> Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("removing {}", folder.display()))
        }
        _ => Ok(()),
    }
}
