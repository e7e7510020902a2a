use crate::protocol::filesystem::*;
use crate::protocol::process::*;
use bytes::Bytes;
use proptest::prelude::*;
use serde::de::DeserializeOwned;

fn read<T: DeserializeOwned>(json: &str) -> T {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}"))
}

fn refused<T: DeserializeOwned>(json: &str) -> bool {
    serde_json::from_str::<T>(json).is_err()
}

#[test]
fn both_spellings_are_read_and_unknown_fields_skipped() {
    for json in [r#"{"path":"/a","includeEntry":true,"new":{"x":[1]}}"#, r#"{"path":"/a","include_entry":true}"#] {
        let request: WatchDirRequest = read(json);
        assert!(request.include_entry, "{json}");
        assert_eq!(request.path, "/a");
    }
}

#[test]
fn defaults_are_left_out_and_optional_fields_are_not() {
    let end = EndEvent { exit_code: 0, exited: true, status: "exit status 0".into(), error: None };
    assert_eq!(serde_json::to_string(&end).unwrap(), r#"{"exited":true,"status":"exit status 0"}"#);
    let info = ProcessInfo { config: None, pid: 7, tag: Some(String::new()) };
    assert_eq!(serde_json::to_string(&info).unwrap(), r#"{"pid":7,"tag":""}"#);
    let request: StartRequest = read(r#"{"process":{"cmd":"x"},"stdin":false,"pty":null}"#);
    assert_eq!((request.stdin, request.pty), (Some(false), None));
}

#[test]
fn a_choice_is_only_its_key_and_two_of_them_are_refused() {
    let selector: ProcessSelector = read(r#"{"tag":"x"}"#);
    assert_eq!(selector.selector, Some(Selector::Tag("x".into())));
    assert!(refused::<ProcessSelector>(r#"{"tag":"x","pid":1}"#));
    assert_eq!(serde_json::to_string(&ProcessSelector::pid(3)).unwrap(), r#"{"pid":3}"#);
}

#[test]
fn numbers_may_be_strings_or_floats_but_not_fractions() {
    for json in [r#"{"pid":12}"#, r#"{"pid":"12"}"#, r#"{"pid":12.0}"#, r#"{"pid":"12.0"}"#] {
        assert_eq!(read::<ProcessSelector>(json), ProcessSelector::pid(12), "{json}");
    }
    for json in [r#"{"pid":-1}"#, r#"{"pid":1.5}"#, r#"{"pid":4294967296}"#, r#"{"pid":"x"}"#, r#"{"pid":true}"#] {
        assert!(refused::<ProcessSelector>(json), "{json}");
    }
}

#[test]
fn bytes_are_read_from_either_alphabet_with_or_without_padding() {
    for text in ["+/8=", "-_8=", "+/8", "-_8"] {
        let input: ProcessInput = read(&format!(r#"{{"stdin":"{text}"}}"#));
        assert_eq!(input.input, Some(Input::Stdin(Bytes::from_static(&[0xfb, 0xff]))), "{text}");
    }
    assert!(refused::<ProcessInput>(r#"{"stdin":"&&"}"#));
}

#[test]
fn enumerations_are_names_and_a_name_from_the_future_is_unspecified() {
    for (json, signal) in [(r#""SIGNAL_SIGKILL""#, 9), ("15", 15), (r#""SIGNAL_SIGHUP""#, 0), (r#""9""#, 0)] {
        assert_eq!(read::<SendSignalRequest>(&format!(r#"{{"signal":{json}}}"#)).signal, signal, "{json}");
    }
    let event = FilesystemEvent { name: "a".into(), r#type: EventType::Chmod as i32, entry: None };
    assert_eq!(serde_json::to_string(&event).unwrap(), r#"{"name":"a","type":"EVENT_TYPE_CHMOD"}"#);
}

#[test]
fn times_have_as_few_digits_as_keep_the_value_and_sizes_are_strings() {
    for (seconds, nanos, text) in [
        (0, 0, "1970-01-01T00:00:00Z"),
        (951_827_696, 500_000_000, "2000-02-29T12:34:56.500Z"),
        (4_107_542_399, 1000, "2100-02-28T23:59:59.000001Z"),
        (-1, 999_999_999, "1969-12-31T23:59:59.999999999Z"),
    ] {
        let entry = EntryInfo { size: 3, modified_time: Some(Timestamp { seconds, nanos }), ..EntryInfo::default() };
        assert_eq!(serde_json::to_string(&entry).unwrap(), format!(r#"{{"size":"3","modifiedTime":"{text}"}}"#));
    }
    assert_eq!(read::<Timestamp>(r#""1970-01-01T01:30:00+01:30""#), Timestamp { seconds: 0, nanos: 0 });
    for text in ["", "1970-01-01", "1970-13-01T00:00:00Z", "1970-01-01T00:00:00", "1970-01-01T00:00:00.Z", "äääääääääää"]
    {
        assert!(refused::<Timestamp>(&format!("\"{text}\"")), "{text}");
    }
}

proptest! {
    #[test]
    fn any_time_comes_back(seconds in -60_000_000_000i64..250_000_000_000, nanos in 0i32..1_000_000_000) {
        let time = Timestamp { seconds, nanos };
        prop_assert_eq!(read::<Timestamp>(&serde_json::to_string(&time).unwrap()), time);
    }

    #[test]
    fn any_output_comes_back(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
        let event = StartResponse {
            event: Some(ProcessEvent { event: Some(Event::Data(DataEvent { output: Some(Output::Stderr(bytes.into())) })) }),
        };
        prop_assert_eq!(read::<StartResponse>(&serde_json::to_string(&event).unwrap()), event);
    }
}
