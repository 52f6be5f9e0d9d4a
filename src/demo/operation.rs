//! The writes that need a key, and the commands that valid bodies of theirs become.

use serde_json::{Map, Value};

use super::answer::{Answer, Problem};
use super::batch;
use super::fingerprint::integer;
use super::flaw::Flaw;
use super::flaws::Flaws;

/// A write that needs a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// `POST /payments`, or with `?dry=1` its rehearsal.
    Pay {
        /// Whether this is only a rehearsal.
        dry: bool,
    },
    /// `POST /accounts/{name}/payments`: a payment for an account that the caller names.
    PayFor {
        /// The name of the account.
        account: String,
    },
    /// `POST /payments/batch`.
    Batch,
    /// `POST /refunds`.
    Refund,
    /// `PATCH /payments/{id}`.
    Change {
        /// The id of the payment.
        payment: String,
    },
}

impl Operation {
    /// Method, concrete path, and the query that changes meaning: the scope of a key.
    pub fn label(&self) -> String {
        match self {
            Operation::Pay { dry: false } => "POST /payments".to_owned(),
            Operation::Pay { dry: true } => "POST /payments?dry=1".to_owned(),
            Operation::PayFor { account } => format!("POST /accounts/{account}/payments"),
            Operation::Batch => "POST /payments/batch".to_owned(),
            Operation::Refund => "POST /refunds".to_owned(),
            Operation::Change { payment } => format!("PATCH /payments/{payment}"),
        }
    }

    /// What of the operation counts for a key, and for what a request means.
    pub fn scope(&self, flaws: Flaws) -> String {
        match self {
            Operation::Pay { .. } if flaws.has(Flaw::LeavesQueryOutOfScope) => {
                Operation::Pay { dry: false }.label()
            }
            Operation::Change { .. } if flaws.has(Flaw::ScopesByRouteTemplate) => {
                "PATCH /payments/{id}".to_owned()
            }
            Operation::PayFor { .. } if flaws.has(Flaw::JoinsScopeWithColons) => {
                "POST /accounts/{name}/payments".to_owned()
            }
            _ => self.label(),
        }
    }

    /// Checks a body and turns it into a command, or answers 422.
    pub fn command(&self, body: &Value) -> Result<Command, Answer> {
        let Value::Object(fields) = body else {
            return Err(invalid("The body must be a JSON object."));
        };
        match self {
            Operation::Pay { dry } => {
                let payment = payment(fields)?;
                Ok(if *dry {
                    Command::Rehearse(payment)
                } else {
                    Command::Pay(payment)
                })
            }
            Operation::PayFor { .. } => Ok(Command::Pay(payment(fields)?)),
            Operation::Batch => Ok(Command::Batch(batch::items(fields)?)),
            Operation::Refund => Ok(Command::Refund(Refund {
                amount: amount(fields)?,
                payment: text(fields, "payment_id")?.to_owned(),
                reference: text(fields, "reference")?.to_owned(),
                further: without(fields, &["amount", "payment_id", "reference"]),
            })),
            Operation::Change { payment } => Ok(Command::Change(Change {
                payment: payment.clone(),
                memo: text(fields, "memo")?.to_owned(),
                reference: match fields.get("reference") {
                    None => None,
                    Some(_) => Some(text(fields, "reference")?.to_owned()),
                },
            })),
        }
    }
}

/// A valid write.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Makes a payment and its receipt.
    Pay(Payment),
    /// Checks a payment and makes nothing.
    Rehearse(Payment),
    /// Makes several payments with their receipts.
    Batch(Vec<Payment>),
    /// Makes a refund.
    Refund(Refund),
    /// Changes the memo of a payment.
    Change(Change),
    /// Makes nothing: it is no valid request, and its key is used up by that.
    Refuse(Answer),
}

impl Command {
    /// What the ids of the things that it makes begin with.
    pub fn prefix(&self) -> &'static str {
        match self {
            Command::Pay(_) | Command::Rehearse(_) => "pay",
            Command::Batch(_) => "bat",
            Command::Refund(_) => "ref",
            Command::Change(_) => "chg",
            Command::Refuse(_) => "none",
        }
    }

    /// The reference, by which a behaviour that fails once knows whether it has.
    pub fn reference(&self) -> &str {
        match self {
            Command::Pay(payment) | Command::Rehearse(payment) => &payment.reference,
            Command::Batch(payments) => payments
                .first()
                .map_or("", |payment| payment.reference.as_str()),
            Command::Refund(refund) => &refund.reference,
            Command::Change(change) => change.reference.as_deref().unwrap_or(&change.payment),
            Command::Refuse(_) => "",
        }
    }
}

/// What a payment is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Payment {
    /// Above 0, in the currency's smallest unit.
    pub amount: i64,
    /// Three capital letters.
    pub currency: String,
    /// The caller's own mark.
    pub reference: String,
    /// Further fields, kept as they are.
    pub further: Map<String, Value>,
}

/// What a refund is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Refund {
    /// Above 0, in the currency's smallest unit.
    pub amount: i64,
    /// The id of a payment, which need not exist.
    pub payment: String,
    /// The caller's own mark.
    pub reference: String,
    /// Further fields, kept as they are.
    pub further: Map<String, Value>,
}

/// A change of a payment.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The id of the payment, which must exist.
    pub payment: String,
    /// The new memo.
    pub memo: String,
    /// The caller's own mark; that of the payment if there is none.
    pub reference: Option<String>,
}

/// Reads what a payment is made of.
pub fn payment(fields: &Map<String, Value>) -> Result<Payment, Answer> {
    let amount = amount(fields)?;
    let reference = text(fields, "reference")?.to_owned();
    let currency = match fields.get("currency") {
        None => "EUR".to_owned(),
        Some(Value::String(code)) if is_currency(code) => code.clone(),
        Some(_) => return Err(invalid("currency must be three capital letters.")),
    };
    Ok(Payment {
        amount,
        currency,
        reference,
        further: without(fields, &["amount", "currency", "reference"]),
    })
}

fn amount(fields: &Map<String, Value>) -> Result<i64, Answer> {
    let amount = match fields.get("amount") {
        Some(Value::Number(number)) => integer(number),
        _ => None,
    };
    amount
        .and_then(|amount| i64::try_from(amount).ok())
        .filter(|amount| *amount > 0)
        .ok_or_else(|| invalid("amount must be an integer from 1 to 9223372036854775807."))
}

/// Reads a text that is not empty.
pub fn text<'a>(fields: &'a Map<String, Value>, name: &str) -> Result<&'a str, Answer> {
    match fields.get(name) {
        Some(Value::String(text)) if !text.is_empty() => Ok(text),
        _ => Err(invalid(&format!(
            "{name} must be a text that is not empty."
        ))),
    }
}

fn is_currency(code: &str) -> bool {
    code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_uppercase())
}

fn without(fields: &Map<String, Value>, names: &[&str]) -> Map<String, Value> {
    let mut fields = fields.clone();
    fields.retain(|name, _| !names.contains(&name.as_str()));
    fields
}

/// The answer to a body that is JSON, and no valid request.
pub fn invalid(detail: &str) -> Answer {
    Answer::problem(Problem::Invalid, detail)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_amount_is_an_integer_above_zero_in_any_notation() {
        let pay = Operation::Pay { dry: false };
        for (good, value) in [
            (json!(2000), 2000),
            (json!(2000.0), 2000),
            (json!(i64::MAX), i64::MAX),
        ] {
            let command = pay.command(&json!({"amount": good, "reference": "r"}));
            let Ok(Command::Pay(payment)) = command else {
                panic!("{good} was refused");
            };
            assert_eq!(payment.amount, value);
        }
        for bad in [
            json!(0),
            json!(-1),
            json!(1.5),
            json!("2000"),
            json!(null),
            json!(u64::MAX),
        ] {
            let command = pay.command(&json!({"amount": bad, "reference": "r"}));
            assert_eq!(command.map_err(|answer| answer.status.as_u16()), Err(422));
        }
    }
}
