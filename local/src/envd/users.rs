//! Who operations run as, out of the system's user and group files.

use std::collections::HashMap;
use std::fs;
use std::sync::LazyLock;

const PASSWD: &str = "/etc/passwd";
const GROUP: &str = "/etc/group";

/// A user of the sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// The login name.
    pub name: String,
    /// The user id.
    pub uid: u32,
    /// The id of the user's own group.
    pub gid: u32,
    /// The home directory.
    pub home: String,
}

/// The user id that envd itself runs with.
static OWN_UID: LazyLock<u32> = LazyLock::new(|| rustix::process::geteuid().as_raw());

impl User {
    /// The user of that name, when operations can run as it: as root anyone, else only envd's own user.
    pub fn find(name: &str) -> Option<Self> {
        let user = fs::read_to_string(PASSWD).ok()?.lines().filter_map(parse).find(|user| user.name == name)?;
        (*OWN_UID == 0 || user.uid == *OWN_UID).then_some(user)
    }

    /// Whether processes must drop to this user, because envd itself runs as another.
    pub fn must_drop(&self) -> bool {
        self.uid != *OWN_UID
    }
}

fn parse(line: &str) -> Option<User> {
    let mut fields = line.split(':');
    let name = fields.next()?.to_owned();
    let uid = fields.nth(1)?.parse().ok()?;
    let gid = fields.next()?.parse().ok()?;
    let home = fields.nth(1).filter(|home| !home.is_empty()).unwrap_or("/").to_owned();
    Some(User { name, uid, gid, home })
}

/// The names behind user and group ids, as the files had them when this was made.
pub struct Names {
    users: HashMap<u32, String>,
    groups: HashMap<u32, String>,
}

impl Names {
    /// Reads both files. What cannot be read names nobody.
    pub fn load() -> Self {
        Self { users: read(PASSWD), groups: read(GROUP) }
    }

    /// The user's name, else the id in decimal.
    pub fn user(&self, uid: u32) -> String {
        self.users.get(&uid).cloned().unwrap_or_else(|| uid.to_string())
    }

    /// The group's name, else the id in decimal.
    pub fn group(&self, gid: u32) -> String {
        self.groups.get(&gid).cloned().unwrap_or_else(|| gid.to_string())
    }
}

/// Ids and names of a file whose lines begin `name:password:id`; the first line of an id counts.
fn read(path: &str) -> HashMap<u32, String> {
    let mut names = HashMap::new();
    for line in fs::read_to_string(path).unwrap_or_default().lines() {
        let mut fields = line.split(':');
        if let (Some(name), Some(Ok(id))) = (fields.next(), fields.nth(1).map(str::parse)) {
            names.entry(id).or_insert_with(|| name.to_owned());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_passwd_gives_a_user() {
        let user = parse("user:x:1000:1001:A Person,,,:/home/user:/bin/bash").unwrap();
        assert_eq!(user, User { name: "user".into(), uid: 1000, gid: 1001, home: "/home/user".into() });
        assert_eq!(parse("svc:x:5:5:::/bin/false").unwrap().home, "/");
        for line in ["", "# comment", "user:x:one:1:::", "user"] {
            assert_eq!(parse(line), None, "{line}");
        }
    }
}
