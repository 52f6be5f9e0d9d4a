//! `state`: two named readings show the same.

use super::ruling::Ruling;
use super::view::View;
use crate::transcript::{Reading, ReadingKind};

/// Rules on one round.
pub(super) fn rule(view: &View<'_>, reading: &str, same_as: &str) -> Ruling {
    let named = |name: &str| -> Vec<&Reading> {
        view.round
            .readings
            .iter()
            .filter(|reading| matches!(&reading.kind, ReadingKind::Named(own) if own == name))
            .collect()
    };
    let later = named(reading);
    let mut compared = 0;
    let mut nothing = None;
    for earlier in named(same_as) {
        let Some(later) = later.iter().find(|later| {
            later.probe == earlier.probe
                && later.operation == earlier.operation
                && later.principal == earlier.principal
                && later.marker == earlier.marker
        }) else {
            nothing
                .get_or_insert_with(|| format!("`{}` was not read in `{reading}`", earlier.probe));
            continue;
        };
        match (&earlier.shows, &later.shows) {
            (Ok(one), Ok(other)) if one != other => {
                return Ruling::broken(format!(
                    "`{}` shows something else in `{reading}` than in `{same_as}`",
                    earlier.probe
                ));
            }
            (Ok(_), Ok(_)) => compared += 1,
            (Err(why), _) | (_, Err(why)) => {
                nothing
                    .get_or_insert_with(|| format!("`{}` could not be read: {why}", earlier.probe));
            }
        }
    }
    match nothing {
        Some(why) => Ruling::nothing(why),
        None if compared == 0 => Ruling::nothing(format!("`{same_as}` has no readings")),
        None => Ruling::held(format!("`{reading}` shows the same as `{same_as}`")),
    }
}
