//! No file imports a file that imports it, directly or through others, within one crate; and no folder imports a folder
//! beside it that imports it. A folder is a module with all that is in it; what is an import, `imports` says.

use std::{
    cell::RefCell,
    collections::{BTreeSet, HashMap, VecDeque, hash_map::Entry},
    path::Path,
};

use petgraph::{algo::tarjan_scc, graphmap::DiGraphMap};

use super::{
    finding::Finding,
    imports::{Imports, Modules},
    layers::Crate,
    source::SourceFile,
};

/// Circles between folders that stay, by the root of the crate and the modules in them, with the reason.
const KNOWN: [(&str, &[&str], &str); 4] = [
    (
        "crates/arith/src/lib.rs",
        &["candidate", "dispatch"],
        "a kernel makes the tests of candidates, which are generic over it",
    ),
    (
        "crates/gpu/src/lib.rs",
        &["driver", "kernel", "ptx"],
        "drivers launch kernels, whose grid depends on what a driver says of its device",
    ),
    (
        "crates/study/src/lib.rs",
        &["error", "plan", "store"],
        "the crate's error has those of its modules as variants, and they return it",
    ),
    (
        "crates/study/src/lib.rs",
        &["articles", "report"],
        "an article is judged on the report's tables, and a report has the files of an article",
    ),
];

/// Applies the rule to every crate.
pub(crate) fn check(crates: &[Crate], files: &[SourceFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let seen = RefCell::default();
    for member in crates {
        let src = member.folder.join("src");
        let own: Vec<&SourceFile> = files
            .iter()
            .filter(|file| file.has_extension("rs") && file.path.starts_with(&src))
            .collect();
        for root in ["lib.rs", "main.rs"] {
            findings.extend(cycles(&src.join(root), &own, &seen));
        }
    }
    let seen = seen.into_inner();
    let gone = KNOWN.iter().enumerate().filter(|(number, _)| !seen.contains(number));
    findings.extend(gone.map(|(_, (root, folders, _))| {
        let message = format!(
            "no import cycle between {} any more: take it off the list",
            folders.join(", ")
        );
        Finding::new(Path::new(root), None, message)
    }));
    findings
}

/// The cycles among the files that are reached from `root`, which need not exist; if there are none, those among the
/// folders. Those that are known go into `seen`, by their place in the list.
fn cycles(root: &Path, files: &[&SourceFile], seen: &RefCell<BTreeSet<usize>>) -> Vec<Finding> {
    let modules = Modules::read(root, files);
    let imports = modules.imports();
    let name = |file: usize| files[file].path.display().to_string();
    let of_files = tangles(&imports, |_| false, name, "an import cycle", "files");
    if !of_files.is_empty() {
        return findings(of_files, |file| &files[file].path);
    }
    let mut of_folders = Vec::new();
    for (parent, folders) in modules.between_folders(&imports) {
        let names: BTreeSet<&String> = folders.keys().flat_map(|(from, to)| [from, to]).collect();
        let names: Vec<&String> = names.into_iter().collect();
        let place = |name: &String| names.binary_search(&name).expect("it is among them");
        let edges = folders
            .iter()
            .map(|((from, to), taken)| ((place(from), place(to)), taken.clone()));
        let name = |folder: usize| [&parent[..], &[names[folder].clone()]].concat().join("::");
        let is_known = |tangle: &[usize]| {
            let tangle: BTreeSet<String> = tangle.iter().map(|&folder| name(folder)).collect();
            let is_it = |(of, folders, _): &(&str, &[&str], &str)| Path::new(of) == root && tangle.iter().eq(*folders);
            KNOWN.iter().position(is_it).is_some_and(|number| {
                seen.borrow_mut().insert(number);
                true
            })
        };
        let found = tangles(
            &edges.collect(),
            is_known,
            name,
            "an import cycle between folders",
            "folders",
        );
        of_folders.extend(found);
    }
    findings(of_folders, |_| root)
}

/// One message for each tangle, with one of those in it.
fn findings<'a>(tangles: Vec<(usize, String)>, path: impl Fn(usize) -> &'a Path) -> Vec<Finding> {
    let finding = |(place, message)| Finding::new(path(place), None, message);
    let mut findings: Vec<Finding> = tangles.into_iter().map(finding).collect();
    findings.sort_by(|a, b| a.path.cmp(&b.path));
    findings
}

/// The strongly connected components that are not known, each with the first of its shortest cycle and a message.
fn tangles(
    imports: &Imports<usize>,
    is_known: impl Fn(&[usize]) -> bool,
    name: impl Fn(usize) -> String,
    what: &str,
    whose: &str,
) -> Vec<(usize, String)> {
    let mut graph = DiGraphMap::<usize, ()>::new();
    for &(from, to) in imports.keys() {
        graph.add_edge(from, to, ());
    }
    let tangles = tarjan_scc(&graph).into_iter().filter(|tangle| tangle.len() > 1);
    tangles
        .filter(|tangle| !is_known(tangle))
        .map(|tangle| {
            let cycle = shortest_cycle(&graph, &tangle);
            let arrows: Vec<String> = cycle
                .iter()
                .zip(cycle.iter().cycle().skip(1))
                .map(|(&from, &to)| {
                    let names: Vec<&str> = imports[&(from, to)].iter().map(String::as_str).collect();
                    format!("{} takes {} from {}", name(from), names.join(", "), name(to))
                })
                .collect();
            let tangle = match tangle.len() - cycle.len() {
                0 => String::new(),
                more => format!(" ({more} more {whose} are entangled)"),
            };
            (cycle[0], format!("{what}: {}{tangle}", arrows.join("; ")))
        })
        .collect()
}

/// The fewest files of a strongly connected component that import each other in a circle.
fn shortest_cycle(graph: &DiGraphMap<usize, ()>, component: &[usize]) -> Vec<usize> {
    let back_to = |start: usize| {
        let mut before = HashMap::new();
        let mut waiting = VecDeque::from([start]);
        while let Some(file) = waiting.pop_front() {
            for next in graph.neighbors(file).filter(|next| component.contains(next)) {
                if next == start {
                    let mut cycle = vec![file];
                    while let Some(&earlier) = before.get(&cycle[cycle.len() - 1]) {
                        cycle.push(earlier);
                    }
                    cycle.reverse();
                    return cycle;
                }
                if let Entry::Vacant(entry) = before.entry(next) {
                    entry.insert(file);
                    waiting.push_back(next);
                }
            }
        }
        unreachable!("a component of more than one file is strongly connected")
    };
    component
        .iter()
        .map(|&start| back_to(start))
        .min_by_key(|cycle| (cycle.len(), cycle.clone()))
        .expect("a component has files")
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<SourceFile> = files
            .iter()
            .map(|(path, text)| SourceFile {
                path: PathBuf::from(path),
                text: (*text).to_owned(),
            })
            .collect();
        let files: Vec<&SourceFile> = files.iter().collect();
        cycles(Path::new("src/lib.rs"), &files, &RefCell::default())
            .into_iter()
            .map(|finding| finding.message)
            .collect()
    }

    #[test]
    fn two_files_that_import_each_other_are_found() {
        let a = ("src/a.rs", "use crate::b::f;\npub fn g() { f() }");
        let b = ("src/b.rs", "pub fn f() { super::a::g() }");
        let root = ("src/lib.rs", "mod a;\nmod b;");
        assert_eq!(
            found(&[root, a, b]),
            ["an import cycle: src/a.rs takes f from src/b.rs; src/b.rs takes g from src/a.rs"]
        );
        let b = ("src/b.rs", "pub fn f() {}");
        assert_eq!(found(&[root, a, b]), [""; 0]);
    }

    #[test]
    fn two_folders_that_import_each_other_are_found() {
        let root = ("src/lib.rs", "mod a;\nmod b;");
        let files = [
            root,
            ("src/a.rs", "mod low;\nmod high;"),
            ("src/a/low.rs", "pub fn f() {}"),
            ("src/a/high.rs", "pub fn h() { crate::b::g() }"),
            ("src/b.rs", "pub fn g() { crate::a::low::f() }"),
        ];
        assert_eq!(
            found(&files),
            ["an import cycle between folders: a takes g from b; b takes f from a"]
        );
        // What a folder has in it may import one another, and the folder's own file what is in it.
        let mut one_way = files;
        one_way[4].1 = "pub fn g() {}";
        assert_eq!(found(&one_way), [""; 0]);
        let mut own = one_way;
        own[1].1 = "mod low;\nmod high;\npub struct S;\nfn f() { low::f() }";
        own[3].1 = "use super::S;\npub fn h(_: S) { super::low::f() }";
        assert_eq!(found(&own), [""; 0]);
        // At a deeper level, too.
        let deep = [
            ("src/lib.rs", "mod c;"),
            ("src/c.rs", "mod a;\nmod b;"),
            ("src/c/a.rs", "mod low;\nmod high;"),
            ("src/c/a/low.rs", "pub fn f() {}"),
            ("src/c/a/high.rs", "pub fn h() { crate::c::b::g() }"),
            ("src/c/b.rs", "pub fn g() { crate::c::a::low::f() }"),
        ];
        assert_eq!(found(&deep).len(), 1);
    }

    #[test]
    fn a_parent_may_pass_on_what_a_child_defines_but_not_use_it_and_be_used() {
        let child = ("src/a/b.rs", "use super::Shape;\npub struct Round(Shape);");
        let passes_on = ("src/a/mod.rs", "mod b;\npub use b::Round;\npub struct Shape;");
        let uses = (
            "src/a/mod.rs",
            "mod b;\npub use b::Round;\npub struct Shape;\nfn f(_: Round) {}",
        );
        let root = ("src/lib.rs", "mod a;\nuse a::Round;\nfn f(_: Round) {}");
        assert_eq!(found(&[root, passes_on, child]), [""; 0]);
        assert_eq!(found(&[root, uses, child]).len(), 1);
    }

    #[test]
    fn a_sibling_module_that_is_brought_in_is_no_import_of_the_parent() {
        let root = ("src/lib.rs", "mod a;");
        let parent = ("src/a/mod.rs", "mod b;\nmod c;\nfn f() { b::g() }");
        let b = ("src/a/b.rs", "use super::c;\npub fn g() { c::h() }");
        let c = ("src/a/c.rs", "pub fn h() {}");
        assert_eq!(found(&[root, parent, b, c]), [""; 0]);
    }

    #[test]
    fn names_are_followed_through_modules_macros_and_re_exports() {
        let root = ("src/lib.rs", "pub mod a;\nmod c;\npub use c::late;");
        let a = ("src/a.rs", "use crate::late;\npub fn early() { late() }");
        for c in [
            "use crate::a;\npub fn late() { a::early() }",
            "pub fn late() { assert!(matches!(crate::a::early(), ())) }",
            "pub fn late() { use super::a::early; early() }",
        ] {
            assert_eq!(found(&[root, a, ("src/c.rs", c)]).len(), 1, "{c}");
        }
        let test = "pub fn late() {}\n#[cfg(test)]\nmod tests { use crate::a::early; }";
        assert_eq!(found(&[root, a, ("src/c.rs", test)]), [""; 0]);
    }
}
