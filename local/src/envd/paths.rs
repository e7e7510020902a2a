//! What a path in a request means.

use super::users::User;

/// Where relative paths start.
#[derive(Debug, Clone, Copy)]
pub struct Base<'a> {
    /// The user's home.
    pub home: &'a str,
    /// What an empty path means; empty for the home.
    pub workdir: &'a str,
}

impl<'a> Base<'a> {
    /// The base of a user's paths.
    pub fn of(user: &'a User, workdir: &'a str) -> Self {
        Self { home: &user.home, workdir }
    }

    /// The absolute path. Absolute input stays as it is, `..` and all.
    ///
    /// # Errors
    /// The message for the caller: another user's home cannot be named, and no path holds a NUL.
    pub fn resolve(&self, path: &str) -> Result<String, String> {
        if path.contains('\0') {
            return Err("a path cannot contain a NUL byte".to_owned());
        }
        if path.is_empty() {
            return Ok(if self.workdir.is_empty() { self.home } else { self.workdir }.to_owned());
        }
        if let Some(rest) = path.strip_prefix('~') {
            return match rest.bytes().next() {
                None => Ok(self.home.to_owned()),
                Some(b'/' | b'\\') => Ok(join(self.home, rest)),
                Some(_) => Err("cannot expand user-specific home dir".to_owned()),
            };
        }
        if path.starts_with('/') { Ok(path.to_owned()) } else { Ok(join(self.home, path)) }
    }
}

/// Two parts as one clean path.
pub fn join(base: &str, rest: &str) -> String {
    clean(&format!("{base}/{rest}"))
}

/// The shortest path that means the same, judged by its letters alone.
pub fn clean(path: &str) -> String {
    let absolute = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if absolute => {}
            _ => parts.push(part),
        }
    }
    match (absolute, parts.is_empty()) {
        (true, _) => format!("/{}", parts.join("/")),
        (false, true) => ".".to_owned(),
        (false, false) => parts.join("/"),
    }
}

/// The last part of a path, whatever slashes follow it.
pub fn base_name(path: &str) -> &str {
    let trimmed = path.trim_end_matches('/');
    match (trimmed.is_empty(), path.is_empty()) {
        (true, true) => ".",
        (true, false) => "/",
        _ => trimmed.rsplit('/').next().unwrap_or(trimmed),
    }
}

/// The directory a path stands in, clean.
pub fn parent(path: &str) -> String {
    match path.rfind('/') {
        Some(at) => clean(&path[..=at]),
        None => ".".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_path_resolves_as_documented() {
        let base = Base { home: "/home/user", workdir: "/work" };
        for (path, expected) in [
            ("", "/work"),
            ("~", "/home/user"),
            ("~/x", "/home/user/x"),
            ("~\\x", "/home/user/\\x"),
            ("/a/../b", "/a/../b"),
            ("a/../b", "/home/user/b"),
            ("../../../etc", "/etc"),
            (".", "/home/user"),
        ] {
            assert_eq!(base.resolve(path).as_deref(), Ok(expected), "{path}");
        }
        assert!(base.resolve("~root/x").is_err());
        assert!(base.resolve("a\0b").is_err());
        assert_eq!(Base { home: "/h", workdir: "" }.resolve("").as_deref(), Ok("/h"));
    }

    #[test]
    fn names_and_parents_ignore_what_means_nothing() {
        assert_eq!((base_name("/a/b/"), base_name("/"), base_name(""), base_name("b")), ("b", "/", ".", "b"));
        assert_eq!(
            (parent("/a/b"), parent("/a/b/"), parent("/a"), parent("a")),
            ("/a".into(), "/a/b".into(), "/".into(), ".".into())
        );
        assert_eq!((clean("a/.."), clean("../a"), clean("/../a//b/.")), (".".into(), "../a".into(), "/a/b".into()));
    }
}
