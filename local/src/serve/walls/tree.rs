//! The processes of one sandbox, as `/proc` of the host shows them: a first one and everything below it. Orphans stay below it, because
//! the first process of a PID namespace, and envd without one, adopts them.

use std::collections::HashMap;
use std::fs;

/// One living process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member {
    /// Its id on the host.
    pub pid: u32,
    /// The letter by which the kernel tells what it is doing.
    pub state: char,
    /// Processor time that it and its children that are gone have used, in ticks.
    pub ticks: u64,
}

/// All living processes of one moment.
pub struct Processes {
    by_parent: HashMap<u32, Vec<Member>>,
    parents: HashMap<u32, u32>,
}

/// The living processes below `root` now; see [`Processes::below`].
pub fn members(root: u32) -> Vec<Member> {
    Processes::scan().below(root)
}

/// What a process is doing now, by the kernel's letter; `None` when it has ended.
pub fn state(pid: u32) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    Some(parse(pid, &stat)?.1.state)
}

impl Processes {
    /// Looks at all of them.
    pub fn scan() -> Self {
        let (mut by_parent, mut parents) = (HashMap::<u32, Vec<Member>>::new(), HashMap::new());
        for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
            let stat = fs::read_to_string(entry.path().join("stat"));
            let Some((parent, member)) = stat.ok().as_deref().and_then(|stat| parse(pid, stat)) else { continue };
            parents.insert(pid, parent);
            by_parent.entry(parent).or_default().push(member);
        }
        Self { by_parent, parents }
    }

    /// Those below `root`, parents before their children, with `root` itself first.
    pub fn below(&self, root: u32) -> Vec<Member> {
        let siblings = self.parents.get(&root).and_then(|parent| self.by_parent.get(parent));
        let mut found: Vec<Member> = siblings.into_iter().flatten().filter(|member| member.pid == root).copied().collect();
        let mut at = 0;
        while let Some(member) = found.get(at) {
            let children = self.by_parent.get(&member.pid).cloned().unwrap_or_default();
            found.extend(children);
            at += 1;
        }
        found
    }
}

/// The parent and the process in a line of `/proc/<pid>/stat`, unless it has ended. The name in parentheses may hold anything.
fn parse(pid: u32, stat: &str) -> Option<(u32, Member)> {
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    let state = fields.first()?.chars().next().filter(|state| !"ZX".contains(*state))?;
    let parent = u32::try_from(number(1)?).ok()?;
    let ticks = (11..15).map(number).sum::<Option<u64>>()?;
    Some((parent, Member { pid, state, ticks }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_kernel_are_read_whatever_the_name() {
        let line = "7 (a) Z (b)) S 3 7 7 0 -1 4 1 0 0 0 11 5 2 1 20 0 1 0 99 4096 77 18446744073709551615 1";
        assert_eq!(parse(7, line), Some((3, Member { pid: 7, state: 'S', ticks: 19 })));
        assert_eq!(parse(7, "7 (gone) Z 3 7 7 0 -1 4 1 0 0 0 11 5 0 0 20 0 1 0 99 0 0"), None);
        assert_eq!(parse(7, "7"), None);
    }

    #[test]
    fn children_follow_their_parents() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let found: Vec<u32> = members(std::process::id()).iter().map(|member| member.pid).collect();
        assert_eq!(found.first(), Some(&std::process::id()));
        assert!(found.contains(&child.id()));
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
