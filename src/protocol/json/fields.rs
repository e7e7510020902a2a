//! How single fields stand in JSON.

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig, general_purpose::STANDARD};
use bytes::Bytes;
use serde::de::{DeserializeOwned, Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::marker::PhantomData;

/// The JSON form of a field of type `T`.
pub(super) trait Codec<T> {
    /// Whether the field is left out.
    fn is_default(value: &T) -> bool;
    fn serialize<S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error>;
    fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error>;
}

/// A value on its way out in the form of `C`.
pub(super) struct Out<'a, T, C>(pub &'a T, pub PhantomData<C>);

impl<T, C: Codec<T>> Serialize for Out<'_, T, C> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        C::serialize(self.0, serializer)
    }
}

/// A value on its way in from the form of `C`.
pub(super) struct In<T, C>(pub T, PhantomData<C>);

impl<'de, T, C: Codec<T>> Deserialize<'de> for In<T, C> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(C::deserialize(deserializer)?, PhantomData))
    }
}

/// What serde's own form is right for: text, booleans, messages, lists and maps of them.
pub(super) struct Plain;

impl<T: Default + PartialEq + Serialize + DeserializeOwned> Codec<T> for Plain {
    fn is_default(value: &T) -> bool {
        *value == T::default()
    }

    fn serialize<S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
        value.serialize(serializer)
    }

    fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        T::deserialize(deserializer)
    }
}

/// Whole numbers. 32 bits are written as a number, 64 as a string; both are read from either, and from `3.0`.
pub(super) struct Integer;

impl Codec<u32> for Integer {
    fn is_default(value: &u32) -> bool {
        *value == 0
    }

    fn serialize<S: Serializer>(value: &u32, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(*value)
    }

    fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
        deserializer.deserialize_any(IntegerVisitor).and_then(within)
    }
}

impl Codec<i32> for Integer {
    fn is_default(value: &i32) -> bool {
        *value == 0
    }

    fn serialize<S: Serializer>(value: &i32, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i32(*value)
    }

    fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i32, D::Error> {
        deserializer.deserialize_any(IntegerVisitor).and_then(within)
    }
}

impl Codec<i64> for Integer {
    fn is_default(value: &i64) -> bool {
        *value == 0
    }

    fn serialize<S: Serializer>(value: &i64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(value)
    }

    fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
        deserializer.deserialize_any(IntegerVisitor)
    }
}

fn within<T: TryFrom<i64>, E: Error>(value: i64) -> Result<T, E> {
    T::try_from(value).map_err(|_| E::custom(format_args!("{value} is out of range")))
}

struct IntegerVisitor;

impl Visitor<'_> for IntegerVisitor {
    type Value = i64;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a whole number")
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<i64, E> {
        Ok(value)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<i64, E> {
        i64::try_from(value).map_err(|_| E::custom(format_args!("{value} is out of range")))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<i64, E> {
        // Below 2^53 every whole number is exact; the limits of i64 are not.
        if value.fract() == 0.0 && value.abs() < 9_007_199_254_740_992.0 {
            Ok(value as i64)
        } else {
            Err(E::custom(format_args!("{value} is no whole number")))
        }
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<i64, E> {
        if let Ok(whole) = value.parse::<i64>() {
            return Ok(whole);
        }
        value.parse::<f64>().map_err(|_| E::custom("expected a whole number")).and_then(|value| self.visit_f64(value))
    }
}

/// The names of an enumeration's values.
pub(super) trait Names {
    const NAMES: &'static [(i32, &'static str)];
}

/// An enumeration: its name, or its number. A name from the future reads as 0, as a field from the future would.
pub(super) struct Named<E>(PhantomData<E>);

impl<E: Names> Codec<i32> for Named<E> {
    fn is_default(value: &i32) -> bool {
        *value == 0
    }

    fn serialize<S: Serializer>(value: &i32, serializer: S) -> Result<S::Ok, S::Error> {
        match E::NAMES.iter().find(|(number, _)| number == value) {
            Some((_, name)) => serializer.serialize_str(name),
            None => serializer.serialize_i32(*value),
        }
    }

    fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i32, D::Error> {
        deserializer.deserialize_any(NameVisitor::<E>(PhantomData)).and_then(within)
    }
}

struct NameVisitor<E>(PhantomData<E>);

impl<E: Names> Visitor<'_> for NameVisitor<E> {
    type Value = i64;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a name or a number")
    }

    fn visit_i64<F: Error>(self, value: i64) -> Result<i64, F> {
        Ok(value)
    }

    fn visit_u64<F: Error>(self, value: u64) -> Result<i64, F> {
        IntegerVisitor.visit_u64(value)
    }

    fn visit_f64<F: Error>(self, value: f64) -> Result<i64, F> {
        IntegerVisitor.visit_f64(value)
    }

    fn visit_str<F: Error>(self, value: &str) -> Result<i64, F> {
        Ok(E::NAMES.iter().find(|(_, name)| *name == value).map_or(0, |(number, _)| i64::from(*number)))
    }
}

/// Bytes: base64 in the standard alphabet with padding. The URL-safe alphabet and missing padding are read too.
pub(super) struct Base64;

const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent).with_decode_allow_trailing_bits(true),
);
const LENIENT_URL_SAFE: GeneralPurpose = GeneralPurpose::new(
    &alphabet::URL_SAFE,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent).with_decode_allow_trailing_bits(true),
);

impl Codec<Bytes> for Base64 {
    fn is_default(value: &Bytes) -> bool {
        value.is_empty()
    }

    fn serialize<S: Serializer>(value: &Bytes, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(value))
    }

    fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Bytes, D::Error> {
        struct Base64Visitor;
        impl Visitor<'_> for Base64Visitor {
            type Value = Bytes;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("base64")
            }

            fn visit_str<E: Error>(self, value: &str) -> Result<Bytes, E> {
                let engine = if value.contains(['-', '_']) { &LENIENT_URL_SAFE } else { &LENIENT };
                engine.decode(value).map(Bytes::from).map_err(|_| E::custom("invalid base64"))
            }
        }
        deserializer.deserialize_str(Base64Visitor)
    }
}
