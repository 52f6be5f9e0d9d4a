//! The one shape that serde's derive does not give: a value that is either a word or a map.

use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use std::fmt;
use std::marker::PhantomData;

/// Reads a value that is a single word, or a map of type `M`. Errors keep their place.
pub(super) fn word_or_map<'de, D, M, T>(
    deserializer: D,
    expecting: &'static str,
    from_word: fn(&str) -> Result<T, String>,
    from_map: fn(M) -> Result<T, String>,
) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    M: Deserialize<'de>,
{
    struct WordOrMap<M, T> {
        expecting: &'static str,
        from_word: fn(&str) -> Result<T, String>,
        from_map: fn(M) -> Result<T, String>,
        map: PhantomData<M>,
    }
    impl<'de, M: Deserialize<'de>, T> Visitor<'de> for WordOrMap<M, T> {
        type Value = T;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.expecting)
        }
        fn visit_str<E: de::Error>(self, word: &str) -> Result<T, E> {
            (self.from_word)(word).map_err(E::custom)
        }
        fn visit_u64<E: de::Error>(self, number: u64) -> Result<T, E> {
            (self.from_word)(&number.to_string()).map_err(E::custom)
        }
        fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
            (self.from_word)(&number.to_string()).map_err(E::custom)
        }
        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
            let map = M::deserialize(de::value::MapAccessDeserializer::new(map))?;
            (self.from_map)(map).map_err(de::Error::custom)
        }
    }
    deserializer.deserialize_any(WordOrMap {
        expecting,
        from_word,
        from_map,
        map: PhantomData,
    })
}

/// One value or a list of them; never empty.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OneOrMany<T>(pub(super) Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Many<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Many<T> {
            type Value = OneOrMany<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("one value or a list of them")
            }
            fn visit_str<E: de::Error>(self, word: &str) -> Result<Self::Value, E> {
                T::deserialize(de::value::StrDeserializer::new(word))
                    .map(|one| OneOrMany(vec![one]))
            }
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Self::Value, E> {
                T::deserialize(de::value::U64Deserializer::new(number))
                    .map(|one| OneOrMany(vec![one]))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                T::deserialize(de::value::MapAccessDeserializer::new(map))
                    .map(|one| OneOrMany(vec![one]))
            }
            fn visit_seq<A: de::SeqAccess<'de>>(
                self,
                mut list: A,
            ) -> Result<Self::Value, A::Error> {
                let mut many = Vec::new();
                while let Some(one) = list.next_element()? {
                    many.push(one);
                }
                if many.is_empty() {
                    return Err(de::Error::custom(
                        "the list is empty: name at least one, or leave the line out",
                    ));
                }
                Ok(OneOrMany(many))
            }
        }
        deserializer.deserialize_any(Many(PhantomData))
    }
}
