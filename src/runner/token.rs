//! Tokens of principals: asked for before they are needed, renewed before they run out, and asked for
//! anew where one is refused that nobody had said was over.

use super::command;
use super::fetch::Fetched;
use super::rendering::Filling;
use super::world::World;
use crate::target::principal::{Principal, Role};
use crate::target::render::{Rendered, text};
use crate::target::request::Request;
use crate::target::selector::{Answer, Selector};
use crate::target::token::{ClientCredentials, ClientPlace, Expiry, Token, TokenSource};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use url::Url;
use url::form_urlencoded::{Serializer, byte_serialize};

/// How long it may take to be given a token.
const PATIENCE: Duration = Duration::from_secs(30);

/// For how long no other token is asked for after one that was refused as well.
const IN_VAIN: Duration = Duration::from_secs(30);

/// The tokens of a run.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    held: Mutex<HashMap<Role, Held>>,
    /// One is asked for at a time.
    asking: tokio::sync::Mutex<()>,
    ran_out: AtomicU32,
    /// When the target was ended or started again: logins of before may be forgotten.
    restarted: Mutex<Option<Instant>>,
}

/// A token that was given.
#[derive(Clone)]
struct Held {
    value: String,
    given: Instant,
    /// For how long it is good, where that is known.
    lifetime: Option<Duration>,
    /// It took the place of one that was refused, and was refused as well.
    in_vain: Option<Instant>,
}

/// A request that is sent again because its token was refused.
pub(super) struct Again {
    pub(super) rendered: Rendered,
    role: Role,
    /// Nobody had said that the token was over.
    ran_out: bool,
}

/// Shows no token.
impl std::fmt::Debug for Held {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Held(…, for {:?})", self.lifetime)
    }
}

impl Held {
    /// Whether it is good for some time still: half of its life, or the time that is given.
    fn is_good_for(&self, time: Duration) -> bool {
        self.lifetime.is_none_or(|lifetime| {
            let left = lifetime.saturating_sub(self.given.elapsed());
            left > time.min(lifetime / 2)
        })
    }
}

impl World {
    /// The token of a principal, if one was given.
    pub(super) fn token(&self, role: Role) -> Option<String> {
        self.held(role).map(|held| held.value)
    }

    /// How many tokens have run out that were taken to be good: what was sent meanwhile was refused
    /// for that alone.
    pub(super) fn ran_out(&self) -> u32 {
        self.tokens.ran_out.load(Ordering::Relaxed)
    }

    /// Sees to it that every principal has a token that is good for some time.
    pub(super) async fn ready_tokens(&self, time: Duration) -> Result<(), String> {
        for role in self.target.principals.keys() {
            self.ready_token(*role, time).await?;
        }
        Ok(())
    }

    /// Sees to it that a principal has a token that is good for some time, if it uses one.
    pub(super) async fn ready_token(&self, role: Role, time: Duration) -> Result<(), String> {
        let Some((principal, token)) = self.asks(role) else {
            return Ok(());
        };
        let is_good =
            |held: Held| held.is_good_for(time) && !self.may_be_forgotten(token, held.given);
        if self.held(role).is_some_and(is_good) {
            return Ok(());
        }
        let _asking = self.tokens.asking.lock().await;
        if self.held(role).is_some_and(is_good) {
            return Ok(());
        }
        self.ask_for(role, principal, token).await.map(drop)
    }

    /// The target was ended or started again, and may not know any more whom it has let in.
    pub(super) fn doubt_logins(&self) {
        let restarted = self.tokens.restarted.lock();
        *restarted.unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    fn may_be_forgotten(&self, token: &Token, given: Instant) -> bool {
        let restarted = self.tokens.restarted.lock();
        let restarted = *restarted.unwrap_or_else(PoisonError::into_inner);
        matches!(token.source, TokenSource::Request(_)) && restarted > Some(given)
    }

    /// The same request with a new token, if it may have been refused for an old one.
    pub(super) async fn with_new_token(&self, refused: &Rendered) -> Option<Again> {
        let (role, old) = self.all_held().iter().find_map(|(role, held)| {
            let ended_on_purpose = matches!(role, Role::Expired | Role::Revoked);
            (!ended_on_purpose && bears(refused, &held.value)).then(|| (*role, held.clone()))
        })?;
        let (principal, token) = self.asks(role)?;
        let _asking = self.tokens.asking.lock().await;
        let now = self.held(role)?;
        let forgotten = self.may_be_forgotten(token, old.given);
        let new = if now.value != old.value {
            now.value
        } else if old.in_vain.is_some_and(|at| at.elapsed() < IN_VAIN) {
            return None;
        } else {
            self.ask_for(role, principal, token).await.ok()?
        };
        (new != old.value).then(|| Again {
            rendered: replaced(refused, &old.value, &new),
            role,
            ran_out: !forgotten,
        })
    }

    /// What came of a request that was sent again.
    pub(super) fn note_again(&self, again: &Again, status: u16) {
        if status == 401 {
            if let Some(held) = self.all_held().get_mut(&again.role) {
                held.in_vain = Some(Instant::now());
            }
        } else {
            let ran_out = u32::from(again.ran_out);
            self.tokens.ran_out.fetch_add(ran_out, Ordering::Relaxed);
        }
    }

    fn asks(&self, role: Role) -> Option<(&Principal, &Token)> {
        let principal = self.target.principals.get(&role)?;
        Some((principal, principal.token.as_ref()?))
    }

    fn held(&self, role: Role) -> Option<Held> {
        self.all_held().get(&role).cloned()
    }

    fn all_held(&self) -> std::sync::MutexGuard<'_, HashMap<Role, Held>> {
        let held = self.tokens.held.lock();
        held.unwrap_or_else(PoisonError::into_inner)
    }

    async fn ask_for(
        &self,
        role: Role,
        principal: &Principal,
        token: &Token,
    ) -> Result<String, String> {
        let told = |why: String| format!("no token for {role}: {why}");
        let given = Instant::now();
        let answer = match &token.source {
            TokenSource::Command(script) => {
                let values = Filling::new(self);
                let output = command::run(self, script, &values, PATIENCE).await;
                let output = output.map_err(|why| told(format!("the command failed: {why}")))?;
                Fetched {
                    status: 200,
                    headers: Vec::new(),
                    body: output,
                }
            }
            TokenSource::Request(request) => {
                let rendered = self.asked_by(principal, request).map_err(told)?;
                self.given(&rendered).await.map_err(told)?
            }
            TokenSource::ClientCredentials(client) => {
                let rendered = self.granted(principal, client).map_err(told)?;
                self.given(&rendered).await.map_err(told)?
            }
        };
        let value = first_text(&token.value, &answer.answer()).ok_or_else(|| {
            told(match token.source {
                TokenSource::Command(_) => "the command wrote nothing".to_owned(),
                _ => format!("it is not in the answer ({})", answer.status),
            })
        })?;
        self.masker.learn(&value);
        let lifetime = match &token.expires {
            Expiry::After(time) => Some(*time),
            Expiry::Named(selector) => first_text(selector, &answer.answer())
                .and_then(|text| text.parse().ok())
                .and_then(|seconds: f64| Duration::try_from_secs_f64(seconds).ok()),
        };
        let held = Held {
            value: value.clone(),
            given,
            lifetime,
            in_vain: None,
        };
        self.all_held().insert(role, held);
        Ok(value)
    }

    /// A login of the target file's own, which bears no credentials but what stands in it.
    fn asked_by(&self, principal: &Principal, request: &Request) -> Result<Rendered, String> {
        let stranger = Principal {
            certificate: principal.certificate.clone(),
            vars: principal.vars.clone(),
            ..Principal::default()
        };
        self.render_bare(request, &stranger, None, &Filling::new(self))
    }

    /// The request of the client credentials grant (RFC 6749, section 4.4.2).
    fn granted(
        &self,
        principal: &Principal,
        client: &ClientCredentials,
    ) -> Result<Rendered, String> {
        let values = Filling::new(self);
        let filled = |template| {
            text(template, &self.target, principal, &values).map_err(|error| error.to_string())
        };
        let url = filled(&client.url)?;
        let url = Url::parse(&url).map_err(|error| format!("`{url}` is no URL: {error}"))?;
        let id = filled(&client.id)?;
        let secret = client.secret.as_ref().map(filled).transpose()?;
        let mut form = Serializer::new(String::new());
        form.append_pair("grant_type", "client_credentials");
        for (name, template) in &client.further {
            form.append_pair(name, &filled(template)?);
        }
        let mut headers = vec![
            (
                "Content-Type".to_owned(),
                b"application/x-www-form-urlencoded".to_vec(),
            ),
            ("Accept".to_owned(), b"application/json".to_vec()),
        ];
        match (client.place, &secret) {
            (ClientPlace::Header, Some(secret)) => {
                let encoded = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
                let pair = format!("{}:{}", encoded(&id), encoded(secret));
                let pair = STANDARD.encode(pair);
                self.masker.learn(&pair);
                headers.push((
                    "Authorization".to_owned(),
                    format!("Basic {pair}").into_bytes(),
                ));
            }
            (_, secret) => {
                form.append_pair("client_id", &id);
                if let Some(secret) = secret {
                    form.append_pair("client_secret", secret);
                }
            }
        }
        let query = url
            .query()
            .map_or_else(String::new, |query| format!("?{query}"));
        Ok(Rendered {
            method: "POST".to_owned(),
            origin: url.origin().ascii_serialization(),
            path_and_query: format!("{}{query}", url.path()),
            headers,
            body: Some(form.finish().into_bytes()),
            sent: None,
            chunked: false,
            upper_case_headers: false,
            intent: Vec::new(),
            address: None,
            certificate: principal.certificate.clone(),
            signer: None,
        })
    }

    async fn given(&self, rendered: &Rendered) -> Result<Fetched, String> {
        let answer = self.fetch_once(rendered, PATIENCE).await?;
        match (200..300).contains(&answer.status) {
            true => Ok(answer),
            false => Err(format!(
                "{}{} answered {}",
                rendered.origin,
                rendered
                    .path_and_query
                    .split('?')
                    .next()
                    .unwrap_or_default(),
                self.told(&answer)
            )),
        }
    }
}

fn first_text(selector: &Selector, answer: &Answer<'_>) -> Option<String> {
    let found = selector.select(answer).into_iter().next()?;
    let text = match found {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    Some(text).filter(|text| !text.is_empty())
}

fn bears(rendered: &Rendered, token: &str) -> bool {
    let in_headers = |(_, value): &(String, Vec<u8>)| {
        value
            .windows(token.len().max(1))
            .any(|part| part == token.as_bytes())
    };
    rendered.headers.iter().any(in_headers) || rendered.path_and_query.contains(token)
}

fn replaced(rendered: &Rendered, old: &str, new: &str) -> Rendered {
    let mut again = rendered.clone();
    again.path_and_query = again.path_and_query.replace(old, new);
    for (_, value) in &mut again.headers {
        if let Ok(text) = std::str::from_utf8(value) {
            *value = text.replace(old, new).into_bytes();
        }
    }
    again
}

#[cfg(test)]
mod tests {
    use super::Held;
    use std::time::{Duration, Instant};

    #[test]
    fn a_token_is_renewed_in_time_and_not_at_half_of_a_long_life() {
        let held = |lifetime: Option<u64>, age: u64| Held {
            value: "t".to_owned(),
            given: Instant::now() - Duration::from_secs(age),
            lifetime: lifetime.map(Duration::from_secs),
            in_vain: None,
        };
        let minute = Duration::from_secs(60);
        assert!(held(Some(3600), 3500).is_good_for(minute));
        assert!(!held(Some(3600), 3550).is_good_for(minute));
        assert!(held(Some(10), 4).is_good_for(minute), "half of it is left");
        assert!(!held(Some(10), 6).is_good_for(minute));
        assert!(held(None, 9999).is_good_for(minute), "nobody knows");
        assert!(!format!("{:?}", held(None, 0)).contains("\"t\""));
    }
}
