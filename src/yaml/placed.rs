//! Decode targets that keep their places: [`Placed`] and [`Node`] itself.
//!
//! serde has no channel for places, so our deserializer recognises the two private newtype names
//! below and leaves what they ask for in a thread-local slot, from which their visitors take it
//! at once. Other deserializers leave nothing there, and get a clear error.

use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, Visitor};

use super::{Node, Span};

/// The newtype name by which a [`Node`] asks for itself.
pub(super) const NODE: &str = "idemspec::yaml::Node";
/// The newtype name by which a [`Placed`] asks for its span.
pub(super) const PLACED: &str = "idemspec::yaml::Placed";

thread_local! {
    static SLOT: RefCell<Option<Handed>> = const { RefCell::new(None) };
}

/// What the deserializer hands to a visitor beside serde.
pub(super) enum Handed {
    /// The whole node.
    Node(Node),
    /// Where the node stands.
    Span(Span),
}

/// Leaves `handed` for the visitor that is called next.
pub(super) fn hand(handed: Handed) {
    SLOT.set(Some(handed));
}

/// A decoded value together with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed<T> {
    /// The value.
    pub value: T,
    /// Where it stands.
    pub span: Span,
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Placed<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(PLACED, PlacedVisitor(PhantomData))
    }
}

struct PlacedVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for PlacedVisitor<T> {
    type Value = Placed<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value with a place in a YAML file")
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<Placed<T>, D::Error> {
        match SLOT.take() {
            Some(Handed::Span(span)) => Ok(Placed {
                value: T::deserialize(inner)?,
                span,
            }),
            _ => Err(D::Error::custom("places are known in YAML files only")),
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(NODE, NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a node of a YAML file")
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<Node, D::Error> {
        match SLOT.take() {
            Some(Handed::Node(node)) => {
                IgnoredAny::deserialize(inner)?;
                Ok(node)
            }
            _ => Err(D::Error::custom("places are known in YAML files only")),
        }
    }
}
