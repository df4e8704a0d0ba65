//! Tests with tables of valid and invalid texts.

use super::normalize::{normalize, place_before};
use super::{Document, JsonError, Value};
use crate::text::Place;
use crate::time_limit::ends_in_time;

/// Returns the value of a text. The text is never freed, so the value has no lifetime limit.
fn parse(text: &[u8]) -> Result<Value<'static>, JsonError> {
    let document: &'static Document = Box::leak(Box::new(Document::parse(text.to_vec())?));
    Ok(document.root())
}

/// Writes a value like JSON, for comparison with an expected text. Bytes of strings that are not ASCII are written as `\xNN`.
fn written(value: Value<'_>) -> String {
    let list = |items: Vec<String>| items.join(",");
    let text = |bytes: &[u8]| format!("\"{}\"", bytes.escape_ascii());
    if let Some(object) = value.as_object() {
        let members = object
            .members()
            .map(|(name, value)| format!("{}:{}", text(name), written(value)));
        return format!("{{{}}}", list(members.collect()));
    }
    if let Some(array) = value.as_array() {
        return format!("[{}]", list(array.iter().map(written).collect()));
    }
    match (value.as_raw_text(), value.as_number(), value.as_literal()) {
        (Some(bytes), ..) => text(bytes),
        (_, Some(number), _) => number.to_string(),
        (.., literal) => literal.unwrap().into(),
    }
}

fn invalid(text: &[u8]) {
    let shown = String::from_utf8_lossy(&text[..text.len().min(60)]);
    let parsed = parse(text).map(written);
    assert!(matches!(parsed, Err(JsonError::Invalid(_))), "{shown}: {parsed:?}");
}

/// Returns the decoded string for a text `"..."`.
fn string(text: &[u8]) -> Option<Vec<u8>> {
    let quoted = [b"\"", text, b"\""].concat();
    parse(&quoted).ok()?.as_raw_text().map(<[u8]>::to_vec)
}

#[test]
fn bi_1_bi_2_refused() {
    let texts: &[&[u8]] = &[
        b"",
        b"\0\0\0",
        b"\xEF\xBB\xBF",
        b" \t\r\n ",
        b"\x7FELF\x02\x01",
        b"{",
        b"{\"a\":1,}",
        b"[1,]",
        b"[1 2]",
        b"{a:1}",
        b"{\"a\" 1}",
        b"// c\n{}",
        b"{/**/}",
        b"'a'",
        b"\"open",
        b"\"open\\",
        b"]",
        b"{]",
        b"[}",
        b"nul",
        b"+1",
        b"-",
        b"--1",
        b".5",
        b"-.",
        b".",
        b"[0x10]",
        b"[1.5.5]",
        b"[1e]",
        b"[1.e]",
        b"[01e+]",
        b"[18446744073709551616e-39065906811251e]",
        b"{\"a\":1,\"b\"",
        b"\xFF\xFE{\0}\0",
        b"{\x80}",
    ];
    for text in texts {
        invalid(text);
    }
}

#[test]
fn lay_75_places_of_what_is_refused() {
    let texts: &[(&[u8], u32, u32)] = &[
        (b"", 1, 1),
        (b"{", 1, 1),
        (b"{\n  \"a\": 1,\n}", 3, 1),
        (b"{\n  \"a\": 1\n  \"b\": 2\n}", 3, 3),
        (b"{\"a\": 01.5.5}", 1, 11),
        (b"\xEF\xBB\xBF{a:1}", 1, 5),
        (b"{\"a\\n\\u0041\": [1,\n 2,]}", 2, 4),
        (b"{\"a\\x\": 1}", 1, 5),
        (b"// text\n{}", 1, 1),
        (b"{\"a\": \"open", 1, 11),
        (b"{\"\xFF\": 1,\n\n\n oops}", 4, 2),
    ];
    for (text, line, column) in texts {
        let place = Place {
            line: *line,
            column: *column,
        };
        let parsed = parse(text).map(written);
        assert_eq!(parsed, Err(JsonError::Invalid(place)), "{}", text.escape_ascii());
    }
}

/// A text, its normal form, and, for each byte of the normal form, the position of its origin in the text.
type Origins<'a> = (&'a [u8], &'a str, &'a [usize]);

#[test]
fn lay_75_each_byte_leads_to_where_it_came_from() {
    let cases: &[Origins<'_>] = &[
        (b"[1, 2]", "[1, 2]", &[0, 1, 2, 3, 4, 5]),
        (b"[\x01\x02]", "[  ]", &[0, 1, 2, 3]),
        (br#"["\u0041b",1]"#, r#"["Ab",1]"#, &[0, 1, 2, 8, 9, 10, 11, 12]),
        (b"\"\xFFb\"", "\"\u{1FF}b\"", &[0, 1, 1, 2, 3]),
        (b"[007,8]", "[7,8]", &[0, 3, 4, 5, 6]),
        (b"[-.5]", "[-0.5]", &[0, 1, 2, 2, 3, 4]),
        (b"[1.]", "[1]", &[0, 1, 3]),
        (b"[1e999]", "[1e99]", &[0, 1, 2, 3, 3, 6]),
    ];
    for (text, expected, places) in cases {
        let output = normalize(text).unwrap();
        assert_eq!(String::from_utf8_lossy(&output), *expected);
        for (byte, &place) in places.iter().enumerate() {
            assert_eq!(place_before(text, byte), place, "{expected} {byte}");
        }
        assert_eq!(place_before(text, output.len()), text.len(), "{expected}");
    }
}

#[test]
fn lay_70_to_lay_72_accepted() {
    let texts: &[&[u8]] = &[
        b"\xEF\xBB\xBF{}",
        b"\x01\0\x1F{\x0B\"a\"\x0C:\x021\x03}\x04",
        b"{},[]",
        b"{}\xFF\"open",
        b"[]]]]]",
        b"1 2",
        b"null",
        b"\"a\"\\",
        b"2e1701411834604692317",
        b"[1e-99999999999999999999,1E+00000000000000000000000000001,-0.5e7]",
    ];
    for text in texts {
        assert!(parse(text).is_ok(), "{}", String::from_utf8_lossy(text));
    }
}

#[test]
fn lay_71_lay_74_strings() {
    let cases: &[(&[u8], Option<&[u8]>)] = &[
        (b"plain", Some(b"plain")),
        (br"a\\b", Some(br"a\b")),
        (br#"\"\/\b\f\n\r\t"#, Some(b"\"/\x08\x0C\n\r\t")),
        (br"\u0041\u00e9\u20AC", Some("Aé€".as_bytes())),
        (br"\uD83D\uDE00", Some("😀".as_bytes())),
        (b"\x01\x02\t\n\0\x7F", Some(b"\x01\x02\t\n\0\x7F")),
        (b"\x80\xFF\xC3(", Some(b"\x80\xFF\xC3(")),
        ("ĀǿÿĿ".as_bytes(), Some("ĀǿÿĿ".as_bytes())),
        (br"a\u0000b", Some(b"a\0b")),
        (br"\u84", None),
        (br"\u12G4", None),
        (br"\uD83D", None),
        (br"\uD83Dx", None),
        (br"\uD83D\u0041", None),
        (br"\uDE00", None),
        (br"\x41", None),
        (br"\", None),
    ];
    for (text, expected) in cases {
        assert_eq!(string(text).as_deref(), *expected, "{}", text.escape_ascii());
    }
}

#[test]
fn lay_74_text_ends_at_nul() {
    let value = parse(br#"["a\u0000b", "", 1]"#).unwrap();
    let elements: Vec<_> = value.as_array().unwrap().iter().collect();
    assert_eq!(elements[0].as_text(), Some(&b"a"[..]));
    assert_eq!(elements[0].as_raw_text(), Some(&b"a\0b"[..]));
    assert_eq!(elements[1].as_text(), Some(&b""[..]));
    assert_eq!(elements[2].as_text(), None);
    let value = parse(br#"{"a\u0000b": 1, "a": 2}"#).unwrap();
    assert_eq!(value.as_object().unwrap().get("a").unwrap().as_number(), Some(1.0));
}

#[test]
fn lay_72_bi_5_nesting() {
    let nested = |levels: usize| [b"[".repeat(levels), b"]".repeat(levels)].concat();
    assert!(parse(&nested(1000)).is_ok());
    invalid(&nested(1001));
    invalid(&b"[".repeat(100_000));
    invalid(&nested(100_000));
    invalid(&b"{\"a\":".repeat(100_000));
    // The parser also checks the grammar below the levels that it keeps.
    invalid(&[b"[".repeat(500), b"nonsense".to_vec(), b"]".repeat(500)].concat());
    invalid(&[b"[".repeat(500), b"\"\\uD800\"".to_vec(), b"]".repeat(500)].concat());
}

#[test]
fn bi_5_small_stack() {
    let deep = [b"{\"a\":[".repeat(500), b"0".to_vec(), b"]}".repeat(500)].concat();
    let thread = std::thread::Builder::new().stack_size(64 * 1024);
    let parsed = thread.spawn(move || parse(&deep).is_ok()).unwrap();
    assert!(parsed.join().unwrap());
}

#[test]
fn bi_5_app_249_large_arrays_in_linear_time() {
    ends_in_time(|| {
        let array = [
            b"[".to_vec(),
            b"\"error\",1,\"\\u0041\",".repeat(100_000),
            b"null]".to_vec(),
        ]
        .concat();
        assert_eq!(parse(&array).unwrap().as_array().unwrap().len(), 300_001);
        let text = [b"\"".to_vec(), b"\x01".repeat(4 << 20), b"\"".to_vec()].concat();
        assert_eq!(parse(&text).unwrap().as_text().unwrap().len(), 4 << 20);
    });
}

#[test]
fn lay_73_first_member_of_any_case_wins_and_repeats_stay() {
    let value = parse(br#"{"Layer":1,"b":null,"LAYER":2,"layer":3}"#).unwrap();
    let object = value.as_object().unwrap();
    assert_eq!(object.get("layer").unwrap().as_number(), Some(1.0));
    assert_eq!(object.all("layer").count(), 3);
    let (name, value) = object.first().unwrap();
    assert_eq!((name, value.as_number()), (&b"Layer"[..], Some(1.0)));
    assert!(object.get("c").is_none());
}

#[test]
fn bi_1_exponents_end_at_99() {
    let number = |text: &str| parse(text.as_bytes()).unwrap().as_number().unwrap();
    for sign in ["", "+", "-"] {
        let with = |exponent: &str| number(&format!("1e{sign}{exponent}"));
        assert_ne!(with("98"), with("99"), "{sign}");
        for more in ["099", "100", "0100", "999999999999999999999"] {
            assert_eq!(with(more), with("99"), "{sign}{more}");
        }
    }
}

#[test]
fn numbers_keep_their_value() {
    let cases: &[(&[u8], f64)] = &[
        (b"0", 0.0),
        (b"-7", -7.0),
        (b"4294967295", 4_294_967_295.0),
        (b"1e2", 100.0),
        (b"1e007", 1e7),
        (b"1e10", 1e10),
        (b"1E+022", 1e22),
        (b"1.5E+3", 1500.0),
        (b"012", 12.0),
        (b"00", 0.0),
        (b"-007.5", -7.5),
        (b"1.", 1.0),
        (b"00.", 0.0),
        (b"-.5", -0.5),
        (b"01.e002", 100.0),
        (b"18446744073709551616", 18_446_744_073_709_551_616.0),
    ];
    for (text, expected) in cases {
        assert_eq!(
            parse(text).unwrap().as_number(),
            Some(*expected),
            "{}",
            text.escape_ascii()
        );
    }
}

#[test]
fn bi_13_children_of_any_value() {
    let count = |text: &[u8]| parse(text).unwrap().children().count();
    assert_eq!(count(b"[1,2]"), 2);
    assert_eq!(count(br#"{"a":1,"b":2,"c":3}"#), 3);
    assert_eq!(count(b"\"abc\""), 0);
}

#[test]
fn what_is_read_is_what_is_written() {
    let deep = |levels: usize| [b"[".repeat(levels), b"]".repeat(levels)].concat();
    let kept = String::from_utf8(deep(12)).unwrap();
    let beyond = kept.replace("[]", "[null]");
    // Valid texts, each with the expected value.
    let texts: &[(&[u8], &str)] = &[
        (
            br#" {"a": [1, -2, true, false, null, "x"], "A": {"b": {}}, "a": []} trailing"#,
            r#"{"a":[1,-2,true,false,null,"x"],"A":{"b":{}},"a":[]}"#,
        ),
        (b"\"a\x7F\"", r#""a\x7f""#),
        (b"18446744073709551615,", "18446744073709552000"),
        (b"1x", "1"),
        (b"nullnull", "null"),
        (&deep(12), &kept),
        (&deep(1000), &beyond),
        (b"-0.5e1", "-5"),
        (br#"["\u0041", "b\\\"", "c"]"#, r#"["A","b\\\"","c"]"#),
        (b"{\"a\tb\": 1}", r#"{"a\tb":1}"#),
        (b"[\x0B1]", "[1]"),
        (b"[\"\xFF\"]", r#"["\xff"]"#),
        (b"\"\0\"", r#""\x00""#),
        (b"[[1],[],[[2],{\"\":[3]}],4]", r#"[[1],[],[[2],{"":[3]}],4]"#),
    ];
    for (text, expected) in texts {
        assert_eq!(parse(text).map(written).unwrap(), *expected, "{}", text.escape_ascii());
    }
}

#[test]
fn a_text_takes_memory_in_proportion_to_its_length() {
    for element in ["0,", "[],", "{},", "[0],", "{\"\":0},", "\"\",", "[[[[0]]]],"] {
        let text = format!("[{}0]", element.repeat(100_000));
        let document = Document::parse(text.clone().into_bytes()).unwrap();
        assert!(
            document.bytes() < 16 * text.len(),
            "{element}: {} of {}",
            document.bytes(),
            text.len()
        );
    }
}
