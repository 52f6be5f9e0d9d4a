//! Requests that are not under test: probes, hooks, fixtures, clean-up. They go over reqwest, with no
//! retry, no redirect and no proxy.

use super::sign::sign_for_sender;
use super::world::World;
use crate::target::principal::Certificate;
use crate::target::render::Rendered;
use crate::target::selector::Answer;
use std::time::Duration;
use url::Url;

/// Bytes of an answer beside the graded ones that are read: the target may never stop.
const MOST_FETCHED: usize = 32 << 20;

/// What a request beside the graded ones came back with.
#[derive(Clone, Debug)]
pub(super) struct Fetched {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, Vec<u8>)>,
    pub(super) body: Vec<u8>,
}

impl Fetched {
    pub(super) fn answer(&self) -> Answer<'_> {
        Answer {
            status: self.status,
            headers: &self.headers,
            body: &self.body,
        }
    }
}

impl World {
    /// Sends a request that is not graded: no redirects, no retries, but with a new token where its
    /// token has run out.
    pub(super) async fn fetch(
        &self,
        rendered: &Rendered,
        timeout: Duration,
    ) -> Result<Fetched, String> {
        let fetched = self.fetch_once(rendered, timeout).await?;
        if fetched.status != 401 {
            return Ok(fetched);
        }
        match self.with_new_token(rendered).await {
            Some(again) => {
                let fetched = self.fetch_once(&again.rendered, timeout).await?;
                self.note_again(&again, fetched.status);
                Ok(fetched)
            }
            None => Ok(fetched),
        }
    }

    /// Sends it as it is, signed for its sender.
    pub(super) async fn fetch_once(
        &self,
        rendered: &Rendered,
        timeout: Duration,
    ) -> Result<Fetched, String> {
        self.check_host(&rendered.origin)?;
        let mut rendered = rendered.clone();
        sign_for_sender(self, &mut rendered, "")
            .await
            .map_err(|error| error.to_string())?;
        let url = format!("{}{}", rendered.origin, rendered.path_and_query);
        let method = reqwest::Method::from_bytes(rendered.method.as_bytes())
            .map_err(|_| format!("`{}` is no method", rendered.method))?;
        let certificate = rendered.certificate.as_ref().map(Certificate::name);
        let fetcher = self
            .fetchers
            .get(&certificate)
            .ok_or("the certificate of this caller is not known")?;
        let mut request = fetcher.request(method, &url).timeout(timeout);
        for (name, value) in &rendered.headers {
            request = request.header(name.as_str(), value.as_slice());
        }
        if let Some(body) = &rendered.body {
            request = request.body(body.clone());
        }
        let says = |error: reqwest::Error| {
            let error = error.without_url();
            let mut text = error.to_string();
            let mut cause = std::error::Error::source(&error);
            while let Some(inner) = cause {
                text = format!("{text}: {inner}");
                cause = inner.source();
            }
            self.masker.mask(&text)
        };
        let mut response = request.send().await.map_err(says)?;
        let status = response.status().as_u16();
        let headers = response
            .headers()
            .iter()
            .map(|(name, value)| (name.as_str().to_owned(), value.as_bytes().to_vec()))
            .collect();
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(says)? {
            body.extend_from_slice(&chunk);
            if body.len() > MOST_FETCHED {
                return Err(format!("an answer of more than {} MiB", MOST_FETCHED >> 20));
            }
        }
        Ok(Fetched {
            status,
            headers,
            body,
        })
    }

    /// Status and the beginning of the body, for messages: without secrets, which the target may
    /// send back as it got them.
    pub(super) fn told(&self, fetched: &Fetched) -> String {
        let mut text = self.masker.mask(&String::from_utf8_lossy(&fetched.body));
        let answer = fetched.answer();
        let secrets = self.target.mask.iter();
        for secret in secrets
            .flat_map(|selector| selector.select(&answer))
            .filter_map(|value| super::answer::plain(&value))
        {
            text = text.replace(secret.as_str(), &self.masker.pseudonym(&secret));
        }
        // Cut last: half a secret would be found by nobody.
        let shown: String = text.chars().take(200).collect();
        format!("{} {shown}", fetched.status)
    }

    /// Refuses hosts that nobody named.
    pub(super) fn check_host(&self, origin: &str) -> Result<(), String> {
        let url = Url::parse(origin).map_err(|_| format!("`{origin}` is no URL"))?;
        let host = url.host_str().unwrap_or_default();
        if self.target.allows(host, &self.allow_hosts) {
            Ok(())
        } else {
            Err(format!("refused to send to {host}: it is not in hosts"))
        }
    }
}

/// The client for what is not under test: it trusts whom graded requests trust, and shows the same
/// certificate.
pub(super) fn client(tls: rustls::ClientConfig) -> Result<reqwest::Client, reqwest::Error> {
    // Installing twice is no error worth telling: the provider is the same.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .pool_idle_timeout(Duration::from_millis(1500))
        .tls_backend_preconfigured(tls)
        .build()
}
