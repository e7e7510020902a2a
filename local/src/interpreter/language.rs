//! The languages of code cells: which kernel runs one, and how a cell's own variables are set and taken back in it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::collections::BTreeMap;
use std::fmt::Write;

/// A kind of kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KernelKind {
    /// ipykernel.
    Python,
    /// bash_kernel.
    Bash,
    /// `deno jupyter`: JavaScript and TypeScript.
    Deno,
}

/// The language of contexts that name none.
pub const DEFAULT_LANGUAGE: &str = "python";

/// A language as contexts show it: lower case, trimmed, short forms spelled out.
pub fn normalise(language: &str) -> String {
    match language.trim().to_lowercase().as_str() {
        "js" => "javascript".into(),
        "ts" => "typescript".into(),
        other => other.into(),
    }
}

impl KernelKind {
    /// The kernel of a normalised language, or of a kernel's own name. An empty name is Python, as in Jupyter.
    pub fn of(language: &str) -> Option<KernelKind> {
        match language {
            "" | "python" | "python3" => Some(KernelKind::Python),
            "bash" => Some(KernelKind::Bash),
            "javascript" | "typescript" | "deno" => Some(KernelKind::Deno),
            _ => None,
        }
    }

    /// Code that sets variables for one cell, whatever their values hold, and remembers what they were.
    pub fn set_variables(self, variables: &BTreeMap<String, String>) -> String {
        match self {
            KernelKind::Python => format!("__import__('_agent_sandbox').push_environment('{}')", encoded(variables)),
            KernelKind::Deno => format!(
                "{{ const next = JSON.parse(new TextDecoder().decode(Uint8Array.from(atob('{}'), (c) => c.charCodeAt(0)))); \
                 globalThis[Symbol.for('agent-sandbox.saved')] = Object.keys(next).map((name) => [name, process.env[name]]); \
                 for (const [name, value] of Object.entries(next)) process.env[name] = value; }}",
                encoded(variables)
            ),
            KernelKind::Bash => variables.iter().fold(String::new(), |mut code, (name, value)| {
                let saved = saved_name(name);
                let mut literal = String::with_capacity(value.len() * 4);
                for byte in value.bytes() {
                    // Writing to a String cannot fail.
                    let _ = write!(literal, "\\x{byte:02x}");
                }
                let _ = writeln!(
                    code,
                    "if [ \"${{{name}+set}}\" ]; then {saved}=${name}; else unset {saved}; fi; export {name}=$'{literal}'"
                );
                code
            }),
        }
    }

    /// Code that takes [`KernelKind::set_variables`] back.
    pub fn restore_variables(self, variables: &BTreeMap<String, String>) -> String {
        match self {
            KernelKind::Python => "__import__('_agent_sandbox').pop_environment()".into(),
            KernelKind::Deno => "for (const [name, value] of globalThis[Symbol.for('agent-sandbox.saved')] ?? []) \
                { if (value === undefined) delete process.env[name]; else process.env[name] = value; }"
                .into(),
            KernelKind::Bash => variables.keys().fold(String::new(), |mut code, name| {
                let saved = saved_name(name);
                let _ = writeln!(code, "if [ \"${{{saved}+set}}\" ]; then {name}=${saved}; unset {saved}; else unset {name}; fi");
                code
            }),
        }
    }

    /// Why a variable cannot be set in this language, if so.
    pub fn refuses_variable(self, name: &str, value: &str) -> Option<String> {
        let identifier = |name: &str| {
            !name.starts_with(|first: char| first.is_ascii_digit()) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        if name.is_empty() || name.contains(['=', '\0']) {
            Some("The name of an environment variable must not be empty and must not contain = or NUL".into())
        } else if value.contains('\0') {
            Some(format!("The value of the environment variable {name} must not contain NUL"))
        } else if self == KernelKind::Bash && !identifier(name) {
            Some(format!("{name} is no name of a variable in bash: use letters, digits and _"))
        } else {
            None
        }
    }

    /// Whether a cell can be stopped without ending the kernel.
    pub fn can_interrupt(self) -> bool {
        self != KernelKind::Deno
    }

    /// Whether a value can still arrive after the kernel has said that it is idle. A request sent then is answered after it.
    pub fn results_come_late(self) -> bool {
        self == KernelKind::Deno
    }
}

fn saved_name(name: &str) -> String {
    format!("__agent_sandbox_saved_{name}")
}

fn encoded(variables: &BTreeMap<String, String>) -> String {
    let map: serde_json::Map<String, serde_json::Value> =
        variables.iter().map(|(name, value)| (name.clone(), value.as_str().into())).collect();
    STANDARD.encode(serde_json::Value::Object(map).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_normalised() {
        for (given, wanted) in [(" JS ", "javascript"), ("ts", "typescript"), ("Python", "python"), (" ", "")] {
            assert_eq!(normalise(given), wanted);
        }
    }

    #[test]
    fn no_value_can_leave_its_literal() {
        let variables = BTreeMap::from([("A".to_owned(), "'; rm x #\"\n\\".to_owned())]);
        for kind in [KernelKind::Python, KernelKind::Deno, KernelKind::Bash] {
            assert!(!kind.set_variables(&variables).contains("rm x"), "{kind:?}");
        }
    }

    #[test]
    fn names_that_would_be_code_are_refused() {
        for (kind, name, value) in [
            (KernelKind::Python, "", "x"),
            (KernelKind::Python, "A=B", "x"),
            (KernelKind::Deno, "A", "\0"),
            (KernelKind::Bash, "A;ls", "x"),
            (KernelKind::Bash, "1A", "x"),
        ] {
            assert!(kind.refuses_variable(name, value).is_some(), "{name:?} in {kind:?}");
        }
        assert_eq!(KernelKind::Bash.refuses_variable("A_1", "'\"\n"), None);
    }
}
