use super::super::{filesystem as fs, process};
use super::*;
use bytes::Bytes;
use proptest::prelude::*;
use prost::Message;

/// What prost makes of the same bytes, in this module's terms.
fn by_prost(message: &process::StartResponse) -> ProcessEvent<'_> {
    match message.event.as_ref().and_then(|event| event.event.as_ref()) {
        Some(process::Event::Start(start)) => ProcessEvent::Start(start.pid),
        Some(process::Event::Data(data)) => match data.output.as_ref() {
            Some(process::Output::Stdout(bytes)) => ProcessEvent::Data(Channel::Stdout, bytes),
            Some(process::Output::Stderr(bytes)) => ProcessEvent::Data(Channel::Stderr, bytes),
            Some(process::Output::Pty(bytes)) => ProcessEvent::Data(Channel::Pty, bytes),
            None => ProcessEvent::Other,
        },
        Some(process::Event::End(end)) => ProcessEvent::End { exit_code: end.exit_code, error: end.error.as_deref() },
        Some(process::Event::Keepalive(_)) | None => ProcessEvent::Other,
    }
}

fn any_event() -> impl Strategy<Value = process::Event> {
    let bytes = || prop::collection::vec(any::<u8>(), 0..300).prop_map(Bytes::from);
    prop_oneof![
        any::<u32>().prop_map(|pid| process::Event::Start(process::StartEvent { pid })),
        prop::option::of(prop_oneof![
            bytes().prop_map(process::Output::Stdout),
            bytes().prop_map(process::Output::Stderr),
            bytes().prop_map(process::Output::Pty),
        ])
        .prop_map(|output| process::Event::Data(process::DataEvent { output })),
        (any::<i32>(), any::<bool>(), "\\PC{0,9}", prop::option::of("\\PC{0,9}")).prop_map(|(exit_code, exited, status, error)| {
            process::Event::End(process::EndEvent { exit_code, exited, status, error })
        }),
        Just(process::Event::Keepalive(process::KeepAlive {})),
    ]
}

prop_compose! {
    fn any_entry()(
        name in "\\PC{0,9}",
        r#type in 0i32..4,
        path in "\\PC{0,20}",
        size: i64,
        mode: u32,
        permissions in "[-rwx]{0,10}",
        owner in "\\PC{0,5}",
        group in "\\PC{0,5}",
        modified in prop::option::of((any::<i64>(), any::<i32>())),
        symlink_target in prop::option::of("\\PC{0,9}"),
        metadata in prop::collection::btree_map("[a-z]{1,4}", "\\PC{0,5}", 0..4),
    ) -> fs::EntryInfo {
        let modified_time = modified.map(|(seconds, nanos)| fs::Timestamp { seconds, nanos });
        fs::EntryInfo { name, r#type, path, size, mode, permissions, owner, group, modified_time, symlink_target, metadata }
    }
}

fn borrowed(entry: &fs::EntryInfo) -> Entry<'_> {
    Entry {
        name: &entry.name,
        kind: entry.r#type as u32,
        path: &entry.path,
        size: entry.size,
        mode: entry.mode,
        permissions: &entry.permissions,
        owner: &entry.owner,
        group: &entry.group,
        modified: entry.modified_time.map(|time| (time.seconds, time.nanos)),
        symlink_target: entry.symlink_target.as_deref(),
        metadata: entry.metadata.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect(),
    }
}

proptest! {
    #[test]
    fn process_events_are_read_as_prost_reads_them(event in any_event()) {
        let message = process::StartResponse { event: Some(process::ProcessEvent { event: Some(event) }) };
        let bytes = message.encode_to_vec();
        prop_assert_eq!(process_event(&bytes), Ok(by_prost(&message)));
    }

    #[test]
    fn watch_events_are_read_as_prost_reads_them(name in "\\PC{0,9}", kind in 0i32..6, entry in prop::option::of(any_entry())) {
        let change = fs::FilesystemEvent { name: name.clone(), r#type: kind, entry: entry.clone() };
        let message = fs::WatchDirResponse { event: Some(fs::WatchEvent::Filesystem(Box::new(change))) };
        let expected = WatchEvent::Change { name: &name, kind: EventType::try_from(kind).ok(), entry: entry.as_ref().map(borrowed) };
        let bytes = message.encode_to_vec();
        prop_assert_eq!(watch_event(&bytes), Ok(expected));
    }

    #[test]
    fn any_bytes_give_a_value_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        let (_, _) = (process_event(&bytes), watch_event(&bytes));
    }

    #[test]
    fn every_prefix_of_a_message_gives_a_value_or_an_error(event in any_event(), keep in 0usize..400) {
        let bytes = process::StartResponse { event: Some(process::ProcessEvent { event: Some(event) }) }.encode_to_vec();
        let _ = process_event(&bytes[..keep.min(bytes.len())]);
    }
}

#[test]
fn unknown_fields_of_every_wire_type_are_skipped() {
    // Fields 15 (varint, fixed 64, bytes, fixed 32), then event { start { pid: 7 } }.
    let bytes = [0x78, 0x96, 0x01, 0x79, 1, 2, 3, 4, 5, 6, 7, 8, 0x7a, 1, 0xff, 0x7d, 1, 2, 3, 4, 0x0a, 4, 0x0a, 2, 0x08, 7];
    assert_eq!(process_event(&bytes), Ok(ProcessEvent::Start(7)));
}

#[test]
fn an_end_without_an_exit_code_means_0_and_minus_1_is_zig_zag() {
    assert_eq!(process_event(&[0x0a, 2, 0x1a, 0]), Ok(ProcessEvent::End { exit_code: 0, error: None }));
    assert_eq!(process_event(&[0x0a, 4, 0x1a, 2, 0x08, 0x01]), Ok(ProcessEvent::End { exit_code: -1, error: None }));
}

#[test]
fn a_length_beyond_the_message_is_malformed() {
    assert_eq!(process_event(&[0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]), Err(Malformed));
}

#[test]
fn start_and_keepalive_of_a_watch_are_told_apart() {
    assert_eq!(watch_event(&[0x0a, 0]), Ok(WatchEvent::Start));
    assert_eq!(watch_event(&[0x1a, 0]), Ok(WatchEvent::Other));
    assert_eq!(watch_event(&[]), Ok(WatchEvent::Other));
}
