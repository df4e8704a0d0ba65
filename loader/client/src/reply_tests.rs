//! Tests of malformed answers, with one row for each fault.

use super::*;
use wire::Operation;

fn asked() -> Header {
    Header::request(Operation::Get, 7)
}

fn reply(payload: &str) -> Result<Document, Failure> {
    let head = asked().reply().bytes(payload.len() as u32);
    read_reply(
        packet_for(&[&head[..], payload.as_bytes()].concat(), asked())?,
        &mut Text::default(),
    )
}

fn problem<T>(result: Result<T, Failure>) -> &'static str {
    match result {
        Err(Failure::Because(Fault::BadReply(problem))) => problem.text(),
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
    assert_eq!(problem(packet_for(b"VKLS", asked())), "an invalid packet");
}

#[test]
fn lsv_35_what_a_service_says_instead() {
    let said = |word: &str| {
        let mut words = Text::default();
        let payload = format!(r#"{{"status":"{word}"}}"#);
        let failure = read_reply(payload.as_bytes(), &mut words).err();
        failure.map(|failure| (failure.reason(Text::default()).fault, words))
    };
    assert_eq!(said("ok"), None);
    assert_eq!(said("timeout"), Some((Fault::TimedOut, "".into())));
    assert_eq!(said("not_found"), Some((Fault::NoLibrary, "".into())));
    assert_eq!(said("busy"), Some((Fault::Refused, "busy".into())));
}

/// Returns an entry of a list; `more` adds members.
fn entry(more: &str) -> String {
    format!(
        r#"{{"name":"0-a.so.json","contents":"{{}}","sha256":"{}"{more}}}"#,
        "0f".repeat(32)
    )
}

fn listed(text: &str) -> Result<List, Failure> {
    List::read(text.into())
}

#[test]
fn lsv_34_a_list_has_manifests() {
    let two = format!("[{},{}]", entry(""), entry("").replace("{}", "x\\\"y"));
    let list = listed(&two).unwrap();
    let found: Vec<_> = list.manifests().collect();
    assert_eq!((found.len(), list.count()), (2, 2));
    assert_eq!((found[0].name, found[1].content), (&b"0-a.so.json"[..], &b"x\"y"[..]));
    assert_eq!(found[0].library.sum[..4], *b"0f0f");
    assert_eq!((found[0].library.c_library(), found[0].needs().count()), (&b""[..], 0));
    assert_eq!(listed("[]").unwrap().count(), 0);
    assert_eq!(problem(listed("{}")), "not a list");
    let many = format!("[{}0]", "0,".repeat(64));
    assert_eq!(problem(listed(&many)), "more manifests than there can be");
    for name in [
        "",
        "a",
        "../a.json",
        "a\\u0000.json",
        "a\\n.json",
        &format!("{}.json", "x".repeat(255)),
    ] {
        let text = format!("[{}]", entry("").replace("0-a.so.json", name));
        assert_eq!(problem(listed(&text)), "a manifest without a name", "{name}");
    }
    let long = "x".repeat(MOST_IN_MANIFEST + 1);
    for contents in ["7".into(), format!("\"{long}\"")] {
        let text = format!("[{}]", entry("").replace("\"{}\"", &contents));
        assert_eq!(problem(listed(&text)), "a manifest without a text");
    }
    for (part, other) in [("0f\"", "0\""), ("sha256", "sha512"), ("0f0f", "0\\u0000")] {
        let text = format!("[{}]", entry("").replacen(part, other, 1));
        assert_eq!(problem(listed(&text)), "a manifest without a checksum", "{other}");
    }
}

#[test]
fn lsv_66_a_list_has_the_libraries_that_drivers_need() {
    let sum = "1f".repeat(32);
    let need =
        format!(r#"{{"key":"0-libz.so.1","file":"libz.so.1.3","symbols":88,"c_library":"2.14","sha256":"{sum}"}}"#);
    let with = |needs: &str| {
        listed(&format!(
            "[{}]",
            entry(&format!(r#","c_library":"2.38","needs":[{needs}]"#))
        ))
    };
    let list = with(&need).unwrap();
    let manifest = list.manifests().next().unwrap();
    assert_eq!(manifest.library.c_library(), b"2.38");
    let found = manifest.needs().next().unwrap();
    assert_eq!((found.key, found.name()), (&b"0-libz.so.1"[..], &b"libz.so.1"[..]));
    assert_eq!((found.file(), found.symbols()), (&b"libz.so.1.3"[..], 88.0));
    assert_eq!(
        (found.library.c_library(), found.library.sum),
        (&b"2.14"[..], sum.as_bytes().try_into().unwrap())
    );
    for (part, other) in [
        ("0-libz.so.1\"", "0/libz.so.1\""),
        ("\"key\"", "\"k\""),
        ("1f\"", "1\""),
    ] {
        assert_eq!(
            problem(with(&need.replacen(part, other, 1))),
            "a library without a key",
            "{other}"
        );
    }
    let many = vec![&*need; MOST_NEEDS + 1].join(",");
    assert_eq!(problem(with(&many)), "a library without a key");
}
