//! The certificates that a target names, read from their files.

use super::failure::Failure;
use crate::runner::wire::{Identity, TlsOptions};
use crate::target::Target;
use crate::target::principal::Certificate;
use crate::yaml::{Diagnostic, Node};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Reads what a target names; paths are relative to its file.
///
/// # Errors
/// A file that cannot be read or holds no certificate or key, and where the target names it.
pub fn tls(target: &Target, file: &str) -> Result<TlsOptions, Failure> {
    let folder = Path::new(file).parent().unwrap_or(Path::new(""));
    let files = Files {
        folder,
        source: &target.source,
    };
    let mut shown: BTreeMap<&Certificate, String> = BTreeMap::new();
    for (role, principal) in &target.principals {
        if let Some(own) = &principal.certificate {
            let place = format!("principals/{}/tls", role.name());
            shown.entry(own).or_insert(place);
        }
    }
    let roots = target.tls.ca.as_deref();
    let identity = target.tls.certificate.as_ref();
    Ok(TlsOptions {
        extra_roots: roots
            .map(|path| files.certificates(path, "tls/ca"))
            .transpose()?
            .unwrap_or_default(),
        identity: identity.map(|own| files.identity(own, "tls")).transpose()?,
        further: shown
            .into_iter()
            .map(|(own, place)| Ok((own.name(), files.identity(own, &place)?)))
            .collect::<Result<_, Failure>>()?,
        verify: target.tls.verify,
    })
}

/// Where the files are, and where they are named.
struct Files<'a> {
    folder: &'a Path,
    source: &'a Node,
}

impl Files<'_> {
    fn certificates(
        &self,
        path: &str,
        place: &str,
    ) -> Result<Vec<CertificateDer<'static>>, Failure> {
        let path: PathBuf = self.folder.join(path);
        let unreadable = |why: String| self.unreadable(&path, &why, place, "certificates");
        let found: Vec<_> = CertificateDer::pem_file_iter(&path)
            .map_err(|error| unreadable(error.to_string()))?
            .collect::<Result<_, _>>()
            .map_err(|error| unreadable(error.to_string()))?;
        if found.is_empty() {
            Err(unreadable("it holds no certificate".to_owned()))
        } else {
            Ok(found)
        }
    }

    fn identity(&self, own: &Certificate, place: &str) -> Result<Identity, Failure> {
        let path = self.folder.join(&own.key);
        let key = PrivateKeyDer::from_pem_file(&path).map_err(|error| {
            self.unreadable(&path, &error.to_string(), &format!("{place}/key"), "a key")
        })?;
        let chain = self.certificates(&own.chain, &format!("{place}/cert"))?;
        Ok((chain, key))
    }

    fn unreadable(&self, path: &Path, why: &str, place: &str, what: &str) -> Failure {
        let problem = Diagnostic::error(format!("{}: {why}", path.display()))
            .help(format!("name a file that holds {what} in PEM form"));
        Failure::BadFiles(vec![match self.source.at(place) {
            Some(node) => problem.at(node.span.first_line()),
            None => problem,
        }])
    }
}
