//! A verb as an HTTP request, and its answer, as the protocol declares them.

use http::Method;
use protocol::{Answer, Call, Spec};
use serde_json::Value;

/// A verb as an HTTP request, and how to read its response.
pub struct HttpRequest {
    /// The method.
    pub method: Method,
    /// The path, from `/api/` on.
    pub path: String,
    /// The parameters after `?`.
    pub query: Vec<(String, String)>,
    /// The JSON body.
    pub body: Option<Value>,
    verb: Option<&'static Spec>,
}

/// The HTTP request for `call`.
pub fn request(call: &Call) -> HttpRequest {
    let (spec, parts) = (call.spec(), call.parts());
    HttpRequest {
        method: Method::from_bytes(spec.method.as_bytes()).expect("declarations name methods of HTTP"),
        path: spec.path_to(parts.path.as_deref()),
        query: parts.query,
        body: parts.body,
        verb: Some(spec),
    }
}

impl HttpRequest {
    /// Reads the body of a successful response.
    pub fn decode(&self, body: &[u8]) -> Result<Answer, serde_json::Error> {
        self.verb.map_or(Ok(Answer::Done), |verb| verb.decode(body))
    }

    /// A request that is not a verb; its body is read elsewhere.
    pub(crate) fn plain(method: Method, path: impl Into<String>) -> Self {
        Self { method, path: path.into(), query: Vec::new(), body: None, verb: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::ProjectId;
    use protocol::{ActivityFilter, MessagePage, MessageText, ProjectUpdate};

    fn check(call: &Call, line: &str, body: Option<Value>) {
        let request = request(call);
        let query: Vec<String> = request.query.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(format!("{} {}?{}", request.method, request.path, query.join("&")), line);
        assert_eq!(request.body, body);
    }

    #[test]
    fn verbs_become_requests() {
        let project = ProjectId::generate();
        check(&Call::ProjectList {}, "GET /api/projects?", None);
        let filter = ActivityFilter { project: Some(project) };
        check(&Call::ActivityList { filter }, &format!("GET /api/activities?project={project}"), None);
        let page = MessagePage { before: Some(7), limit: None };
        check(&Call::ChatHistory { project, page }, &format!("GET /api/projects/{project}/messages?before=7"), None);
        let input = MessageText { content: "hi".into() };
        let body = serde_json::json!({"content": "hi"});
        check(&Call::ChatSend { project, input }, &format!("POST /api/projects/{project}/messages?"), Some(body));
        let input = ProjectUpdate { retention_days: Some(None), ..Default::default() };
        let body = serde_json::json!({"retention_days": null});
        check(&Call::ProjectUpdate { project, input }, &format!("PATCH /api/projects/{project}?"), Some(body));
        check(&Call::ProjectDelete { project }, &format!("DELETE /api/projects/{project}?"), None);
    }

    #[test]
    fn responses_become_answers() {
        assert_eq!(request(&Call::ProjectList {}).decode(b"[]").unwrap(), Answer::Projects(Vec::new()));
        assert_eq!(request(&Call::LoginRevokeAll {}).decode(b"").unwrap(), Answer::Done);
        assert!(request(&Call::Me {}).decode(b"{}").is_err());
    }
}
