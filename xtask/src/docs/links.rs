//! Dead links of a static site: relative addresses whose file or anchor is not there. Other sites are not asked.

use anyhow::{Context, Result};
use html5gum::{StartTag, Token, Tokenizer};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

/// What a check found.
pub struct Found {
    /// How many pages there are, pictures with anchors of their own included.
    pub pages: usize,
    /// How many links inside the site they hold.
    pub links: usize,
    /// Those that lead nowhere: the page, and the address as it stands there.
    pub dead: Vec<String>,
}

/// What one page offers and wants.
#[derive(Default)]
struct Page {
    anchors: BTreeSet<String>,
    links: BTreeSet<String>,
}

/// Reads every page below a folder.
pub fn check(site: &Path) -> Result<Found> {
    let mut files = BTreeSet::new();
    collect(site, &mut files)?;
    let mut pages = BTreeMap::new();
    for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "html" || extension == "svg")) {
        let html = std::fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))?;
        pages.insert(file.clone(), read(&html));
    }
    let mut found = Found { pages: pages.len(), links: 0, dead: Vec::new() };
    for (file, page) in &pages {
        for link in page.links.iter().filter(|link| is_internal(link)) {
            found.links += 1;
            if !leads_somewhere(file, link, &files, &pages) {
                found.dead.push(format!("{}: {link}", file.strip_prefix(site).unwrap_or(file).display()));
            }
        }
    }
    Ok(found)
}

fn collect(folder: &Path, files: &mut BTreeSet<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.insert(path);
        }
    }
    Ok(())
}

fn read(html: &str) -> Page {
    let mut page = Page::default();
    for token in Tokenizer::new(html) {
        let Ok(Token::StartTag(tag)) = token else { continue };
        page.anchors.extend(attribute(&tag, "id"));
        page.links.extend(["href", "src"].into_iter().filter_map(|name| attribute(&tag, name)));
    }
    page
}

fn attribute(tag: &StartTag<()>, name: &str) -> Option<String> {
    tag.attributes.get(name.as_bytes()).map(|value| String::from_utf8_lossy(value).into_owned())
}

/// Whether an address has neither a scheme nor a host.
fn is_internal(link: &str) -> bool {
    let scheme = link.split(['/', '?', '#']).next().unwrap_or_default().contains(':');
    !scheme && !link.starts_with("//")
}

fn leads_somewhere(from: &Path, link: &str, files: &BTreeSet<PathBuf>, pages: &BTreeMap<PathBuf, Page>) -> bool {
    let (address, anchor) = link.split_once('#').unwrap_or((link, ""));
    let path = address.split('?').next().unwrap_or_default();
    let target = if path.is_empty() { from.to_path_buf() } else { resolve(from.parent().unwrap_or(from), path) };
    match pages.get(&target) {
        Some(page) => anchor.is_empty() || page.anchors.contains(anchor),
        None => anchor.is_empty() && files.contains(&target),
    }
}

/// A relative path from a folder, with `.` and `..` taken out.
fn resolve(folder: &Path, path: &str) -> PathBuf {
    let mut resolved = folder.to_path_buf();
    for part in Path::new(path).components() {
        match part {
            Component::ParentDir => {
                resolved.pop();
            }
            Component::Normal(name) => resolved.push(name),
            _ => (),
        }
    }
    resolved
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dead_files_and_anchors_are_found_and_nothing_else() {
        let site = tempfile::tempdir().unwrap();
        let write = |name: &str, html: &str| {
            let path = site.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, html).unwrap();
        };
        write("style.css", "");
        write(
            "index.html",
            "<a href='guide/a.html#there'>a</a> <a href=\"#top\"></a> <h1 id=top>1 &lt; 2 href='no.html'</h1> \
             <a href='https://example.com/gone'></a> <a href='//example.com'></a> <a href='mailto:a@example.com'></a> \
             <link href='style.css?v=1'> <!-- <a href='comment.html'></a> -->",
        );
        write(
            "guide/a.html",
            "<h2 id='there'></h2> <a href='../index.html#gone'></a> <img src='../gone.png'> <a href='gone.html'></a>",
        );
        let found = check(site.path()).unwrap();
        assert_eq!((found.pages, found.links), (2, 6));
        let dead = ["../gone.png", "../index.html#gone", "gone.html"].map(|link| format!("guide/a.html: {link}"));
        assert_eq!(found.dead, dead);
    }
}
