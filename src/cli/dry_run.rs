//! What a run would do, without doing it: every request, with the placeholders that have no value yet.

use crate::plan::{Plan, PlannedCase};
use crate::scenario::{Key, OperationRole, PrincipalRole, Request, Step};
use crate::target::Target;
use crate::target::key::{Carrier, KeyForm, KeyPlace, KeyUse};
use crate::target::placeholder::{Placeholder, Values};
use crate::target::principal::Principal;
use crate::target::render::{Credentials, Form, Recipe, render};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use url::Url;

/// Every case with the requests that it would send, and the reason of those that would not run.
pub fn describe(target: &Target, plan: &Plan) -> String {
    let mut text = String::new();
    let mut total = 0;
    for planned in &plan.cases {
        let case = &planned.scenario.cases[planned.case];
        let name = format!("{}/{}", planned.subject, planned.scenario.case_id(case));
        // Writing to a String cannot fail, here and below.
        if let Some(reason) = &planned.skip {
            let _ = writeln!(text, "skip  {name}: {reason}");
            continue;
        }
        total += planned.requests;
        let rounds = planned.scenario.rounds.count;
        let times = if rounds == 1 {
            String::new()
        } else {
            format!(" in {rounds} rounds")
        };
        let _ = writeln!(
            text,
            "run   {name}: up to {} requests{times}",
            planned.requests
        );
        let mut plain: BTreeMap<&str, Effective> = BTreeMap::new();
        for step in case.leaves() {
            let Some(request) = step.request() else {
                continue;
            };
            let effective = Effective::of(request, &plain);
            let shown = shown(target, planned, &effective);
            let _ = writeln!(text, "        {}{}: {shown}", request.name, copies(step));
            plain.insert(&request.name, effective);
        }
    }
    let bases: Vec<String> = base_urls(target).map(|url| url.to_string()).collect();
    let _ = writeln!(
        text,
        "{} cases, up to {total} requests to {}; nothing was sent",
        plan.cases.len(),
        bases.join(", ")
    );
    without_secrets(target, text)
}

/// What of a request is inherited and what is its own.
#[derive(Clone, Default)]
struct Effective {
    operation: OperationRole,
    variants: Vec<String>,
    forms: Vec<String>,
    principal: PrincipalRole,
    has_key: bool,
}

impl Effective {
    fn of(request: &Request, earlier: &BTreeMap<&str, Effective>) -> Effective {
        let base = request
            .like
            .as_ref()
            .and_then(|like| earlier.get(like.of.as_str()).cloned());
        let mut effective = base.unwrap_or_default();
        effective.operation = request.operation.unwrap_or(effective.operation);
        effective.principal = request.principal.unwrap_or(effective.principal);
        effective.variants.extend(request.variants.iter().cloned());
        if let Some(forms) = &request.forms {
            effective.forms.clone_from(forms);
        }
        if let Some(key) = &request.key {
            effective.has_key = *key != Key::None;
        }
        effective
    }
}

/// `POST /payments as owner: {…}`, or why it cannot be shown.
fn shown(target: &Target, planned: &PlannedCase, effective: &Effective) -> String {
    match made(target, planned, effective) {
        Ok(text) => text,
        Err(why) => format!("cannot be shown: {why}"),
    }
}

fn made(target: &Target, planned: &PlannedCase, effective: &Effective) -> Result<String, String> {
    let name = match effective.operation {
        OperationRole::Subject => Some(&planned.subject),
        OperationRole::Other => planned.other.as_ref(),
        OperationRole::OtherMethod => planned.other_method.as_ref(),
    };
    let operation = name
        .and_then(|name| target.operation(name))
        .ok_or("there is no such operation")?;
    let variants = effective
        .variants
        .iter()
        .map(|name| operation.likeliest_variation(name))
        .collect::<Result<Vec<_>, _>>()?;
    let patches: Vec<_> = variants.iter().map(|variant| &variant.patch).collect();
    let forms: Vec<Form> = effective
        .forms
        .iter()
        .filter_map(|name| Form::from_name(name))
        .collect();
    let place = operation
        .key
        .clone()
        .or_else(|| target.key.clone())
        .unwrap_or(KeyPlace::At {
            carrier: Carrier::Header("Idempotency-Key".to_owned()),
            form: KeyForm::default(),
        });
    let key = if effective.has_key {
        KeyUse::value("${key}")
    } else {
        KeyUse::None
    };
    let base = base_urls(target).next().ok_or("there is no base-url")?;
    let rendered = render(&Recipe {
        target,
        base: &base,
        request: &operation.request,
        patches: &patches,
        forms: &forms,
        key: Some((&place, &key)),
        principal: &Principal::default(),
        credentials: Credentials::Without,
        token: None,
        values: &Unknown,
    })
    .map_err(|error| error.to_string())?;
    let mut text = format!(
        "{} {} as {}",
        rendered.method,
        rendered.path_and_query,
        effective.principal.name()
    );
    for (name, value) in &rendered.headers {
        let _ = write!(text, ", {name}: {}", String::from_utf8_lossy(value));
    }
    if let Some(body) = &rendered.body {
        let body: String = String::from_utf8_lossy(body).chars().take(300).collect();
        let _ = write!(text, ": {body}");
    }
    Ok(text)
}

fn copies(step: &Step) -> String {
    match step {
        Step::Burst { copies, .. } => {
            let counts: Vec<String> = copies.iter().map(ToString::to_string).collect();
            format!(" ({} at once)", counts.join(", "))
        }
        Step::Send { times, .. } if *times > 1 => format!(" ({times} times)"),
        Step::Retry { .. } => " (until it is answered)".to_owned(),
        _ => String::new(),
    }
}

fn base_urls(target: &Target) -> impl Iterator<Item = Url> + '_ {
    // A managed server gets its port when it is started.
    target
        .base_urls
        .iter()
        .filter_map(|base| base.resolve(|_| Some(0)).ok())
}

fn without_secrets(target: &Target, mut text: String) -> String {
    for secret in &target.secrets {
        if !secret.reveal().is_empty() {
            text = text.replace(secret.reveal(), &format!("${{secret.{}}}", secret.name));
        }
    }
    text
}

/// Values that only a run has: each stands for itself.
struct Unknown;

impl Values for Unknown {
    fn get(&self, placeholder: &Placeholder) -> Result<Value, String> {
        Ok(Value::String(format!("${{{placeholder}}}")))
    }
}
