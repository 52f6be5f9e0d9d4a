//! Signs requests, last, over their final bytes: well, or badly on purpose.

use super::command;
use super::rendering::Filling;
use super::round::{RoundRun, locked};
use super::spec::Spec;
use crate::scenario::{Request, Signature};
use crate::target::action::Command;
use crate::target::consumer::{Hmac, SignedPart, Signing};
use crate::target::operation::Operation;
use crate::target::render::signature::{Signed, digest, written};
use crate::target::render::{RenderError, Rendered, text};
use crate::target::secret::SecretValue;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How long a command may take to sign.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a step's signature was made of beside its body.
#[derive(Clone, Debug)]
pub(super) struct Stamp {
    id: String,
    timestamp: u64,
}

/// Adds the headers of the signature that the step asks for.
pub(super) async fn sign(
    run: &RoundRun<'_>,
    operation: &Operation,
    request: &Request,
    spec: &Spec,
    rendered: &mut Rendered,
) -> Result<(), RenderError> {
    let Some(signing) = &operation.signing else {
        return Ok(());
    };
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs();
    let own = Stamp {
        id: spec.key.value.clone().unwrap_or_default(),
        timestamp: match spec.signature {
            Signature::Old(ago) => now.saturating_sub(ago.as_secs()),
            _ => now,
        },
    };
    let stamp = match &spec.signature {
        Signature::Of(step) => locked(&run.signed)
            .get(step)
            .cloned()
            .ok_or_else(|| RenderError::Invalid(format!("`{step}` was not signed")))?,
        _ => own.clone(),
    };
    locked(&run.signed).insert(request.name.clone(), stamp.clone());
    let headers = match signing {
        Signing::Hmac(hmac) => by_digest(run, hmac, spec, rendered, &own, &stamp)?,
        Signing::Command(script) => by_command(run, script, spec, rendered, &stamp).await?,
    };
    for (name, value) in headers {
        rendered
            .headers
            .retain(|(own, _)| !own.eq_ignore_ascii_case(&name));
        rendered.headers.push((name, value));
    }
    Ok(())
}

type Headers = Vec<(String, Vec<u8>)>;

fn by_digest(
    run: &RoundRun<'_>,
    hmac: &Hmac,
    spec: &Spec,
    rendered: &Rendered,
    own: &Stamp,
    stamp: &Stamp,
) -> Result<Headers, RenderError> {
    let world = run.world();
    if matches!(spec.signature, Signature::Old(_)) && !hmac.holds_time() {
        return Err(RenderError::NotApplicable(
            "its signature holds no time, and so does not age".to_owned(),
        ));
    }
    let (principal, _) = world
        .principal(spec.principal.stand_in())
        .map_err(RenderError::NotApplicable)?;
    let values = Filling::of_spec(world, spec);
    let mut secret = text(&hmac.secret, &world.target, &principal, &values)?;
    if spec.signature == Signature::Wrong {
        secret = SecretValue::new("signature", secret).junk(1, &world.target.secrets);
    }
    let body = rendered.body.as_deref().unwrap_or_default();
    let mut other = body.to_vec();
    other.push(b' ');
    let signed = Signed {
        method: &rendered.method,
        path: &rendered.path_and_query,
        body: match spec.signature {
            Signature::OtherBody => &other,
            _ => body,
        },
        id: &stamp.id,
        timestamp: stamp.timestamp,
    };
    let signature = digest(hmac, &secret, &signed);
    let mut headers = Vec::new();
    for (name, parts) in &hmac.headers {
        let is_signature = parts.contains(&SignedPart::Signature);
        let is_id = parts.contains(&SignedPart::Id) && !is_signature;
        let told = match is_id {
            true => Signed {
                id: &own.id,
                ..signed
            },
            false => signed,
        };
        // What has no id, or no signature, says nothing of it.
        let left_out =
            is_signature && spec.signature == Signature::None || is_id && spec.key.value.is_none();
        if !left_out {
            headers.push((name.clone(), written(parts, &told, &signature)));
        }
    }
    Ok(headers)
}

async fn by_command(
    run: &RoundRun<'_>,
    script: &Command,
    spec: &Spec,
    rendered: &Rendered,
    stamp: &Stamp,
) -> Result<Headers, RenderError> {
    let skip = |why: &str| Err(RenderError::NotApplicable(why.to_owned()));
    let body = String::from_utf8_lossy(rendered.body.as_deref().unwrap_or_default()).into_owned();
    let at =
        |body: String, timestamp: u64| run_command(run, script, spec, rendered, body, timestamp);
    match spec.signature {
        Signature::None => Ok(Vec::new()),
        Signature::Wrong => skip("a command signs, and with its own secret only"),
        Signature::Of(_) => skip("a command signs, and knows of no earlier signature"),
        Signature::OtherBody => at(format!("{body} "), stamp.timestamp).await,
        Signature::Old(ago) => {
            let old = at(body.clone(), stamp.timestamp).await?;
            let now = at(body, stamp.timestamp + ago.as_secs()).await?;
            match old == now {
                true => skip("its command does not sign the `timestamp`, so that nothing ages"),
                false => Ok(old),
            }
        }
        Signature::Good => at(body, stamp.timestamp).await,
    }
}

async fn run_command(
    run: &RoundRun<'_>,
    script: &Command,
    spec: &Spec,
    rendered: &Rendered,
    body: String,
    timestamp: u64,
) -> Result<Headers, RenderError> {
    let world = run.world();
    let further = [
        ("body".to_owned(), body),
        ("timestamp".to_owned(), timestamp.to_string()),
        ("method".to_owned(), rendered.method.clone()),
        ("path".to_owned(), rendered.path_and_query.clone()),
    ];
    let values = Filling::of_spec(world, spec);
    let written = command::run_with(world, script, &values, &further, PATIENCE)
        .await
        .map_err(|why| RenderError::Invalid(format!("the command that signs failed: {why}")))?;
    let lines = String::from_utf8_lossy(&written);
    let headers: Headers = lines
        .lines()
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.trim().to_owned(), value.trim().as_bytes().to_vec()))
        .collect();
    match headers.is_empty() {
        true => Err(RenderError::Invalid(
            "the command that signs wrote no header: it writes one `Name: value` a line".to_owned(),
        )),
        false => Ok(headers),
    }
}
