//! Tests of malformed answers, with one row for each fault.

use super::*;
use wire::Operation;

fn asked() -> Header {
    Header::request(Operation::Get, 7)
}

fn reply(payload: &str) -> Result<Document, Failure> {
    let head = asked().reply().bytes(payload.len() as u32);
    read_reply(packet_for(&[&head[..], payload.as_bytes()].concat(), asked())?)
}

fn problem<T>(result: Result<T, Failure>) -> &'static str {
    match result {
        Err(Failure::Because(ServiceReason::BadReply(problem))) => problem,
        Err(other) => panic!("{other:?}"),
        Ok(_) => "",
    }
}

#[test]
fn lsv_34_an_answer_is_for_the_request() {
    assert!(reply("{}").is_ok());
    for payload in ["", "{", "[]", "7"] {
        assert_ne!(problem(reply(payload)), "", "{payload}");
    }
    let with = |header: Header| problem(packet_for(&[&header.bytes(2)[..], b"{}"].concat(), asked()));
    assert_eq!(with(asked().reply()), "");
    for other in [
        asked(),
        Header::request(Operation::Get, 8).reply(),
        Header::request(Operation::Manifests, 7).reply(),
    ] {
        assert_eq!(with(other), "the answer to another request");
    }
    assert_eq!(problem(packet_for(b"VKLS", asked())), "a packet that is none");
}

#[test]
fn lsv_35_what_a_service_says_instead() {
    let said = |word: &str| match reply(&format!(r#"{{"status":"{word}"}}"#)) {
        Err(Failure::Because(reason)) => Some(reason),
        _ => None,
    };
    assert_eq!(said("ok"), None);
    assert_eq!(said("timeout"), Some(ServiceReason::TimedOut));
    assert_eq!(said("not_found"), Some(ServiceReason::NoLibrary));
    assert_eq!(said("busy"), Some(ServiceReason::Refused("busy".into())));
}

#[test]
fn lsv_34_a_library_has_a_size_and_a_checksum() {
    let sum = "0f".repeat(32);
    let described = |text: String| described_library(&reply(&text).unwrap());
    let good = format!(r#"{{"status":"ok","size":3,"sha256":"{sum}"}}"#);
    assert_eq!(described(good.clone()).unwrap(), Described { size: 3, sum: [15; 32] });
    for (part, other, expected) in [
        (r#""status":"ok","#, "", "no status"),
        (":3", ":0", "no size"),
        (":3", ":-1", "no size"),
        (":3", ":1.5", "no size"),
        (":3", r#":"3""#, "no size"),
        (":3", ":1073741825", "no size"),
        ("0f\"", "0\"", "no checksum"),
        ("0f\"", "0g\"", "no checksum"),
        ("sha256", "sha512", "no checksum"),
    ] {
        assert_eq!(problem(described(good.replacen(part, other, 1))), expected, "{other}");
    }
}

#[test]
fn lsv_34_a_list_has_as_many_manifests_as_were_said() {
    let counted = |count: usize| reply(&format!(r#"{{"count":{count}}}"#)).unwrap();
    let listed = |text: &str, count: usize| {
        let counted = counted(count);
        listed_manifests(text.into(), counted.root().as_object().unwrap().get("count"))
    };
    let two = r#"[{"name":"0-a.so.json","contents":"{}"},{"contents":"x\"y","name":"1-b.json"}]"#;
    let found = listed(two, 2).unwrap();
    assert_eq!(found[0].name, "0-a.so.json");
    assert_eq!(
        (&found[1].name[..], &found[1].content[..]),
        (&b"1-b.json"[..], &b"x\"y"[..])
    );
    assert_eq!(found[0].sum, None);
    let sum = "0f".repeat(32);
    let summed = format!(r#"[{{"name":"a.json","contents":"{{}}","sha256":"{sum}"}}]"#);
    assert_eq!(listed(&summed, 1).unwrap()[0].sum, Some([15; 32]));
    assert_eq!(listed("[]", 0), Ok(Vec::new()));
    assert_eq!(problem(listed(two, 1)), "another number of manifests than it says");
    assert_eq!(
        problem(listed_manifests(b"[]".to_vec(), None)),
        "another number of manifests than it says"
    );
    assert_eq!(problem(listed("{}", 0)), "a list that is none");
    let many = format!("[{}0]", "0,".repeat(64));
    assert_eq!(problem(listed(&many, 65)), "more manifests than there can be");
    for name in [
        "",
        "a",
        "../a.json",
        "a\\u0000.json",
        "a\\n.json",
        &format!("{}.json", "x".repeat(255)),
    ] {
        let text = format!(r#"[{{"name":"{name}","contents":"{{}}"}}]"#);
        assert_eq!(problem(listed(&text, 1)), "a manifest without a name", "{name}");
    }
    let long = "x".repeat(MOST_IN_MANIFEST + 1);
    for contents in ["7".into(), format!("\"{long}\"")] {
        let text = format!(r#"[{{"name":"a.json","contents":{contents}}}]"#);
        assert_eq!(problem(listed(&text, 1)), "a manifest without a text");
    }
}
