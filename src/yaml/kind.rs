//! Enums in YAML: a word alone, or a map whose only key is the word.

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{DeserializeSeed, Deserializer, EnumAccess, VariantAccess, Visitor};

use super::decode::{At, mark};
use super::failure::{Failure, shortened};
use super::{Diagnostic, Entry, Node, Span, Value};

/// One kind of an enum: a word alone, or a word with what it says.
pub(super) struct Kind<'a> {
    pub(super) word: &'a str,
    pub(super) span: &'a Span,
    pub(super) content: Option<&'a Node>,
}

impl<'de> EnumAccess<'de> for Kind<'de> {
    type Error = Failure;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Failure> {
        let word: BorrowedStrDeserializer<'de, Failure> = BorrowedStrDeserializer::new(self.word);
        match seed.deserialize(word) {
            Ok(kind) => Ok((kind, self)),
            Err(failure) => Err(failure.at(self.span)),
        }
    }
}

impl<'de> Kind<'de> {
    fn content(&self) -> Result<At<'de>, Failure> {
        self.content.map(At).ok_or_else(|| {
            let message = format!("`{}` needs a value", shortened(self.word));
            let help = format!("write `{}: …`", shortened(self.word));
            Failure::new(Diagnostic::error(message).help(help)).at(self.span)
        })
    }
}

impl<'de> VariantAccess<'de> for Kind<'de> {
    type Error = Failure;

    fn unit_variant(self) -> Result<(), Failure> {
        match self.content {
            Some(node) if node.value != Value::Null => {
                let word = shortened(self.word);
                let message = format!("`{word}` takes no value");
                let help = format!("write `{word}` alone");
                Err(Failure::new(Diagnostic::error(message).help(help)).at(&mark(node)))
            }
            _ => Ok(()),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Failure> {
        let content = self.content()?;
        At(content.0).placed(seed.deserialize(content))
    }

    fn tuple_variant<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Failure> {
        self.content()?.deserialize_tuple(length, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        self.content()?.map(visitor)
    }
}

/// The one entry of a map that chooses a kind.
pub(super) fn only_kind<'a>(
    map: &Node,
    entries: &'a [Entry],
    kinds: &[&str],
) -> Result<&'a Entry, Failure> {
    match entries {
        [entry] => Ok(entry),
        [] => {
            let message = "expected one kind, found an empty map";
            let help = format!("one of: {}", kinds.join(", "));
            Err(Failure::new(Diagnostic::error(message).help(help)).at(&mark(map)))
        }
        [first, second, ..] => {
            let is_kind = |entry: &Entry| kinds.contains(&entry.key.as_str());
            let (kind, other) = match (is_kind(first), is_kind(second)) {
                (false, false) => return Ok(first),
                (false, true) => (second, first),
                (true, _) => (first, second),
            };
            let message = format!(
                "one kind only: `{}` and `{}` stand side by side",
                shortened(&first.key),
                shortened(&second.key)
            );
            let help = if is_kind(other) {
                "remove one of the two".to_owned()
            } else {
                format!("indent `{}` if it belongs to `{}`", other.key, kind.key)
            };
            Err(Failure::new(
                Diagnostic::error(message)
                    .at(other.key_span.clone())
                    .related(kind.key_span.clone(), "beside this")
                    .help(help),
            ))
        }
    }
}
