//! Who signs a request for its sender, with the secrets filled in.

use super::Credentials;
use super::RenderError;
use super::fill::Filling;
use super::sigv4::AwsSigner;
use crate::target::action::Command;
use crate::target::placeholder::Template;
use crate::target::principal::Principal;
use crate::target::signing::Hmac;
use crate::target::signing::Signing;

/// Signs a request, last, over its final bytes.
#[derive(Clone, PartialEq)]
pub enum Signer {
    /// A keyed digest.
    Hmac {
        /// How it is made.
        scheme: Box<Hmac>,
        /// The secret.
        secret: String,
    },
    /// AWS Signature Version 4.
    Aws(Box<AwsSigner>),
    /// A command that writes headers.
    Command(Command),
}

/// The principal's signer; none where credentials are left out. Junk signs where they are wrong.
pub(super) fn signer(
    filling: &Filling<'_>,
    principal: &Principal,
) -> Result<Option<Signer>, RenderError> {
    let Some(signing) = &principal.signing else {
        return Ok(None);
    };
    if filling.credentials() == Credentials::Without {
        return Ok(None);
    }
    let text = |template: &Template| -> Result<String, RenderError> {
        Ok(filling.text(template)?.unwrap_or_default())
    };
    Ok(Some(match signing {
        Signing::Hmac(hmac) => Signer::Hmac {
            scheme: Box::new(hmac.clone()),
            secret: text(&hmac.secret)?,
        },
        Signing::SigV4(aws) => Signer::Aws(Box::new(AwsSigner {
            service: aws.service.clone(),
            region: aws.region.clone(),
            access_key: text(&aws.access_key)?,
            secret_key: text(&aws.secret_key)?,
            session_token: aws.session_token.as_ref().map(text).transpose()?,
        })),
        Signing::Command(command) if filling.credentials() == Credentials::Normal => {
            Signer::Command(command.clone())
        }
        Signing::Command(_) => {
            return Err(RenderError::NotApplicable(
                "a command signs, and with its own secret only".to_string(),
            ));
        }
    }))
}
