//! The picture of a report: application, loader, layers, drivers and devices as boxes and arrows, what was left out in grey.

use super::page::escaped;
use crate::report::Report;

const WIDTH: usize = 256;
const HEIGHT: usize = 56;
const GAP: usize = 24;
const ROW: usize = HEIGHT + 54;
/// Boxes of a row; what is more is counted in the last one.
const MOST: usize = 8;
/// Characters of a line in a box.
const LETTERS: usize = 32;

/// A box.
struct Box {
    title: String,
    below: String,
    greyed: bool,
    /// The box above it, in the row above.
    above: usize,
}

/// The picture as SVG.
pub(super) fn svg(report: &Report) -> String {
    let rows = rows(report);
    let widest = rows.iter().map(Vec::len).max().unwrap_or(1);
    let (width, height) = (widest * (WIDTH + GAP) + GAP, rows.len() * ROW + GAP);
    let mut svg = format!(
        "<svg viewBox=\"0 0 {width} {height}\" width=\"{width}\" role=\"img\" aria-label=\"From the program to its devices\">\n\
         <defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\">\
         <path d=\"M0 0L8 4L0 8z\"/></marker></defs>\n"
    );
    for (level, row) in rows.iter().enumerate() {
        for (place, one) in row.iter().enumerate() {
            let (x, y) = corner(level, place, row.len(), width);
            let class = if one.greyed { " class=\"out\"" } else { "" };
            if level > 0 {
                let (above_x, above_y) = corner(level - 1, one.above, rows[level - 1].len(), width);
                let (from, to) = (above_x + WIDTH / 2, x + WIDTH / 2);
                svg += &format!(
                    "<path{class} d=\"M{from} {} C{from} {} {to} {} {to} {}\" marker-end=\"url(#tip)\"/>\n",
                    above_y + HEIGHT,
                    above_y + HEIGHT + 30,
                    y - 34,
                    y - 4
                );
            }
            svg += &format!(
                "<g{class}><rect x=\"{x}\" y=\"{y}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"8\"/>\
                 <text x=\"{}\" y=\"{}\">{}</text><text class=\"below\" x=\"{}\" y=\"{}\">{}</text></g>\n",
                x + WIDTH / 2,
                y + 24,
                escaped(&short(&one.title)),
                x + WIDTH / 2,
                y + 43,
                escaped(&short(&one.below)),
            );
        }
    }
    svg + "</svg>\n"
}

fn corner(level: usize, place: usize, count: usize, width: usize) -> (usize, usize) {
    let taken = count * (WIDTH + GAP) - GAP;
    ((width - taken) / 2 + place * (WIDTH + GAP), GAP + level * ROW)
}

/// The rows of boxes, from the application down.
fn rows(report: &Report) -> Vec<Vec<Box>> {
    let one = |title: String, below: String| Box {
        title,
        below,
        greyed: false,
        above: 0,
    };
    let loader = report.loader.as_ref();
    let executable = loader
        .and_then(|loader| loader.executable.as_deref())
        .map_or("program", file_name);
    let mut rows = vec![vec![one(executable.into(), "application".into())]];
    let version = loader.map_or("", |loader| &loader.version);
    rows.push(vec![one(
        format!("Vulkan loader {version}"),
        loader
            .and_then(|loader| loader.path.as_deref())
            .map_or(String::new(), |path| file_name(path).into()),
    )]);
    for layer in &report.layers {
        rows.push(vec![one(layer.name.clone(), "layer".into())]);
    }
    let mut drivers: Vec<Box> = Vec::new();
    let mut libraries: Vec<&str> = Vec::new();
    for device in &report.devices {
        if !libraries.contains(&device.driver.as_str()) {
            libraries.push(&device.driver);
            drivers.push(one(file_name(&device.driver).into(), "driver".into()));
        }
    }
    let out = report
        .dropped
        .iter()
        .filter(|dropped| dropped.subject.starts_with("driver") || dropped.subject == "device");
    for dropped in out {
        drivers.push(Box {
            greyed: true,
            ..one(file_name(&dropped.name).into(), dropped.code.clone())
        });
    }
    rows.push(limited(drivers));
    let devices = report.devices.iter().map(|device| Box {
        above: libraries
            .iter()
            .position(|library| *library == device.driver)
            .unwrap_or_default()
            .min(MOST - 1),
        ..one(
            device.name.clone(),
            format!("{}, Vulkan {}", device.kind, device.api_version),
        )
    });
    let devices: Vec<Box> = devices.collect();
    if !devices.is_empty() {
        rows.push(limited(devices));
    }
    rows.retain(|row| !row.is_empty());
    rows
}

fn limited(mut row: Vec<Box>) -> Vec<Box> {
    if row.len() > MOST {
        let more = row.len() - MOST + 1;
        row.truncate(MOST - 1);
        row.push(Box {
            title: format!("{more} more"),
            below: String::new(),
            greyed: true,
            above: 0,
        });
    }
    row
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// A text that fits into a box.
fn short(text: &str) -> String {
    match text.chars().count() > LETTERS {
        true => text.chars().take(LETTERS - 1).chain(['…']).collect(),
        false => text.into(),
    }
}
