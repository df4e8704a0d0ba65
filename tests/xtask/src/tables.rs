//! Writes the tables of documents from data and sources.

use crate::reference::bracketed;
use crate::rust::comment;
use crate::tree::Tree;
use promises::layer_order::{LAYERS, RULES};
use promises::variable::{ReadAt, Separator, Trust};
use quote::ToTokens;
use syn::Item;

/// Function that writes the lines of a table.
type Write = fn(&Tree) -> Result<Vec<String>, String>;

/// Document of each table, the name in the table's comments, and the function that writes the table's lines.
pub const TABLES: [(&str, &str, Write); 10] = [
    ("docs/codes.md", "codes", codes),
    ("docs/settings.md", "variables", variables),
    ("docs/using.md", "layer-kinds", layer_kinds),
    ("docs/using.md", "layer-rules", layer_rules),
    ("docs/architecture/process.md", "state", state),
    ("docs/limits.md", "limits", limits),
    ("docs/platforms.md", "seen", seen),
    ("docs/figures.md", "bench", bench),
    ("docs/reference/drivers.md", "closed", closed),
    ("docs/catalogue.md", "opening", opening),
];

/// Types of statics that never change after the library is loaded. These statics are not state.
const CONSTANT: [&str; 4] = ["u8", "ProcessHeap", "[Row;ROW_COUNT]", "[(Gate,DeviceGate);MOST_GATES]"];

/// Returns the text of a document with new lines between the two comments of a table.
///
/// # Errors
/// Returns a message if the document does not contain the table.
pub fn with_table(text: &str, name: &str, lines: &[String]) -> Result<String, String> {
    let begin = format!("<!-- written by make documents: {name} -->\n");
    let (before, rest) = text.split_once(&begin).ok_or_else(|| format!("no table {name}"))?;
    let (_, after) = rest
        .split_once("<!-- end -->")
        .ok_or_else(|| format!("no end of the table {name}"))?;
    Ok(format!("{before}{begin}\n{}\n\n<!-- end -->{after}", lines.join("\n")))
}

fn table(head: &str, rows: impl Iterator<Item = String>) -> Vec<String> {
    let rule = "|---".repeat(head.matches('|').count() - 1) + "|";
    [head.to_owned(), rule].into_iter().chain(rows).collect()
}

/// Returns the table of variables, for users.
fn variables(_: &Tree) -> Result<Vec<String>, String> {
    let rows = promises::variable::DOCUMENTED.iter().map(|documented| {
        let row = documented.row;
        let form = match row.separator {
            Separator::Path => "list with `:`",
            Separator::Comma => "list with `,`",
            Separator::Whole => "one value",
        };
        let load = if documented.read_at == ReadAt::Load {
            ", *at load*"
        } else {
            ""
        };
        let trust = match row.trust {
            Trust::Secure => "ignored",
            Trust::Plain => "counts",
        };
        format!("| `{}` | {} | {form}{load} | {trust} |", row.name, documented.meaning)
    });
    Ok(table("| variable | meaning | value | when elevated |", rows))
}

/// Returns the table of widely used layers whose order matters, sorted by kind.
fn layer_kinds(_: &Tree) -> Result<Vec<String>, String> {
    let mut rows: Vec<(&str, Vec<String>)> = Vec::new();
    for layer in LAYERS {
        let name = format!("`{}`", layer.name);
        match rows.last_mut().filter(|(kind, _)| *kind == layer.kind.words()) {
            Some((_, names)) => names.push(name),
            None => rows.push((layer.kind.words(), vec![name])),
        }
    }
    let rows = rows
        .iter()
        .map(|(kind, names)| format!("| {kind} | {} |", names.join(", ")));
    Ok(table("| kind | layers |", rows))
}

/// Returns the table of layer orders that have a disadvantage.
fn layer_rules(_: &Tree) -> Result<Vec<String>, String> {
    let rows = RULES.iter().map(|rule| {
        let (above, below) = (rule.below.words(), rule.above.words());
        format!("| {above} above {below} | {} | {} |", rule.reason, rule.source)
    });
    Ok(table("| order | disadvantage | source |", rows))
}

/// Returns the table of reasons why the loader omits something, for users.
fn codes(_: &Tree) -> Result<Vec<String>, String> {
    let rows = reasons::TABLE
        .iter()
        .map(|row| format!("| `{}` | {} | {} |", row.name, row.meaning, row.remedy));
    Ok(table("| code | what it means | what to do |", rows))
}

/// Returns the table of limits with their values.
fn limits(_: &Tree) -> Result<Vec<String>, String> {
    let rows = promises::limits::TABLE.iter().map(|row| {
        let most = match row.value >> 20 {
            0 => format!("{} {}", row.value, row.unit),
            mebibytes => format!("{mebibytes} MiB"),
        };
        format!("| {} | {most} | {} |", row.what, row.more)
    });
    Ok(table("| what | at most | more |", rows))
}

/// Returns the results of the last runs on each system in `tests/seen.txt`.
fn seen(tree: &Tree) -> Result<Vec<String>, String> {
    let text = tree.read("tests/seen.txt")?;
    let rows = text.lines().filter(|line| !line.starts_with('#'));
    Ok(table(
        "| run | library of commit | day | saw |",
        rows.map(|row| format!("| {row} |")),
    ))
}

/// Returns the table of the newest recorded run of `make bench`, with the lines that describe the measured files.
fn bench(tree: &Tree) -> Result<Vec<String>, String> {
    let pages = tree
        .files("tests/bench-runs")
        .into_iter()
        .filter(|path| path.ends_with("/summary.md"));
    // The folders of the runs are named by date, so the greatest path belongs to the newest run.
    let newest = pages.max().ok_or("no run of make bench was kept")?;
    let text = tree.read(&newest)?;
    let about = text
        .lines()
        .skip_while(|line| !line.starts_with("- "))
        .take_while(|line| line.starts_with("- "));
    let (_, rest) = text
        .split_once("\n## Table\n")
        .ok_or_else(|| format!("{newest} has no table"))?;
    let rows = rest.split("\n## ").next().unwrap_or(rest).trim().lines();
    let mut lines = vec![format!("From [{newest}](../{newest}):"), String::new()];
    lines.extend(about.map(str::to_owned));
    lines.push(String::new());
    lines.extend(rows.map(str::to_owned));
    Ok(lines)
}

/// Returns the table of a closed driver's commands. The loader's table contains the commands that the loader answers or stores. All other
/// commands open the driver.
fn closed(tree: &Tree) -> Result<Vec<String>, String> {
    let named = tree.read("loader/src/unopened/lazy/table.rs")?;
    let all = tree.read("generated/dispatch/driver.rs")?;
    let kind_of = |name: &str| {
        // In the table, the function of a command with a long name is on the next line.
        let function = named.split_once(&format!(" {name}: Some("));
        match function.map(|(_, rest)| rest.trim_start()) {
            Some(function) if function.starts_with("lost::") => "opens",
            Some(function) if function.starts_with("callbacks::") => "kept",
            Some(function) if function.starts_with("destroy") => "closes",
            Some(_) => "answered",
            None => "opens",
        }
    };
    // In this table, the type of a function with a long name is on the next line.
    let names = all.lines().filter_map(|line| line.trim().split_once(':'));
    let names = names.map(|(name, _)| name);
    let names: Vec<&str> = names.filter(|name| name.starts_with("vk")).collect();
    let rows = ["answered", "kept", "closes", "opens"].map(|kind| {
        let of_kind: Vec<String> = names
            .iter()
            .filter(|name| kind_of(name) == kind)
            .map(|name| format!("`{name}`"))
            .collect();
        format!("| {kind} | {} | {} |", of_kind.len(), of_kind.join(", "))
    });
    Ok(table("| a closed driver | number | commands |", rows.into_iter()))
}

/// Returns the table of reasons why a driver is opened although a policy keeps drivers closed.
fn opening(_: &Tree) -> Result<Vec<String>, String> {
    let rows = catalogue::Opening::ALL
        .iter()
        .map(|(_, word, words)| format!("| `{word}` | {words} |"));
    Ok(table("| word | reason |", rows))
}

/// Returns the statics of the process, each with its file and the first sentence of its documentation.
fn state(tree: &Tree) -> Result<Vec<String>, String> {
    let mut rows = Vec::new();
    for path in tree.rust("loader/")? {
        let text = tree.read(&path)?;
        if path.contains("test") || path.ends_with("scratch.rs") || !text.contains("static ") {
            continue;
        }
        for item in &tree.source(&path)?.file.items {
            let Item::Static(item) = item else { continue };
            let kind: String = item.ty.to_token_stream().to_string().split_whitespace().collect();
            let words = comment(&item.attrs);
            if !CONSTANT.contains(&kind.as_str()) && !words.is_empty() {
                let place = path.strip_prefix("loader/").unwrap_or(&path);
                rows.push(format!(
                    "| `{}` | `{place}` | {} |",
                    item.ident,
                    bracketed(&sentence(&words))
                ));
            }
        }
    }
    Ok(table("| static | in | holds |", rows.into_iter()))
}

/// Returns the first sentence, without the brackets around Rust names.
fn sentence(words: &str) -> String {
    let end = words
        .match_indices(". ")
        .find(|(place, _)| words[place + 2..].starts_with(|it: char| it.is_ascii_uppercase()));
    let mut rest = end.map_or(words, |(place, _)| &words[..=place]);
    let mut out = String::new();
    while let Some((before, after)) = rest.split_once("[`") {
        let Some((name, after)) = after.split_once("`]") else {
            break;
        };
        out.extend([before, "`", name, "`"]);
        rest = match after.strip_prefix('(').and_then(|target| target.split_once(')')) {
            Some((_, after)) => after,
            None => after,
        };
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_ends_before_a_capital() {
        assert_eq!(sentence("One, e.g. two. Three."), "One, e.g. two.");
        assert_eq!(sentence("See [`a`](crate::a) and [`b`]. More"), "See `a` and `b`.");
    }

    #[test]
    fn lines_replace_those_of_the_table_alone() {
        let text = "a\n<!-- written by make documents: x -->\n\nold\n\n<!-- end -->\nb\n";
        let new = with_table(text, "x", &["new".to_owned()]).expect("there is one");
        assert_eq!(new, text.replace("old", "new"));
        assert!(with_table(text, "y", &[]).is_err());
    }
}
