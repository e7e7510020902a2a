//! File modes in letters, in the form that Go programs print.

use rustix::fs::{FileType, RawMode};

/// The mode string, such as `-rw-r--r--`, `dtrwxrwxrwx` or `Lrwxrwxrwx`: one letter for each special property, or `-`, then the
/// nine permissions.
pub fn mode_string(mode: RawMode) -> String {
    let mut text = String::with_capacity(12);
    let kind = FileType::from_raw_mode(mode);
    if kind == FileType::Directory {
        text.push('d');
    }
    if kind == FileType::Symlink {
        text.push('L');
    }
    if matches!(kind, FileType::BlockDevice | FileType::CharacterDevice) {
        text.push('D');
    }
    if kind == FileType::Fifo {
        text.push('p');
    }
    if kind == FileType::Socket {
        text.push('S');
    }
    if mode & libc::S_ISUID != 0 {
        text.push('u');
    }
    if mode & libc::S_ISGID != 0 {
        text.push('g');
    }
    if kind == FileType::CharacterDevice {
        text.push('c');
    }
    if mode & libc::S_ISVTX != 0 {
        text.push('t');
    }
    if text.is_empty() {
        text.push('-');
    }
    for (at, letter) in "rwxrwxrwx".chars().enumerate() {
        text.push(if mode & (0o400 >> at) != 0 { letter } else { '-' });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_and_property_has_its_letter() {
        for (mode, text) in [
            (libc::S_IFREG | 0o644, "-rw-r--r--"),
            (libc::S_IFDIR | 0o755, "drwxr-xr-x"),
            (libc::S_IFLNK | 0o777, "Lrwxrwxrwx"),
            (libc::S_IFDIR | 0o1777, "dtrwxrwxrwx"),
            (libc::S_IFREG | 0o4755, "urwxr-xr-x"),
            (libc::S_IFCHR | 0o666, "Dcrw-rw-rw-"),
            (libc::S_IFBLK | 0o660, "Drw-rw----"),
            (libc::S_IFIFO | 0o644, "prw-r--r--"),
            (libc::S_IFSOCK | 0o2600, "Sgrw-------"),
        ] {
            assert_eq!(mode_string(mode), text);
        }
    }
}
