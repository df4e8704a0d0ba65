//! Writes a report as one self-contained HTML page.

use super::picture::{self, Form};
use super::terminal::plain;
use crate::report::{Device, Dropped, Report, Verdict};
use std::fmt::Write;

const STYLE: &str = "
:root { color-scheme: light dark; --ground: #ffffff; --text: #1b1f24; --faint: #5c6570; --line: #c9d0d8; --box: #f3f6f9; --good: #0b6e3d; --software: #8a5a00; --bad: #a3261c; --advice: #0a5aa8; }
@media (prefers-color-scheme: dark) { :root { --ground: #14171b; --text: #e6e9ed; --faint: #9aa4b0; --line: #3a424c; --box: #1f242b; --good: #63c894; --software: #f0b95a; --bad: #ff8a7d; --advice: #7db8ff; } }
body { margin: 0 auto; padding: 2rem; max-width: 76rem; background: var(--ground); color: var(--text); font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; border-bottom: 1px solid var(--line); padding-bottom: .3rem; }
.faint, dt { color: var(--faint); } .good { color: var(--good); } .software { color: var(--software); } .bad { color: var(--bad); }
.advice { color: var(--advice); } .advice::before { content: '\\2192\\00a0'; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: .3rem 0 .6rem; font-size: .92rem; } dd { margin: 0; overflow-wrap: anywhere; }
article { border: 1px solid var(--line); border-radius: 8px; background: var(--box); padding: .8rem 1rem; margin: .8rem 0; } article h3 { margin: 0; font-size: 1rem; overflow-wrap: anywhere; } p { margin: .3rem 0; }
code { font-size: .9em; } .picture { overflow-x: auto; } svg { display: block; margin: 0 auto; max-width: 100%; height: auto; }
svg rect { fill: var(--box); stroke: var(--text); stroke-width: 1.4; } svg path { fill: none; stroke: var(--text); stroke-width: 1.4; } svg marker path { fill: var(--text); stroke: none; }
svg text { fill: var(--text); text-anchor: middle; font: 14px system-ui, sans-serif; } svg text.below { fill: var(--faint); font-size: 12px; }
.narrow { display: none; } @media (max-width: 40rem) { body { padding: 1rem; } .picture { display: none; } .narrow { display: block; } }
svg .software rect { stroke: var(--software); } svg .bad rect { stroke: var(--bad); }
svg .out rect, svg path.out { stroke: var(--line); stroke-dasharray: 5 4; } svg .out text { fill: var(--faint); }
";

/// Returns the HTML page of a report.
pub(crate) fn html(report: &Report) -> String {
    let mut page = String::new();
    // Writing to a string cannot fail.
    let _ = write_page(&mut page, report);
    page
}

/// Returns a text in which HTML's special characters are escaped. Characters that control a terminal or the direction of text become
/// visible escapes.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in plain(text).chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            _ => escaped.push(character),
        }
    }
    escaped
}

fn write_page(page: &mut String, report: &Report) -> std::fmt::Result {
    writeln!(
        page,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, \
         initial-scale=1\"><title>Vulkan on this machine</title><style>{STYLE}</style></head><body><main>\n<h1>Vulkan on this machine</h1>"
    )?;
    if let Some(loader) = &report.loader {
        let path = loader.path.as_deref().unwrap_or("an unknown file");
        let owner = loader.owner.as_deref().unwrap_or("no package");
        writeln!(
            page,
            "<p class=\"faint\">Vulkan loader {}, <code>{}</code> ({}), {} bit</p>",
            escaped(&loader.version),
            escaped(path),
            escaped(owner),
            loader.word_size
        )?;
    }
    write_verdict(page, report)?;
    for (class, form) in [("picture", Form::Wide), ("picture narrow", Form::Narrow)] {
        writeln!(page, "<div class=\"{class}\">{}</div>", picture::svg(report, form))?;
    }
    write_others(page, report)?;
    write_devices(page, report)?;
    write_hidden(page, report)?;
    write_dropped(page, report)?;
    write_calls(page, report)?;
    write_layers(page, report)?;
    if !report.catalogue.is_empty() {
        writeln!(page, "<h2>The driver catalogue</h2><dl>")?;
        for one in &report.catalogue {
            writeln!(page, "<dt>{}</dt><dd>{}</dd>", escaped(&one.library), one.what)?;
        }
        writeln!(page, "</dl>")?;
    }
    if !report.slow.is_empty() {
        writeln!(page, "<h2>Slow</h2><dl>")?;
        for slow in &report.slow {
            let library = escaped(&slow.library);
            writeln!(page, "<dt>{slow}</dt><dd>{library}</dd>")?;
        }
        writeln!(page, "</dl>")?;
    }
    writeln!(page, "</main></body></html>")
}

fn write_verdict(page: &mut String, report: &Report) -> std::fmt::Result {
    let class = match report.verdict {
        _ if report.is_only_unknown() => "software",
        _ if report.is_failure() => "bad",
        Verdict::Hardware => "good",
        Verdict::SoftwareOnly => "software",
        Verdict::Nothing => "bad",
    };
    let headline = escaped(&report.headline());
    writeln!(page, "<p class=\"{class}\"><strong>{headline}</strong></p>")?;
    match report.first_cause() {
        Some(first) => {
            writeln!(page, "<p>{}</p>", escaped(&first.reason))?;
            for fact in first.head_facts() {
                writeln!(page, "<p class=\"faint\">{}</p>", escaped(&fact))?;
            }
            writeln!(page, "<p class=\"advice\">{}</p>", escaped(&first.advice))
        }
        None => Ok(()),
    }
}

/// Writes the loader that programs use, if it is not the examined one, and the devices of programs of the other word size.
fn write_others(page: &mut String, report: &Report) -> std::fmt::Result {
    if let Some(other) = &report.other_loader {
        let line = escaped(&other.line());
        writeln!(page, "<h2>{}</h2><p>{line}</p>", other.title())?;
        write_list(page, &other.lines())?;
        if let Some(text) = report.agreement() {
            writeln!(page, "<p class=\"faint\">{text}</p>")?;
        }
    }
    if let Some(other) = &report.other_word_size {
        writeln!(page, "<h2>The other word size</h2><p>{}</p>", escaped(&other.line()))?;
        if let Some(first) = other.first_cause.as_ref().filter(|_| other.devices.is_empty()) {
            writeln!(page, "<p class=\"advice\">{}</p>", escaped(&first.advice))?;
        }
    }
    Ok(())
}

fn facts(page: &mut String, facts: &[(&str, Option<&str>)]) -> std::fmt::Result {
    write!(page, "<dl>")?;
    for (name, text) in facts {
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            write!(page, "<dt>{name}</dt><dd>{}</dd>", escaped(text))?;
        }
    }
    writeln!(page, "</dl>")
}

fn write_devices(page: &mut String, report: &Report) -> std::fmt::Result {
    if report.devices.is_empty() {
        return Ok(());
    }
    writeln!(page, "<h2>Devices, in the order in which a program gets them</h2>")?;
    for (place, device) in report.devices.iter().enumerate() {
        writeln!(
            page,
            "<article><h3 class=\"{}\">{place} {}</h3>",
            class_of(device),
            escaped(&device.name)
        )?;
        let kind = format!("{}, Vulkan {}", device.kind, device.api_version);
        facts(
            page,
            &[
                ("type", Some(&kind)),
                ("driver", Some(&device.driver)),
                ("manifest", device.manifest.as_deref()),
                ("place", Some(&device.order)),
            ],
        )?;
        writeln!(page, "</article>")?;
    }
    Ok(())
}

/// Returns the CSS class of a device.
pub(super) fn class_of(device: &Device) -> &'static str {
    match device.is_usable {
        false => "bad",
        true if device.is_software() => "software",
        true => "good",
    }
}

fn write_hidden(page: &mut String, report: &Report) -> std::fmt::Result {
    if report.hidden.is_empty() {
        return Ok(());
    }
    writeln!(page, "<h2>Devices that the program does not get</h2><dl>")?;
    for hidden in &report.hidden {
        let by = if hidden.by.is_empty() { "a layer" } else { &hidden.by };
        writeln!(
            page,
            "<dt>{}</dt><dd>{} hid it</dd>",
            escaped(&hidden.name),
            escaped(by)
        )?;
    }
    writeln!(page, "</dl>")
}

fn write_dropped(page: &mut String, report: &Report) -> std::fmt::Result {
    if report.dropped.is_empty() {
        return Ok(());
    }
    writeln!(page, "<h2>Left out, or in the way</h2>")?;
    let (noise, findings): (Vec<&Dropped>, Vec<&Dropped>) =
        report.dropped.iter().partition(|dropped| dropped.is_noise());
    for dropped in findings {
        writeln!(
            page,
            "<article><h3>{}: {}</h3><p>{} <code class=\"faint\">{}</code></p>",
            escaped(&dropped.subject),
            escaped(&dropped.name),
            escaped(&dropped.reason),
            escaped(&dropped.code)
        )?;
        let mut rows = vec![
            ("file", dropped.file.as_deref()),
            ("named by", dropped.named_by.as_deref()),
        ];
        rows.extend(dropped.findings.iter().map(|fact| ("found", Some(&**fact))));
        facts(page, &rows)?;
        if !dropped.advice.is_empty() {
            writeln!(page, "<p class=\"advice\">{}</p>", escaped(&dropped.advice))?;
        }
        writeln!(page, "</article>")?;
    }
    let noise: Vec<String> = noise.into_iter().map(Dropped::in_short).collect();
    write_list(page, &noise)
}

fn write_list(page: &mut String, texts: &[String]) -> std::fmt::Result {
    if texts.is_empty() {
        return Ok(());
    }
    writeln!(page, "<ul class=\"faint\">")?;
    for text in texts {
        writeln!(page, "<li>{}</li>", escaped(text))?;
    }
    writeln!(page, "</ul>")
}

fn write_calls(page: &mut String, report: &Report) -> std::fmt::Result {
    let failed: Vec<String> = report.failed.iter().map(ToString::to_string).collect();
    let printed: Vec<String> = report.printed.iter().map(ToString::to_string).collect();
    let hardware: Vec<String> = report.hardware.iter().map(ToString::to_string).collect();
    let sections = [
        ("Hardware that the system shows", &hardware),
        ("Runs in", &report.surroundings),
        ("Calls that failed", &failed),
        ("Errors of the log", &report.errors),
        ("Printed by drivers and layers", &printed),
    ];
    for (title, texts) in sections.into_iter().filter(|(_, texts)| !texts.is_empty()) {
        writeln!(page, "<h2>{title}</h2>")?;
        write_list(page, texts)?;
    }
    Ok(())
}

fn write_layers(page: &mut String, report: &Report) -> std::fmt::Result {
    if !report.layers.is_empty() {
        writeln!(page, "<h2>Layers that are active, from the program down</h2>")?;
    }
    for layer in &report.layers {
        writeln!(page, "<article><h3 class=\"good\">{}</h3>", escaped(&layer.name))?;
        facts(
            page,
            &[
                ("because", Some(&layer.because)),
                ("order", Some(&layer.order)),
                ("manifest", Some(&layer.manifest)),
                ("library", Some(&layer.library)),
            ],
        )?;
        writeln!(page, "</article>")?;
    }
    if !report.inactive.is_empty() {
        writeln!(page, "<h2>Layers that are installed and not active</h2>")?;
    }
    for layer in &report.inactive {
        writeln!(
            page,
            "<article><h3>{}</h3><p>{} <code class=\"faint\">{}</code></p>",
            escaped(&layer.name),
            escaped(&layer.reason),
            escaped(&layer.code)
        )?;
        facts(page, &[("manifest", Some(&layer.manifest))])?;
        if !layer.advice.is_empty() {
            writeln!(page, "<p class=\"advice\">{}</p>", escaped(&layer.advice))?;
        }
        writeln!(page, "</article>")?;
    }
    Ok(())
}
