//! Serialization of a message from the list of its fields.

/// Implements the JSON form of a message.
///
/// `json_message!(Name { field: Codec = "jsonName", … } oneof slot: Choice { Variant: Codec = "name", … })`; the field's own name
/// is the second spelling that is read.
macro_rules! json_message {
    (
        $name:ident { $($field:ident: $codec:ty = $json:literal),* $(,)? }
        $(oneof $slot:ident: $choice:ident { $($variant:ident: $variant_codec:ty = $variant_name:literal),* $(,)? })?
    ) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                #[allow(unused_imports, reason = "a message without fields needs none of these")]
                use {crate::protocol::json::fields::{Codec, Out}, serde::ser::SerializeMap, std::marker::PhantomData};
                #[allow(unused_mut, reason = "a message without fields stays an empty map")]
                let mut map = serializer.serialize_map(None)?;
                $(
                    if !<$codec as Codec<_>>::is_default(&self.$field) {
                        map.serialize_entry($json, &Out(&self.$field, PhantomData::<$codec>))?;
                    }
                )*
                $(
                    match &self.$slot {
                        None => {}
                        $(Some($choice::$variant(value)) => {
                            map.serialize_entry($variant_name, &Out(value, PhantomData::<$variant_codec>))?;
                        })*
                    }
                )?
                map.end()
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Fields;
                impl<'de> serde::de::Visitor<'de> for Fields {
                    type Value = $name;

                    fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                        f.write_str(concat!("an object: ", stringify!($name)))
                    }

                    #[allow(unused_variables, reason = "a message without fields looks at no key")]
                    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<$name, A::Error> {
                        #[allow(unused_imports, reason = "a message without fields needs none of these")]
                        use {crate::protocol::json::fields::In, serde::de::Error};
                        #[allow(unused_mut, reason = "a message without fields stays as it is")]
                        let mut message = $name::default();
                        while let Some(key) = map.next_key::<String>()? {
                            $(
                                if key == $json || key == stringify!($field) {
                                    if let Some(value) = map.next_value::<Option<In<_, $codec>>>()? {
                                        message.$field = value.0;
                                    }
                                    continue;
                                }
                            )*
                            $($(
                                if key == $variant_name {
                                    if let Some(value) = map.next_value::<Option<In<_, $variant_codec>>>()? {
                                        if message.$slot.is_some() {
                                            return Err(A::Error::custom(concat!("more than one choice of ", stringify!($slot))));
                                        }
                                        message.$slot = Some($choice::$variant(value.0));
                                    }
                                    continue;
                                }
                            )*)?
                            map.next_value::<serde::de::IgnoredAny>()?;
                        }
                        Ok(message)
                    }
                }
                deserializer.deserialize_map(Fields)
            }
        }
    };
}

pub(super) use json_message;
