//! Tests that hostile or damaged input causes a diagnostic or a correct result, and never a panic or hang (GEN-85).

use crate::common::{VULKAN, codes, edited, good, load_text};
use vk_registry::{Code, Source};

#[test]
fn gen_85_nesting_and_attribute_floods_are_refused() {
    assert_eq!(codes(&"<a>".repeat(100_000)), [Code::InputLimit]);
    let deep = edited("<formats>", &format!("{}<formats>", "<formats>".repeat(100_000)));
    assert_eq!(codes(&deep), [Code::InputLimit]);
    let attributes: String = (0..100_000).map(|index| format!(" a{index}=''")).collect();
    assert_eq!(
        codes(&edited("<formats>", &format!("<formats{attributes}>"))),
        [Code::InputLimit]
    );
}

#[test]
fn gen_85_a_huge_attribute_is_no_problem() {
    let long = "x".repeat(4_000_000);
    assert_eq!(
        good(&edited("comment=\"base\"", &format!("comment=\"{long}\""))),
        good(VULKAN)
    );
    let found = load_text(&edited(
        "depends=\"VK_EXT_other+VkThingExtra::deepThing\"",
        &format!("depends=\"{long}\""),
    ));
    assert_eq!(found.map_err(|found| found[0].code), Err(Code::UnknownDependency));
    let bound = format!("depends=\"{}A{}\"", "(".repeat(50_000), ")".repeat(50_000));
    assert_eq!(
        codes(&edited("depends=\"VK_EXT_other+VkThingExtra::deepThing\"", &bound)),
        [Code::BadDepends]
    );
}

#[test]
fn gen_85_entities_are_not_expanded() {
    let bomb = "<!DOCTYPE registry [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;&a;'>]><registry>&b;</registry>";
    assert_eq!(codes(bomb), [Code::NotWellFormed]);
    assert_eq!(codes("<registry>&nothing;</registry>"), [Code::NotWellFormed]);
}

#[test]
fn gen_85_nul_and_other_encodings_are_refused() {
    assert_eq!(
        codes(&edited("comment=\"base\"", "comment=\"ba\0se\"")),
        [Code::NotWellFormed]
    );
    assert_eq!(codes(""), [Code::NotWellFormed]);
    let utf16: Vec<u8> = VULKAN.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let latin1 = [b"<registry>".as_slice(), &[0xe9]].concat();
    for bytes in [[&[0xff, 0xfe][..], &utf16].concat(), latin1] {
        let refused = Source::from_bytes("vk.xml", &bytes).expect_err("no UTF-8");
        assert_eq!((refused.code, refused.line), (Code::BadEncoding, 1));
    }
}

#[test]
fn gen_85_a_byte_order_mark_and_crlf_change_nothing() {
    let expected = good(VULKAN);
    assert_eq!(good(&format!("\u{feff}{VULKAN}")), expected);
    assert_eq!(good(&VULKAN.replace('\n', "\r\n")), expected);
    let bytes = format!("\u{feff}{VULKAN}").into_bytes();
    assert!(Source::from_bytes("vk.xml", &bytes).is_ok());
}

#[test]
fn gen_85_truncation_anywhere_is_refused() {
    let boundaries = VULKAN.char_indices().map(|(at, _)| at).step_by(37);
    for end in boundaries.filter(|end| *end < VULKAN.trim_end().len()) {
        assert_eq!(codes(&VULKAN[..end]).len(), 1, "cut at byte {end}");
    }
}

#[test]
fn gen_85_what_is_cut_off_is_refused_where_it_ends() {
    let root = VULKAN.find("<registry").expect("the root");
    let boundaries = VULKAN.char_indices().map(|(at, _)| at).step_by(53);
    for end in boundaries.filter(|end| (root + 10..VULKAN.trim_end().len()).contains(end)) {
        let found = load_text(&VULKAN[..end]).expect_err("a text without end");
        let lines = VULKAN[..end].matches('\n').count() + 1;
        let column = VULKAN[..end].chars().rev().take_while(|c| *c != '\n').count() + 1;
        let place = format!("vk.xml:{lines}:{column}: error[not-well-formed]: the file ends here");
        assert!(
            found[0].to_string().starts_with(&place),
            "cut at byte {end}: {}",
            found[0]
        );
    }
    let found = load_text(VULKAN.split_once("<enum value=\"0\"").expect("the fixture").0);
    let text = found.expect_err("a text without end")[0].to_string();
    assert!(text.contains("inside `enums`, which starts in line 8"), "{text}");
    // The diagnostic for a wrong end tag does not claim that the file was truncated.
    let found = load_text(&edited("</platforms>", "</platform>"));
    let text = found.expect_err("a wrong end")[0].to_string();
    assert!(!text.contains("cut off"), "{text}");
}

#[test]
fn gen_85_a_file_of_more_than_64_mib_is_refused() {
    let mut bytes = VULKAN.as_bytes().to_vec();
    bytes.resize(vk_registry::MAX_BYTES, b' ');
    assert!(Source::from_bytes("vk.xml", &bytes).is_ok());
    bytes.push(b' ');
    let refused = Source::from_bytes("vk.xml", &bytes).expect_err("a byte too many");
    assert_eq!(
        refused.to_string(),
        "vk.xml:1:1: error[input-limit]: the file has more than 64 MiB"
    );
}

#[test]
fn gen_85_namespaces_hide_nothing() {
    let text = edited("<formats>", "<n:formats xmlns:n=\"urn:n\"/><formats>");
    assert_eq!(codes(&text), [Code::UnknownElement]);
    let text = edited("<registry>", "<registry xmlns=\"urn:n\">");
    assert!(codes(&text).contains(&Code::UnknownElement));
}

#[test]
fn gen_85_damage_anywhere_ends_in_a_result() {
    // A small linear congruential generator chooses the damage, so the damage is the same in every run.
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = |bound: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap_or_default() % bound
    };
    for _ in 0..400 {
        let mut bytes = VULKAN.as_bytes().to_vec();
        for _ in 0..=next(3) {
            let at = next(bytes.len());
            match next(3) {
                0 => bytes[at] = b"<>&\"/ a\0\xff"[next(9)],
                1 => drop(bytes.remove(at)),
                _ => bytes.truncate(at.max(1)),
            }
        }
        if let Ok(source) = Source::from_bytes("vk.xml", &bytes) {
            // The test accepts an error or a result. It fails only if the reader panics or hangs.
            let _ = load_text(source.text);
        }
    }
}
