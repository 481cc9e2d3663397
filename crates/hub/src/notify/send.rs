//! One attempt to deliver a message. Addresses and answers never reach a log: they may hold secrets.

use domain::{ChannelKind, NotificationId, Timestamp};
use engine::notify::Outcome;
use reqwest::{RequestBuilder, Response, StatusCode, Url, header};
use standardwebhooks::Webhook;

use super::guard::NotPublic;
use super::{Message, Notify, Target, push};

/// The outcome of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sent {
    /// What it means for further attempts.
    pub(crate) outcome: Outcome,
    /// The status of the answer.
    pub(crate) status: Option<u16>,
    /// Why it failed, for its person.
    pub(crate) why: Option<String>,
}

impl Sent {
    /// It must not or cannot be sent.
    pub(crate) fn refused(why: impl Into<String>) -> Self {
        Self { outcome: Outcome::Refused, status: None, why: Some(why.into()) }
    }

    fn failed(why: impl Into<String>) -> Self {
        Self { outcome: Outcome::Failed { wait_seconds: None }, status: None, why: Some(why.into()) }
    }
}

/// A message with its id, and what it is sent with.
pub(crate) struct Letterhead<'a> {
    /// The id, the same in every attempt.
    pub(crate) id: NotificationId,
    /// The time of the attempt.
    pub(crate) now: Timestamp,
    /// The address of the page.
    pub(crate) base: &'a str,
}

impl Notify {
    /// Sends a message once.
    pub(crate) async fn send(
        &self,
        kind: ChannelKind,
        target: &Target,
        message: &Message,
        head: Letterhead<'_>,
    ) -> Sent {
        // The operator may have changed what is allowed.
        let url = match self.guard.check(&target.url) {
            Ok(url) => url,
            Err(why) => return Sent::refused(why),
        };
        let request = match self.request(kind, &url, target, message, &head) {
            Ok(request) => request,
            Err(why) => return Sent::refused(why),
        };
        match request.send().await {
            Ok(response) => judge(kind, &response, head.now),
            Err(error) => unreachable(&error),
        }
    }

    fn request(
        &self,
        kind: ChannelKind,
        url: &Url,
        target: &Target,
        message: &Message,
        head: &Letterhead<'_>,
    ) -> Result<RequestBuilder, String> {
        let client = self.guard.client(url);
        match kind {
            ChannelKind::Ntfy => {
                let (server, topic) = topic(url).ok_or("the address names no topic")?;
                let request = client.post(server).json(&message.ntfy(&topic));
                Ok(match &target.token {
                    Some(token) => request.bearer_auth(token),
                    None => request,
                })
            }
            ChannelKind::Webhook => {
                let body = message.webhook(head.id, head.now).to_string();
                let (id, seconds) = (head.id.to_string(), head.now.as_millis() / 1000);
                let secret = target.secret.as_deref().unwrap_or_default();
                let signature = Webhook::new(secret).and_then(|hook| hook.sign(&id, seconds, body.as_bytes()));
                let signature = signature.map_err(|_| "the signing secret is not usable: add the channel again")?;
                let request = client.post(url.clone()).header(header::CONTENT_TYPE, "application/json");
                let request = request.header("webhook-id", id).header("webhook-timestamp", seconds);
                Ok(request.header("webhook-signature", signature).body(body))
            }
            ChannelKind::Slack | ChannelKind::Discord => Ok(client.post(url.clone()).json(&message.chat(kind))),
            ChannelKind::Push => {
                let (key, auth) = target.push.as_ref().ok_or("the browser's keys are missing: subscribe it again")?;
                let hub = self.push_key().map_err(|error| error.to_string())?;
                let body = push::seal(message.push(head.id), key, auth);
                let body = body.ok_or("the browser's keys are not usable: subscribe it again")?;
                let request = client.post(url.clone()).header(header::CONTENT_ENCODING, "aes128gcm");
                let request = request.header(header::CONTENT_TYPE, "application/octet-stream");
                let request = request.header("ttl", push::KEEP).header("urgency", "high");
                Ok(request.header(header::AUTHORIZATION, hub.authorize(url, head.base, head.now)).body(body))
            }
        }
    }
}

/// ntfy takes JSON at the root of its server, with the topic inside.
fn topic(url: &Url) -> Option<(Url, String)> {
    let topic = url.path_segments()?.next_back().filter(|topic| !topic.is_empty())?.to_owned();
    let mut server = url.clone();
    server.path_segments_mut().ok()?.pop().push("");
    server.set_query(None);
    Some((server, topic))
}

/// What an answer means. Its body is not read.
fn judge(kind: ChannelKind, response: &Response, now: Timestamp) -> Sent {
    let status = response.status();
    let sent = |outcome, why: Option<String>| Sent { outcome, status: Some(status.as_u16()), why };
    let wait_seconds = match status {
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
            response.headers().get(header::RETRY_AFTER).and_then(|value| wait(value.to_str().ok()?, now))
        }
        _ => None,
    };
    match status {
        _ if status.is_success() => sent(Outcome::Delivered, None),
        StatusCode::GONE => sent(Outcome::Gone, Some("the receiver is gone (410)".to_owned())),
        StatusCode::NOT_FOUND if kind == ChannelKind::Push => {
            sent(Outcome::Gone, Some("the browser no longer accepts notifications (404)".to_owned()))
        }
        _ if status.is_redirection() => {
            let why = format!("the receiver answered with a redirect ({}), which is not followed", status.as_u16());
            sent(Outcome::Failed { wait_seconds: None }, Some(why))
        }
        _ => sent(Outcome::Failed { wait_seconds }, Some(format!("the receiver answered {}", status.as_u16()))),
    }
}

/// The seconds in `Retry-After`, which is a number or a date.
fn wait(text: &str, now: Timestamp) -> Option<u32> {
    if let Ok(seconds) = text.trim().parse() {
        return Some(seconds);
    }
    let until = jiff::fmt::rfc2822::parse(text.trim()).ok()?.timestamp().as_second();
    u32::try_from((until - now.as_millis() / 1000).max(0)).ok()
}

fn unreachable(error: &reqwest::Error) -> Sent {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(one) = cause {
        if let Some(refused) = one.downcast_ref::<NotPublic>() {
            return Sent::refused(refused.to_string());
        }
        cause = one.source();
    }
    // Not the error itself: it contains the address.
    match error {
        _ if error.is_timeout() => Sent::failed("the receiver did not answer in time"),
        _ if error.is_connect() => Sent::failed("the receiver cannot be reached"),
        _ => Sent::failed("the connection to the receiver failed"),
    }
}
