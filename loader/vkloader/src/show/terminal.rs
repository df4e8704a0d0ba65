//! Prints a report as text on a terminal or to a file.

use crate::layers::Warning;
use crate::report::{ActiveLayer, Dropped, Report, Verdict};
use anstyle::{AnsiColor, Style};
use std::io::{self, Write};
use textwrap::{Options, WordSplitter};

const TITLE: Style = Style::new().bold();
pub(super) const GOOD: Style = AnsiColor::Green.on_default().bold();
pub(super) const BAD: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
pub(super) const FAINT: Style = Style::new().dimmed();
const ADVICE: Style = AnsiColor::Cyan.on_default();

/// Width in columns for a terminal that does not report its width, and the upper bound for wide terminals.
const USUAL_WIDTH: usize = 80;
const MOST_WIDTH: usize = 120;

/// Writes lines that fit the terminal's width. The text is coloured only on a terminal.
pub(super) struct Lines {
    pub(super) out: anstream::AutoStream<io::Stdout>,
    width: usize,
}

impl Lines {
    pub(super) fn new() -> Self {
        let width = terminal_size::terminal_size().map_or(USUAL_WIDTH, |(width, _)| usize::from(width.0));
        Self {
            out: anstream::stdout(),
            width: width.clamp(20, MOST_WIDTH),
        }
    }

    fn title(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "\n{TITLE}{text}{TITLE:#}")
    }

    /// Writes a text after the margin `margin.0`. The second and later lines have the margin `margin.1`.
    pub(super) fn wrapped(&mut self, margin: (&str, &str), style: Style, text: &str) -> io::Result<()> {
        let options = options(self.width, margin);
        // An arrow marks a remedy at the start of a line, so a line never breaks before an arrow in a name.
        let mut text = unbroken(&plain(text)).replace(" ->", "\u{A0}->");
        while text.contains(" \u{A0}") {
            text = text.replace(" \u{A0}", "\u{A0}\u{A0}");
        }
        for line in textwrap::wrap(&text, options) {
            let line = line.replace('\u{A0}', " ");
            writeln!(self.out, "{style}{line}{style:#}")?;
        }
        Ok(())
    }

    /// Writes a labelled text below an entry.
    fn labelled(&mut self, label: &str, text: &str) -> io::Result<()> {
        self.wrapped((&format!("       {label:<9} "), "                 "), FAINT, text)
    }
}

/// Returns a text in which quoted words have no ordinary blanks, so that lines do not break there. Users copy quoted words into a shell.
fn unbroken(text: &str) -> String {
    let mut unbroken = String::with_capacity(text.len());
    let mut is_quoted = false;
    let mut before = ' ';
    for (at, character) in text.char_indices() {
        if character == '\'' && is_quoted {
            is_quoted = false;
        } else if character == '\'' && matches!(before, ' ' | '=' | '$' | '(' | '\'') {
            is_quoted = text[at + 1..].contains('\'');
        }
        unbroken.push(if is_quoted && character == ' ' {
            '\u{A0}'
        } else {
            character
        });
        before = character;
    }
    unbroken
}

/// Returns a text in which characters that control a terminal, end lines, or change the direction of text are escaped. The escapes are
/// needed because names may come from other users' files.
pub(crate) fn plain(text: &str) -> String {
    let acts = |character: char| {
        character.is_control()
            || matches!(character, '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
    };
    let mut plain = String::with_capacity(text.len());
    for character in text.chars() {
        if acts(character) {
            plain.extend(character.escape_default())
        } else {
            plain.push(character)
        }
    }
    plain
}

/// Prints a report.
///
/// # Errors
/// Writing to standard output fails.
pub(crate) fn text(report: &Report) -> io::Result<()> {
    let mut lines = Lines::new();
    verdict(report, &mut lines)?;
    if let Some(loader) = &report.loader {
        let path = loader.path.as_deref().unwrap_or("an unknown file");
        let owner = loader.owner.as_ref().map_or_else(|| "no package".into(), Clone::clone);
        lines.wrapped(
            ("", "  "),
            Style::new(),
            &format!(
                "Vulkan loader {}, {path} ({owner}), {} bit",
                loader.version, loader.word_size
            ),
        )?;
    }
    others(report, &mut lines)?;
    got(report, &mut lines)?;
    left_out(report, &mut lines)?;
    hardware(report, &mut lines)?;
    calls(report, &mut lines)?;
    layers(report, &mut lines)?;
    catalogue(report, &mut lines)?;
    slow(report, &mut lines)?;
    lines.out.flush()
}

/// Returns a reason and its remedies in the form of a verdict. The text of `why` has a remedy after each semicolon.
pub(crate) fn reason(why: &str) -> String {
    let mut lines = String::new();
    let mut margins = ("x ", "  ");
    for part in why.split("; ") {
        let mut rest = part.chars();
        let first: String = rest.next().into_iter().flat_map(char::to_uppercase).collect();
        // The name of a command keeps its case.
        let is_command = part.starts_with("vkloader");
        let text = if is_command {
            part.to_owned()
        } else {
            format!("{first}{}", rest.as_str())
        };
        for line in textwrap::wrap(&unbroken(&plain(&text)), options(USUAL_WIDTH, margins)) {
            lines += "\n";
            lines += &line.replace('\u{A0}', " ");
        }
        margins = ("  -> ", "     ");
    }
    lines
}

/// Returns the options for lines of `width` columns with the margins of the first line and of the others.
fn options<'a>(width: usize, (first, others): (&'a str, &'a str)) -> Options<'a> {
    Options::new(width)
        .initial_indent(first)
        .subsequent_indent(others)
        .break_words(false)
        .word_splitter(WordSplitter::NoHyphenation)
}

/// Prints the verdict of a report.
fn verdict(report: &Report, lines: &mut Lines) -> io::Result<()> {
    let (mark, style) = match report.verdict {
        _ if report.is_only_unknown() => ("! ", WARNING),
        _ if report.is_failure() => ("x ", BAD),
        Verdict::Hardware => ("+ ", GOOD),
        Verdict::SoftwareOnly => ("! ", WARNING),
        Verdict::Nothing => ("x ", BAD),
    };
    lines.wrapped((mark, "  "), style, &report.headline())?;
    if let Some(cause) = report.first_cause() {
        let aside = report.aside(cause);
        let style = if aside.is_some() { WARNING } else { style };
        let beginning = format!("  {}", aside.unwrap_or_default());
        lines.wrapped((&*beginning, "  "), style, &cause.reason)?;
        for fact in cause.head_facts() {
            lines.wrapped(("    ", "      "), Style::new(), &fact)?;
        }
        lines.wrapped(("  -> ", "     "), ADVICE, &cause.advice)?;
    }
    writeln!(lines.out)
}

/// Prints the loader that programs use, if it is not the examined one, and the devices of programs of the other word size.
fn others(report: &Report, lines: &mut Lines) -> io::Result<()> {
    if let Some(other) = &report.other_loader {
        lines.title(other.title())?;
        lines.wrapped(("  ", "    "), Style::new(), &other.line())?;
        for text in other.lines() {
            lines.wrapped(("  - ", "    "), WARNING, &text)?;
        }
        if let Some(text) = report.agreement() {
            lines.wrapped(("  ", "    "), FAINT, text)?;
        }
    }
    if let Some(other) = &report.other_word_size {
        lines.title("The other word size")?;
        lines.wrapped(("  ", "    "), Style::new(), &other.line())?;
        if let Some(first) = other.first_cause.as_ref().filter(|_| other.devices.is_empty()) {
            lines.wrapped(("  -> ", "     "), ADVICE, &first.advice)?;
        }
    }
    Ok(())
}

fn got(report: &Report, lines: &mut Lines) -> io::Result<()> {
    if !report.devices.is_empty() {
        lines.title("Devices, in the order in which a program gets them")?;
    }
    for (place, device) in report.devices.iter().enumerate() {
        let style = match device.is_usable {
            false => BAD,
            true if device.is_software() => WARNING,
            true => GOOD,
        };
        let head = format!("{} ({}, Vulkan {})", device.name, device.kind, device.api_version);
        lines.wrapped((&format!("  {place:>3}  "), "       "), style, &head)?;
        if !device.driver.is_empty() {
            lines.labelled("driver", &device.driver)?;
        }
        if let Some(manifest) = &device.manifest {
            lines.labelled("manifest", manifest)?;
        }
        lines.labelled("place", &device.order)?;
    }
    if !report.hidden.is_empty() {
        lines.title("Devices that the program does not get")?;
    }
    for hidden in &report.hidden {
        let by = if hidden.by.is_empty() { "a layer" } else { &hidden.by };
        let text = format!("{} ({}): {by} hid it", hidden.name, hidden.kind);
        lines.wrapped(("  ", "    "), WARNING, &text)?;
    }
    Ok(())
}

fn left_out(report: &Report, lines: &mut Lines) -> io::Result<()> {
    if report.dropped.is_empty() {
        return Ok(());
    }
    lines.title("Left out, or in the way")?;
    for dropped in &report.dropped {
        if dropped.is_noise() {
            lines.wrapped(("  - ", "    "), FAINT, &dropped.in_short())?
        } else {
            entry(dropped, lines)?
        }
    }
    Ok(())
}

fn hardware(report: &Report, lines: &mut Lines) -> io::Result<()> {
    if !report.hardware.is_empty() || !report.surroundings.is_empty() {
        lines.title("Hardware that the system shows")?;
    }
    for card in &report.hardware {
        lines.wrapped(("  ", "    "), Style::new(), &card.to_string())?;
    }
    if !report.surroundings.is_empty() {
        let words = format!("This runs in: {}", report.surroundings.join(", "));
        lines.wrapped(("  ", "    "), Style::new(), &words)?;
    }
    Ok(())
}

fn entry(dropped: &Dropped, lines: &mut Lines) -> io::Result<()> {
    let name = if dropped.name.is_empty() {
        dropped.file.as_deref().unwrap_or("without a name")
    } else {
        &dropped.name
    };
    lines.wrapped(("  x ", "    "), TITLE, &format!("{}: {name}", dropped.subject))?;
    lines.wrapped(
        ("    ", "    "),
        Style::new(),
        &format!("{} [{}]", dropped.reason, dropped.code),
    )?;
    if let Some(file) = &dropped.file {
        lines.labelled("file", file)?;
    }
    if let Some(named_by) = &dropped.named_by {
        lines.labelled("named by", named_by)?;
    }
    for finding in &dropped.findings {
        lines.labelled("found", finding)?;
    }
    if !dropped.advice.is_empty() {
        lines.wrapped(("    -> ", "       "), ADVICE, &dropped.advice)?;
    }
    Ok(())
}

fn calls(report: &Report, lines: &mut Lines) -> io::Result<()> {
    let sections = [
        (
            "Calls that failed",
            report.failed.iter().map(ToString::to_string).collect(),
        ),
        ("Errors of the log", report.errors.clone()),
        (
            "Printed by drivers and layers",
            report.printed.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ),
    ];
    for (title, texts) in sections {
        if !texts.is_empty() {
            lines.title(title)?;
        }
        for text in texts {
            lines.wrapped(("  ", "    "), Style::new(), &text)?;
        }
    }
    Ok(())
}

fn layers(report: &Report, lines: &mut Lines) -> io::Result<()> {
    if !report.layers.is_empty() {
        lines.title("Layers that are active, from the program down")?;
        for layer in &report.layers {
            lines.wrapped(("  ", "    "), GOOD, &layer.name)?;
            active_layer(layer, lines)?;
        }
    }
    if !report.inactive.is_empty() {
        lines.title("Layers that are installed and not active")?;
        for layer in &report.inactive {
            lines.wrapped(
                ("  ", "    "),
                Style::new(),
                &format!("{}: {} [{}]", layer.name, layer.reason, layer.code),
            )?;
            if !layer.advice.is_empty() {
                lines.wrapped(("    -> ", "       "), ADVICE, &layer.advice)?;
            }
        }
    }
    Ok(())
}

/// Prints the reasons for a layer's activation and position, and the layer's files.
fn active_layer(layer: &ActiveLayer, lines: &mut Lines) -> io::Result<()> {
    lines.labelled("because", &layer.because)?;
    if !layer.order.is_empty() {
        lines.labelled("order", &layer.order)?;
    }
    lines.labelled("manifest", &layer.manifest)?;
    lines.labelled("library", &layer.library)
}

/// Prints the chain of layers from the program to the drivers, and the broken rules about the order.
///
/// # Errors
///
/// Writing to standard output fails.
pub(crate) fn chain(layers: &[ActiveLayer], warnings: &[Warning<'_>], order: Option<&str>) -> io::Result<()> {
    let mut lines = Lines::new();
    lines.wrapped(("", ""), TITLE, "Program")?;
    for layer in layers {
        lines.wrapped(("  ", "    "), GOOD, &layer.name)?;
        active_layer(layer, &mut lines)?;
    }
    lines.wrapped(("", ""), TITLE, "Drivers")?;
    for warning in warnings {
        writeln!(lines.out)?;
        let Warning { above, below, rule, .. } = warning;
        let (kind, other) = (rule.below.words(), rule.above.words());
        let mut text = format!(
            "{above} ({kind}) is above {below} ({other}). {} Source: {}.",
            rule.reason, rule.source
        );
        if warning.is_of_program {
            text += " The program enables both, so only the order of its own list changes this.";
        }
        lines.wrapped(("! ", "  "), WARNING, &text)?;
    }
    if let Some(order) = order {
        // Does not wrap the line, because users copy it into a shell.
        let order = plain(order);
        writeln!(lines.out, "\n{ADVICE}  -> VK_LOADER_LAYERS_ORDER='{order}'{ADVICE:#}")?;
    }
    lines.out.flush()
}

fn catalogue(report: &Report, lines: &mut Lines) -> io::Result<()> {
    if !report.catalogue.is_empty() {
        lines.title("The driver catalogue")?;
    }
    for one in &report.catalogue {
        lines.wrapped(("  ", "    "), Style::new(), &format!("{}: {}", one.library, one.what))?;
    }
    Ok(())
}

fn slow(report: &Report, lines: &mut Lines) -> io::Result<()> {
    if report.slow.is_empty() {
        return Ok(());
    }
    lines.title("Slow")?;
    for slow in &report.slow {
        let text = format!("{slow}: {}", slow.library);
        lines.wrapped(("  ", "    "), Style::new(), &text)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_do_not_break_in_words_that_users_copy() {
        for (text, expected) in [
            ("rm '/a b/c' now", "rm '/a\u{A0}b/c' now"),
            ("rm '/it'\\''s a/c' now", "rm '/it'\\''s\u{A0}a/c' now"),
            ("X='a b' PROGRAM", "X='a\u{A0}b' PROGRAM"),
            (
                "the driver's library and the program's",
                "the driver's library and the program's",
            ),
            ("an odd 'quote without end", "an odd 'quote without end"),
        ] {
            assert_eq!(unbroken(text), expected);
        }
    }

    #[test]
    fn a_reason_comes_before_its_remedies() {
        let text = reason("the program opened none; vkloader explain lists them; it may be old");
        assert_eq!(
            text,
            "\nx The program opened none\n  -> vkloader explain lists them\n  -> It may be old"
        );
    }

    #[test]
    fn names_of_others_do_not_act_on_a_terminal() {
        assert_eq!(plain("a\x1b[31m\nb\u{202E}c ä"), "a\\u{1b}[31m\\nb\\u{202e}c ä");
    }
}
