//! The two texts of a package: `metadata.json` (LSV-15), and the manifest, which the service rewrites for clients (LSV-16, LSV-17).

use super::fault::Fault;
use crate::json;
use elf::Class;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Upper bound on the bytes of a package's name.
const LONGEST_NAME: usize = 64;
/// Upper bound on the bytes of a needed library's name. The key of a needed library is the number of an instance, followed by the library's
/// name.
const LONGEST_NEED: usize = 40;

/// End of the names of packages for 32-bit programs.
const NARROW: &str = "-32";

/// Returns `true` if a folder of this name can be a package (LSV-28).
pub fn is_name(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'+' | b'-');
    (1..=LONGEST_NAME).contains(&name.len()) && !name.starts_with('.') && name.bytes().all(fits)
}

/// Returns the word size of the programs that a package of this name is for (LSV-28).
pub fn class_of(package: &str) -> Class {
    if package.ends_with(NARROW) {
        Class::Bits32
    } else {
        Class::Bits64
    }
}

/// Returns the package for programs of a class, from the name of a package in the configuration (LSV-26). The name of a package for 64-bit
/// programs also stands for that of 32-bit programs.
pub fn package_for(name: &str, class: Class) -> Option<String> {
    if class_of(name) == class {
        Some(name.to_owned())
    } else {
        (class == Class::Bits32).then(|| format!("{name}{NARROW}"))
    }
}

/// A path below `contents`, with at least one component, and without empty components or `..` (LSV-49).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "String")]
pub struct InnerPath(String);

impl TryFrom<String> for InnerPath {
    type Error = String;

    /// Checks a path from a member of `metadata.json`.
    fn try_from(path: String) -> Result<Self, String> {
        let broken = if path.contains('\0') {
            Some("it has a zero byte")
        } else if path.starts_with('/') {
            Some("it is absolute, and must be relative to contents")
        } else {
            path.split('/').find_map(|component| match component {
                "" | "." => Some("it has an empty component"),
                ".." => Some("it leads upwards (..), and must stay below contents"),
                _ => None,
            })
        };
        match broken {
            None => Ok(Self(path)),
            Some(rule) => Err(format!("{path:?} breaks a rule of paths: {rule}")),
        }
    }
}

impl InnerPath {
    /// Returns the path in the form of `metadata.json`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the last component of the path.
    pub fn file_name(&self) -> &str {
        last(&self.0)
    }
}

/// The content of `metadata.json` that the service uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// The driver's library, followed by the libraries that the driver needs. Each library comes after the libraries that it needs itself
    /// (LSV-66).
    pub libraries: Vec<Described>,
    /// Path of the manifest in the package.
    pub manifest: InnerPath,
}

/// A library according to `metadata.json`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Described {
    /// The name under which other libraries need this library; empty for the driver's library.
    pub name: String,
    /// Path of the file in the package.
    #[serde(rename = "file_path")]
    pub path: InnerPath,
    /// Number of symbols that the library exports; 0 for the driver's library.
    #[serde(default)]
    pub symbols: u64,
    /// The oldest version of the C library that the library works with; empty for any version.
    #[serde(default)]
    pub c_library: String,
}

/// The members of `metadata.json` that the service reads.
#[derive(Deserialize)]
struct Members {
    version: u64,
    file_path: InnerPath,
    manifest_path: InnerPath,
    #[serde(default)]
    c_library: String,
    #[serde(default)]
    needs: Vec<Described>,
}

impl Described {
    /// Returns `true` if a driver can need the library: the number of an instance and the library's name form a valid key.
    pub fn is_need(&self) -> bool {
        is_name(&self.name) && self.name.len() <= LONGEST_NEED
    }
}

impl Metadata {
    /// The only version of `metadata.json`.
    pub const VERSION: u64 = 1;

    /// Parses the text of `metadata.json`. `file` is the name of the file in messages.
    ///
    /// # Errors
    /// Returns the first fault in the text.
    pub fn read(text: &[u8], file: &str) -> Result<Self, Fault> {
        let members: Members = object(text, file)?;
        if members.version != Self::VERSION {
            return Err(member(file, "version", "the number 1"));
        }
        if members.needs.len() > wire::MOST_NEEDS {
            return Err(member(file, "needs", "a list of at most 128 libraries"));
        }
        if !members.needs.iter().all(Described::is_need) {
            return Err(member(file, "name", "the name of a library, of at most 40 characters"));
        }
        let mut libraries = vec![Described {
            name: String::new(),
            path: members.file_path,
            symbols: 0,
            c_library: members.c_library,
        }];
        libraries.extend(members.needs);
        if !libraries.iter().all(|library| is_version(&library.c_library)) {
            return Err(member(file, "c_library", "a version of at most 16 digits and dots"));
        }
        Ok(Self {
            libraries,
            manifest: members.manifest_path,
        })
    }
}

fn is_version(text: &str) -> bool {
    text.len() <= 16 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// The manifest of a driver, with the content that it has in the package, including unknown members.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Manifest {
    file_format_version: String,
    #[serde(rename = "ICD")]
    icd: Icd,
    #[serde(flatten)]
    more: Map<String, Value>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
struct Icd {
    library_path: String,
    api_version: String,
    #[serde(flatten)]
    more: Map<String, Value>,
}

/// A manifest in the form that clients receive (LSV-17).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    /// Value of `library_path`: the key that clients use to request the library.
    pub key: String,
    /// Name of the manifest.
    pub name: String,
    /// Text of the manifest.
    pub contents: String,
}

impl Manifest {
    /// Parses the text of a manifest. `file` is the name of the file in messages.
    ///
    /// # Errors
    /// Returns the first fault in the text.
    pub fn read(text: &[u8], file: &str) -> Result<Self, Fault> {
        let manifest: Self = object(text, file)?;
        let icd = &manifest.icd;
        for (key, text) in [
            ("file_format_version", &manifest.file_format_version),
            ("api_version", &icd.api_version),
            ("library_path", &icd.library_path),
        ] {
            if text.is_empty() {
                return Err(member(file, key, "a string that is not empty"));
            }
        }
        if variant(&icd.api_version) != 0 {
            return Err(Fault::Variant(icd.api_version.clone()));
        }
        // Clients insert the key into the JSON text of a request without escaping it, so the key must not need escapes.
        let base = manifest.base();
        if base.is_empty() || base.contains(|letter: char| letter.is_control() || matches!(letter, '"' | '\\')) {
            return Err(Fault::Key(icd.library_path.clone()));
        }
        // The rewritten text may be longer than the original.
        let size = manifest.published(u64::MAX).contents.len();
        if size > wire::MOST_IN_MANIFEST {
            return Err(Fault::TooLarge {
                file: file.to_owned(),
                size: size as u64,
                most: wire::MOST_IN_MANIFEST as u64,
            });
        }
        Ok(manifest)
    }

    /// Returns the manifest for an instance of the package. Keys of different instances differ, even if the library's name is long.
    pub fn published(&self, instance: u64) -> Published {
        let key = cut(&format!("{instance}-{}", self.base()), wire::LONGEST_KEY).to_owned();
        let mut manifest = self.clone();
        manifest.icd.library_path.clone_from(&key);
        Published {
            name: format!("{key}.json"),
            // Writing values as JSON that were parsed from JSON cannot fail.
            contents: serde_json::to_string(&manifest).unwrap_or_default(),
            key,
        }
    }

    /// Returns the path or the name of the library.
    pub fn library_path(&self) -> &str {
        &self.icd.library_path
    }

    /// Returns the word size of the library, if the manifest states it: `32` or `64`.
    pub fn architecture(&self) -> Option<&str> {
        self.icd.more.get("library_arch")?.as_str()
    }

    /// Returns the last component of the library's path.
    fn base(&self) -> &str {
        last(&self.icd.library_path)
    }
}

/// Returns the last component of a path.
fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// Returns the longest beginning of a text that has at most `most` bytes and does not split a character.
fn cut(text: &str, most: usize) -> &str {
    let most = most.min(text.len());
    let end = (0..=most).rev().find(|at| text.is_char_boundary(*at));
    &text[..end.unwrap_or(0)]
}

fn object<T: DeserializeOwned>(text: &[u8], file: &str) -> Result<T, Fault> {
    json::object(text).map_err(|error| Fault::io(file, error))
}

fn member(file: &str, key: &'static str, wanted: &'static str) -> Fault {
    Fault::Member {
        file: file.to_owned(),
        key,
        wanted,
    }
}

/// Returns the API variant in a version such as `0.1.3.250`. The variant is the first of four numbers, or zero if the version has fewer
/// numbers.
fn variant(version: &str) -> u64 {
    let mut parts = version.split('.');
    let first = parts.next().unwrap_or_default();
    if parts.count() < 3 {
        return 0;
    }
    first.trim().parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"{"file_format_version":"1.0.1","ICD":{"library_path":"lib/libvulkan_x.so","api_version":"1.3.0","x":[1]},"y":2}"#;

    fn manifest(text: &str) -> Result<Manifest, Fault> {
        Manifest::read(text.as_bytes(), "m.json")
    }

    #[test]
    fn lsv_28_names_of_packages() {
        for name in ["radv", "a", "A.b_c+d-9", &"x".repeat(64)] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", ".radv", "..", "a/b", "a b", "\u{e4}", "a\0", &"x".repeat(65)] {
            assert!(!is_name(name), "{name}");
        }
    }

    #[test]
    fn lsv_26_a_name_stands_for_both_word_sizes() {
        let both =
            |name: &str| [Class::Bits64, Class::Bits32].map(|class| package_for(name, class).unwrap_or_default());
        assert_eq!(both("radv"), ["radv", "radv-32"]);
        assert_eq!(both("radv-32"), ["", "radv-32"]);
    }

    #[test]
    fn lsv_49_paths_stay_below_contents() {
        for path in ["a", "lib/a.so", "..a/b..", "a...b"] {
            assert!(InnerPath::try_from(path.to_owned()).is_ok(), "{path}");
        }
        for (path, rule) in [
            ("/lib/a.so", "absolute"),
            ("..", "upwards"),
            ("a/../b", "upwards"),
            ("a//b", "empty component"),
            ("a/", "empty component"),
            ("./a", "empty component"),
            ("a\0b", "zero byte"),
        ] {
            let fault = InnerPath::try_from(path.to_owned()).unwrap_err();
            assert!(fault.contains("rule of paths") && fault.contains(rule), "{fault}");
        }
    }

    #[test]
    fn lsv_15_metadata_has_three_members() {
        let read = |text: &str| Metadata::read(text.as_bytes(), "metadata.json");
        let good = read(r#"{"version":1,"file_path":"lib/a.so","manifest_path":"a.json","more":0}"#).unwrap();
        assert_eq!(
            (good.libraries[0].path.as_str(), good.manifest.as_str()),
            ("lib/a.so", "a.json")
        );
        for (text, word) in [
            ("", "EOF"),
            ("[]", "object"),
            (r#"{"file_path":"a","manifest_path":"b"}"#, "version"),
            (r#"{"version":2,"file_path":"a","manifest_path":"b"}"#, "version"),
            (r#"{"version":"1","file_path":"a","manifest_path":"b"}"#, "expected u64"),
            (r#"{"version":1,"file_path":"","manifest_path":"b"}"#, "empty component"),
            (
                r#"{"version":1,"file_path":3,"manifest_path":"b"}"#,
                "expected a string",
            ),
            (r#"{"version":1,"file_path":"a"}"#, "manifest_path"),
            (r#"{"version":1,"file_path":"a","manifest_path":"../b"}"#, "../b"),
            (
                r#"{"version":1,"version":1,"file_path":"a","manifest_path":"b"}"#,
                "duplicate field `version`",
            ),
        ] {
            let fault = read(text).unwrap_err().to_string();
            assert!(fault.contains(word), "{text}: {fault}");
        }
    }

    #[test]
    fn lsv_66_metadata_describes_the_needed_libraries() {
        let read = |needs: &str| {
            let text = format!(
                r#"{{"version":1,"file_path":"a.so","manifest_path":"a.json","c_library":"2.38","needs":{needs}}}"#
            );
            Metadata::read(text.as_bytes(), "metadata.json").map(|metadata| metadata.libraries)
        };
        let good =
            read(r#"[{"name":"libz.so.1","file_path":"needs/libz.so.1.3","symbols":88,"c_library":"2.14"}]"#).unwrap();
        assert_eq!((&*good[0].c_library, good.len()), ("2.38", 2));
        let need = &good[1];
        assert_eq!(
            (&*need.name, need.path.as_str(), need.symbols, &*need.c_library),
            ("libz.so.1", "needs/libz.so.1.3", 88, "2.14")
        );
        let many = format!(
            "[{}]",
            vec![r#"{"name":"a","file_path":"a"}"#; wire::MOST_NEEDS + 1].join(",")
        );
        for (needs, word) in [
            ("7", "sequence"),
            ("[{}]", "name"),
            (r#"[{"name":"a"}]"#, "file_path"),
            (r#"[{"name":"a","file_path":"../a"}]"#, "rule of paths"),
            (r#"[{"name":"a/b","file_path":"a"}]"#, "name"),
            (r#"[{"name":"","file_path":"a"}]"#, "name"),
            (&format!(r#"[{{"name":"{}","file_path":"a"}}]"#, "x".repeat(41)), "name"),
            (r#"[{"name":"a","file_path":"a","c_library":"GLIBC_2.1"}]"#, "c_library"),
            (r#"[{"name":"a","file_path":"a","symbols":-1}]"#, "u64"),
            (&many, "needs"),
        ] {
            let fault = read(needs).unwrap_err().to_string();
            assert!(fault.contains(word), "{needs}: {fault}");
        }
    }

    #[test]
    fn lsv_16_a_manifest_has_what_drivers_need() {
        assert!(manifest(GOOD).is_ok());
        for (from, to, word) in [
            (r#""file_format_version":"1.0.1","#, "", "file_format_version"),
            ("\"1.0.1\"", "1", "expected a string"),
            ("\"1.0.1\"", "\"\"", "file_format_version"),
            ("\"ICD\"", "\"icd\"", "ICD"),
            (r#""api_version":"1.3.0""#, r#""api_version":13"#, "expected a string"),
            ("1.3.0", "1.1.3.0", "api_version"),
            ("lib/libvulkan_x.so", "", "library_path"),
            ("lib/libvulkan_x.so", "lib/", "library_path"),
            ("lib/libvulkan_x.so", "a\\u0000b", "library_path"),
            ("lib/libvulkan_x.so", "a\\u001fb", "library_path"),
            ("lib/libvulkan_x.so", "a\\nb", "library_path"),
            ("lib/libvulkan_x.so", "a\\\"b", "library_path"),
            ("[1]", &format!("[{}]", "\"\u{7f}\",1e9,".repeat(6500) + "1"), "bytes"),
        ] {
            let fault = manifest(&GOOD.replace(from, to)).unwrap_err().to_string();
            assert!(fault.contains(word), "{from} -> {to}: {fault}");
        }
        assert!(manifest(&GOOD.replace("1.3.0", "0.1.3.0")).is_ok());
    }

    #[test]
    fn lsv_17_a_manifest_is_rewritten_for_its_instance() {
        let published = manifest(GOOD).unwrap().published(7);
        assert_eq!(published.key, "7-libvulkan_x.so");
        assert_eq!(published.name, "7-libvulkan_x.so.json");
        assert_eq!(
            published.contents,
            GOOD.replace("lib/libvulkan_x.so", "7-libvulkan_x.so")
        );
    }

    #[test]
    fn lsv_55_long_keys_are_cut_and_stay_apart() {
        let long = manifest(&GOOD.replace("libvulkan_x.so", &"\u{e4}".repeat(60))).unwrap();
        let keys = [9, 10, 1_000_000].map(|number| long.published(number).key);
        for key in &keys {
            assert!(
                wire::is_key(key.as_bytes()) && key.len() > wire::LONGEST_KEY - 2,
                "{key}"
            );
        }
        assert!(keys[0].starts_with("9-") && keys[1].starts_with("10-"));
    }
}
