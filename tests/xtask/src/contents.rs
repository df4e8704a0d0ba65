//! Lists the library's contents as SPDX 2.3, from `Cargo.lock` and the pinned version of the registry. The same lock file always results in
//! the same list.
//!
//! Other programs for SPDX add the time and a random name, and do not know the registry from which the code is generated.

use crate::metadata::{Metadata, Package};
use crate::tree::Tree;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Packages whose programs and libraries are installed on systems. These files contain the crates on which the packages depend.
const SHIPPED: [&str; 3] = ["vulkan-loader", "vkloader", "vk-loader-service"];
/// Copyright line of the Vulkan registry's XML file.
const REGISTRY: &str = "Copyright 2015-2026 The Khronos Group Inc.";
const NAME: &str = "vulkan-loader-rs";
const LICENCE: &str = "Apache-2.0 OR MIT";
const UNKNOWN: &str = "NOASSERTION";

/// Prints the SPDX list with `epoch` as its time of creation, in seconds since 1970.
///
/// # Errors
/// Returns a message if the time is not a number, cargo fails, or a file cannot be read.
pub fn print(tree: &Tree, epoch: &str) -> Result<(), String> {
    let epoch: u64 = epoch
        .parse()
        .map_err(|_| format!("{epoch} is not a number of seconds"))?;
    let list = contents(tree, &Metadata::ask(tree)?, epoch)?;
    println!("{list:#}");
    Ok(())
}

fn contents(tree: &Tree, known: &Metadata, epoch: u64) -> Result<Value, String> {
    let lock = tree.read("Cargo.lock")?;
    let checksums = checksums(&tree.toml("Cargo.lock")?);
    let version = tree.header()?;
    let whole = identifier(NAME, "");
    let origins = registry(tree)?;
    let mut relations = BTreeSet::new();
    let mut relate = |one: &str, kind: &str, other: &str| {
        relations.insert((one.to_owned(), kind.to_owned(), other.to_owned()));
    };
    relate("SPDXRef-DOCUMENT", "DESCRIBES", &whole);
    for origin in &origins {
        relate(&whole, "GENERATED_FROM", origin["SPDXID"].as_str().unwrap_or_default());
    }
    let packages: BTreeMap<&str, &Package> = known
        .packages
        .iter()
        .map(|package| (package.id.as_str(), package))
        .collect();
    let mut shipped = BTreeSet::new();
    for package in known
        .packages
        .iter()
        .filter(|package| package.source.is_none() && SHIPPED.contains(&package.name.as_str()))
    {
        let own = identifier(&package.name, &package.version);
        relate(&whole, "CONTAINS", &own);
        for part in known.closure(&package.id) {
            shipped.insert(part);
            if part != package.id {
                relate(
                    &own,
                    "DEPENDS_ON",
                    &identifier(&packages[part].name, &packages[part].version),
                );
            }
        }
    }
    let mut rows = BTreeMap::new();
    for package in &known.packages {
        let own = identifier(&package.name, &package.version);
        if !shipped.contains(package.id.as_str()) {
            // The generator and the tests are in the source archive, but no package installs them.
            relate(&own, "DEV_TOOL_OF", &whole);
        }
        rows.insert(own, row(package, &checksums));
    }
    let first = json!({
        "SPDXID": whole, "name": NAME, "versionInfo": version, "downloadLocation": UNKNOWN, "filesAnalyzed": false,
        "licenseConcluded": LICENCE, "licenseDeclared": LICENCE, "copyrightText": UNKNOWN, "supplier": UNKNOWN,
    });
    let packages: Vec<Value> = [first].into_iter().chain(origins).chain(rows.into_values()).collect();
    let relations = relations.into_iter().map(
        |(one, kind, other)| json!({ "spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other }),
    );
    let digest = Sha256::digest(lock.as_bytes())
        .iter()
        .fold(String::new(), |mut text, byte| {
            // Writing to a text cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        });
    Ok(json!({
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": format!("{NAME}-{version}"),
        "documentNamespace": format!("https://spdx.org/spdxdocs/{NAME}-{version}-{digest}"),
        "creationInfo": { "created": time(epoch), "creators": ["Tool: xtask"] },
        "packages": packages,
        "relationships": relations.collect::<Vec<_>>(),
    }))
}

fn identifier(name: &str, version: &str) -> String {
    let text = if version.is_empty() {
        name.to_owned()
    } else {
        format!("{name}-{version}")
    };
    let plain = text.chars().map(|it| {
        if it.is_ascii_alphanumeric() || it == '.' {
            it
        } else {
            '-'
        }
    });
    format!("SPDXRef-{}", plain.collect::<String>())
}

/// Returns the checksum of each package of a lock file, by name and version.
fn checksums(lock: &toml::Table) -> BTreeMap<(String, String), String> {
    let text = |row: &toml::Value, key: &str| row.get(key).and_then(toml::Value::as_str).map(str::to_owned);
    let rows = lock
        .get("package")
        .and_then(toml::Value::as_array)
        .into_iter()
        .flatten();
    rows.filter_map(|row| Some(((text(row, "name")?, text(row, "version")?), text(row, "checksum")?)))
        .collect()
}

/// Returns a crate as a package of the SPDX list.
fn row(package: &Package, checksums: &BTreeMap<(String, String), String>) -> Value {
    let mut entry = json!({
        "SPDXID": identifier(&package.name, &package.version),
        "name": package.name,
        "versionInfo": package.version,
        "downloadLocation": UNKNOWN,
        "filesAnalyzed": false,
        "licenseConcluded": package.licence(),
        "licenseDeclared": package.licence(),
        "copyrightText": UNKNOWN,
        "supplier": UNKNOWN,
    });
    if package.source.is_some() {
        let sum = checksums.get(&(package.name.clone(), package.version.clone()));
        entry["checksums"] = json!([{ "algorithm": "SHA256", "checksumValue": sum }]);
        let locator = format!("pkg:cargo/{}@{}", package.name, package.version.replace('+', "%2B"));
        entry["externalRefs"] =
            json!([{ "referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": locator }]);
    }
    entry
}

/// Returns a package of the SPDX list for the XML files of the Khronos registry, from which `generated/` and the snapshot were generated.
fn registry(tree: &Tree) -> Result<Vec<Value>, String> {
    let (pin, header) = (tree.toml("registry/pin.toml")?, tree.header()?);
    let sums = pin
        .get("sha256")
        .and_then(toml::Value::as_table)
        .ok_or("registry/pin.toml has no checksums")?;
    let rows = sums.iter().map(|(file, digest)| {
        json!({
            "SPDXID": identifier(file, ""),
            "name": file,
            "versionInfo": header,
            "downloadLocation": format!("https://github.com/KhronosGroup/Vulkan-Docs/blob/v{header}/xml/{file}"),
            "filesAnalyzed": false,
            "checksums": [{ "algorithm": "SHA256", "checksumValue": digest.as_str() }],
            "licenseConcluded": LICENCE,
            "licenseDeclared": LICENCE,
            "copyrightText": REGISTRY,
            "supplier": "Organization: The Khronos Group Inc.",
        })
    });
    Ok(rows.collect())
}

/// Returns a time in the format of SPDX: a date of the Gregorian calendar, and a time of day in UTC.
fn time(epoch: u64) -> String {
    let (days, seconds) = (epoch / 86_400, epoch % 86_400);
    // In this calculation, years begin in March, so that a leap day is the last day of a year. 400 years form an era.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = (
        era * 400 + year + month / 10,
        if month < 10 { month + 3 } else { month - 9 },
    );
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        assert_eq!(time(0), "1970-01-01T00:00:00Z");
        assert_eq!(time(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(time(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(time(1_795_437_000), "2026-11-23T12:30:00Z");
    }

    #[test]
    fn identifiers_have_no_other_signs() {
        assert_eq!(identifier("a_b", "1.0+2"), "SPDXRef-a-b-1.0-2");
    }
}
