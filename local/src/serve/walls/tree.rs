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
    /// Processor time it has used itself, in ticks.
    pub ticks: u64,
    /// Memory that it occupies, in pages; shared pages count for each who shares them.
    pub resident: u64,
}

/// The living processes below `root`, parents before their children, with `root` itself first.
pub fn members(root: u32) -> Vec<Member> {
    let mut children: HashMap<u32, Vec<Member>> = HashMap::new();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        let stat = fs::read_to_string(entry.path().join("stat"));
        let Some((parent, member)) = stat.ok().as_deref().and_then(|stat| parse(pid, stat)) else { continue };
        if pid == root {
            found.push(member);
        } else {
            children.entry(parent).or_default().push(member);
        }
    }
    let mut at = 0;
    while let Some(member) = found.get(at).copied() {
        found.append(&mut children.remove(&member.pid).unwrap_or_default());
        at += 1;
    }
    found
}

/// The parent and the process in a line of `/proc/<pid>/stat`, unless it has ended. The name in parentheses may hold anything.
fn parse(pid: u32, stat: &str) -> Option<(u32, Member)> {
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    let state = fields.first()?.chars().next().filter(|state| !"ZX".contains(*state))?;
    let parent = u32::try_from(number(1)?).ok()?;
    Some((parent, Member { pid, state, ticks: number(11)? + number(12)?, resident: number(21)? }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_kernel_are_read_whatever_the_name() {
        let line = "7 (a) Z (b)) S 3 7 7 0 -1 4 1 0 0 0 11 5 0 0 20 0 1 0 99 4096 77 18446744073709551615 1";
        assert_eq!(parse(7, line), Some((3, Member { pid: 7, state: 'S', ticks: 16, resident: 77 })));
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
