//! Finds the uses of other modules in each module of a crate: imports, paths in items and bodies, and paths in the tokens of macros. The
//! parser does not read these tokens.

use crate::scope::{Scopes, leaves};
use crate::source::{Module, attributes, is_test};
use proc_macro2::{TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use syn::visit::{self, Visit};
use syn::{Attribute, ImplItem, Item, ItemMod, ItemUse, Local, Macro, PatIdent, Path, VisRestricted, Visibility};

/// Macros that quote the code of another program. The check ignores paths in their tokens.
const QUOTING: [&str; 2] = ["quote", "quote_spanned"];

/// Uses of one module by another module.
#[derive(Debug, Default)]
pub struct Arrow {
    /// Files of the using module, each with the names of the items that it uses from the used module.
    pub files: BTreeMap<PathBuf, BTreeSet<String>>,
}

/// Uses by pairs of modules: the using module, and the used module.
pub type Arrows = BTreeMap<(String, String), Arrow>;

/// Returns the uses between the modules of a crate. `node` returns the node for a module: the module itself, a module that contains it, or
/// `None`.
pub fn arrows(modules: &[Module], node: &dyn Fn(&[String]) -> Option<String>) -> Arrows {
    let scopes = Scopes::new(modules);
    let mut arrows = Arrows::new();
    for module in modules {
        let mut reader = Reader {
            scopes: &scopes,
            module: &module.path,
            depth: 0,
            bound: BTreeSet::new(),
            taken: BTreeSet::new(),
        };
        let mut locals = Locals(BTreeSet::new());
        module.items.iter().for_each(|item| locals.visit_item(item));
        reader.bound = locals.0;
        module.items.iter().for_each(|item| reader.visit_item(item));
        for (home, name) in reader.taken {
            if let (Some(from), Some(to)) = (node(&module.path), node(&home))
                && from != to
            {
                let arrow = arrows.entry((from, to)).or_default();
                arrow.files.entry(module.file.clone()).or_default().insert(name);
            }
        }
    }
    arrows
}

/// Finds the items of other modules that one module uses.
struct Reader<'a> {
    scopes: &'a Scopes,
    module: &'a [String],
    /// Number of inline modules around the code that is being read.
    depth: usize,
    /// Names of the variables in the module. A single name in an expression can mean a variable instead of a re-exported function of the
    /// same name.
    bound: BTreeSet<String>,
    taken: BTreeSet<(Vec<String>, String)>,
}

impl Reader<'_> {
    /// Returns the path as it would be written outside of the inline modules, or `None` if the path leads to an item of the same file.
    fn as_in_file<'p>(&self, path: &'p [String]) -> Option<&'p [String]> {
        match path.iter().take_while(|part| *part == "super").count() {
            0 => Some(path),
            above => (above > self.depth).then(|| &path[self.depth..]),
        }
    }

    /// Adds the target of a path. `parsed` is `false` for a path in the tokens of a macro. An unknown name at the root of the crate is then
    /// ignored, because it may be something other than a path.
    fn take(&mut self, path: &[String], parsed: bool) {
        let homes = self.scopes.resolve(self.module, path);
        if homes.is_empty() {
            let deepest = self.scopes.deepest(self.module, path);
            self.taken
                .extend(deepest.filter(|(home, _)| parsed || !home.is_empty()));
        }
        self.taken.extend(homes);
    }

    /// Adds the target of a name without a path, if the module re-exports the name. `visit_item_use` adds the targets of all other imports.
    fn take_name(&mut self, name: &str) {
        let imports = self.scopes.imports(self.module);
        let is_passed_on = imports.iter().any(|import| import.passed_on && import.name == name);
        if is_passed_on && !self.bound.contains(name) {
            self.take(&[name.to_owned()], true);
        }
    }

    fn take_words(&mut self, words: &mut Vec<String>) {
        match words.as_slice() {
            [] => {}
            [name] => self.take_name(name),
            path => {
                if let Some(path) = self.as_in_file(path) {
                    self.take(path, false);
                }
            }
        }
        words.clear();
    }

    /// Adds the paths in a list of tokens. A path is a list of words with two colons between them.
    fn take_tokens(&mut self, tokens: TokenStream) {
        let mut words: Vec<String> = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.take_words(&mut words);
                    }
                    words.push(ident.to_string());
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                other => {
                    self.take_words(&mut words);
                    colons = 0;
                    if let TokenTree::Group(group) = other {
                        self.take_tokens(group.stream());
                    }
                }
            }
        }
        self.take_words(&mut words);
    }

    /// Adds the target of an import, or `*` for a glob import. An import of a module adds nothing, because `take` adds the module's items
    /// where the code uses them.
    fn take_import(&mut self, name: &str, target: &[String]) {
        match self.scopes.module(self.module, target) {
            Some(module) if name == "*" => {
                self.taken.insert((module, name.to_owned()));
            }
            Some(_) => self.taken.extend(self.scopes.resolve(self.module, target)),
            None => self.take(target, true),
        }
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_test(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        if !matches!(item, ImplItem::Fn(function) if is_test(&function.attrs)) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_local(&mut self, local: &'ast Local) {
        if !is_test(&local.attrs) {
            visit::visit_local(self, local);
        }
    }

    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        if module.content.is_some() {
            self.depth += 1;
            visit::visit_item_mod(self, module);
            self.depth -= 1;
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        // Skips re-exports, because `take_name` and `take` add a re-exported item where the code uses it.
        if matches!(item.vis, Visibility::Inherited) {
            for import in leaves(&item.tree, false) {
                if let Some(target) = self.as_in_file(&import.target) {
                    self.take_import(&import.name, target);
                }
            }
        }
    }

    fn visit_path(&mut self, path: &'ast Path) {
        let words: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        match words.as_slice() {
            [name] => self.take_name(name),
            _ if path.leading_colon.is_some() => {}
            words => {
                if let Some(path) = self.as_in_file(words) {
                    self.take(path, true);
                }
            }
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        self.visit_path(&call.path);
        let is_quoting = |name| call.path.segments.last().is_some_and(|last| last.ident == name);
        if !QUOTING.into_iter().any(is_quoting) {
            self.take_tokens(call.tokens.clone());
        }
    }

    fn visit_attribute(&mut self, _: &'ast Attribute) {}

    fn visit_vis_restricted(&mut self, _: &'ast VisRestricted) {}
}

/// Collects the names of all variables.
struct Locals(BTreeSet<String>);

impl<'ast> Visit<'ast> for Locals {
    fn visit_pat_ident(&mut self, pattern: &'ast PatIdent) {
        self.0.insert(pattern.ident.to_string());
        visit::visit_pat_ident(self, pattern);
    }
}
