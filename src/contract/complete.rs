//! A contract with the gaps filled from another one.

use super::{Contract, Promised};

impl Contract {
    /// The same contract, where it says nothing completed by what another one says.
    pub fn completed_by(&self, other: &Contract) -> Contract {
        fn fill<T: Clone>(own: &mut Promised<T>, other: &Promised<T>) {
            if own.value.is_none() {
                own.clone_from(other);
            }
        }
        let mut all = self.clone();
        let key = &mut all.key;
        let placed = [&key.header, &key.json, &key.query, &key.form];
        if placed.into_iter().all(Option::is_none) {
            key.header.clone_from(&other.key.header);
            key.json.clone_from(&other.key.json);
            key.query.clone_from(&other.key.query);
            key.form.clone_from(&other.key.form);
        }
        let (min, max) = key.stated;
        if min.is_none() {
            key.min = other.key.min;
        }
        if max.is_none() {
            key.max = other.key.max;
        }
        fill(&mut key.case_sensitive, &other.key.case_sensitive);
        fill(&mut key.required, &other.key.required);
        fill(&mut all.methods, &other.methods);
        fill(&mut all.ignored_methods, &other.ignored_methods);
        fill(&mut all.principal_scope, &other.principal_scope);
        fill(&mut all.operation_scope, &other.operation_scope);
        fill(&mut all.covers, &other.covers);
        fill(&mut all.equality, &other.equality);
        if all.lifetime.value.is_none() {
            all.lifetime.clone_from(&other.lifetime);
            all.retention = other.retention;
        }
        all.lock_timeout = all.lock_timeout.or(other.lock_timeout);
        all.consistency_lag = all.consistency_lag.max(other.consistency_lag);
        fill(&mut all.replay, &other.replay);
        fill(&mut all.replay_marker, &other.replay_marker);
        fill(&mut all.in_progress, &other.in_progress);
        fill(&mut all.mismatch, &other.mismatch);
        fill(&mut all.precedence, &other.precedence);
        fill(&mut all.missing, &other.missing);
        fill(&mut all.malformed, &other.malformed);
        fill(&mut all.not_applicable, &other.not_applicable);
        fill(&mut all.expired, &other.expired);
        fill(&mut all.deleted, &other.deleted);
        fill(&mut all.companion_missing, &other.companion_missing);
        fill(&mut all.companion_malformed, &other.companion_malformed);
        for (class, fate) in &other.after {
            let own = all
                .after
                .entry(*class)
                .or_insert_with(Promised::unspecified);
            fill(own, fate);
        }
        fill(&mut all.atomic, &other.atomic);
        fill(&mut all.transient, &other.transient);
        fill(&mut all.retry, &other.retry);
        fill(&mut all.lookup, &other.lookup);
        fill(&mut all.store_unavailable, &other.store_unavailable);
        fill(&mut all.errors, &other.errors);
        all
    }
}

#[cfg(test)]
mod tests {
    use crate::contract::named;
    use crate::promise::Promise;

    #[test]
    fn what_a_contract_says_stays_and_what_it_leaves_open_is_filled() {
        let demo = named("demo").expect("it is built in");
        let stripe = named("stripe-v1").expect("it is built in");
        let whole = stripe.completed_by(&demo);
        assert_eq!(whole.name, stripe.name);
        for promise in Promise::ALL {
            let own = stripe.says(promise);
            let wanted = own.or_else(|| demo.says(promise));
            if promise != Promise::AfterFailure {
                assert_eq!(whole.says(promise), wanted, "{}", promise.name());
            }
        }
        let generic = named("generic").expect("it is built in");
        let as_demo = generic.completed_by(&demo);
        assert_eq!(as_demo.key.header, demo.key.header);
        assert_eq!(as_demo.retention, demo.retention);
        assert_eq!(
            as_demo.says(Promise::AfterFailure),
            demo.says(Promise::AfterFailure)
        );
    }
}
