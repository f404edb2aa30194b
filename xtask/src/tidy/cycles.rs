//! No file imports a file that imports it, directly or through others, within one crate; and no folder imports a folder
//! beside it that imports it. A folder is a module with all that is in it.
//!
//! A path in the code (`crate::store::Row`, `super::Row`, or a name that a `use` brought in) is followed through
//! re-exports to the file that defines it; that is an import of this file. Naming a module (`mod row;`) or passing its
//! items on (`pub use row::Row;`) is none. Tests are left out: they use what they like.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque, hash_map::Entry};
use std::path::Path;

use petgraph::{algo::tarjan_scc, graphmap::DiGraphMap};
use proc_macro2::{TokenStream, TokenTree};
use syn::{Item, UseTree, Visibility, visit::Visit};

use super::{finding::Finding, layers::Crate, source::SourceFile};

/// A module's path from the root of its crate, such as `["store", "read"]`.
type ModulePath = Vec<String>;

/// What one module defines and brings into scope.
#[derive(Debug, Default)]
struct Module {
    /// The index of the file that it lies in.
    file: usize,
    /// Functions, types, constants … that it defines.
    items: BTreeSet<String>,
    /// Names that a `use` brings in, with what they stand for.
    names: HashMap<String, Vec<String>>,
    /// `use path::*`.
    globs: Vec<Vec<String>>,
    /// Paths that the module's code goes by, `use` declarations among them.
    paths: Vec<Vec<String>>,
}

/// Applies the rule to every crate.
pub(crate) fn check(crates: &[Crate], files: &[SourceFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for member in crates {
        let src = member.folder.join("src");
        let own: Vec<&SourceFile> = files
            .iter()
            .filter(|file| file.has_extension("rs") && file.path.starts_with(&src))
            .collect();
        for root in ["lib.rs", "main.rs"] {
            findings.extend(cycles(&src.join(root), &own));
        }
    }
    findings
}

/// The cycles among the files that are reached from `root`, which need not exist; if there are none, those among the
/// folders.
fn cycles(root: &Path, files: &[&SourceFile]) -> Vec<Finding> {
    let modules = Modules::read(root, files);
    let imports = modules.imports();
    let name = |file: usize| files[file].path.display().to_string();
    let of_files = tangles(&imports, name, "an import cycle", "files");
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
        of_folders.extend(tangles(
            &edges.collect(),
            name,
            "an import cycle between folders",
            "folders",
        ));
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

/// What imports what, with the names that are taken.
type Imports<Node> = BTreeMap<(Node, Node), BTreeSet<String>>;

/// The strongly connected components, each with the first of its shortest cycle and a message.
fn tangles(imports: &Imports<usize>, name: impl Fn(usize) -> String, what: &str, whose: &str) -> Vec<(usize, String)> {
    let mut graph = DiGraphMap::<usize, ()>::new();
    for &(from, to) in imports.keys() {
        graph.add_edge(from, to, ());
    }
    let tangles = tarjan_scc(&graph).into_iter().filter(|tangle| tangle.len() > 1);
    tangles
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

/// The modules of one crate.
struct Modules(BTreeMap<ModulePath, Module>);

impl Modules {
    fn read(root: &Path, files: &[&SourceFile]) -> Modules {
        let mut modules = Modules(BTreeMap::new());
        modules.read_file(root, &root.with_file_name(""), Vec::new(), files);
        modules
    }

    /// Reads the file at `path`, whose `mod x;` declarations lead to files in `folder`.
    fn read_file(&mut self, path: &Path, folder: &Path, module: ModulePath, files: &[&SourceFile]) {
        let Some(file) = files.iter().position(|file| file.path == path) else {
            return;
        };
        // A file that is not Rust is reported by the rule on `unsafe`.
        if let Ok(parsed) = syn::parse_file(&files[file].text) {
            self.read_items(&parsed.items, file, folder, module, files);
        }
    }

    fn read_items(&mut self, items: &[Item], file: usize, folder: &Path, path: ModulePath, files: &[&SourceFile]) {
        let mut module = Module {
            file,
            ..Module::default()
        };
        for item in items.iter().filter(|item| !is_test(attributes(item))) {
            match item {
                Item::Use(item) => {
                    let passed_on = !matches!(item.vis, Visibility::Inherited);
                    module.bring_in(&item.tree, &mut Vec::new(), passed_on);
                }
                Item::Mod(item) => {
                    let name = item.ident.to_string();
                    let inner = [&path[..], std::slice::from_ref(&name)].concat();
                    let folder = folder.join(&name);
                    match &item.content {
                        Some((_, items)) => self.read_items(items, file, &folder, inner, files),
                        None => {
                            for candidate in [folder.with_extension("rs"), folder.join("mod.rs")] {
                                self.read_file(&candidate, &folder, inner.clone(), files);
                            }
                        }
                    }
                }
                item => {
                    module.items.extend(defined(item));
                    module.visit_item(item);
                }
            }
        }
        self.0.insert(path, module);
    }

    /// For every module that has others in it, what these import from each other. Its own file is none of them.
    fn between_folders(&self, imports: &Imports<usize>) -> BTreeMap<ModulePath, Imports<String>> {
        let mut of_file: BTreeMap<usize, &ModulePath> = BTreeMap::new();
        for (path, module) in &self.0 {
            // A file's own module comes before those that are written in it.
            of_file.entry(module.file).or_insert(path);
        }
        let mut folders: BTreeMap<ModulePath, Imports<String>> = BTreeMap::new();
        for ((from, to), names) in imports {
            let (from, to) = (of_file[from], of_file[to]);
            let common = from.iter().zip(to).take_while(|(from, to)| from == to).count();
            if let (Some(one), Some(other)) = (from.get(common), to.get(common)) {
                let level = folders.entry(from[..common].to_vec()).or_default();
                let taken = level.entry((one.clone(), other.clone())).or_default();
                taken.extend(names.iter().cloned());
            }
        }
        folders
    }

    /// For every file, the files that it imports, with the names that it takes from them.
    fn imports(&self) -> Imports<usize> {
        let mut imports: Imports<usize> = BTreeMap::new();
        for (at, module) in &self.0 {
            for path in &module.paths {
                if let Some((file, name)) = self.resolve(at, path, 0)
                    && file != module.file
                {
                    imports.entry((module.file, file)).or_default().insert(name);
                }
            }
        }
        imports
    }

    /// The file that defines what `path` names in the module `at`, and the name there. `None` for what comes from other
    /// crates.
    fn resolve(&self, at: &[String], path: &[String], depth: usize) -> Option<(usize, String)> {
        // `use` declarations may stand for each other in a circle only where the compiler objects, but globs may.
        if depth > 16 {
            return None;
        }
        let module = self.0.get(at)?;
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => return self.resolve_in(&[], rest, depth),
            "self" => return self.resolve_in(at, rest, depth),
            "super" => return self.resolve_in(at.split_last()?.1, rest, depth),
            _ => {}
        }
        if module.items.contains(first) {
            return Some((module.file, first.clone()));
        }
        let inner = [at, std::slice::from_ref(first)].concat();
        if self.0.contains_key(&inner) {
            return self.resolve_in(&inner, rest, depth);
        }
        if let Some(target) = module.names.get(first) {
            let whole = [target.as_slice(), rest].concat();
            // `use rand::rand` stands for a crate, and not for itself.
            return (target.first() != Some(first) || target.len() > 1)
                .then(|| self.resolve_use(at, &whole, depth + 1))
                .flatten();
        }
        module
            .globs
            .iter()
            .find_map(|glob| self.resolve_use(at, &[glob.as_slice(), path].concat(), depth + 1))
    }

    /// As [`resolve`](Self::resolve), for the path of a `use`: its first name is a module's or a crate's.
    fn resolve_use(&self, at: &[String], path: &[String], depth: usize) -> Option<(usize, String)> {
        let first = path.first()?;
        let inner = [at, std::slice::from_ref(first)].concat();
        if ["crate", "self", "super"].contains(&first.as_str()) || self.0.contains_key(&inner) {
            self.resolve(at, path, depth)
        } else {
            None
        }
    }

    /// What `path` names inside the module `at`.
    fn resolve_in(&self, at: &[String], path: &[String], depth: usize) -> Option<(usize, String)> {
        match path.first().map(String::as_str) {
            // A module's name alone is no import: what is taken from it is named elsewhere.
            None => None,
            Some("super") => self.resolve(at, path, depth),
            // A macro or a derived item that is not seen here is the module's own.
            Some(first) => {
                let inner = [at, &[first.to_owned()]].concat();
                let is_module = path.len() == 1 && self.0.contains_key(&inner);
                let own = || Some((self.0.get(at)?.file, first.to_owned()));
                let found = self.resolve(at, path, depth);
                found.or_else(|| own().filter(|_| !is_module))
            }
        }
    }
}

impl Module {
    /// Enters a `use` tree. One that is not passed on is an import in itself.
    fn bring_in(&mut self, tree: &UseTree, prefix: &mut Vec<String>, passed_on: bool) {
        match tree {
            UseTree::Path(path) => {
                prefix.push(path.ident.to_string());
                self.bring_in(&path.tree, prefix, passed_on);
                prefix.pop();
            }
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.bring_in(tree, prefix, passed_on);
                }
            }
            UseTree::Glob(_) => self.globs.push(prefix.clone()),
            UseTree::Name(name) => self.bring_in_name(&name.ident, &name.ident, prefix, passed_on),
            UseTree::Rename(name) => {
                self.bring_in_name(&name.ident, &name.rename, prefix, passed_on);
            }
        }
    }

    fn bring_in_name(&mut self, ident: &syn::Ident, name: &syn::Ident, prefix: &[String], passed_on: bool) {
        let mut target = prefix.to_vec();
        let mut name = name.to_string();
        if ident == "self" {
            // `use store::{self}` brings in `store`.
            if name == "self" {
                name = prefix.last().cloned().unwrap_or_default();
            }
        } else {
            target.push(ident.to_string());
        }
        // A module that is brought in is imported where something of it is named.
        if !passed_on && ident != "self" {
            self.paths.push(vec![name.clone()]);
        }
        self.names.insert(name, target);
    }
}

impl<'ast> Visit<'ast> for Module {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.paths
            .push(path.segments.iter().map(|s| s.ident.to_string()).collect());
        syn::visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        paths_in(mac.tokens.clone(), &mut self.paths);
        syn::visit::visit_macro(self, mac);
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.bring_in(&item.tree, &mut Vec::new(), false);
    }
}

/// The paths in the arguments of a macro, as far as they can be told from its tokens.
fn paths_in(tokens: TokenStream, paths: &mut Vec<Vec<String>>) {
    let mut path: Vec<String> = Vec::new();
    let mut colons = 0;
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => {
                if colons != 2 && !path.is_empty() {
                    paths.push(std::mem::take(&mut path));
                }
                path.push(ident.to_string());
                colons = 0;
            }
            TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
            other => {
                colons = 0;
                if !path.is_empty() {
                    paths.push(std::mem::take(&mut path));
                }
                if let TokenTree::Group(group) = other {
                    paths_in(group.stream(), paths);
                }
            }
        }
    }
    if !path.is_empty() {
        paths.push(path);
    }
}

/// The name that an item defines.
fn defined(item: &Item) -> Option<String> {
    let ident = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(ident.to_string())
}

fn attributes(item: &Item) -> &[syn::Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute
                .parse_args::<syn::Path>()
                .is_ok_and(|condition| condition.is_ident("test"))
    })
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
        cycles(Path::new("src/lib.rs"), &files)
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
