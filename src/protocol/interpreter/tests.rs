use super::*;
use proptest::prelude::*;

/// The lines of a stream that comes in these chunks, what stands behind the last line end included.
fn read<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<Vec<u8>> {
    let (mut reader, mut lines) = (LineReader::default(), Vec::new());
    for chunk in chunks {
        reader.fill_with(chunk.len(), |room| room.copy_from_slice(chunk)).expect("short lines");
        while let Some(line) = reader.next_line() {
            lines.push(line.to_vec());
        }
    }
    lines.push(reader.finish().to_vec());
    lines
}

#[test]
fn only_lf_ends_a_line() {
    let text = "a\rb\r\n\u{2028}\u{85}\u{b}\u{c}\n\nrest";
    assert_eq!(read([text.as_bytes()]), [&b"a\rb\r"[..], "\u{2028}\u{85}\u{b}\u{c}".as_bytes(), b"", b"rest"]);
}

#[test]
fn a_line_in_many_chunks_is_looked_at_once() {
    let mut reader = LineReader::default();
    for _ in 0..100 {
        reader.fill_with(1000, |room| room.fill(b'a')).expect("a short line");
        assert_eq!(reader.next_line(), None);
        assert_eq!(reader.scanned, reader.chunks.held().len());
    }
    reader.fill_with(2, |room| room.copy_from_slice(b"\nb")).expect("a short line");
    assert_eq!(reader.next_line().map(<[u8]>::len), Some(100_000));
    assert_eq!(reader.next_line(), None);
    assert_eq!(reader.finish(), b"b");
}

#[test]
fn a_line_beyond_all_bounds_is_refused_before_it_is_held() {
    let mut reader = LineReader::default();
    assert_eq!(reader.fill_with(LONGEST_LINE + 1, |_| unreachable!()), Err(TooLong));
    assert_eq!(reader.chunks.capacity(), 0);
}

#[test]
fn numbers_that_json_does_not_know_are_made_readable_and_words_in_strings_stay() {
    for (given, wanted) in [
        (r#"{"a":NaN}"#, Some(r#"{"a":"\u0000NaN"}"#)),
        ("[Infinity,-Infinity]", Some("[1e999,-1e999]")),
        (r#"["NaN",NaN,"a\"NaN","\\",Infinity]"#, Some(r#"["NaN","\u0000NaN","a\"NaN","\\",1e999]"#)),
        ("NaN", Some(r#""\u0000NaN""#)),
        (r#"{"NaN":"Infinity"}"#, None),
        ("Nope", None),
        ("I", None),
        (r#"["é😀",NaN]"#, Some(r#"["é😀","\u0000NaN"]"#)),
        ("\"\\", None),
    ] {
        assert_eq!(without_bare_words(given).as_deref(), wanted, "{given}");
    }
}

proptest! {
    #[test]
    fn borders_of_chunks_do_not_matter(bytes in prop::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), any::<u8>()], 0..80), step in 1usize..9) {
        let expected: Vec<Vec<u8>> = bytes.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        prop_assert_eq!(read(bytes.chunks(step)), expected);
    }

    #[test]
    fn strings_and_plain_numbers_are_left_alone(text in "\\PC{0,20}", number: i32) {
        let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
        let json = format!("[\"{escaped}\",{number},\"{escaped}\"]");
        prop_assert_eq!(without_bare_words(&json), None);
        let with = without_bare_words(&format!("[\"{escaped}\",NaN,{json}]"));
        prop_assert_eq!(with, Some(format!("[\"{escaped}\",\"\\u0000NaN\",{json}]")));
    }

    #[test]
    fn any_text_is_survived(text in "[\"\\\\NaInfity,\\[\\]é]{0,40}") {
        let _ = without_bare_words(&text);
    }
}
