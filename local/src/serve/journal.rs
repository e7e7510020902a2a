//! The log of one sandbox, for its clients: what the platform did with it and what envd reports of its processes. Kept in memory; of what
//! processes write there is nothing here.

use super::keys::lock;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Mutex;

/// How many entries are kept; the oldest make room.
const KEPT: usize = 5_000;

/// How much an entry matters, in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// For those who look for a fault.
    Debug,
    /// What happens.
    Info,
    /// What somebody should know.
    Warn,
    /// What went wrong.
    Error,
}

/// One entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// When it was made.
    pub timestamp: Timestamp,
    /// How much it matters.
    pub level: Level,
    /// Text for people.
    pub message: String,
    /// Details by name.
    pub fields: BTreeMap<String, String>,
}

/// What envd writes on its stderr, as one line of JSON.
#[derive(Deserialize)]
struct Line {
    level: Level,
    message: String,
    #[serde(default)]
    fields: BTreeMap<String, String>,
}

/// The entries of one sandbox.
#[derive(Default)]
pub struct Journal(Mutex<VecDeque<Entry>>);

impl Journal {
    /// Adds an entry of now.
    pub fn add(&self, level: Level, message: impl Into<String>, fields: &[(&str, String)]) {
        let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        self.push(level, message.into(), fields);
    }

    /// Adds a line of envd's, whatever it is.
    pub fn add_line(&self, line: &str) {
        match serde_json::from_str::<Line>(line) {
            Ok(line) => self.push(line.level, line.message, line.fields),
            Err(_) => self.push(Level::Warn, line.to_owned(), BTreeMap::new()),
        }
    }

    fn push(&self, level: Level, message: String, fields: BTreeMap<String, String>) {
        let mut entries = lock(&self.0);
        if entries.len() == KEPT {
            entries.pop_front();
        }
        entries.push_back(Entry { timestamp: Timestamp::now(), level, message, fields });
    }

    /// The entries that are wanted, oldest first.
    pub fn entries(&self, wanted: impl Fn(&Entry) -> bool) -> Vec<Entry> {
        lock(&self.0).iter().filter(|entry| wanted(entry)).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_any_kind_are_kept_and_the_oldest_go() {
        let journal = Journal::default();
        journal.add_line(r#"{"level":"info","message":"process started","fields":{"pid":"7"}}"#);
        journal.add_line("thread panicked");
        let entries = journal.entries(|_| true);
        assert_eq!((entries[0].level, entries[0].fields["pid"].as_str()), (Level::Info, "7"));
        assert_eq!((entries[1].level, entries[1].message.as_str()), (Level::Warn, "thread panicked"));
        for _ in 0..KEPT {
            journal.add(Level::Info, "more", &[]);
        }
        assert_eq!(journal.entries(|_| true).len(), KEPT);
        assert!(journal.entries(|entry| entry.level > Level::Info).is_empty());
    }
}
