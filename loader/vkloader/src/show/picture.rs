//! Draws the picture of a report. Boxes and arrows show the application, loader, layers, drivers and devices. Dropped objects are grey.

use super::page::{class_of, escaped};
use crate::paths::file_name;
use crate::report::Report;

const WIDTH: usize = 256;
const HEIGHT: usize = 56;
const GAP: usize = 24;
const ROW: usize = HEIGHT + 54;
/// Upper bound on the number of boxes in a row. If there are more objects, the last box shows the number of the remaining ones.
const MOST: usize = 8;
/// Upper bound on the number of characters in a line of a box.
const LETTERS: usize = 32;

/// In the narrow picture, distance of a box from the left edge of the box above it.
const INDENT: usize = 20;

/// Arrangement of the boxes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// The boxes of a row are next to each other, for wide screens.
    Wide,
    /// The boxes of a row are below each other, for telephones.
    Narrow,
}

/// A box of the picture, which stands for an object in the report.
struct Box {
    title: String,
    below: String,
    /// CSS class for the state of the box's subject.
    class: &'static str,
    /// Index of the box above that is connected to this box.
    above: usize,
}

/// A box with the position of its upper left corner, and the start of the arrow that leads to the box. The arrow starts at the lower edge
/// of another box, which is above this one.
struct Placed<'a> {
    one: &'a Box,
    x: usize,
    y: usize,
    from: Option<(usize, usize)>,
}

/// Returns the picture as SVG.
pub(super) fn svg(report: &Report, form: Form) -> String {
    let rows = rows(report);
    let placed = match form {
        Form::Wide => wide(&rows),
        Form::Narrow => narrow(&rows),
    };
    let right = placed.iter().map(|placed| placed.x).max().unwrap_or_default();
    let bottom = placed.iter().map(|placed| placed.y).max().unwrap_or_default();
    let (width, height) = (right + WIDTH + GAP, bottom + HEIGHT + GAP);
    let tip = if form == Form::Wide { "tip" } else { "narrow-tip" };
    let mut svg = format!(
        "<svg viewBox=\"0 0 {width} {height}\" width=\"{width}\" role=\"img\" aria-label=\"From the program to its devices\">\n\
         <defs><marker id=\"{tip}\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\">\
         <path d=\"M0 0L8 4L0 8z\"/></marker></defs>\n"
    );
    for placed in &placed {
        svg += &arrow(placed, form, tip);
    }
    for Placed { one, x, y, .. } in &placed {
        let middle = x + WIDTH / 2;
        svg += &format!(
            "<g class=\"{}\"><rect x=\"{x}\" y=\"{y}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"8\"/>\
             <text x=\"{middle}\" y=\"{}\">{}</text><text class=\"below\" x=\"{middle}\" y=\"{}\">{}</text></g>\n",
            one.class,
            y + 24,
            escaped(&short(&one.title)),
            y + 43,
            escaped(&short(&one.below)),
        );
    }
    svg + "</svg>\n"
}

/// Returns the arrow to a box from the box above.
fn arrow(placed: &Placed<'_>, form: Form, tip: &str) -> String {
    let Some((from_x, from_y)) = placed.from else {
        return String::new();
    };
    let (x, y, class) = (placed.x, placed.y, placed.one.class);
    let line = match form {
        Form::Wide => {
            let to = x + WIDTH / 2;
            format!(
                "M{from_x} {from_y} C{from_x} {} {to} {} {to} {}",
                from_y + 30,
                y - 34,
                y - 4
            )
        }
        Form::Narrow if x < from_x => format!("M{from_x} {from_y} L{from_x} {}", y - 4),
        // The arrow runs along the left side of the boxes, as in an indented list.
        Form::Narrow => format!(
            "M{from_x} {from_y} L{from_x} {} L{} {}",
            y + HEIGHT / 2,
            x - 4,
            y + HEIGHT / 2
        ),
    };
    format!("<path class=\"{class}\" d=\"{line}\" marker-end=\"url(#{tip})\"/>\n")
}

fn wide(rows: &[Vec<Box>]) -> Vec<Placed<'_>> {
    let widest = rows.iter().map(Vec::len).max().unwrap_or(1);
    let width = widest * (WIDTH + GAP) + GAP;
    let corner = |level: usize, place: usize| {
        let taken = rows[level].len() * (WIDTH + GAP) - GAP;
        ((width - taken) / 2 + place * (WIDTH + GAP), GAP + level * ROW)
    };
    let mut placed = Vec::new();
    for (level, row) in rows.iter().enumerate() {
        for (place, one) in row.iter().enumerate() {
            let (x, y) = corner(level, place);
            let above = level
                .checked_sub(1)
                .map(|level| corner(level, one.above.min(rows[level].len() - 1)));
            let from = above.map(|(x, y)| (x + WIDTH / 2, y + HEIGHT));
            placed.push(Placed { one, x, y, from });
        }
    }
    placed
}

fn narrow(rows: &[Vec<Box>]) -> Vec<Placed<'_>> {
    let mut placed = Vec::new();
    below(rows, 0, 0, None, &mut placed);
    placed
}

/// Places the boxes of a row that are connected to the box with index `above` in the previous row. The boxes that are connected to a placed
/// box follow directly after it.
fn below<'a>(
    rows: &'a [Vec<Box>],
    level: usize,
    above: usize,
    from: Option<(usize, usize)>,
    placed: &mut Vec<Placed<'a>>,
) {
    let Some(row) = rows.get(level) else { return };
    // A row with only one box adds no indentation.
    let indent = rows[..=level].iter().filter(|row| row.len() > 1).count().min(3) * INDENT;
    for (place, one) in row.iter().enumerate().filter(|(_, one)| one.above == above) {
        let (x, y) = (8 + indent, GAP + placed.len() * (HEIGHT + GAP));
        placed.push(Placed { one, x, y, from });
        below(rows, level + 1, place, Some((x + INDENT / 2, y + HEIGHT)), placed);
    }
}

/// Returns the rows of boxes, starting with the application.
fn rows(report: &Report) -> Vec<Vec<Box>> {
    let one = |title: String, below: String| Box {
        title,
        below,
        class: "",
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
            class: "out",
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
        class: match class_of(device) {
            "good" => "",
            other => other,
        },
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
        let above = row[MOST - 1].above;
        row.truncate(MOST - 1);
        row.push(Box {
            title: format!("{more} more"),
            below: String::new(),
            class: "out",
            above,
        });
    }
    row
}

/// Returns the beginning of a text, with as many characters as fit in a box.
fn short(text: &str) -> String {
    if text.chars().count() > LETTERS {
        text.chars().take(LETTERS - 1).chain(['…']).collect()
    } else {
        text.into()
    }
}
