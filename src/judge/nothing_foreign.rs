//! `nothing-foreign`: no string that only one response has occurs in somebody else's.
//!
//! Strings are compared by their digests, which the runner took from the whole unmasked response.

use super::ruling::Ruling;
use super::view::{View, got, succeeded, who};
use crate::scenario::SeekIn;
use crate::transcript::{Exchange, Token};
use std::collections::BTreeSet;

/// Rules on one round.
pub(super) fn rule(view: &View<'_>, of: &[String], from: &str, seek: SeekIn) -> Ruling {
    let source = view.standing(from);
    if source.is_empty() {
        return view.never_sent(from);
    }
    if let Some((_, unanswered)) = source
        .iter()
        .find(|(_, exchange)| exchange.response.is_none())
    {
        return Ruling::nothing(format!("{} {}", who(unanswered), got(unanswered)));
    }
    let telling: Vec<&Token> = source
        .iter()
        .filter_map(|(_, exchange)| exchange.response.as_ref())
        .flat_map(|response| &response.tokens)
        .filter(|token| seek == SeekIn::Everything || token.secret)
        .collect();
    if let Some((_, refused)) = source
        .iter()
        .find(|(_, exchange)| !succeeded(exchange))
        .filter(|_| source.iter().all(|(_, exchange)| !succeeded(exchange)))
    {
        return Ruling::void(format!(
            "void: {} {}, so there is nothing of `{from}` to be seen",
            who(refused),
            got(refused)
        ));
    }
    if telling.is_empty() {
        return match seek {
            SeekIn::Secrets => {
                Ruling::void(format!("void: `{from}` was given no cookie or challenge"))
            }
            SeekIn::Everything => Ruling::nothing(format!(
                "the response of `{from}` has nothing that could give it away"
            )),
        };
    }
    let mut rulings = Vec::new();
    for step in of {
        let standing = view.standing(step);
        if standing.is_empty() {
            rulings.push(view.never_sent(step));
        }
        for (index, exchange) in standing {
            rulings.push(one(view, exchange, from, &telling).seen_in([index]));
        }
    }
    Ruling::gravest(rulings).unwrap_or_else(|| view.never_sent(from))
}

fn one(view: &View<'_>, this: &Exchange, from: &str, telling: &[&Token]) -> Ruling {
    let Some(response) = &this.response else {
        return Ruling::nothing(format!("{} {}", who(this), got(this)));
    };
    let known = known(view, this, from);
    let found: BTreeSet<&str> = response
        .tokens
        .iter()
        .map(|token| token.digest.as_str())
        .collect();
    let hits: Vec<&&Token> = telling
        .iter()
        .filter(|token| found.contains(token.digest.as_str()))
        .filter(|token| !known.contains(token.digest.as_str()))
        .filter(|token| !occurs_in_request(this, &token.shown))
        .collect();
    if hits.is_empty() {
        return Ruling::held(format!("{} was given nothing of `{from}`", who(this)));
    }
    if view.lets_in(this) {
        return Ruling::nothing(format!(
            "the target asks {} for no rights, so that it gives nothing away",
            this.principal.name()
        ));
    }
    match hits.iter().find(|token| !by_chance(token)) {
        Some(token) => Ruling::broken(format!(
            "{} got {} with {}, which belongs to `{from}` (in {})",
            who(this),
            response.status,
            token.shown,
            token.place
        ))
        .weighing(hits.len() as u64),
        None => Ruling::nothing(format!(
            "{} was given {} like `{from}`, but so short an identity may be equal by chance",
            who(this),
            hits[0].shown
        )),
    }
}

/// What this principal was given before anyway.
fn known<'a>(view: &View<'a>, this: &Exchange, from: &str) -> BTreeSet<&'a str> {
    view.round
        .exchanges
        .iter()
        .filter(|exchange| {
            exchange.step != from
                && exchange.step != this.step
                && exchange.principal == this.principal
                && exchange.times.ended <= this.times.ended
        })
        .filter_map(|exchange| exchange.response.as_ref())
        .flat_map(|response| &response.tokens)
        .map(|token| token.digest.as_str())
        .collect()
}

fn occurs_in_request(exchange: &Exchange, text: &str) -> bool {
    let request = &exchange.request;
    request.url.contains(text)
        || request
            .body
            .as_ref()
            .is_some_and(|body| body.contains(text))
        || request
            .headers
            .iter()
            .any(|(_, value)| value.contains(text))
}

/// Two tenants may both have a payment number 17.
fn by_chance(token: &Token) -> bool {
    token.identity
        && (token.shown.chars().count() < 8 || token.shown.chars().all(|c| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use crate::judge::sample::{answered, millis, paid, round, sent, verdict};
    use crate::scenario::PrincipalRole;
    use crate::transcript::{Exchange, Token};
    use crate::verdict::Verdict;

    const CLAIM: &str = "nothing-foreign: { of: again, from: first }";
    const ID: &str = "pay_00000001";

    #[test]
    fn a_refusal_gives_nothing_away() {
        let refused = round([
            paid("first", ID),
            answered("again", 401).by(PrincipalRole::Nobody),
        ]);
        assert_eq!(verdict(CLAIM, refused).0, Verdict::Pass);
    }

    #[test]
    fn an_identity_in_a_refusal_is_a_leak_too() {
        let mut leak = answered("again", 409)
            .naming(ID)
            .by(PrincipalRole::OtherTenant);
        if let Some(response) = &mut leak.response {
            response.identity = None;
        }
        let (verdict, reason) = verdict(CLAIM, round([paid("first", ID), leak]));
        assert_eq!(verdict, Verdict::Fail);
        assert!(
            reason.contains("got 409 with pay_00000001, which belongs to `first` (in body)"),
            "{reason}"
        );
    }

    #[test]
    fn what_the_caller_sent_or_had_before_is_not_foreign() {
        let theirs = || paid("again", ID).by(PrincipalRole::OtherTenant);
        let mut asked = theirs();
        asked.request.url.push_str("/pay_00000001");
        assert_eq!(
            verdict(CLAIM, round([paid("first", ID), asked])).0,
            Verdict::Pass
        );
        let own = paid("control", ID).by(PrincipalRole::OtherTenant);
        assert_eq!(
            verdict(CLAIM, round([paid("first", ID), own, theirs()])).0,
            Verdict::Pass
        );
    }

    #[test]
    fn short_numbers_may_be_equal_by_chance() {
        let theirs = paid("again", "17").by(PrincipalRole::OtherTenant);
        let (verdict, reason) = verdict(CLAIM, round([paid("first", "17"), theirs]));
        assert_eq!(verdict, Verdict::Inconclusive);
        assert!(reason.contains("by chance"), "{reason}");
    }

    #[test]
    fn an_api_that_asks_nobody_for_rights_gives_nothing_away() {
        let control = paid("control", "pay_00000002")
            .key(Some("another"))
            .by(PrincipalRole::Nobody);
        let intruder = paid("again", ID).by(PrincipalRole::Nobody);
        let open = round([paid("first", ID), control, intruder]);
        assert_eq!(verdict(CLAIM, open).0, Verdict::Inconclusive);
    }

    #[test]
    fn without_a_response_nothing_is_shown() {
        let lost = round([paid("first", ID), sent("again")]);
        assert_eq!(verdict(CLAIM, lost).0, Verdict::Inconclusive);
        let unseen = round([sent("first"), paid("again", ID)]);
        assert_eq!(verdict(CLAIM, unseen).0, Verdict::Inconclusive);
    }

    #[test]
    fn of_a_refusal_there_is_nothing_to_give_away() {
        let refused = round([answered("first", 400), answered("again", 400)]);
        assert_eq!(verdict(CLAIM, refused).0, Verdict::Skip);
        let silent = round([answered("first", 204), answered("again", 204)]);
        assert_eq!(verdict(CLAIM, silent).0, Verdict::Inconclusive);
    }

    #[test]
    fn secrets_are_looked_for_alone_and_void_where_there_are_none() {
        let claim = "nothing-foreign: { of: again, from: first, in: secrets }";
        let again = || paid("again", ID).by(PrincipalRole::OtherSession);
        let none = round([paid("first", ID), again()]);
        assert_eq!(verdict(claim, none).0, Verdict::Skip);
        let fresh = round([paid("first", ID).cookie("sid=1"), again().cookie("sid=2")]);
        assert_eq!(verdict(claim, fresh).0, Verdict::Pass);
        let stored = round([paid("first", ID).cookie("sid=1"), again().cookie("sid=1")]);
        let (verdict, reason) = verdict(claim, stored);
        assert_eq!(verdict, Verdict::Fail);
        assert!(reason.contains("‹secret 3f2a›"), "{reason}");
    }

    #[test]
    fn what_somebody_had_counts_only_if_it_was_this_caller_before() {
        let with = |change: fn(&mut Exchange)| {
            let mut own = paid("control", ID)
                .by(PrincipalRole::OtherTenant)
                .at(10, 15);
            change(&mut own);
            let theirs = paid("again", ID).by(PrincipalRole::OtherTenant).at(20, 25);
            verdict(CLAIM, round([paid("first", ID).at(0, 5), own, theirs])).0
        };
        assert_eq!(with(|_| {}), Verdict::Pass);
        let of_others = with(|own| own.principal = PrincipalRole::SameTenant);
        assert_eq!(of_others, Verdict::Fail);
        assert_eq!(
            with(|own| own.times.ended = millis(26)),
            Verdict::Fail,
            "later"
        );
        assert_eq!(with(|own| own.step = "first".to_owned()), Verdict::Fail);
        assert_eq!(with(|own| own.step = "again".to_owned()), Verdict::Fail);
    }

    #[test]
    fn what_the_caller_sent_stands_in_its_url_its_body_or_a_header() {
        let with = |change: fn(&mut Exchange)| {
            let mut theirs = paid("again", ID).by(PrincipalRole::OtherTenant);
            change(&mut theirs);
            verdict(CLAIM, round([paid("first", ID), theirs])).0
        };
        assert_eq!(with(|_| {}), Verdict::Fail);
        let in_body = with(|theirs| theirs.request.body = Some(format!("{{\"id\":\"{ID}\"}}")));
        assert_eq!(in_body, Verdict::Pass);
        assert_eq!(with(|theirs| theirs.request.body = None), Verdict::Fail);
        let in_header = with(|theirs| {
            let header = ("x-payment".to_owned(), ID.to_owned());
            theirs.request.headers.push(header);
        });
        assert_eq!(in_header, Verdict::Pass);
    }

    #[test]
    fn only_short_or_numeric_identities_may_be_equal_by_chance() {
        let judged = |id: &str| {
            let theirs = paid("again", id).by(PrincipalRole::OtherTenant);
            verdict(CLAIM, round([paid("first", id), theirs])).0
        };
        assert_eq!(judged("abcdefg"), Verdict::Inconclusive);
        assert_eq!(judged("abcdefgh"), Verdict::Fail);
        assert_eq!(judged("1234567890"), Verdict::Inconclusive);
        let claim = "nothing-foreign: { of: again, from: first, in: secrets }";
        let cookies = ["first", "again"].map(|step| paid(step, ID).cookie("7"));
        assert_eq!(
            verdict(claim, round(cookies)).0,
            Verdict::Fail,
            "no identity"
        );
    }

    #[test]
    fn rights_are_asked_of_nobody_where_the_same_caller_succeeds_with_another_key() {
        let with = |who: PrincipalRole, change: fn(&mut Exchange)| {
            let mut control = paid("control", "pay_00000002").key(Some("another")).by(who);
            change(&mut control);
            let round = round([paid("first", ID), control, paid("again", ID).by(who)]);
            verdict(CLAIM, round).0
        };
        let open = Verdict::Inconclusive;
        assert_eq!(with(PrincipalRole::Wrong, |_| {}), open);
        assert_eq!(
            with(PrincipalRole::OtherTenant, |_| {}),
            Verdict::Fail,
            "it may"
        );
        let nobody = |change| with(PrincipalRole::Nobody, change);
        assert_eq!(nobody(|_| {}), open);
        assert_eq!(
            nobody(|control| control.key.value = Some("k".to_owned())),
            Verdict::Fail
        );
        let of_another = nobody(|control| control.principal = PrincipalRole::Wrong);
        assert_eq!(of_another, Verdict::Fail);
        let refused = nobody(|control| {
            control.response = Some(crate::judge::sample::response(401));
        });
        assert_eq!(refused, Verdict::Fail);
    }

    #[test]
    fn before_its_rights_were_withdrawn_it_had_them() {
        let judged = |control_at: u64| {
            let revoked = |exchange: Exchange| exchange.by(PrincipalRole::Revoked);
            let control = paid("control", "pay_00000002").key(Some("another"));
            let control = revoked(control.at(control_at, control_at + 5));
            let again = revoked(paid("again", ID).at(60, 65));
            let round = round([paid("first", ID).at(0, 5), control, again]);
            verdict(CLAIM, round.killed(30).moved(50, millis(1))).0
        };
        assert_eq!(judged(30), Verdict::Inconclusive, "it still has them");
        assert_eq!(judged(29), Verdict::Fail);
    }

    #[test]
    fn one_success_of_several_is_enough_to_be_seen() {
        let refused = answered("first", 409).copy(1);
        let leak = || paid("again", ID).by(PrincipalRole::OtherTenant);
        let some = round([paid("first", ID), refused.clone(), leak()]);
        assert_eq!(verdict(CLAIM, some).0, Verdict::Fail);
        let none = round([answered("first", 409), refused, leak()]);
        assert_eq!(verdict(CLAIM, none).0, Verdict::Skip);
    }

    #[test]
    fn a_header_of_the_request_hides_only_what_it_says() {
        let with_header = |value: &str| {
            let mut theirs = paid("again", "pay_00000001").by(PrincipalRole::OtherTenant);
            theirs.request.headers = vec![
                ("Content-Type".to_owned(), "application/json".to_owned()),
                ("X-Of".to_owned(), value.to_owned()),
            ];
            verdict(CLAIM, round([paid("first", "pay_00000001"), theirs])).0
        };
        assert_eq!(with_header("nothing"), Verdict::Fail);
        assert_eq!(
            with_header("pay_00000001"),
            Verdict::Pass,
            "it asked for it"
        );
    }

    #[test]
    fn digits_are_equal_by_chance_only_where_they_are_an_identity() {
        let leaking = |identity: bool| {
            let with = |mut exchange: Exchange| {
                if let Some(response) = &mut exchange.response {
                    response.tokens = vec![Token {
                        digest: "d".to_owned(),
                        place: "body".to_owned(),
                        shown: "202612010001".to_owned(),
                        secret: false,
                        identity,
                    }];
                }
                exchange
            };
            let theirs = paid("again", "pay_2").by(PrincipalRole::OtherTenant);
            verdict(CLAIM, round([with(paid("first", "pay_1")), with(theirs)])).0
        };
        assert_eq!(leaking(false), Verdict::Fail);
        assert_eq!(leaking(true), Verdict::Inconclusive);
    }
}
