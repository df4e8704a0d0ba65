//! Lists the promises of the library in rows, with the tests that check each promise.
//!
//! The rows come from their definitions: the exported symbols, the table of variables, the members that the JSON parsers read, the
//! interface versions, and the requirement numbers of `docs/reference/`. A test belongs to a row if the test, or a function that it calls
//! in its file, mentions the row's subject or number. A row without a test is an error, except for numbers whose entry gives a reason.

use crate::cases::Case;
use crate::reference::{self, Entry, FOLDER, Shown};
use crate::rust::{Tokens, attributes, is_for_tests};
use crate::tree::Tree;
use std::collections::{BTreeMap, HashMap};
use syn::visit::{self, Visit};
use syn::{Expr, ExprCall, ExprLit, ExprMethodCall, Item, Lit};

/// Maximum number of tests that a row names. The row names first the tests that belong to the fewest other rows.
const NAMED: usize = 3;

const HEAD: &str = "\
# What is promised, and what shows it

Written by `make documents` from the sources. A case is named by its group, file and function: `app::lookup::app_020_...` is in
`tests/tests/app/lookup.rs`. Where many cases use something, the most specific ones are named; tests of parts and scripts are named by their
file. How cases are written and run: tests/README.md.
";

const SYMBOLS: &str = "\
Every one of them is in these tables of cases, each of which goes through all of the registry's commands:
`app::library::app_003_what_is_exported`, `app::lookup_table::app_026_exported_symbols_are_what_the_lookup_gives`, and, for those that take a
dispatchable handle, `app::handles::app_184_null_...` and `app_183_foreign_...`. Commands of devices, queues and command buffers are
called in `app::trampolines::app_159_every_trampoline_reaches_its_function`. Layouts and signatures are compared with the C headers by
`tests/abi`. The table names cases beyond these.
";

/// Form in which a test mentions the subject of a row.
enum Mention {
    /// A name in the test's code, or a word of a string literal.
    Word(String),
    /// A string literal that is equal to this text, or that contains it between quotes.
    Quoted(String),
    /// A part of a name that the test contains.
    Part(&'static str),
    /// Sequences of tokens. The test must contain all of them.
    Rows(Vec<Vec<String>>),
}

impl Mention {
    fn row(text: &str) -> Self {
        Self::Rows(vec![Tokens::of(text)])
    }

    fn is_in(&self, tokens: &Tokens) -> bool {
        match self {
            Self::Word(word) => tokens.words.contains(word),
            Self::Quoted(text) => tokens.quoted.contains(text),
            Self::Part(part) => tokens.has_part(part),
            Self::Rows(rows) => rows.iter().all(|row| tokens.has_row(row)),
        }
    }
}

/// A promise of the library.
struct Row {
    title: String,
    /// Mentions of the row's subject. A test with one of these mentions belongs to the row.
    mentions: Vec<Mention>,
    /// Indices of the row's tests.
    cases: Vec<usize>,
    /// Reason why no test checks the row.
    reason: Option<String>,
}

impl Row {
    fn new(title: &str, mentions: Vec<Mention>) -> Self {
        Self {
            title: format!("`{title}`"),
            mentions,
            cases: Vec::new(),
            reason: None,
        }
    }
}

/// Rows of one kind.
struct Section {
    title: String,
    prose: String,
    /// Beginnings of the names of the section's tests.
    within: &'static [&'static str],
    rows: Vec<Row>,
    /// `true` if a test checks all rows of the section together, with a table.
    by_table: bool,
}

/// Returns the text of the matrix, and the rows without tests.
///
/// # Errors
/// Returns a message if a source cannot be read.
pub fn matrix(
    tree: &Tree,
    found: Vec<Case>,
    entries: &[Entry],
    shown: &Shown,
) -> Result<(String, Vec<String>), String> {
    let mut found = found;
    let mut sections = sections(tree)?;
    connect(&mut sections, &found);
    sections.extend(numbers(tree, &mut found, entries, shown)?);
    Ok(written(&sections, &found))
}

/// Finds the tests of each row. For a row, the function examines each shared function only once.
fn connect(sections: &mut [Section], found: &[Case]) {
    let mut places: HashMap<*const Tokens, usize> = HashMap::new();
    let mut parts: Vec<&Tokens> = Vec::new();
    let mut of_case: Vec<Vec<usize>> = Vec::new();
    for case in found {
        let own = case.parts().map(|part| {
            *places.entry(std::ptr::from_ref(part)).or_insert_with(|| {
                parts.push(part);
                parts.len() - 1
            })
        });
        of_case.push(own.collect());
    }
    for section in sections {
        let is_within = |case: &Case| section.within.iter().any(|begin| case.name.starts_with(begin));
        let within: Vec<usize> = (0..found.len()).filter(|index| is_within(&found[*index])).collect();
        for row in &mut section.rows {
            let hits: Vec<bool> = parts
                .iter()
                .map(|part| row.mentions.iter().any(|mention| mention.is_in(part)))
                .collect();
            row.cases = within
                .iter()
                .copied()
                .filter(|index| of_case[*index].iter().any(|part| hits[*part]))
                .collect();
        }
    }
}

fn sections(tree: &Tree) -> Result<Vec<Section>, String> {
    const ALL: &[&str] = &["app::", "drivers::", "layers::"];
    let section = |title: &str, prose: &str, within, rows| Section {
        title: title.to_owned(),
        prose: prose.to_owned(),
        within,
        rows,
        by_table: title == "Exported symbols",
    };
    let layer = ["file", "one", "functions", "extensions"].map(|name| format!("manifest/layer/{name}.rs"));
    // The loader accepts and ignores the member `log_locations` (APP-245), so the sources contain no request for this member.
    let settings = [
        members(
            tree,
            &["settings/parse.rs".to_owned(), "settings/devices.rs".to_owned()],
            &[],
        )?,
        vec![member("log_locations")],
    ];
    Ok(vec![
        section("Exported symbols", SYMBOLS, ALL, symbols(tree)?),
        section(
            "Environment variables",
            "What they do: docs/settings.md.\n",
            ALL,
            variables(),
        ),
        // The loader reads some members only to detect a layer's manifest among drivers, or a driver's manifest among layers.
        section(
            "Members of driver manifests",
            "",
            &["drivers::"],
            members(tree, &["manifest/driver.rs".to_owned()], &["layer", "layers"])?,
        ),
        section(
            "Members of layer manifests",
            "",
            &["layers::"],
            members(tree, &layer, &["ICD"])?,
        ),
        section(
            "Members of the settings file",
            "",
            &[
                "app::settings",
                "layers::settings",
                "drivers::catalogue",
                "drivers::visible",
                "layers::order",
            ],
            settings.into_iter().flatten().collect(),
        ),
        section("Interface versions of drivers", "", &["drivers::"], driver_interfaces()),
        section("Interface versions of layers", "", &["layers::"], layer_interfaces()),
    ])
}

fn symbols(tree: &Tree) -> Result<Vec<Row>, String> {
    let text = tree.read("generated/exports/linux.txt")?;
    let names = text.lines().filter(|line| line.starts_with("vk"));
    Ok(names
        .map(|name| {
            Row::new(
                name,
                vec![Mention::Word(format!("PFN_{name}")), Mention::Quoted(name.to_owned())],
            )
        })
        .collect())
}

fn variables() -> Vec<Row> {
    let rows = promises::variable::TABLE.iter();
    rows.map(|row| Row::new(row.name, vec![Mention::Word(row.name.to_owned())]))
        .collect()
}

/// Returns the row for a member of a JSON file. A test mentions the member by its name in quotes, or by the name of a builder's method
/// for this member.
fn member(name: &str) -> Row {
    let mut mentions = vec![Mention::Quoted(name.to_owned())];
    mentions.extend(match name {
        "component_layers" => vec![
            Mention::row("Layer : : implicit_meta ("),
            Mention::row("Layer : : meta ("),
        ],
        "enable_environment" => vec![Mention::row(". enabled_by (")],
        "file_format_version" => vec![Mention::row(". format (")],
        "api_version" => vec![Mention::row(". api (")],
        _ => Vec::new(),
    });
    Row::new(name, mentions)
}

/// Returns the members that the parsers in `modules` of the loader request, in the order of the sources. The members in `except` are
/// excluded.
fn members(tree: &Tree, modules: &[String], except: &[&str]) -> Result<Vec<Row>, String> {
    let mut names = Asked(Vec::new());
    for module in modules {
        let source = tree.source(&tree.module("loader/", module)?)?;
        source.file.items.iter().for_each(|item| names.visit_item(item));
    }
    Ok(names
        .0
        .iter()
        .filter(|name| !except.contains(&name.as_str()))
        .map(|name| member(name))
        .collect())
}

/// Collects names of members from calls of the parsers.
struct Asked(Vec<String>);

impl Asked {
    fn take(&mut self, argument: Option<&Expr>) {
        if let Some(Expr::Lit(ExprLit {
            lit: Lit::Str(name), ..
        })) = argument
            && !self.0.contains(&name.value())
        {
            self.0.push(name.value());
        }
    }
}

impl<'ast> Visit<'ast> for Asked {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_for_tests(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        // In the source, the receiver of a call comes before the arguments.
        self.visit_expr(&call.receiver);
        if ["get", "text", "object", "array", "all"]
            .iter()
            .any(|name| call.method == name)
        {
            self.take(call.args.first());
        }
        call.args.iter().for_each(|argument| self.visit_expr(argument));
    }

    fn visit_expr_call(&mut self, call: &'ast ExprCall) {
        if let Expr::Path(path) = &*call.func
            && let Some(last) = path.path.segments.last()
        {
            let name = last.ident.to_string();
            match name.as_str() {
                "name" => self.take(call.args.first()),
                "first_pair" | "leading_texts" | "uuid" | "symbol" | "named" => self.take(call.args.get(1)),
                name if name.starts_with("required") => self.take(call.args.get(1)),
                _ => {}
            }
        }
        visit::visit_expr_call(self, call);
    }
}

/// Returns the rows for the driver interface versions. A library with interface 0 has none of the interface's functions. The mock drivers
/// use the newest version by default.
fn driver_interfaces() -> Vec<Row> {
    let latest = promises::DRIVER_INTERFACE;
    let rows = (0..=latest).map(|version| {
        let of_all = [
            Tokens::of(&format!("1 . . = {latest}")),
            Tokens::of(". interface ( version )"),
        ];
        let mentions = match version {
            0 => vec![Mention::Part("interface_zero")],
            _ => vec![
                Mention::row(&format!(". interface ( {version} )")),
                Mention::Rows(of_all.to_vec()),
            ],
        };
        Row {
            title: version.to_string(),
            mentions,
            cases: Vec::new(),
            reason: None,
        }
    });
    rows.collect()
}

/// Returns the rows for the layer interface versions. A library with interface 0 has no negotiation function, or negotiates version 0.
fn layer_interfaces() -> Vec<Row> {
    let rows = (0..=promises::LAYER_INTERFACE).map(|version| {
        let mut mentions = vec![
            Mention::row(&format!("\"negotiate\" = {version}")),
            Mention::row(&format!("\"negotiate\" , {version}")),
        ];
        match version {
            0 => mentions.push(Mention::row(". hide ( \"vkNegotiateLoaderLayerInterfaceVersion\"")),
            promises::LAYER_INTERFACE => mentions.push(Mention::Part("version_2")),
            _ => {}
        }
        Row {
            title: version.to_string(),
            mentions,
            cases: Vec::new(),
            reason: None,
        }
    });
    rows.collect()
}

/// Returns a section for each page of the reference, with the page's requirement numbers and the tests for each number.
fn numbers(tree: &Tree, found: &mut Vec<Case>, entries: &[Entry], shown: &Shown) -> Result<Vec<Section>, String> {
    let mut known: BTreeMap<String, usize> = found
        .iter()
        .enumerate()
        .map(|(index, case)| (case.name.clone(), index))
        .collect();
    let mut sections: Vec<(String, Section)> = Vec::new();
    for entry in entries {
        let mut cases = Vec::new();
        for name in shown.get(&entry.number).into_iter().flatten() {
            let index = *known.entry(name.clone()).or_insert_with(|| {
                found.push(Case::named(name));
                found.len() - 1
            });
            cases.push(index);
        }
        let title = format!(
            "[{0}](../{FOLDER}/{1}#{2})",
            entry.number,
            entry.page,
            entry.number.to_lowercase()
        );
        let row = Row {
            title,
            mentions: Vec::new(),
            cases,
            reason: entry.reason.clone(),
        };
        match sections.iter_mut().find(|(page, _)| *page == entry.page) {
            Some((_, section)) => section.rows.push(row),
            None => {
                let path = format!("{FOLDER}/{}", entry.page);
                let text = tree.read(&path)?;
                let title = text.lines().next().unwrap_or_default().trim_start_matches(['#', ' ']);
                let section = Section {
                    title: format!("Numbers: {title}"),
                    prose: format!("What they say: [{}](../{path}).\n", entry.page),
                    within: &[],
                    rows: vec![row],
                    by_table: false,
                };
                sections.push((entry.page.clone(), section));
            }
        }
    }
    Ok(sections.into_iter().map(|(_, section)| section).collect())
}

/// Returns the text of the matrix, and a message for each row that needs a test and has none.
fn written(sections: &[Section], found: &[Case]) -> (String, Vec<String>) {
    let mut counts = vec![0_usize; found.len()];
    for index in sections
        .iter()
        .flat_map(|section| &section.rows)
        .flat_map(|row| &row.cases)
    {
        counts[*index] += 1;
    }
    let (mut text, mut missing) = (HEAD.to_owned(), Vec::new());
    for section in sections {
        text.push_str(&format!(
            "\n## {} ({})\n\n{}\n| | shown by |\n|---|---|\n",
            section.title,
            section.rows.len(),
            section.prose
        ));
        for row in &section.rows {
            let mut best = row.cases.clone();
            best.sort_by_key(|index| (!is_named_for(row, &found[*index]), counts[*index], &found[*index].name));
            let names: Vec<String> = best
                .iter()
                .take(NAMED)
                .map(|index| format!("`{}`", found[*index].name))
                .collect();
            let right = match &row.reason {
                Some(reason) => format!("no case: {reason}"),
                None if best.is_empty() && section.by_table => "the tables".to_owned(),
                None => names.join(", ") + if best.len() > NAMED { ", and more" } else { "" },
            };
            if right.is_empty() {
                missing.push(format!("no case shows {}: {}", section.title, row.title));
            }
            text.push_str(&format!("| {} | {right} |\n", row.title));
        }
    }
    (text, missing)
}

/// Returns `true` if the name of a test contains the requirement number of the row.
fn is_named_for(row: &Row, case: &Case) -> bool {
    let number = row
        .title
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'))
        .map(|(number, _)| number.to_owned());
    number.is_some_and(|number| reference::cited(&case.name, &Default::default()).contains(&number))
}
