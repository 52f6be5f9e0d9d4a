//! From nodes to typed values, by a serde deserializer that knows the place of every key and
//! value. It knows none of the types that are decoded.

use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::failure::{Failure, mismatch, shortened};
use super::key::Key;
use super::kind::{Kind, only_kind};
use super::placed::{Handed, NODE, PLACED, hand};
use super::scalar;
use super::{Diagnostic, Entry, Node, Span, Value};

/// Decodes a node into any type that serde can decode.
///
/// # Errors
/// When the node does not fit the type; the message marks the key or the value that does not fit.
pub fn decode<T: DeserializeOwned>(node: &Node) -> Result<T, Diagnostic> {
    T::deserialize(At(node)).map_err(|failure| failure.at(&mark(node)).into_diagnostic())
}

/// The part of a node that messages about the whole of it mark.
pub(super) fn mark(node: &Node) -> Span {
    match node.value {
        Value::List(_) | Value::Map(_) => node.span.first_line(),
        _ => node.span.clone(),
    }
}

fn found(node: &Node) -> String {
    match &node.value {
        Value::Null => "nothing".to_owned(),
        Value::Bool(value) => format!("the value {value}"),
        Value::Number(number) => format!("the number {number}"),
        Value::Text(text) => format!("the text `{}`", shortened(text)),
        Value::List(_) => "a list".to_owned(),
        Value::Map(_) => "a map".to_owned(),
    }
}

/// A deserializer over one node.
pub(super) struct At<'a>(pub(super) &'a Node);

impl<'de> At<'de> {
    fn refuse<T>(&self, expected: &str) -> Result<T, Failure> {
        Err(mismatch(expected, &found(self.0)).at(&mark(self.0)))
    }

    /// The result, with this node as the place of an error that has none.
    pub(super) fn placed<T>(&self, result: Result<T, Failure>) -> Result<T, Failure> {
        result.map_err(|failure| failure.at(&mark(self.0)))
    }

    fn text<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        let written = self.0.span.text();
        match &self.0.value {
            Value::Number(_) | Value::Bool(_) => {
                let message = format!("expected text, found {}: quote it", found(self.0));
                let help = format!("write \"{written}\"");
                Err(Failure::new(Diagnostic::error(message).help(help)).at(&self.0.span))
            }
            Value::Text(text) => self.placed(visitor.visit_borrowed_str(text)),
            _ => self.refuse("text"),
        }
    }

    fn number<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        let node = self.0;
        self.deserialize_any(visitor).map_err(|failure| {
            let quoted = node.span.text().starts_with(['"', '\'']);
            match &node.value {
                Value::Text(text) if quoted && is_number(text) => {
                    failure.or_help(|| format!("remove the quotes: {text}"))
                }
                _ => failure,
            }
        })
    }

    fn list<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        let Value::List(items) = &self.0.value else {
            return self.refuse("a list");
        };
        let mut rest = Items(items.iter());
        let value = self.placed(visitor.visit_seq(&mut rest))?;
        match rest.0.next() {
            None => Ok(value),
            Some(extra) => {
                let taken = items.len() - rest.0.len() - 1;
                let message = format!("expected {taken} entries, found {}", items.len());
                Err(Failure::new(Diagnostic::error(message)).at(&mark(extra)))
            }
        }
    }

    pub(super) fn map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        let Value::Map(entries) = &self.0.value else {
            return self.refuse("a map");
        };
        let mut rest = Entries {
            entries: entries.iter(),
            value: None,
        };
        let value = self.placed(visitor.visit_map(&mut rest))?;
        match rest.entries.next() {
            None => Ok(value),
            Some(extra) => {
                let message = format!("unexpected field `{}`", shortened(&extra.key));
                Err(Failure::new(Diagnostic::error(message)).at(&extra.key_span))
            }
        }
    }
}

fn is_number(text: &str) -> bool {
    matches!(scalar::resolve(text), Ok(Value::Number(_)))
}

macro_rules! numbers {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
            self.number(visitor)
        }
    )*};
}

impl<'de> Deserializer<'de> for At<'de> {
    type Error = Failure;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        let visited = match &self.0.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Number(number) => {
                if let Some(whole) = number.as_u64() {
                    visitor.visit_u64(whole)
                } else if let Some(whole) = number.as_i64() {
                    visitor.visit_i64(whole)
                } else {
                    visitor.visit_f64(number.as_f64().unwrap_or(f64::NAN))
                }
            }
            Value::Text(text) => visitor.visit_borrowed_str(text),
            Value::List(_) => return self.list(visitor),
            Value::Map(_) => return self.map(visitor),
        };
        self.placed(visited)
    }

    numbers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
        deserialize_f32 deserialize_f64
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        self.text(visitor)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        self.text(visitor)
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        self.text(visitor)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        self.text(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        let node = self.0;
        let visited = match node.value {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(At(node)),
        };
        self.placed(visited)
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        match self.0.value {
            Value::Null => self.placed(visitor.visit_unit()),
            _ => self.refuse("nothing"),
        }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Failure> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Failure> {
        match name {
            NODE => hand(Handed::Node(self.0.clone())),
            PLACED => hand(Handed::Span(self.0.span.clone())),
            _ => {}
        }
        let visited = visitor.visit_newtype_struct(At(self.0));
        self.placed(visited)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        self.list(visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Failure> {
        match &self.0.value {
            Value::List(items) if items.len() != length => {
                let message = format!("expected {length} entries, found {}", items.len());
                Err(Failure::new(Diagnostic::error(message)).at(&mark(self.0)))
            }
            _ => self.list(visitor),
        }
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Failure> {
        self.deserialize_tuple(length, visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        self.map(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        self.map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        let (word, span, content) = match &self.0.value {
            Value::Text(word) => (word, &self.0.span, None),
            Value::Map(entries) => {
                let entry = only_kind(self.0, entries, variants)?;
                (&entry.key, &entry.key_span, Some(&entry.value))
            }
            _ => return self.refuse(&format!("one of {}", variants.join(", "))),
        };
        let visited = visitor.visit_enum(Kind {
            word,
            span,
            content,
        });
        self.placed(visited)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! { bool bytes byte_buf }
}

struct Items<'a>(std::slice::Iter<'a, Node>);

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Failure;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Failure> {
        let Some(node) = self.0.next() else {
            return Ok(None);
        };
        At(node).placed(seed.deserialize(At(node))).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

struct Entries<'a> {
    entries: std::slice::Iter<'a, Entry>,
    /// The value of the key that was read last.
    value: Option<&'a Node>,
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = Failure;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Failure> {
        let Some(entry) = self.entries.next() else {
            return Ok(None);
        };
        self.value = Some(&entry.value);
        let key = Key {
            text: &entry.key,
            span: &entry.key_span,
        };
        let key = seed.deserialize(key);
        key.map(Some).map_err(|failure| failure.at(&entry.key_span))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Failure> {
        let Some(node) = self.value.take() else {
            return Err(Failure::custom("a value was asked for before its key"));
        };
        At(node).placed(seed.deserialize(At(node)))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.entries.len())
    }
}
