//! Manifests that are templates of an installer or a build: a placeholder is in place of the library's path.

use super::closure::{Identity, locate};
use crate::paths::file_name;
use crate::shell::word;

/// Signs before and after a placeholder, which an installer or a build system replaces by a path.
const PLACEHOLDERS: [(&str, &str); 5] = [("__", "__"), ("@", "@"), ("{{", "}}"), ("%", "%"), ("<", ">")];

/// Returns the placeholder in a path, for example `__NV_VK_ICD__` or `@PREFIX@`.
fn placeholder(library: &str) -> Option<&str> {
    let is_sign = |sign: char| sign.is_ascii_uppercase() || sign.is_ascii_digit() || matches!(sign, '_' | ' ');
    PLACEHOLDERS.iter().find_map(|(before, after)| {
        let start = library.find(before)?;
        let inner = start + before.len();
        let end = inner + library[inner..].find(after)?;
        let name = &library[inner..end];
        let is_name = name.len() > 1 && name.chars().all(is_sign);
        is_name.then(|| &library[start..end + after.len()])
    })
}

/// Returns the finding and the remedy for a manifest that is the template of an installer or a build: a placeholder is in its path of the
/// library.
pub(super) fn of(library: &str, manifest: Option<&str>, own: Identity) -> Option<(String, String)> {
    let (mark, manifest) = (placeholder(library)?, manifest?);
    let file = file_name(library);
    let stem = file_name(manifest);
    let stem = stem.split(['.', '-']).next().unwrap_or(stem);
    let stem = stem.strip_suffix("_icd").unwrap_or(stem);
    let usual = [
        format!("libvulkan_{stem}.so"),
        format!("libGLX_{stem}.so.0"),
        format!("{stem}64.so"),
        format!("lib{stem}.so"),
        format!("lib{stem}.so.1"),
    ];
    let named = [file.to_owned()].into_iter().filter(|_| !file.contains(mark));
    let right = named.chain(usual).find(|name| locate(name, own).is_some());
    let advice = match right {
        Some(right) => {
            let command = format!("s|{}|{right}|", for_sed(library));
            format!(
                "Write the library in its place: sed -i {} {}",
                word(&command),
                word(manifest)
            )
        }
        None => format!(
            "Reinstall the driver with its own installer, or write the path of its library in place of {mark} in {manifest}."
        ),
    };
    Some((
        format!("{mark} is a placeholder, which an installer should have replaced: {manifest} is a template"),
        advice,
    ))
}

/// Returns a text in which the characters are escaped that have a meaning in a pattern of sed.
fn for_sed(text: &str) -> String {
    let escape = |sign: char| {
        let is_special = matches!(sign, '.' | '*' | '[' | ']' | '^' | '$' | '\\' | '|');
        is_special.then_some('\\').into_iter().chain([sign])
    };
    text.chars().flat_map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_of_installers_are_known() {
        for (library, mark) in [
            ("__NV_VK_ICD__", Some("__NV_VK_ICD__")),
            ("@PREFIX@/lib/libx.so", Some("@PREFIX@")),
            ("{{LIBDIR}}/libx.so", Some("{{LIBDIR}}")),
            ("/opt/<INSTALL DIR>/libx.so", Some("<INSTALL DIR>")),
            ("/opt/a__b__c/libx.so", None),
            ("/opt/a@b/libx@1.so", None),
            ("libx.so", None),
        ] {
            assert_eq!(placeholder(library), mark);
        }
        let own = Identity::of_this_process();
        let (finding, advice) = of("@LIBDIR@/nowhere.so", Some("/m/card_icd.json"), own).expect("a template");
        assert!(
            finding.contains("@LIBDIR@") && finding.contains("/m/card_icd.json"),
            "{finding}"
        );
        assert!(advice.starts_with("Reinstall the driver"), "{advice}");
        // The name of the C library differs in systems with musl.
        if locate("libm.so.6", own).is_some() {
            let (_, advice) = of("@A1@/libm.so.6", Some("/m/card.json"), own).expect("a template");
            assert!(
                advice.ends_with("sed -i 's|@A1@/libm\\.so\\.6|libm.so.6|' /m/card.json"),
                "{advice}"
            );
        }
    }
}
