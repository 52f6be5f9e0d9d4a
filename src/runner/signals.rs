//! The counts that the target keeps of itself, read from a page in the text format of Prometheus
//! (exposition formats, version 0.0.4).

use super::round::{RoundRun, locked};
use super::world::World;
use crate::transcript::SignalReading;
use std::collections::BTreeMap;
use std::time::Instant;

impl RoundRun<'_> {
    /// Reads all counts that the target file names, under a name.
    pub(super) async fn read_signals(&self, name: &str) {
        let world = self.world();
        let counts = read(world).await;
        locked(&self.record).signals.push(SignalReading {
            name: name.to_owned(),
            at: world.clock(Instant::now()),
            counts,
        });
    }
}

async fn read(world: &World) -> Result<BTreeMap<crate::signal::Signal, f64>, String> {
    let documents = world.target.documents.as_ref();
    let documents = documents.ok_or("the target names no documents")?;
    let page = documents.metrics.as_deref();
    let page = world
        .page(page.ok_or("the target names no metrics")?)
        .await?;
    Ok(documents
        .signals
        .iter()
        .map(|(signal, sample)| (*signal, sum(&page, sample)))
        .collect())
}

/// The sum over the samples of a name that have all the labels. What was never counted may be missing.
fn sum(page: &str, wanted: &str) -> f64 {
    let (name, labels) = parts(wanted);
    page.lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| {
            let end = line
                .find('}')
                .map_or_else(|| line.find(' '), |at| Some(at + 1))?;
            let (own, own_labels) = parts(&line[..end]);
            let fits = own == name && labels.iter().all(|label| own_labels.contains(label));
            let value = line[end..].split_whitespace().next()?;
            fits.then(|| value.parse::<f64>().ok())?
        })
        .sum()
}

/// A name and its labels, as they are written.
fn parts(sample: &str) -> (&str, Vec<&str>) {
    match sample.split_once('{') {
        None => (sample.trim(), Vec::new()),
        Some((name, labels)) => {
            let labels = labels.trim_end_matches('}').split(',');
            let labels = labels.map(str::trim).filter(|label| !label.is_empty());
            (name.trim(), labels.collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::sum;

    #[test]
    fn samples_are_summed_over_what_is_not_asked_for() {
        let page = "# HELP replays_total answered from memory\n# TYPE replays_total counter\n\
                    replays_total{path=\"/payments\",node=\"1\"} 3\n\
                    replays_total{path=\"/payments\",node=\"2\"} 1.5e1 1395066363000\n\
                    replays_total{path=\"/refunds\",node=\"1\"} 7\nother 4\n";
        assert_eq!(sum(page, "replays_total"), 25.0);
        assert_eq!(sum(page, "replays_total{path=\"/payments\"}"), 18.0);
        assert_eq!(sum(page, "other"), 4.0);
        assert_eq!(sum(page, "replays"), 0.0);
    }
}
