//! Documents that stay true as files move.

use std::{
    collections::{HashMap, HashSet},
    path::{Component, Path, PathBuf},
};

use super::{finding::Finding, layers::Crate, source::SourceFile};

/// The pages of the book.
const BOOK: &str = "docs/src";
/// The book's table of contents.
const SUMMARY: &str = "docs/src/SUMMARY.md";
/// Results of published studies: `scripts/book.sh` makes the page `NAME/report.html` next to the book from
/// `NAME/results.json.gz`.
const RESULTS: &str = "docs/results";

/// Applies the rules about documents.
pub(crate) fn check(root: &Path, crates: &[Crate], files: &[SourceFile]) -> Vec<Finding> {
    let pages: Vec<&SourceFile> = files.iter().filter(|f| f.has_extension("md")).collect();
    let anchors: HashMap<&Path, HashSet<String>> = pages
        .iter()
        .map(|page| (page.path.as_path(), anchors(&page.text)))
        .collect();
    let mut findings = Vec::new();
    for page in &pages {
        for (target, line) in links(&page.text) {
            if let Some(fault) = fault_of_link(root, &page.path, &target, &anchors) {
                findings.push(Finding::new(&page.path, line, fault));
            }
        }
    }
    findings.extend(check_summary(&pages));
    findings.extend(check_map(crates, files));
    findings
}

/// ARCHITECTURE.md names every crate.
fn check_map(crates: &[Crate], files: &[SourceFile]) -> Vec<Finding> {
    let Some(map) = files.iter().find(|file| file.path == Path::new("ARCHITECTURE.md")) else {
        return vec![Finding::new("ARCHITECTURE.md", None, "is missing")];
    };
    crates
        .iter()
        .map(|member| member.folder.display().to_string())
        .filter(|folder| !map.text.contains(&format!("`{folder}`")))
        .map(|folder| Finding::new(&map.path, None, format!("does not say what `{folder}` is")))
        .collect()
}

/// Every page of the book is in its table of contents, once. (What the table names exists: it is a link.)
fn check_summary(pages: &[&SourceFile]) -> Vec<Finding> {
    let Some(summary) = pages.iter().find(|page| page.path == Path::new(SUMMARY)) else {
        return Vec::new();
    };
    let listed: Vec<PathBuf> = links(&summary.text)
        .iter()
        .filter_map(|(target, _)| resolved(&summary.path, target))
        .collect();
    pages
        .iter()
        .filter(|page| page.path.starts_with(BOOK) && page.path != Path::new(SUMMARY))
        .filter_map(|page| {
            let times = listed.iter().filter(|path| **path == page.path).count();
            let fault = match times {
                1 => return None,
                0 => format!("is not in {SUMMARY}"),
                _ => format!("is in {SUMMARY} {times} times"),
            };
            Some(Finding::new(&page.path, None, fault))
        })
        .collect()
}

/// Returns what is wrong with a link, if anything is.
fn fault_of_link(root: &Path, from: &Path, target: &str, anchors: &HashMap<&Path, HashSet<String>>) -> Option<String> {
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    // What a template leaves open is not known here.
    if path.contains("://") || path.starts_with("mailto:") || path.contains("{{") {
        return None;
    }
    let page = if path.is_empty() {
        from.to_owned()
    } else {
        match resolved(from, path).filter(|page| root.join(kept(page)).exists()) {
            Some(page) => page,
            None => return Some(format!("the link {target} leads nowhere")),
        }
    };
    let is_on_the_site = page.starts_with(BOOK) || is_report(&page);
    if from.starts_with(BOOK) && !is_on_the_site {
        return Some(format!("the link {target} leads out of the book"));
    }
    if !anchor.is_empty() && anchors.get(page.as_path()).is_some_and(|a| !a.contains(anchor)) {
        return Some(format!("the page that {target} names has no such heading"));
    }
    None
}

/// Returns whether a page is the report of a published study, which the site alone has.
fn is_report(page: &Path) -> bool {
    page.starts_with(RESULTS) && page.ends_with("report.html")
}

/// The file of the repository that a page is, or is made from.
fn kept(page: &Path) -> PathBuf {
    match is_report(page) {
        true => page.with_file_name("results.json.gz"),
        false => page.to_owned(),
    }
}

/// Targets of `[text](target)` outside code blocks, with their lines.
fn links(text: &str) -> Vec<(String, usize)> {
    prose(text)
        .flat_map(|(line, number)| {
            line.split("](").skip(1).filter_map(move |part| {
                let (target, _) = part.split_once(')')?;
                Some((target.to_owned(), number))
            })
        })
        .collect()
}

/// The lines outside code blocks, numbered from 1.
fn prose(text: &str) -> impl Iterator<Item = (&str, usize)> {
    let mut in_code = false;
    text.lines().zip(1..).filter(move |(line, _)| {
        let is_fence = line.trim_start().starts_with("```");
        in_code ^= is_fence;
        !in_code && !is_fence
    })
}

/// The names by which the headings of a page are linked to, as mdBook and hosts of repositories make them.
fn anchors(text: &str) -> HashSet<String> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    prose(text)
        .filter_map(|(line, _)| {
            let heading = line.trim_start_matches('#');
            let level = line.len() - heading.len();
            (1..=6).contains(&level).then(|| heading.strip_prefix(' '))?
        })
        .map(|heading| {
            let name = anchor_of(heading);
            let times = seen.entry(name.clone()).or_default();
            *times += 1;
            match *times {
                1 => name,
                times => format!("{name}-{}", times - 1),
            }
        })
        .collect()
}

fn anchor_of(heading: &str) -> String {
    heading
        .trim()
        .chars()
        .filter_map(|c| match c {
            c if c.is_alphanumeric() => Some(c.to_ascii_lowercase()),
            '-' | '_' => Some(c),
            c if c.is_whitespace() => Some('-'),
            _ => None,
        })
        .collect()
}

/// The path that a link leads to, relative to the root; none out of the repository, where it leads nowhere for whoever
/// clones it.
fn resolved(from: &Path, path: &str) -> Option<PathBuf> {
    let joined = from.parent().unwrap_or(Path::new("")).join(path);
    let mut normal = PathBuf::new();
    for part in joined.components() {
        match part {
            Component::ParentDir if !normal.pop() => return None,
            Component::ParentDir | Component::CurDir => {}
            part => normal.push(part),
        }
    }
    Some(normal)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(path: &str, text: &str) -> SourceFile {
        SourceFile {
            path: path.into(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn links_are_read_outside_code_only() {
        let text = "see [a](a.md) and [b](b.md#part)\n```\n[c](c.md)\n```\n[d](https://example.org)\n";
        assert_eq!(
            links(text),
            [
                ("a.md".into(), 1),
                ("b.md#part".into(), 1),
                ("https://example.org".into(), 5)
            ]
        );
    }

    #[test]
    fn headings_have_the_names_that_links_use() {
        let text = "# A title: `x`, y\n```sh\n# no heading\n```\n## Part\n## Part\n####### seven\n#none\n";
        let expected = ["a-title-x-y", "part", "part-1"].map(String::from);
        assert_eq!(anchors(text), HashSet::from(expected));
    }

    #[test]
    fn broken_links_are_found() {
        let root = tempfile::tempdir().unwrap();
        for folder in ["docs/src", "docs/results/a"] {
            std::fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        for file in ["README.md", "docs/results/a/results.json.gz"] {
            std::fs::write(root.path().join(file), "").unwrap();
        }
        let anchors = HashMap::from([(Path::new("README.md"), HashSet::from(["use".to_owned()]))]);
        let fault = |from: &str, target| fault_of_link(root.path(), Path::new(from), target, &anchors);
        assert_eq!(fault("docs/guide.md", "../README.md#use"), None);
        assert_eq!(fault("docs/guide.md", "#part"), None);
        assert_eq!(fault("docs/src/page.md", "../results/a/report.html"), None);
        assert_eq!(fault("docs/src/page.md", "https://example.org/#x"), None);
        assert_eq!(fault("report.md", "figures/{{ id }}.svg"), None);
        for (from, target) in [
            ("docs/guide.md", "README.md"),
            ("docs/guide.md", "../../outside.md"),
            ("docs/guide.md", "../README.md#abuse"),
            ("README.md", "#abuse"),
            ("docs/src/page.md", "../../README.md"),
            ("docs/src/page.md", "../results/a/results.json.gz"),
            ("docs/src/page.md", "../results/b/report.html"),
        ] {
            assert!(fault(from, target).is_some(), "{from} {target}");
        }
    }

    #[test]
    fn every_page_of_the_book_is_in_its_table_of_contents_once() {
        let files = [
            page(SUMMARY, "- [a](a.md)\n- [b](b.md)\n- [b](b.md)\n"),
            page("docs/src/a.md", ""),
            page("docs/src/b.md", ""),
            page("docs/src/c.md", ""),
            page("README.md", ""),
        ];
        let found = check_summary(&files.iter().collect::<Vec<_>>());
        let found: Vec<String> = found.iter().map(Finding::to_string).collect();
        assert_eq!(
            found,
            [
                "docs/src/b.md: is in docs/src/SUMMARY.md 2 times",
                "docs/src/c.md: is not in docs/src/SUMMARY.md"
            ]
        );
    }
}
