//! The templates a sandbox can be made from.

/// What a sandbox starts as.
#[derive(Debug, PartialEq, Eq)]
pub struct Template {
    /// The id that answers carry.
    pub id: &'static str,
    /// Other names of the same template.
    pub aliases: &'static [&'static str],
    /// Whether it has code cells.
    pub interpreter: bool,
}

/// A bare machine, and the same with a code interpreter on port 49999.
const TEMPLATES: [Template; 2] = [
    Template { id: "base", aliases: &[], interpreter: false },
    Template { id: "code-interpreter-v1", aliases: &["code-interpreter"], interpreter: true },
];

/// Finds a template by id or alias, in any case and with white space around. A tag other than `default` names nothing here.
pub fn find(name: &str) -> Option<&'static Template> {
    let name = name.trim().to_ascii_lowercase();
    let name = name.strip_suffix(":default").unwrap_or(&name);
    TEMPLATES.iter().find(|template| template.id == name || template.aliases.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::find;

    #[test]
    fn aliases_lead_to_one_template_and_anything_else_to_none() {
        assert_eq!(find(" Code-Interpreter:default ").map(|template| template.id), Some("code-interpreter-v1"));
        assert_eq!(find("base").map(|template| template.id), Some("base"));
        assert_eq!(find("base:v2"), None);
        assert_eq!(find("ubuntu"), None);
    }
}
