//! Signs requests, last, over their final bytes: well, or badly on purpose.

use super::base::endpoint;
use super::command;
use super::rendering::Filling;
use super::round::{RoundRun, locked};
use super::spec::Spec;
use super::world::World;
use crate::scenario::{Request, Signature};
use crate::target::action::Command;
use crate::target::operation::Operation;
use crate::target::render::signature::{Signed, digest, written};
use crate::target::render::sigv4::{self, AwsRequest};
use crate::target::render::{RenderError, Rendered, Signer, text};
use crate::target::secret::SecretValue;
use crate::target::signing::{Hmac, SignedPart, Signing};
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
    let now = now();
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
        Signing::SigV4(_) => {
            return Err(RenderError::NotApplicable(
                "AWS signs requests, and no events".to_owned(),
            ));
        }
        Signing::Command(script) => by_command(run, script, spec, rendered, &stamp).await?,
    };
    set(rendered, headers);
    Ok(())
}

/// Adds the headers of the sender's own signature; `id` is what a scheme may sign as the request's.
pub(super) async fn sign_for_sender(
    world: &World,
    rendered: &mut Rendered,
    id: &str,
) -> Result<(), RenderError> {
    let Some(signer) = rendered.signer.take() else {
        return Ok(());
    };
    let now = now();
    let headers = match &signer {
        Signer::Hmac { scheme, secret } => {
            let signed = Signed {
                method: &rendered.method,
                path: &rendered.path_and_query,
                body: rendered.body.as_deref().unwrap_or_default(),
                id,
                timestamp: now,
            };
            let signature = digest(scheme, secret, &signed);
            let headers = scheme.headers.iter();
            headers
                .map(|(name, parts)| (name.clone(), written(parts, &signed, &signature)))
                .collect()
        }
        Signer::Aws(aws) => {
            let (_, host) = endpoint(&rendered.origin).map_err(RenderError::Invalid)?;
            let request = AwsRequest {
                method: &rendered.method,
                host: &host,
                path_and_query: &rendered.path_and_query,
                headers: &rendered.headers,
                body: rendered.body.as_deref().unwrap_or_default(),
            };
            sigv4::signed(aws, &request, now)
        }
        Signer::Command(script) => {
            let body = rendered.body.as_deref().unwrap_or_default();
            let body = String::from_utf8_lossy(body).into_owned();
            let values = Filling::new(world);
            run_command(world, script, &values, rendered, body, now).await?
        }
    };
    set(rendered, headers);
    Ok(())
}

fn now() -> u64 {
    let time = SystemTime::now().duration_since(UNIX_EPOCH);
    time.unwrap_or_default().as_secs()
}

fn set(rendered: &mut Rendered, headers: Headers) {
    for (name, value) in headers {
        rendered
            .headers
            .retain(|(own, _)| !own.eq_ignore_ascii_case(&name));
        rendered.headers.push((name, value));
    }
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
    let world = run.world();
    let values = Filling::of_spec(world, spec);
    let at = |body: String, timestamp: u64| {
        run_command(world, script, &values, rendered, body, timestamp)
    };
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
    world: &World,
    script: &Command,
    values: &Filling<'_>,
    rendered: &Rendered,
    body: String,
    timestamp: u64,
) -> Result<Headers, RenderError> {
    let further = [
        ("body".to_owned(), body),
        ("timestamp".to_owned(), timestamp.to_string()),
        ("method".to_owned(), rendered.method.clone()),
        ("path".to_owned(), rendered.path_and_query.clone()),
    ];
    let written = command::run_with(world, script, values, &further, PATIENCE)
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
