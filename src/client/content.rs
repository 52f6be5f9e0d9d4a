//! The content of a body as it passes: all of it counts, and its beginning is kept.

use sha2::{Digest, Sha256};

/// Bytes of content that are kept.
const MOST: usize = 1024 * 1024;

/// Content that has passed.
#[derive(Debug, Default)]
pub(super) struct Content {
    /// Its beginning.
    pub(super) kept: Vec<u8>,
    /// Its length in bytes.
    pub(super) length: u64,
    hash: Sha256,
}

impl Content {
    pub(super) fn take(&mut self, bytes: &[u8]) {
        let room = MOST.saturating_sub(self.kept.len()).min(bytes.len());
        self.kept.extend_from_slice(&bytes[..room]);
        self.length += bytes.len() as u64;
        self.hash.update(bytes);
    }

    /// A digest of the whole, where only its beginning was kept.
    pub(super) fn digest(&self) -> Option<String> {
        let is_whole = self.kept.len() as u64 == self.length;
        (!is_whole).then(|| {
            let digest = self.hash.clone().finalize();
            digest[..8]
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect()
        })
    }
}
