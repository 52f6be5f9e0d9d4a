//! Who calls: roles and the credentials that belong to them.

use std::collections::BTreeMap;
use std::fmt;

use super::placeholder::Template;
use super::request::Pair;
use super::signing::Signing;
use super::token::Token;
use super::tree::Tree;

/// What a caller is to the scenarios; they ask for a role, never for a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Sends everything that nothing else is said of.
    Owner,
    /// A caller of another tenant.
    OtherTenant,
    /// Another user of the owner's tenant.
    SameTenant,
    /// The owner in another session.
    OtherSession,
    /// May read but not change.
    ReadOnly,
    /// Its credentials have run out.
    Expired,
    /// Its credentials are withdrawn by the hook `revoke`.
    Revoked,
    /// Reads probes and nothing else.
    Observer,
    /// Sends no credentials, and may operate.
    Anonymous,
}

impl Role {
    /// All roles, in the order in which messages list them.
    pub const ALL: [Role; 9] = [
        Role::Owner,
        Role::OtherTenant,
        Role::SameTenant,
        Role::OtherSession,
        Role::ReadOnly,
        Role::Expired,
        Role::Revoked,
        Role::Observer,
        Role::Anonymous,
    ];

    /// The word of the target file.
    pub fn name(self) -> &'static str {
        match self {
            Role::Owner => "owner",
            Role::OtherTenant => "other-tenant",
            Role::SameTenant => "same-tenant",
            Role::OtherSession => "other-session",
            Role::ReadOnly => "read-only",
            Role::Expired => "expired",
            Role::Revoked => "revoked",
            Role::Observer => "observer",
            Role::Anonymous => "anonymous",
        }
    }

    /// The role of this name.
    pub fn from_name(name: &str) -> Option<Role> {
        Role::ALL.into_iter().find(|role| role.name() == name)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

/// A client certificate. Paths are relative to the target file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Certificate {
    /// The file of the chain, in PEM.
    pub chain: String,
    /// The file of its key, in PEM.
    pub key: String,
}

impl Certificate {
    /// By which it is told from others.
    pub fn name(&self) -> String {
        format!("{} with {}", self.chain, self.key)
    }
}

/// One caller.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Principal {
    /// `bearer`: the token of `Authorization: Bearer …`.
    pub bearer: Option<Template>,
    /// `basic`: `name:password`, encoded when sent.
    pub basic: Option<Template>,
    /// Headers on all of this caller's requests.
    pub headers: Vec<Pair>,
    /// Query entries on all of this caller's requests.
    pub query: Vec<Pair>,
    /// The token that `${token}` stands for.
    pub token: Option<Token>,
    /// How all of this caller's requests are signed.
    pub signing: Option<Signing>,
    /// The certificate that this caller shows instead of the target's.
    pub certificate: Option<Certificate>,
    /// Variables that replace the target's for this caller.
    pub vars: BTreeMap<String, Tree>,
}

impl Principal {
    /// Whether there is anything that "without credentials" could leave out.
    pub fn has_credentials(&self) -> bool {
        let named = |pair: &Pair| {
            ["authorization", "cookie"].contains(&pair.name.to_ascii_lowercase().as_str())
        };
        let secret = |pair: &Pair| pair.value.as_ref().is_some_and(Template::holds_secret);
        self.bearer.is_some()
            || self.basic.is_some()
            || self.headers.iter().any(|pair| named(pair) || secret(pair))
            || self.query.iter().any(secret)
            || self.signing.is_some()
            || self.certificate.is_some()
    }
}
