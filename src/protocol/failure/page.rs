//! The guide's page on errors holds the tables, row by row; the client's own tests read them there and make each row happen.

use super::*;

const PAGE: &str = include_str!("../../../docs/errors.md");

fn cell(text: &str) -> String {
    if text.is_empty() { "(the class's own)".to_owned() } else { text.replace('|', "\\|") }
}

fn calls(doing: &[Doing]) -> String {
    if doing.len() == Doing::ALL.len() {
        return "any".to_owned();
    }
    doing.iter().map(|one| format!("{one:?}").to_lowercase()).collect::<Vec<_>>().join(", ")
}

fn answers() -> String {
    let mut lines = String::new();
    for Row { doing, on, class, suggestion } in TABLE {
        let on = match on {
            On::Code(code) => code.as_str().to_owned(),
            On::Status(status) => status.to_string(),
            On::Statuses(from, to) => format!("{from} to {to}"),
        };
        lines += &format!("| {} | `{on}` | `{}` | {} |\n", calls(doing), class.name(), cell(suggestion));
    }
    lines
}

fn words_of_servers() -> String {
    let mut lines = String::new();
    for Words { doing, part, class, suggestion } in WORDS {
        let class = class.map_or_else(|| "(as above)".to_owned(), |class| format!("`{}`", class.name()));
        lines += &format!("| {} | {part} | {class} | {} |\n", calls(doing), cell(suggestion));
    }
    lines
}

#[test]
fn the_page_of_errors_holds_the_tables_row_by_row() {
    for (name, expected) in [("answers", answers()), ("words", words_of_servers())] {
        let begin = format!("<!-- table: {name} -->\n");
        let found = PAGE.split_once(&begin).and_then(|(_, rest)| rest.split_once("<!-- end -->")).map(|(table, _)| table);
        let found = found.map(|table| table.lines().skip(2).map(|line| format!("{line}\n")).collect::<String>());
        assert_eq!(found.as_deref(), Some(&*expected), "docs/errors.md, {name}: the rows that belong there are\n{expected}");
    }
}
