//! The tools as an MCP server, over standard input and output or over HTTP.

use std::sync::Arc;

use http::request::Parts;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};

use crate::Desk;
use crate::tools::{self, Spec};

const INSTRUCTIONS: &str = "Shopfloor hands out tasks to agents and checks their reports. A worker's loop: take_task, \
    do the work that the answer's `brief` describes, report; if the report is refused, fix what the reasons say and \
    report again; then take_task again until there is none. Ask a person with `ask` when only a person can know, and \
    give up with `escalate` rather than guess. Before you change files that others may be changing, call \
    who_is_doing_what. A coordinator splits work with add_tasks.";

/// The tools for one caller, or for the caller of each request.
#[derive(Debug, Clone)]
pub struct Server {
    desk: Option<Arc<Desk>>,
}

impl Server {
    /// A server for one caller.
    pub fn new(desk: Arc<Desk>) -> Self {
        Self { desk: Some(desk) }
    }

    /// A server that finds its caller in the extensions of each HTTP request, as an `Arc<Desk>`.
    pub fn by_request() -> Self {
        Self { desk: None }
    }

    fn desk(&self, context: &RequestContext<RoleServer>) -> Result<Arc<Desk>, ErrorData> {
        let of_request = || context.extensions.get::<Parts>()?.extensions.get::<Arc<Desk>>().cloned();
        self.desk
            .clone()
            .or_else(of_request)
            .ok_or_else(|| ErrorData::internal_error("the request has no caller", None))
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let us = Implementation::new("shopfloor", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(us)
            .with_instructions(INSTRUCTIONS)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools::ALL.iter().copied().find(|spec| spec.name == name).map(describe)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::ALL.iter().copied().map(describe).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let desk = self.desk(&context)?;
        let Some(spec) = tools::ALL.iter().find(|spec| spec.name == request.name) else {
            let names: Vec<&str> = tools::ALL.iter().map(|spec| spec.name).collect();
            let shown: String = request.name.chars().take(60).collect();
            let text = format!("unknown tool `{shown}`; known tools: {}", names.join(", "));
            return Err(ErrorData::invalid_params(text, None));
        };
        desk.pulse.beat();
        // In a task of its own: if the client does not wait, the tool still records the task that it takes.
        let call = tokio::spawn(tools::run(spec, desk.clone(), request.arguments));
        let done = tokio::select! {
            done = call => done.map_err(|error| ErrorData::internal_error(format!("the tool failed: {error}"), None))?,
            () = context.ct.cancelled() => return Err(ErrorData::internal_error("the call was cancelled", None)),
        };
        desk.pulse.beat();
        Ok(match done {
            Ok(value) => CallToolResult::structured(value),
            Err(trouble) => CallToolResult::error(vec![ContentBlock::text(trouble.text)]),
        }
        .into())
    }
}

fn describe(spec: &Spec) -> Tool {
    let schema = crate::schema::map((spec.schema)());
    let hints = ToolAnnotations::with_title(spec.title)
        .read_only(spec.reads)
        .destructive(false)
        .idempotent(spec.reads)
        .open_world(false);
    Tool::new(spec.name, spec.description, schema).with_annotations(hints)
}

/// Serves one caller over standard input and output until the client disconnects; then returns unfinished tasks.
pub async fn serve_stdio(desk: Arc<Desk>) -> Result<(), String> {
    let server = Server::new(desk.clone());
    let (reads, writes, carried) = crate::lines::carry(tokio::io::stdin(), tokio::io::stdout());
    let carried = tokio::spawn(carried);
    let service = match server.serve((reads, writes)).await {
        Ok(service) => service,
        Err(error) => {
            drop(carried.await);
            return Err(format!("the MCP client did not initialize: {error}"));
        }
    };
    let ended = service.waiting().await;
    // Flush the last answer.
    drop(carried.await);
    desk.release_all("the agent's MCP connection ended").await;
    ended.map(|_| ()).map_err(|error| format!("the MCP connection failed: {error}"))
}

/// The tools over streamable HTTP.
pub type HttpService = StreamableHttpService<Server, NeverSessionManager>;

/// The tools over streamable HTTP: each request is answered independently, for the `Arc<Desk>` in its extensions.
pub fn http_service(hosts: Vec<String>, origins: Vec<String>, largest_body: usize) -> HttpService {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(largest_body)
        .with_allowed_hosts(hosts)
        .with_allowed_origins(origins)
        .enforce_origin_validation();
    StreamableHttpService::new(|| Ok(Server::by_request()), Arc::default(), config)
}
