//! Which file of a crate imports which, as far as the text says.
//!
//! A path in the code (`crate::store::Row`, `super::Row`, or a name that a `use` brought in) is followed through
//! re-exports to the file that defines it; that is an import of this file. Naming a module (`mod row;`) or passing its
//! items on (`pub use row::Row;`) is none. Tests are left out: they use what they like.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    path::Path,
};

use proc_macro2::{TokenStream, TokenTree};
use syn::{Item, UseTree, Visibility, visit::Visit};

use super::source::SourceFile;

/// Imports, with the names that are taken.
pub(crate) type Imports<Node> = BTreeMap<(Node, Node), BTreeSet<String>>;

/// A module's path from the root of its crate, such as `["store", "read"]`.
pub(crate) type ModulePath = Vec<String>;

/// The names that one module defines and brings into scope.
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

/// The modules of one crate.
pub(crate) struct Modules(BTreeMap<ModulePath, Module>);

impl Modules {
    pub(crate) fn read(root: &Path, files: &[&SourceFile]) -> Modules {
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
    pub(crate) fn between_folders(&self, imports: &Imports<usize>) -> BTreeMap<ModulePath, Imports<String>> {
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
    pub(crate) fn imports(&self) -> Imports<usize> {
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

    /// Resolves what `path` names inside the module `at`.
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
