//! The files in which Linux describes the machine, below a root that tests can choose.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// `/proc`, `/sys` and `/etc`, or a picture of them in a folder.
#[derive(Clone, Debug)]
pub struct SystemFiles {
    root: PathBuf,
}

impl SystemFiles {
    /// The files of this machine.
    pub fn of_this_machine() -> Self {
        Self::below("/")
    }

    /// The files in a folder that has `proc`, `sys` and `etc` in it.
    pub fn below(root: impl Into<PathBuf>) -> Self {
        SystemFiles { root: root.into() }
    }

    /// The text of a file, without white space around it; `path` is absolute, as on a machine.
    pub(crate) fn text(&self, path: impl AsRef<Path>) -> Result<String, Missing> {
        let path = path.as_ref();
        match fs::read(self.place(path)) {
            // CPU models and process names are not always UTF-8.
            Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).trim().to_owned()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(Missing::new(path, "there is no such file")),
            Err(error) => Err(Missing::new(path, error.to_string())),
        }
    }

    /// A file that holds one number.
    pub(crate) fn number<T: std::str::FromStr>(&self, path: impl AsRef<Path>) -> Result<T, Missing> {
        let text = self.text(&path)?;
        let parsed = text.parse();
        parsed.map_err(|_| Missing::new(path, format!("'{text}' is not a number")))
    }

    /// A file that holds a list of numbers such as `0-3,8`.
    pub(crate) fn list(&self, path: impl AsRef<Path>) -> Result<Vec<usize>, Missing> {
        let text = self.text(&path)?;
        let list = parse_list(&text);
        list.ok_or_else(|| Missing::new(path, format!("'{text}' is not a list of numbers")))
    }

    /// The list of numbers in the line of a file that begins with a label.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub(crate) fn labelled_list(&self, path: impl AsRef<Path>, label: &str) -> Result<Vec<usize>, Missing> {
        let text = self.text(&path)?;
        let line = text.lines().find_map(|line| line.strip_prefix(label));
        let list = line.and_then(|list| parse_list(list.trim()));
        list.ok_or_else(|| Missing::new(path, format!("there is no list of numbers behind '{label}'")))
    }

    /// The names in a folder, in no order; none if there is no such folder.
    pub(crate) fn names(&self, folder: impl AsRef<Path>) -> Vec<String> {
        fs::read_dir(self.place(folder.as_ref()))
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .collect()
    }

    /// The numbers `N` of the entries `prefixN` in a folder, ascending.
    pub(crate) fn numbered(&self, folder: impl AsRef<Path>, prefix: &str) -> Vec<usize> {
        let mut numbers: Vec<usize> = self
            .names(folder)
            .iter()
            .filter_map(|name| name.strip_prefix(prefix)?.parse().ok())
            .collect();
        numbers.sort_unstable();
        numbers
    }

    fn place(&self, path: &Path) -> PathBuf {
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }
}

/// A file that could not be read or understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {reason}", path.display())]
pub struct Missing {
    path: PathBuf,
    reason: String,
}

impl Missing {
    fn new(path: impl AsRef<Path>, reason: impl Into<String>) -> Missing {
        Missing {
            path: path.as_ref().to_owned(),
            reason: reason.into(),
        }
    }
}

impl From<Missing> for String {
    fn from(missing: Missing) -> String {
        missing.to_string()
    }
}

/// `0-3,8` as 0, 1, 2, 3, 8. An empty text is an empty list.
fn parse_list(text: &str) -> Option<Vec<usize>> {
    let mut list = Vec::new();
    for part in text.split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        // No machine has more; a nonsensical range must not fill the memory.
        if last < first || last > 1 << 20 {
            return None;
        }
        list.extend(first..=last);
    }
    Some(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_as_the_kernel_writes_them() {
        assert_eq!(parse_list("0-3,8,10-11"), Some(vec![0, 1, 2, 3, 8, 10, 11]));
        assert_eq!(parse_list("5"), Some(vec![5]));
        assert_eq!(parse_list(""), Some(vec![]));
        for nonsense in ["3-1", "a", "1-", "-", "0-99999999999", "1 2"] {
            assert_eq!(parse_list(nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn what_is_missing_says_where_and_why() {
        let files = SystemFiles::below("/nowhere/at/all");
        assert_eq!(
            files.number::<u32>("/proc/x").unwrap_err().to_string(),
            "/proc/x: there is no such file"
        );
        assert!(files.names("/proc").is_empty());
    }
}
