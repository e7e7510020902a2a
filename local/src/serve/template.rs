//! The templates a sandbox can be made from, beside snapshots.

use serde::{Deserialize, Serialize};

/// What a sandbox starts as.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Template {
    /// The id that answers carry.
    pub id: String,
    /// Another name of the same template.
    pub alias: Option<String>,
    /// Whether it has code cells.
    pub interpreter: bool,
}

/// A bare machine, and the same with a code interpreter on port 49999: id, alias and whether there are code cells.
const BUILT_IN: [(&str, Option<&str>, bool); 2] = [("base", None, false), ("code-interpreter-v1", Some("code-interpreter"), true)];

/// A template's name as clients write it: in any case, with white space around, and perhaps with a tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    /// The id or alias, without the namespace of this platform.
    pub name: String,
    /// The tag, when one was written.
    pub tag: Option<String>,
}

/// The namespace of names on this platform.
pub const NAMESPACE: &str = "local";
/// The tag of a name without one.
pub const DEFAULT_TAG: &str = "default";

impl Name {
    /// Reads `name`, `namespace/name`, each with or without `:tag`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim().to_ascii_lowercase();
        let (path, tag) = text.split_once(':').map_or((text.as_str(), None), |(path, tag)| (path, Some(tag)));
        let name = match path.split_once('/') {
            None => path,
            Some((NAMESPACE, name)) => name,
            Some((other, _)) => return Err(format!("the namespace '{other}' is not this platform's, which is '{NAMESPACE}'")),
        };
        let allowed = |text: &str, extra: &str| {
            let good = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || extra.as_bytes().contains(&byte);
            !text.is_empty() && text.len() <= 128 && text.bytes().all(good)
        };
        if !allowed(name, "-_") {
            return Err("a name holds only letters, digits, '-' and '_', at most 128".into());
        }
        // Not even by accident may a tag be a path.
        if tag.is_some_and(|tag| !allowed(tag, "-_.") || tag.bytes().all(|byte| byte == b'.')) {
            return Err("a tag holds only letters, digits, '-', '_' and '.', at most 128".into());
        }
        Ok(Self { name: name.to_owned(), tag: tag.map(str::to_owned) })
    }

    /// The tag that is meant.
    pub fn tag(&self) -> &str {
        self.tag.as_deref().unwrap_or(DEFAULT_TAG)
    }
}

/// Whether a template of the platform's own has this id or alias.
pub fn is_built_in(name: &str) -> bool {
    BUILT_IN.iter().any(|(id, alias, _)| *id == name || *alias == Some(name))
}

/// Finds a built-in template by id or alias. A tag other than `default` names none of them.
pub fn find(name: &Name) -> Option<Template> {
    let (id, alias, interpreter) =
        BUILT_IN.into_iter().find(|(id, alias, _)| *id == name.name || *alias == Some(name.name.as_str()))?;
    (name.tag() == DEFAULT_TAG).then(|| Template { id: id.to_owned(), alias: alias.map(str::to_owned), interpreter })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> Option<String> {
        find(&Name::parse(text).unwrap()).map(|template| template.id)
    }

    #[test]
    fn aliases_lead_to_one_template_and_anything_else_to_none() {
        assert_eq!(id(" Code-Interpreter:default ").as_deref(), Some("code-interpreter-v1"));
        assert_eq!(id("base").as_deref(), Some("base"));
        assert_eq!(id("local/base").as_deref(), Some("base"));
        assert_eq!(id("base:v2"), None);
        assert_eq!(id("ubuntu"), None);
    }

    #[test]
    fn names_that_are_paths_or_somebody_elses_are_refused() {
        for bad in ["", "..", ".", "a/b", "local/..", "local/a/b", "a:..", "a:", "a:b:c", "a b", "a\0", "ü", "/etc", "local/"] {
            assert!(Name::parse(bad).is_err(), "{bad:?}");
        }
        assert_eq!(Name::parse("Local/My_snap:V1.2"), Ok(Name { name: "my_snap".into(), tag: Some("v1.2".into()) }));
    }
}
