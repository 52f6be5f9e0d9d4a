//! Tokens that are asked for before requests can be sent. Data only.

use std::time::Duration;

use super::action::Command;
use super::placeholder::Template;
use super::request::Request;
use super::selector::Selector;

/// Where a principal's token comes from, and for how long it is good.
#[derive(Clone, Debug, PartialEq)]
pub struct Token {
    /// Where it comes from.
    pub source: TokenSource,
    /// Where in the answer, or in what the command wrote, it stands.
    pub value: Selector,
    /// For how long it is good; where nobody says it, until it is refused.
    pub expires: Expiry,
}

/// Where a token comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum TokenSource {
    /// A request; its answer holds the token.
    Request(Box<Request>),
    /// A command that writes the token.
    Command(Command),
    /// The client credentials grant of OAuth 2 (RFC 6749, section 4.4).
    ClientCredentials(Box<ClientCredentials>),
}

/// For how long a token is good.
#[derive(Clone, Debug, PartialEq)]
pub enum Expiry {
    /// For this time.
    After(Duration),
    /// For the seconds that stand here in the answer, if there are any.
    Named(Selector),
}

/// A client of an authorization server.
#[derive(Clone, Debug, PartialEq)]
pub struct ClientCredentials {
    /// Where tokens are given out.
    pub url: Template,
    /// The client.
    pub id: Template,
    /// Its secret; none where its certificate tells who it is.
    pub secret: Option<Template>,
    /// What is asked for beside, as `scope` and `audience`.
    pub further: Vec<(&'static str, Template)>,
    /// How the client says who it is.
    pub place: ClientPlace,
}

/// How a client tells an authorization server who it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClientPlace {
    /// By HTTP Basic (RFC 6749, section 2.3.1).
    #[default]
    Header,
    /// In the body of the request.
    Body,
    /// By its certificate (RFC 8705, section 2).
    Tls,
}
