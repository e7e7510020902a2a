//! What wasm-bindgen makes, without what no page needs: the words of panics, and long names between the glue and the .wasm.

use super::unreached;
use anyhow::{Context, Result, ensure};
use std::collections::{HashMap, HashSet};
use std::path::Path;
use walrus::ir::Value;
use walrus::{ConstExpr, DataKind, FunctionBuilder, FunctionId, FunctionKind, Module};
use wasm_bindgen_cli_support::Output;

/// The client's own function that a panic ends in.
const PANICKED: &str = "__agent_sandbox_panicked";

/// Where panics begin: functions of the standard library that do not return. Their demangled names begin so.
const PANICS: &[&str] = &[
    "core::panicking::",
    "core::option::expect_failed",
    "core::option::unwrap_failed",
    "core::result::unwrap_failed",
    "core::cell::panic_",
    "core::cell::lazy::panic_",
    "core::str::slice_error_fail",
    "core::slice::index::slice_",
    "core::slice::copy_from_slice_impl::len_mismatch_fail",
    "alloc::raw_vec::handle_error",
    "alloc::raw_vec::capacity_overflow",
    "alloc::alloc::handle_alloc_error",
    "alloc::collections::vec_deque::drain::",
    "std::thread::local::panic_",
    "std::panicking::",
    "std::alloc::",
    "__rustc::rust_begin_unwind",
    "__rustc::rust_panic",
    "__rustc::__rust_alloc_error_handler",
];

/// Endings of the names of such functions that belong to a type.
const FAILURES: &[&str] = &["::assert_failed"];

/// What puts words together. Tables of functions name it, so it stays although nobody calls it.
const WORDS: &[&str] = &["core::fmt::", "core::unicode::printable"];

/// Lets every panic call the client's own end of panics, and nothing else. What formatted a panic's words has no caller then: that is the
/// standard library's whole formatting machinery, and `wasm-opt` takes it out, with the arguments that only the words needed. Gives the names
/// of those functions.
pub fn quiet_panics(module: &mut Module) -> Result<HashSet<String>> {
    let panicked = module.exports.get_func(PANICKED).with_context(|| format!("the client has no {PANICKED}"))?;
    module.exports.remove(PANICKED)?;
    let beginnings: Vec<FunctionId> = module
        .funcs
        .iter()
        .filter(|function| matches!(function.kind, FunctionKind::Local(_)) && function.id() != panicked)
        .filter(|function| {
            let name = function.name.as_deref().map(plain).unwrap_or_default();
            begins_panic(&name) && module.types.get(function.ty()).results().is_empty() || puts_words_together(&name)
        })
        .map(walrus::Function::id)
        .collect();
    ensure!(
        beginnings.len() > 9,
        "only {} of the standard library's panics were found: have their names changed?",
        beginnings.len()
    );
    let mut quiet = HashSet::new();
    for id in beginnings {
        quiet.extend(module.funcs.get(id).name.clone());
        let ty = module.types.get(module.funcs.get(id).ty());
        let (params, results) = (ty.params().to_vec(), ty.results().to_vec());
        let args = params.iter().map(|kind| module.locals.add(*kind)).collect();
        let mut builder = FunctionBuilder::new(&mut module.types, &params, &results);
        builder.func_body().call(panicked).unreachable();
        module.funcs.get_mut(id).kind = FunctionKind::Local(builder.local_func(args));
    }
    blank_locations(module);
    walrus::passes::gc::run(module);
    Ok(quiet)
}

fn begins_panic(name: &str) -> bool {
    PANICS.iter().any(|beginning| name.starts_with(beginning)) || FAILURES.iter().any(|ending| name.ends_with(ending))
}

fn puts_words_together(name: &str) -> bool {
    let name = name.trim_start_matches('<');
    WORDS.iter().any(|beginning| name.starts_with(beginning))
        || ["::Debug>::fmt", "::Display>::fmt", "::Write>::write_str", "::Write>::write_char", "::Write>::write_fmt"]
            .iter()
            .any(|ending| name.ends_with(ending) && name.contains(" as core::fmt"))
        || name.starts_with("char>::escape")
}

/// A demangled name without the hashes of crates: `core[31be9c6c]::panicking::panic_fmt`.
fn plain(name: &str) -> String {
    name.split('[')
        .enumerate()
        .map(|(at, part)| if at == 0 { part } else { part.split_once(']').map_or(part, |(_, rest)| rest) })
        .collect()
}

/// Blanks the places in the sources that panics would name, and the names of their files, which nobody reads any more. Zeros take no room.
/// What the relocations tell does not do: the functions that panic still name them, for a function that looks at none.
fn blank_locations(module: &mut Module) {
    let segments: Vec<_> = module.data.iter().map(walrus::Data::id).collect();
    for id in segments {
        let data = module.data.get_mut(id);
        let DataKind::Active { offset: ConstExpr::Value(Value::I32(start)), .. } = data.kind else { continue };
        let mut files = Vec::new();
        for at in (0..data.value.len().saturating_sub(15)).step_by(4) {
            let word =
                |index: usize| data.value[at + 4 * index..][..4].iter().rev().fold(0, |word, byte| word << 8 | usize::from(*byte));
            let (file, length, line, column) = (word(0).wrapping_sub(start as usize), word(1), word(2), word(3));
            let is_file = |text: &[u8]| (text.starts_with(b"src/") || text.starts_with(b"/")) && text.ends_with(b".rs");
            let text = file.checked_add(length).and_then(|end| data.value.get(file..end));
            if text.is_some_and(is_file) && (1..100_000).contains(&line) && (1..1000).contains(&column) {
                data.value[at..at + 16].fill(0);
                files.push(file..file + length);
            }
        }
        for file in files {
            data.value[file].fill(0);
        }
    }
}

/// Short names for what the glue and the .wasm know each other by.
#[derive(Default)]
pub struct Names {
    /// By module and name.
    imports: Vec<(String, String, String)>,
    exports: HashMap<String, String>,
}

/// The one module that everything is imported from.
const MODULE: &str = "asw";

/// Where wasm-bindgen puts what it writes itself.
const GLUE: &str = "./agent_sandbox_web_bg.js";

/// Gives every import and export a short name.
pub fn rename(module: &mut Module) -> Names {
    let mut names = Names::default();
    let mut known: HashMap<(String, String), String> = HashMap::new();
    for import in module.imports.iter_mut() {
        let key = (import.module.clone(), import.name.clone());
        let next = short(known.len());
        let name = known.entry(key).or_insert_with_key(|(from, name)| {
            names.imports.push((from.clone(), name.clone(), next.clone()));
            next
        });
        import.name.clone_from(name);
        MODULE.clone_into(&mut import.module);
    }
    for (at, export) in module.exports.iter_mut().enumerate() {
        let name = short(at);
        names.exports.insert(std::mem::replace(&mut export.name, name.clone()), name);
    }
    names
}

/// The name of that number: letters alone, so that it is one in JavaScript too.
fn short(mut number: usize) -> String {
    const LETTERS: &[u8; 52] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    let mut name = String::new();
    loop {
        name.insert(0, char::from(LETTERS[number % LETTERS.len()]));
        if number < LETTERS.len() {
            return name;
        }
        number = number / LETTERS.len() - 1;
    }
}

/// Writes the short names into the glue, and lets a panic inside a callback end there: its calls have been told, and nobody else waits.
pub fn rewrite_glue(glue: &str, names: &Names) -> Result<String> {
    let mut glue = glue.to_owned();
    let head = "    const import0 = {\n        __proto__: null,\n";
    ensure!(glue.contains(head), "the glue's imports are not where they were");
    let mut direct = String::new();
    for (module, name, short) in &names.imports {
        if module == GLUE {
            let (from, to) = (format!("\n        {name}: "), format!("\n        {short}: "));
            ensure!(glue.matches(&from).count() == 1, "the glue does not define the import {name} once");
            glue = glue.replace(&from, &to);
            continue;
        }
        let object = glue
            .lines()
            .find_map(|line| line.trim().strip_prefix(&format!("\"{module}\": ")))
            .with_context(|| format!("the glue imports no {module}"))?;
        direct += &format!("        {short}: {}.{name},\n", object.trim_end_matches(','));
    }
    // The entries themselves: one module holds all.
    glue = glue.lines().filter(|line| !line.starts_with("        \"./snippets/")).collect::<Vec<_>>().join("\n");
    glue = glue.replace(head, &[head, &direct].concat()).replace(&format!("\"{GLUE}\": import0"), &format!("{MODULE}: import0"));
    glue = rename_exports(&glue, &names.exports)?;
    let callback = "            return f(a, state.b, ...args);\n        } finally {";
    ensure!(glue.contains(callback), "the glue's callbacks are not what they were");
    let quiet = "            return f(a, state.b, ...args);\n        } catch (error) {\n            if (error !== panic()) throw error;\n        } finally {";
    Ok(["import { panic } from \"./snippets/src/js/panic.js\";\n", &glue.replace(callback, quiet)].concat())
}

fn rename_exports(glue: &str, exports: &HashMap<String, String>) -> Result<String> {
    let mut out = String::with_capacity(glue.len());
    let mut pieces = glue.split("wasm.");
    out.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        out.push_str("wasm.");
        let length =
            piece.find(|letter: char| !(letter.is_ascii_alphanumeric() || matches!(letter, '_' | '$'))).unwrap_or(piece.len());
        let (name, rest) = piece.split_at(length);
        out.push_str(exports.get(name).with_context(|| format!("the .wasm exports no {name}"))?);
        out.push_str(rest);
    }
    Ok(out)
}

/// Makes the .wasm and the glue. `linked` is what the linker made.
pub fn emit(mut output: Output, linked: &[u8], out: &Path, name: &str) -> Result<()> {
    let module = output.wasm_mut();
    let quiet = quiet_panics(module)?;
    unreached::empty(module, linked, &quiet)?;
    let names = rename(module);
    output.emit(out)?;
    let file = out.join(format!("{name}.js"));
    let glue = rewrite_glue(&std::fs::read_to_string(&file)?, &names)?;
    Ok(std::fs::write(&file, glue)?)
}
