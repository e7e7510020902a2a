//! Points in time as RFC 3339 text.

use crate::protocol::filesystem::Timestamp;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format(*self))
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        parse(&text).ok_or_else(|| D::Error::custom("expected a time such as 2026-01-31T12:00:00.5Z"))
    }
}

const DAY: i64 = 86_400;

/// UTC with no, three, six or nine digits of a second, as few as keep the value.
fn format(Timestamp { seconds, nanos }: Timestamp) -> String {
    let (year, month, day) = civil(seconds.div_euclid(DAY));
    let second = seconds.rem_euclid(DAY);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let mut text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
    if nanos % 1_000_000 == 0 && nanos != 0 {
        text.push_str(&format!(".{:03}", nanos / 1_000_000));
    } else if nanos % 1000 == 0 && nanos != 0 {
        text.push_str(&format!(".{:06}", nanos / 1000));
    } else if nanos != 0 {
        text.push_str(&format!(".{nanos:09}"));
    }
    text.push('Z');
    text
}

fn parse(text: &str) -> Option<Timestamp> {
    let number = |range: std::ops::Range<usize>| -> Option<i64> {
        let digits = text.get(range)?;
        digits.bytes().all(|digit| digit.is_ascii_digit()).then(|| digits.parse().ok())?
    };
    let borders = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    if borders.iter().any(|(at, border)| text.as_bytes().get(*at).map(u8::to_ascii_uppercase) != Some(*border)) {
        return None;
    }
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    let (hour, minute, second) = (number(11..13)?, number(14..16)?, number(17..19)?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let mut rest = text.get(19..)?;
    let mut nanos = 0;
    if let Some(fraction) = rest.strip_prefix('.') {
        let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 || digits > 9 {
            return None;
        }
        nanos = fraction[..digits].parse::<i32>().ok()? * 10_i32.pow(9 - u32::try_from(digits).ok()?);
        rest = &fraction[digits..];
    }
    let offset = match rest.as_bytes() {
        [b'Z' | b'z'] => 0,
        [sign @ (b'+' | b'-'), _, _, b':', _, _] => {
            let at = text.len() - 5;
            let minutes = number(at..at + 2)? * 60 + number(at + 3..at + 5)?;
            if *sign == b'+' { minutes * 60 } else { minutes * -60 }
        }
        _ => return None,
    };
    Some(Timestamp { seconds: days(year, month, day) * DAY + hour * 3600 + minute * 60 + second - offset, nanos })
}

/// Year, month and day of a number of days since 1970-01-01 in the Gregorian calendar. Counted from March, a leap day is the
/// last day of its year, and 400 years are 146,097 days.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day_of_year - (153 * from_march + 2) / 5 + 1)
}

/// The other way round.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let year_of_era = year.rem_euclid(400);
    let from_march = (month + 9) % 12;
    let day_of_year = (153 * from_march + 2) / 5 + day - 1;
    year.div_euclid(400) * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}
