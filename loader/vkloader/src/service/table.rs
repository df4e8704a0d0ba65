//! Prints the state of a driver service as tables.

use super::{State, Told};
use crate::show;
use anstyle::{AnsiColor, Style};
use serde_json::Value;
use std::io::{self, Write};
use wire::status;

const TITLE: Style = Style::new().bold();
const FAINT: Style = Style::new().dimmed();
const BAD: Style = AnsiColor::Red.on_default();
/// Number of a hash's characters in a table. This number suffices for a comparison by eye.
const HASH: usize = 12;

/// Prints the state of a service as tables.
pub(super) fn show(told: &Told) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    let state = told.state();
    let health = state.as_ref().map(|state| format!(", health {}", state.health));
    let clients = state.as_ref().and_then(|state| state.clients);
    let clients = clients.map(|clients| format!(", clients: {clients}"));
    let head = [health, clients].into_iter().flatten().collect::<String>();
    writeln!(
        out,
        "Driver service at {}{}",
        show::plain(&told.socket),
        show::plain(&head)
    )?;
    let devices = match &state {
        Some(state) => devices_of_state(state),
        None => devices(told),
    };
    table(
        &mut out,
        "Devices",
        &["device", "kernel driver", "served by", "in order"],
        &devices,
    )?;
    if let Some(state) = &state {
        table(
            &mut out,
            "Drivers",
            &[
                "driver", "package", "status", "programs", "library", "bytes", "sha256", "reason",
            ],
            &drivers(state),
        )?;
    }
    table(
        &mut out,
        "Handed out to programs",
        &["manifest", "programs", "library", "Vulkan"],
        &manifests(told),
    )?;
    let refused = match told.inspect_refused.as_deref() {
        Some(status::DENIED) => {
            Some("Only root and the user of the service can see packages, states and reasons.".into())
        }
        Some(other) => Some(format!("The service does not report its state: {other}.")),
        None if state.is_none() => {
            Some("The service reports its state in a format that this program does not know; --json shows it.".into())
        }
        None => None,
    };
    if let Some(words) = refused {
        writeln!(out, "\n{FAINT}{}{FAINT:#}", show::plain(&words))?;
    }
    out.flush()
}

fn devices(told: &Told) -> Vec<Vec<String>> {
    let rows = told.devices.iter().map(|device| {
        let served = served_by(&device.active_icds, String::clone);
        vec![device.node.clone(), device.driver.clone(), served]
    });
    rows.collect()
}

fn devices_of_state(state: &State) -> Vec<Vec<String>> {
    let rows = state.devices.iter().map(|(name, device)| {
        let served = served_by(&device.active_icds, |icd| match state.icds.get(icd) {
            Some(driver) => format!("{icd} ({})", driver.package),
            None => icd.clone(),
        });
        let order: Vec<&str> = device.icds.iter().map(|icd| icd.package.as_str()).collect();
        vec![name.clone(), device.driver.clone(), served, order.join(", ")]
    });
    rows.collect()
}

/// Returns the text about the drivers that serve a device.
fn served_by(drivers: &[String], text: impl Fn(&String) -> String) -> String {
    match drivers {
        [] => "nothing".into(),
        drivers => drivers.iter().map(text).collect::<Vec<_>>().join(", "),
    }
}

/// Returns the text about the programs that can use a driver; empty if their word size is unknown.
fn programs(bits: u64) -> String {
    match bits {
        0 => String::new(),
        bits => format!("{bits}-bit"),
    }
}

/// Returns the rows of drivers, sorted by their numbers.
fn drivers(state: &State) -> Vec<Vec<String>> {
    let mut drivers: Vec<_> = state.icds.iter().collect();
    drivers.sort_by_key(|(instance, _)| (instance.parse::<u64>().unwrap_or(u64::MAX), *instance));
    let rows = drivers.into_iter().map(|(instance, driver)| {
        vec![
            instance.clone(),
            driver.package.clone(),
            driver.status.clone(),
            programs(driver.bits),
            driver.library_path.clone(),
            match driver.size {
                0 => String::new(),
                size => size.to_string(),
            },
            driver.sha256.chars().take(HASH).collect(),
            driver.error.clone(),
        ]
    });
    rows.collect()
}

fn manifests(told: &Told) -> Vec<Vec<String>> {
    let rows = told.manifests.iter().map(|manifest| {
        let contents: Value = serde_json::from_str(&manifest.contents).unwrap_or_default();
        let member = |name: &str| contents["ICD"][name].as_str().unwrap_or_default().to_owned();
        vec![
            manifest.name.clone(),
            programs(manifest.bits),
            member("library_path"),
            member("api_version"),
        ]
    });
    rows.collect()
}

/// Prints rows below the names of their columns. Omits empty columns.
fn table(out: &mut impl Write, title: &str, names: &[&str], rows: &[Vec<String>]) -> io::Result<()> {
    writeln!(out, "\n{TITLE}{title}{TITLE:#}")?;
    if rows.is_empty() {
        return writeln!(out, "  {BAD}none{BAD:#}");
    }
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|row| row.iter().map(|cell| show::plain(cell)).collect())
        .collect();
    let cell = |row: &[String], column: usize| row.get(column).cloned().unwrap_or_default();
    let used: Vec<usize> = (0..names.len())
        .filter(|&column| rows.iter().any(|row| !cell(row, column).is_empty()))
        .collect();
    let width = |column: usize| {
        let cells = rows.iter().map(|row| cell(row, column).chars().count());
        cells.max().unwrap_or(0).max(names[column].len())
    };
    let line = |cells: &dyn Fn(usize) -> String| {
        let cells: Vec<String> = used
            .iter()
            .map(|&column| format!("{:<1$}", cells(column), width(column)))
            .collect();
        cells.join("  ").trim_end().to_owned()
    };
    writeln!(out, "  {FAINT}{}{FAINT:#}", line(&|column| names[column].into()))?;
    for row in &rows {
        writeln!(out, "  {}", line(&|column| cell(row, column)))?;
    }
    Ok(())
}
