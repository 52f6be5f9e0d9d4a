//! What the target's documents say, read once in a run.

use super::world::World;
use crate::openapi::{DeclaredOperation, Document};
use crate::target::render::Rendered;
use crate::transcript::{DocumentFacts, KeyFacts, OpenApiFacts, OperationFacts};
use std::sync::Arc;
use url::Url;

impl World {
    /// What the documents say of an operation; `None` where the target names none.
    pub(super) async fn document_facts(&self, operation: &str) -> Option<DocumentFacts> {
        let documents = self.target.documents.as_ref()?;
        let openapi = match &documents.openapi {
            None => None,
            Some(place) => {
                let read = self.openapi.get_or_init(|| self.read_document(place)).await;
                Some(match read {
                    Ok(document) => Ok(self.told_of(document, operation)),
                    Err(why) => Err(self.masker.mask(why)),
                })
            }
        };
        Some(DocumentFacts {
            openapi,
            retention: documents.retention,
            scope: documents.scope.clone(),
            retryable: documents.retryable.clone(),
        })
    }

    /// The text of a page: of the API itself (`GET /path`), or of a URL.
    pub(super) async fn page(&self, place: &str) -> Result<String, String> {
        let of_the_api = place.strip_prefix("GET ").map(|path| {
            let base = self.bases[0].url.as_str().trim_end_matches('/');
            format!("{base}{path}")
        });
        let place = of_the_api.as_deref().unwrap_or(place);
        let url = Url::parse(place).map_err(|error| format!("`{place}` is no URL: {error}"))?;
        let query = url.query().map(|query| format!("?{query}"));
        let asked = Rendered {
            method: "GET".to_owned(),
            origin: url.origin().ascii_serialization(),
            path_and_query: format!("{}{}", url.path(), query.unwrap_or_default()),
            headers: Vec::new(),
            body: None,
            sent: None,
            chunked: false,
            upper_case_headers: false,
            intent: Vec::new(),
            address: None,
            certificate: None,
            signer: None,
        };
        let fetched = self.fetch(&asked, self.target.timeout).await?;
        if !(200..300).contains(&fetched.status) {
            return Err(format!("{place} answered {}", self.told(&fetched)));
        }
        Ok(String::from_utf8_lossy(&fetched.body).into_owned())
    }

    /// Reads a file beside the target file, or what a URL or the API itself gives.
    async fn read_document(&self, place: &str) -> Result<Arc<Document>, String> {
        let is_asked = ["GET ", "http://", "https://"];
        let text = if is_asked.iter().any(|begin| place.starts_with(begin)) {
            self.page(place).await?
        } else {
            let path = self.folder.join(place);
            let read = tokio::fs::read_to_string(&path).await;
            read.map_err(|error| format!("{}: {error}", path.display()))?
        };
        // A document of a megabyte takes a while, and others wait meanwhile.
        let read = tokio::task::spawn_blocking(move || Document::read(&text)).await;
        let document = read.map_err(|error| error.to_string())?;
        document
            .map(Arc::new)
            .map_err(|why| format!("{place}: {why}"))
    }

    fn told_of(&self, document: &Document, operation: &str) -> OpenApiFacts {
        let own = self.operation(operation).ok().and_then(|operation| {
            let base = self.bases[0].url.path().trim_end_matches('/');
            let path = format!("{base}{}", operation.request.path);
            document
                .operation(&operation.request.method, &path)
                .or_else(|| {
                    let bare = operation.request.path.to_string();
                    document.operation(&operation.request.method, &bare)
                })
        });
        OpenApiFacts {
            operation: own.map(facts),
            keyless: document
                .without_a_key()
                .map(|operation| format!("{} {}", operation.method.to_uppercase(), operation.path))
                .collect(),
        }
    }
}

fn facts(declared: &DeclaredOperation) -> OperationFacts {
    OperationFacts {
        key: declared.key.as_ref().map(|key| KeyFacts {
            name: key.name.clone(),
            place: key.place.clone(),
            required: key.required,
            format: key.format.clone(),
            min: key.min,
            max: key.max,
            pattern: key.pattern.clone(),
        }),
        statuses: declared.statuses.iter().cloned().collect(),
        retry_after: declared.retry_after.iter().cloned().collect(),
    }
}
