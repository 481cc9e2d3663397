//! Structured lines of the agents that are not run here, as their documentation has them.

use agents::{Mode, Recogniser, Seen, State, Usage};

use crate::place::adapter;

fn seen(agent: &str, mode: Mode, lines: &[&str]) -> Seen {
    let mut recogniser = Recogniser::new(adapter(agent), mode);
    lines.iter().map(|line| recogniser.line(line)).last().expect("there are lines")
}

#[test]
fn claude_without_a_screen() {
    let lines = [
        r#"{"type":"system","subtype":"init","cwd":"/w","session_id":"5b0a-1","tools":["Bash"],"model":"claude-sonnet-5","permissionMode":"acceptEdits"}"#,
        r#"{"type":"assistant","message":{"id":"msg_1","role":"assistant","model":"claude-sonnet-5","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}],"usage":{"input_tokens":3,"cache_creation_input_tokens":100,"cache_read_input_tokens":1000,"output_tokens":5}},"session_id":"5b0a-1"}"#,
        r#"{"type":"user","message":{"role":"user","content":[{"tool_use_id":"t1","type":"tool_result","content":"a b","is_error":false}]},"session_id":"5b0a-1"}"#,
        r#"{"type":"result","subtype":"success","is_error":false,"duration_ms":2000,"num_turns":2,"result":"Done.","session_id":"5b0a-1","total_cost_usd":0.0123,"usage":{"input_tokens":6,"cache_creation_input_tokens":150,"cache_read_input_tokens":2100,"output_tokens":42}}"#,
    ];
    let begun = seen("claude", Mode::Headless, &lines[..1]);
    assert_eq!((begun.state, begun.conversation.as_deref()), (Some(State::Working), Some("5b0a-1")));
    assert_eq!(begun.model.as_deref(), Some("claude-sonnet-5"));
    let ended = seen("claude", Mode::Headless, &lines);
    assert_eq!(ended.state, Some(State::Finished));
    assert_eq!(ended.usage, Usage { input: 2256, cached: 2100, output: 42, cost: Some(0.0123) });
}

#[test]
fn claudes_own_log_counts_each_answer_once() {
    let answer = |id: &str, output: u64| {
        format!(
            r#"{{"type":"assistant","sessionId":"5b0a-1","cwd":"/w","isSidechain":false,"message":{{"id":"{id}","model":"claude-sonnet-5","content":[],"usage":{{"input_tokens":10,"cache_creation_input_tokens":0,"cache_read_input_tokens":90,"output_tokens":{output}}}}}}}"#
        )
    };
    let (one, two) = (answer("msg_1", 5), answer("msg_2", 7));
    let seen = seen("claude", Mode::Interactive, &[&one, &one, &one, &two]);
    assert_eq!(seen.usage, Usage { input: 200, cached: 180, output: 12, cost: None });
    assert_eq!(seen.conversation.as_deref(), Some("5b0a-1"));
}

#[test]
fn gemini_without_a_screen() {
    let lines = [
        r#"{"type":"init","timestamp":"2026-11-15T10:00:00.000Z","session_id":"ab-1","model":"gemini-3-pro"}"#,
        r#"{"type":"message","role":"user","content":"go","timestamp":"2026-11-15T10:00:00.100Z"}"#,
        r#"{"type":"tool_use","tool_name":"run_shell_command","tool_id":"t1","parameters":{"command":"ls"},"timestamp":"2026-11-15T10:00:01.000Z"}"#,
        r#"{"type":"tool_result","tool_id":"t1","status":"success","output":"a b","timestamp":"2026-11-15T10:00:02.000Z"}"#,
        r#"{"type":"message","role":"assistant","content":"Done.","delta":true,"timestamp":"2026-11-15T10:00:03.000Z"}"#,
        r#"{"type":"result","status":"success","stats":{"total_tokens":1250,"input_tokens":1200,"output_tokens":50,"cached":800,"input":400,"duration_ms":3000,"tool_calls":1},"timestamp":"2026-11-15T10:00:03.100Z"}"#,
    ];
    let seen = seen("gemini", Mode::Headless, &lines);
    assert_eq!((seen.state, seen.conversation.as_deref()), (Some(State::Finished), Some("ab-1")));
    assert_eq!(seen.model.as_deref(), Some("gemini-3-pro"));
    assert_eq!(seen.usage, Usage { input: 1200, cached: 800, output: 50, cost: None });
}

#[test]
fn hostile_event_lines_are_ignored() {
    let hostile = [
        "",
        "not json",
        "[1,2",
        "null",
        r#"{"type":"thread.started","thread_id":"--upload-pack=id"}"#,
        r#"{"type":"thread.started","thread_id":"a b\u001b[2J"}"#,
        r#"{"type":"thread.started","thread_id":{"a":1}}"#,
        r#"{"type":"turn.completed","usage":{"input_tokens":-5,"output_tokens":"many","cached_input_tokens":1e300}}"#,
        r#"{"type":["thread.started"],"thread_id":"x"}"#,
    ];
    let seen = seen("codex", Mode::Headless, &hostile);
    assert_eq!((seen.conversation, seen.usage), (None, Usage::default()));
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    Recogniser::new(adapter("codex"), Mode::Headless).line(&deep);
    let most =
        format!(r#"{{"type":"step_finish","part":{{"tokens":{{"input":{0},"output":{0}}},"cost":-1}}}}"#, u64::MAX);
    let mut recogniser = Recogniser::new(adapter("opencode"), Mode::Headless);
    recogniser.line(&most);
    assert_eq!(recogniser.line(&most).usage, Usage { input: u64::MAX, cached: 0, output: u64::MAX, cost: None });
    assert_eq!(recogniser.total().input, u64::MAX);
}

#[test]
fn the_last_thing_that_an_agent_said_is_known() {
    let check = |agent, lines: &[&str], said: Option<&str>| {
        assert_eq!(seen(agent, Mode::Headless, lines).said.as_deref(), said, "{agent}");
    };
    check(
        "claude",
        &[
            r#"{"type":"assistant","message":{"content":[{"type":"text","text":"I look."},{"type":"tool_use","name":"Bash","input":{}}]},"session_id":"s"}"#,
            r#"{"type":"result","subtype":"success","is_error":false,"result":"All done.\nSee a.md.","session_id":"s"}"#,
        ],
        Some("All done.\nSee a.md."),
    );
    check(
        "codex",
        &[
            r#"{"type":"item.completed","item":{"id":"1","type":"agent_message","text":"First."}}"#,
            r#"{"type":"item.completed","item":{"id":"2","type":"agent_message","text":"Then last."}}"#,
            r#"{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}"#,
        ],
        Some("Then last."),
    );
    check(
        "opencode",
        &[
            r#"{"type":"text","sessionID":"s","part":{"type":"text","text":"Done."}}"#,
            r#"{"type":"step_finish","sessionID":"s","part":{"reason":"stop"}}"#,
        ],
        Some("Done."),
    );
    check(
        "gemini",
        &[
            r#"{"type":"message","role":"assistant","content":"I will ","delta":true}"#,
            r#"{"type":"message","role":"assistant","content":"look.","delta":true}"#,
            r#"{"type":"tool_use","tool_name":"ls","tool_id":"1","parameters":{}}"#,
            r#"{"type":"message","role":"assistant","content":"All ","delta":true}"#,
            r#"{"type":"message","role":"assistant","content":"done.","delta":true}"#,
            r#"{"type":"result","status":"success","stats":{}}"#,
        ],
        Some("All done."),
    );
    check("codex", &[r#"{"type":"turn.started"}"#], None);
}

#[test]
fn a_providers_limit_is_counted_once_with_its_end() {
    use agents::Retry;
    let check = |agent, line: &str, retry: Option<Retry>| {
        let seen = seen(agent, Mode::Headless, &[line]);
        assert_eq!((seen.limits, seen.limit.map(|limit| limit.retry)), (1, Some(retry)), "{agent}: {line}");
    };
    check(
        "codex",
        r#"{"type":"turn.failed","error":{"message":"You've hit your usage limit. Try again in 3 hours 42 minutes."}}"#,
        Some(Retry::After(13_320)),
    );
    check("codex", r#"{"type":"error","message":"exceeded retry limit, last status: 429 Too Many Requests"}"#, None);
    check(
        "claude",
        r#"{"type":"result","subtype":"success","is_error":true,"result":"You've hit your limit · resets 3pm (UTC)","session_id":"s"}"#,
        Some(Retry::Clock { time: "3pm".into(), day: None, zone: Some("UTC".into()) }),
    );
    check(
        "claude",
        r#"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1760000400},"session_id":"s"}"#,
        Some(Retry::At("1760000400".into())),
    );
    check(
        "opencode",
        r#"{"type":"error","error":{"name":"APIError","data":{"message":"Rate limit exceeded","statusCode":429,"responseHeaders":{"retry-after":"17"}}}}"#,
        Some(Retry::After(17)),
    );
    check(
        "gemini",
        r#"{"type":"error","severity":"error","message":"429 RESOURCE_EXHAUSTED: Please retry in 38.2s."}"#,
        Some(Retry::After(39)),
    );
    let other = seen("codex", Mode::Headless, &[r#"{"type":"turn.failed","error":{"message":"stream disconnected"}}"#]);
    assert_eq!(other.limits, 0);
}

/// As Claude Code 2.1.325 prints them, but for what no rule asks for: a turn of its own, one of an agent below it, its sums.
#[test]
fn claudes_tokens_are_known_as_it_goes_and_its_own_sums_take_their_place() {
    let lines = [
        r#"{"type":"stream_event","event":{"type":"message_start","message":{"id":"msg_1","usage":{"input_tokens":800,"cache_creation_input_tokens":0,"cache_read_input_tokens":200,"output_tokens":1}}},"session_id":"s","parent_tool_use_id":null}"#,
        r#"{"type":"assistant","message":{"id":"msg_1","content":[],"usage":{"input_tokens":800,"cache_read_input_tokens":200,"output_tokens":1}},"parent_tool_use_id":null,"session_id":"s"}"#,
        r#"{"type":"stream_event","event":{"type":"message_delta","usage":{"output_tokens":30}},"session_id":"s","parent_tool_use_id":null}"#,
        r#"{"type":"assistant","message":{"id":"msg_2","content":[],"usage":{"input_tokens":300,"cache_read_input_tokens":300,"output_tokens":1}},"parent_tool_use_id":"toolu_1","session_id":"s"}"#,
        r#"{"type":"result","is_error":false,"result":"Done.","session_id":"s","total_cost_usd":0.5,"usage":{"input_tokens":800,"cache_read_input_tokens":200,"output_tokens":30},"model_usage_since_last_result":{"claude-opus-5-5":{"inputTokens":800,"outputTokens":30,"cacheReadInputTokens":200,"costUSD":0.25},"claude-haiku-5-5":{"inputTokens":300,"outputTokens":15,"cacheReadInputTokens":300,"costUSD":0.125}}}"#,
    ];
    let usage = |count: usize| seen("claude", Mode::Headless, &lines[..count]).usage;
    assert_eq!(usage(3), Usage { input: 1000, cached: 200, output: 30, cost: None });
    assert_eq!(usage(4), Usage { input: 1600, cached: 500, output: 31, cost: None });
    assert_eq!(usage(5), Usage { input: 1600, cached: 500, output: 45, cost: Some(0.375) });
    let twice = seen("claude", Mode::Headless, &[&lines[..], &lines[4..]].concat()).usage;
    assert_eq!(twice, Usage { input: 3200, cached: 1000, output: 90, cost: Some(0.75) }, "a resumed run adds its own");
}

/// What holds an agent up at the end of these lines.
fn holds(agent: &str, lines: &[&str]) -> Option<agents::Cause> {
    let seen = seen(agent, Mode::Headless, lines);
    seen.hold_up.filter(|_| seen.held_up).map(|found| found.cause)
}

#[test]
fn the_cause_of_a_hold_up_is_known_until_the_model_answers() {
    use agents::Cause::{Auth, Network, Overloaded, RateLimit, StartUp};
    let check = |agent: &str, line: &str, answer: &str, cause| {
        assert_eq!(holds(agent, &[line]), Some(cause), "{agent}: {line}");
        assert_eq!(holds(agent, &[line, answer]), None, "{agent}: {answer}");
        assert_eq!(holds(agent, &[answer, line]), Some(cause), "{agent}: {line}");
    };
    // As Codex 0.166 and opencode 1.18.18 print them.
    let codex = r#"{"type":"item.started","item":{"id":"item_1","type":"command_execution","command":"ls"}}"#;
    let failed = |message: &str| format!(r#"{{"type":"error","message":"{message}"}}"#);
    for (message, cause) in [
        ("Reconnecting... 1/2 (unexpected status 401 Unauthorized: no, url: http://h/v1/responses)", Auth),
        ("exceeded retry limit, last status: 429 Too Many Requests", RateLimit),
        (
            "Reconnecting... 2/2 (We’re currently experiencing high demand, which may cause temporary errors.)",
            Overloaded,
        ),
        ("stream disconnected before completion: stream closed before response.completed", Network),
    ] {
        check("codex", &failed(message), codex, cause);
    }
    let opencode = r#"{"type":"text","sessionID":"s","part":{"type":"text","text":"Done."}}"#;
    let api = |status: u16| {
        format!(
            r#"{{"type":"error","error":{{"name":"APIError","data":{{"message":"no","statusCode":{status},"isRetryable":false}}}}}}"#
        )
    };
    check("opencode", &api(401), opencode, Auth);
    check("opencode", &api(503), opencode, Overloaded);
    check("opencode", r#"{"type":"step_finish","part":{"reason":"unknown","tokens":{"output":0}}}"#, opencode, Network);
    let logged = |rest: &str| {
        let line =
            format!("timestamp=2026-11-18T00:38:25.470Z level=ERROR run=30c8a1b0 message=\"stream error\" {rest}");
        serde_json::json!({ "stderr": line }).to_string()
    };
    let error = |words: &str| logged(&format!("session.id=ses_1 small=false agent=build error.error=\"{words}\""));
    check("opencode", &error("AI_APICallError: the script refuses with 429"), opencode, RateLimit);
    check("opencode", &error("AI_APICallError: it exploded"), opencode, Overloaded);
    check("opencode", &error("AI_APICallError: Cannot connect to API: socket closed"), opencode, Network);
    check("opencode", r#"{"stderr":"Failed query: insert into \"project\" (\"id\") values (?)"}"#, opencode, StartUp);
    check(
        "claude",
        r#"{"type":"result","is_error":true,"result":"API Error: 529 overloaded","session_id":"s"}"#,
        r#"{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash","input":{}}]},"session_id":"s"}"#,
        RateLimit,
    );
    check(
        "claude",
        r#"{"type":"result","is_error":true,"result":"Invalid API key · Please run /login","session_id":"s"}"#,
        r#"{"type":"assistant","message":{"content":[{"type":"text","text":"I look."}]},"session_id":"s"}"#,
        Auth,
    );
    check_gemini_and_stderr(&check);
    let title = logged("small=true agent=title error.error=\"AI_APICallError: refused with 429\"");
    for line in [
        title.as_str(),
        r#"{"stderr":"timestamp=2026-11-18T00:38:25.470Z level=ERROR message=\"mcp\" error=\"connection refused\""}"#,
    ] {
        assert_eq!(holds("opencode", &[line]), None, "{line}");
    }
}

/// As Gemini CLI 0.50 and the others print them; stack traces and what servers print are nothing.
fn check_gemini_and_stderr(check: &dyn Fn(&str, &str, &str, agents::Cause)) {
    use agents::Cause::{Auth, Network, Overloaded, RateLimit};
    let gemini = r#"{"type":"message","role":"assistant","content":"I will","delta":true}"#;
    let result =
        |message: &str| serde_json::json!({ "type": "result", "status": "error", "error": { "message": message } });
    let stderr = |line: &str| serde_json::json!({ "stderr": line });
    let refused = |code: u16| format!(r#"{{"error":{{"message":"no","code":{code},"status":"X"}}}}"#);
    let talking = "Error when talking to Gemini API Full report available at: /tmp/gemini-client-error.json";
    for (line, cause) in [
        (result(&format!("[API Error: {}]", refused(401))), Auth),
        (result("[API Error: terminated]"), Network),
        (serde_json::json!({ "type": "error", "message": "Model stream ended without a finish reason." }), Network),
        (stderr("Attempt 1 failed with status 429. Retrying with backoff... _ApiError: {"), RateLimit),
        (stderr("Attempt 2 failed with status 500. Retrying with backoff... _ApiError: {"), Overloaded),
        (stderr("Attempt 1 failed. Retrying with backoff... Error: exception TypeError: fetch failed"), Network),
        (stderr(&format!("{talking} _ApiError: {}", refused(403))), Auth),
        (stderr(&format!("{talking} TypeError: terminated")), Network),
        (stderr("Please set an Auth method in your /home/a/.gemini/settings.json or specify one of"), Auth),
        (result("[API Error: API key not valid. Please pass a valid API key.]"), Auth),
    ] {
        check("gemini", &line.to_string(), gemini, cause);
    }
    let codex = r#"{"type":"item.started","item":{"id":"item_1","type":"command_execution","command":"ls"}}"#;
    check("codex", &stderr("Error: Missing environment variable: `OPENAI_API_KEY`.").to_string(), codex, Auth);
    let logged = "2026-11-18T00:00:00Z ERROR codex_core::client: unexpected status 503 Service Unavailable";
    check("codex", &stderr(logged).to_string(), codex, Overloaded);
    let claude = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"I look."}]},"session_id":"s"}"#;
    check("claude", &stderr("Invalid API key · Please run /login").to_string(), claude, Auth);
    check("claude", &stderr("API Error: 500 Internal server error").to_string(), claude, Overloaded);
    for agent in ["gemini", "codex", "claude"] {
        for line in ["status: 500", "MCP server `x`: connection refused", "at f (file:///a.js:429:24)"] {
            assert_eq!(holds(agent, &[&stderr(line).to_string()]), None, "{agent}: {line}");
        }
        let refused = result("[API Error: the input token count (1200000) exceeds the maximum]").to_string();
        assert_eq!(holds(agent, &[&refused]), None, "{agent}: its own fault");
    }
}

#[test]
fn answers_that_begin_again_and_again_are_a_hold_up() {
    let begins = r#"{"type":"step_start","sessionID":"s","part":{"messageID":"m"}}"#;
    let tool = r#"{"type":"tool_use","part":{"tool":"bash","state":{"status":"completed","input":{},"output":""}}}"#;
    assert_eq!(holds("opencode", &[begins; 3]), None);
    assert_eq!(holds("opencode", &[begins; 4]), Some(agents::Cause::Network));
    let steps: Vec<&str> = [begins, tool].repeat(20);
    assert_eq!(holds("opencode", &steps), None, "steps are not tries");
}
