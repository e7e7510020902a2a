//! What no page reaches: the words of panics, the tables that would format them, and functions that only those name.
//!
//! The linker keeps them, since the panics that named them were still there. It also says, where it is asked (`--emit-relocs` in
//! `.cargo/config.toml`), which function and which constant names which other: from that follows what is left of use once the panics are
//! quiet. Other constants are filled with zeros, which take no room, and other functions emptied; nothing moves.

use anyhow::{Context, Result, bail, ensure};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use walrus::ir::{Call, Value, Visitor, dfs_in_order};
use walrus::{ConstExpr, DataKind, ExportItem, FunctionBuilder, FunctionId, FunctionKind, Module};
use wasmparser::{ExternalKind, KnownCustom, Linking, Name, Parser, Payload, RelocationEntry, RelocationType, SymbolInfo, TypeRef};

/// What a function or a constant can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Part {
    /// By its index.
    Function(u32),
    /// By the index of its symbol.
    Constant(u32),
}

/// A module as the linker made it.
#[derive(Default)]
struct Linked {
    /// Names of functions by index, those that are imported first.
    names: HashMap<u32, String>,
    imported: u32,
    exported: HashSet<u32>,
    /// Where the bodies of the others are, in the file.
    bodies: Vec<Range<usize>>,
    /// Where the bytes of each segment are in the file, and the address of the first.
    segments: Vec<(Range<usize>, u32)>,
    /// By index, what symbols stand for.
    symbols: HashMap<u32, Part>,
    /// By index of the symbol, where constants are in memory.
    constants: HashMap<u32, Range<u32>>,
    /// Where the contents of the section begin, and its relocations.
    code: (usize, Vec<RelocationEntry>),
    data: (usize, Vec<RelocationEntry>),
}

/// Empties what of `linked` is not reached in `module`. `quiet` has the names of functions that look at no argument and name nothing.
pub fn empty(module: &mut Module, linked: &[u8], quiet: &HashSet<String>) -> Result<()> {
    let bytes = linked;
    let linked = Linked::read(bytes)?;
    let known: HashSet<&str> = linked.names.values().map(String::as_str).collect();
    let (named, generated): (Vec<FunctionId>, Vec<FunctionId>) = module
        .funcs
        .iter()
        .filter(|function| matches!(function.kind, FunctionKind::Local(_)))
        .map(walrus::Function::id)
        .partition(|id| known.contains(name_of(module, *id)));
    // What the generator of the glue adds are shims; it also drops a number behind the names of exports.
    let is_stranger = |name: &&str| name.starts_with("agent_sandbox_web::") && !name.ends_with(" shim");
    let stranger = generated.iter().map(|id| name_of(module, *id)).find(is_stranger);
    ensure!(stranger.is_none(), "the linker knows no function {}: have names changed?", stranger.unwrap_or_default());

    let mut roots: HashSet<&str> = entries(module, &generated).iter().map(|id| name_of(module, *id)).collect();
    let is_quiet = |id: &FunctionId| module.funcs.get(*id).name.as_ref().is_some_and(|name| quiet.contains(name));
    let (silent, loud): (Vec<FunctionId>, Vec<FunctionId>) = named.iter().copied().partition(is_quiet);
    let loud: HashSet<&str> = loud.iter().map(|id| name_of(module, *id)).collect();
    let silent: HashSet<&str> = silent.iter().map(|id| name_of(module, *id)).filter(|name| !loud.contains(name)).collect();
    roots.extend(&silent);
    let reached = linked.reached(bytes, &roots, &silent)?;
    let unread = linked.unread(&reached);
    ensure!(!unread.is_empty(), "every constant is read: does the linker still give its relocations?");
    let reached_names: HashSet<&str> = linked
        .names
        .iter()
        .filter(|(index, _)| reached.contains(&Part::Function(**index)))
        .map(|(_, name)| name.as_str())
        .collect();
    let unreached: Vec<FunctionId> = named.into_iter().filter(|id| !reached_names.contains(name_of(module, *id))).collect();
    for id in unreached {
        let ty = module.types.get(module.funcs.get(id).ty());
        let (params, results) = (ty.params().to_vec(), ty.results().to_vec());
        let args = params.iter().map(|kind| module.locals.add(*kind)).collect();
        let mut builder = FunctionBuilder::new(&mut module.types, &params, &results);
        builder.func_body().unreachable();
        module.funcs.get_mut(id).kind = FunctionKind::Local(builder.local_func(args));
    }
    let segments: Vec<_> = module.data.iter().map(walrus::Data::id).collect();
    for id in segments {
        let data = module.data.get_mut(id);
        let DataKind::Active { offset: ConstExpr::Value(Value::I32(start)), .. } = data.kind else { continue };
        for range in &unread {
            let [from, to] = [range.start, range.end].map(|address| address.saturating_sub(start.cast_unsigned()) as usize);
            let length = data.value.len();
            data.value[from.min(length)..to.min(length)].fill(0);
        }
    }
    for name in ["linking", "reloc.CODE", "reloc.DATA"] {
        module.customs.remove_raw(name);
    }
    Ok(())
}

/// A function's name without the number that the generator of the glue gives to all but the first of a name.
fn name_of(module: &Module, id: FunctionId) -> &str {
    unnumbered(module.funcs.get(id).name.as_deref().unwrap_or_default())
}

fn unnumbered(name: &str) -> &str {
    match name.strip_suffix(']').and_then(|name| name.rsplit_once('[')) {
        Some((plain, number)) if number.len() < 5 && number.bytes().all(|byte| byte.is_ascii_digit()) => plain,
        _ => name,
    }
}

/// What is called from outside of what was linked.
fn entries(module: &Module, generated: &[FunctionId]) -> Vec<FunctionId> {
    struct Calls(Vec<FunctionId>);
    impl<'a> Visitor<'a> for Calls {
        fn visit_call(&mut self, call: &Call) {
            self.0.push(call.func);
        }
    }
    let exported = module.exports.iter().filter_map(|export| match export.item {
        ExportItem::Function(id) => Some(id),
        _ => None,
    });
    let mut calls = Calls(exported.chain(module.start).collect());
    for id in generated {
        let FunctionKind::Local(local) = &module.funcs.get(*id).kind else { continue };
        dfs_in_order(&mut calls, local, local.entry_block());
    }
    calls.0
}

impl Linked {
    fn read(wasm: &[u8]) -> Result<Self> {
        let mut linked = Self::default();
        for payload in Parser::new(0).parse_all(wasm) {
            match payload? {
                Payload::ImportSection(imports) => {
                    for import in imports.into_imports() {
                        linked.imported += u32::from(matches!(import?.ty, TypeRef::Func(_)));
                    }
                }
                Payload::ExportSection(exports) => {
                    for export in exports {
                        let export = export?;
                        // Descriptions are for the generator of the glue alone.
                        if export.kind == ExternalKind::Func && !export.name.starts_with("__wbindgen_describe") {
                            linked.exported.insert(export.index);
                        }
                    }
                }
                Payload::CodeSectionStart { range, .. } => linked.code.0 = range.start,
                Payload::CodeSectionEntry(body) => linked.bodies.push(body.range()),
                Payload::DataSection(segments) => {
                    linked.data.0 = segments.range().start;
                    for segment in segments {
                        let segment = segment?;
                        let wasmparser::DataKind::Active { offset_expr, .. } = segment.kind else { bail!("a passive segment") };
                        let wasmparser::Operator::I32Const { value } = offset_expr.get_operators_reader().read()? else {
                            bail!("a segment whose place is no constant");
                        };
                        let bytes = segment.range.end - segment.data.len()..segment.range.end;
                        linked.segments.push((bytes, value.cast_unsigned()));
                    }
                }
                Payload::CustomSection(section) => linked.read_custom(section.name(), section.as_known())?,
                _ => {}
            }
        }
        Ok(linked)
    }

    fn read_custom(&mut self, called: &str, section: KnownCustom<'_>) -> Result<()> {
        match section {
            KnownCustom::Name(names) => {
                for part in names {
                    let Name::Function(names) = part? else { continue };
                    for naming in names {
                        let naming = naming?;
                        // As the generator of the glue writes it.
                        self.names.insert(naming.index, rustc_demangle::demangle(naming.name).to_string());
                    }
                }
            }
            KnownCustom::Linking(linking) => {
                for part in linking.subsections() {
                    let Linking::SymbolTable(symbols) = part? else { continue };
                    for (at, symbol) in (0..).zip(symbols) {
                        match symbol? {
                            SymbolInfo::Func { index, .. } => {
                                self.symbols.insert(at, Part::Function(index));
                            }
                            SymbolInfo::Data { symbol: Some(place), .. } => {
                                let (_, start) =
                                    self.segments.get(place.index as usize).context("a constant outside of all segments")?;
                                let start = start + place.offset;
                                self.symbols.insert(at, Part::Constant(at));
                                self.constants.insert(at, start..start + place.size);
                            }
                            _ => {}
                        }
                    }
                }
            }
            KnownCustom::Reloc(relocations) => {
                let entries = relocations.entries().into_iter().collect::<wasmparser::Result<Vec<_>>>()?;
                match called {
                    "reloc.CODE" => self.code.1 = entries,
                    "reloc.DATA" => self.data.1 = entries,
                    _ => {}
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// What the functions of these names and the exported ones reach.
    fn reached(&self, wasm: &[u8], roots: &HashSet<&str>, quiet: &HashSet<&str>) -> Result<HashSet<Part>> {
        let name = |index: u32| self.names.get(&index).map_or("", String::as_str);
        let mut named: HashMap<Part, Vec<Part>> = HashMap::new();
        let roots = self.names.iter().filter(|(_, name)| roots.contains(name.as_str())).map(|(index, _)| index);
        let mut next: Vec<Part> = roots.chain(&self.exported).map(|index| Part::Function(*index)).collect();
        for (relocation, to) in self.parts(&self.code.1) {
            let at = self.code.0 + relocation.offset as usize;
            let body = self.bodies.partition_point(|body| body.end <= at);
            ensure!(self.bodies.get(body).is_some_and(|body| body.contains(&at)), "a relocation outside of all functions");
            let from = self.imported + u32::try_from(body)?;
            let behind = &wasm[at + relocation.ty.extent()..];
            let is_ignored = is_address(relocation.ty) && called_next(behind).is_some_and(|callee| quiet.contains(name(callee)));
            if !is_ignored && !quiet.contains(name(from)) {
                named.entry(Part::Function(from)).or_default().push(to);
            }
        }
        for (relocation, to) in self.parts(&self.data.1) {
            let at = self.data.0 + relocation.offset as usize;
            let (bytes, start) =
                self.segments.iter().find(|(bytes, _)| bytes.contains(&at)).context("a relocation in no segment")?;
            let address = start + u32::try_from(at - bytes.start)?;
            let mut owners = self.constants.iter().filter(|(_, place)| place.contains(&address)).peekable();
            if owners.peek().is_none() {
                next.push(to);
            }
            for (owner, _) in owners {
                named.entry(Part::Constant(*owner)).or_default().push(to);
            }
        }
        let mut reached = HashSet::new();
        while let Some(part) = next.pop() {
            if reached.insert(part) {
                next.extend(named.get(&part).into_iter().flatten());
            }
        }
        Ok(reached)
    }

    /// The relocations that lead to functions and constants, with those.
    fn parts<'a>(&'a self, relocations: &'a [RelocationEntry]) -> impl Iterator<Item = (&'a RelocationEntry, Part)> {
        relocations
            .iter()
            .filter(|one| is_address(one.ty) || is_function(one.ty))
            .filter_map(|one| Some((one, *self.symbols.get(&one.index)?)))
    }

    /// Where in memory nothing but constants is that are not reached.
    fn unread(&self, reached: &HashSet<Part>) -> Vec<Range<u32>> {
        let (kept, others): (Vec<_>, Vec<_>) =
            self.constants.iter().partition(|(index, _)| reached.contains(&Part::Constant(**index)));
        let mut kept: Vec<&Range<u32>> = kept.into_iter().map(|(_, place)| place).collect();
        kept.sort_by_key(|place| place.start);
        let mut unread = Vec::new();
        for (_, place) in others {
            let mut from = place.start;
            for kept in kept.iter().filter(|kept| kept.start < place.end && kept.end > place.start) {
                unread.push(from..kept.start.max(from));
                from = from.max(kept.end);
            }
            unread.push(from..place.end.max(from));
        }
        unread.retain(|range| !range.is_empty());
        unread
    }
}

fn is_address(kind: RelocationType) -> bool {
    use RelocationType::{MemoryAddrI32, MemoryAddrLeb, MemoryAddrSleb};
    matches!(kind, MemoryAddrI32 | MemoryAddrLeb | MemoryAddrSleb)
}

fn is_function(kind: RelocationType) -> bool {
    use RelocationType::{FunctionIndexLeb, TableIndexI32, TableIndexSleb};
    matches!(kind, FunctionIndexLeb | TableIndexI32 | TableIndexSleb)
}

/// The function that is called next, when nothing but constants is put in front of it.
fn called_next(mut code: &[u8]) -> Option<u32> {
    const I32_CONST: u8 = 0x41;
    const CALL: u8 = 0x10;
    while let Some((&I32_CONST, rest)) = code.split_first() {
        let length = rest.iter().position(|byte| byte & 0x80 == 0)? + 1;
        code = &rest[length..];
    }
    let (&CALL, rest) = code.split_first()? else { return None };
    let mut index = 0;
    for (at, byte) in rest.iter().enumerate().take(5) {
        index |= u32::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            return Some(index);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_a_constant_before_a_call_goes_into_it() {
        // i32.const 300, i32.const 1, call 130 in the linker's five bytes.
        assert_eq!(called_next(&[0x41, 0xac, 0x02, 0x41, 0x01, 0x10, 0x82, 0x81, 0x80, 0x80, 0x00, 0x00]), Some(130));
        // i32.load, call 2.
        assert_eq!(called_next(&[0x28, 0x02, 0x00, 0x10, 0x02]), None);
        assert_eq!(called_next(&[0x41, 0xac]), None);
    }

    #[test]
    fn only_the_numbers_that_the_glue_adds_are_taken_off_names() {
        assert_eq!(unnumbered("alloc::grow[12]"), "alloc::grow");
        assert_eq!(unnumbered("core[31be9c6c12345678]"), "core[31be9c6c12345678]");
        assert_eq!(unnumbered("<[u8]>::starts_with"), "<[u8]>::starts_with");
    }

    #[test]
    fn a_constant_stays_where_one_that_is_read_lies_over_it() {
        let constants = HashMap::from([(0, 10..20), (1, 14..16), (2, 30..34), (3, 40..44)]);
        let linked = Linked { constants, ..Linked::default() };
        let reached = HashSet::from([Part::Constant(1), Part::Constant(3), Part::Function(0)]);
        let mut unread = linked.unread(&reached);
        unread.sort_by_key(|range| range.start);
        assert_eq!(unread, [10..14, 16..20, 30..34]);
    }
}
