//! A deserializer over one key of a map.

use serde::de::{Deserializer, Visitor};
use serde::forward_to_deserialize_any;

use super::failure::Failure;
use super::kind::Kind;
use super::placed::{Handed, NODE, PLACED, hand};
use super::{Node, Span, Value};

/// A deserializer over one key.
pub(super) struct Key<'a> {
    pub(super) text: &'a str,
    pub(super) span: &'a Span,
}

macro_rules! number_keys {
    ($($method:ident $visit:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
            match self.text.parse() {
                Ok(number) => visitor.$visit(number),
                Err(_) => visitor.visit_borrowed_str(self.text),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for Key<'de> {
    type Error = Failure;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        visitor.visit_borrowed_str(self.text)
    }

    number_keys! {
        deserialize_i8 visit_i8 deserialize_i16 visit_i16 deserialize_i32 visit_i32
        deserialize_i64 visit_i64 deserialize_u8 visit_u8 deserialize_u16 visit_u16
        deserialize_u32 visit_u32 deserialize_u64 visit_u64
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Failure> {
        match name {
            NODE => hand(Handed::Node(Node {
                span: self.span.clone(),
                value: Value::Text(self.text.to_owned()),
            })),
            PLACED => hand(Handed::Span(self.span.clone())),
            _ => {}
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        visitor.visit_enum(Kind {
            word: self.text,
            span: self.span,
            content: None,
        })
    }

    forward_to_deserialize_any! {
        bool i128 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}
