//! The recipes that are run: every kind of waiting, and effects that other programs see.

/// Notes its idempotency key in a log that only grows, and prints it.
pub(crate) const SCRIPT: &str = r#"printf '%s %s\n' "$2" "$SHOPFLOOR_KEY" >> "$1"
sleep 0.05
printf '{"key": "%s"}\n' "$SHOPFLOOR_KEY""#;

/// Eight steps, with blocks inside.
pub(crate) const DURABLE: &str = r#"
name: durable
inputs: {log: {type: string}, script: {type: string}}
timeout: 2h
outputs:
  first: steps.first.output.data.key
  last: steps.last.output.data.key
steps:
  - id: first
    run: {argv: [sh, -c, "{{ inputs.script }}", scripted-step, "{{ inputs.log }}", again]}
    retry: {attempts: 100, backoff: fixed, first: 200ms, on: [failed, lost, refused]}
  - id: nap
    wait: {for: 300ms}
  - id: each
    for_each:
      items: "['a', 'b']"
      key: item
      max_parallel: 2
      steps:
        - id: part
          run: {argv: [sh, -c, "{{ inputs.script }}", scripted-step, "{{ inputs.log }}", again], workspace: new}
          retry: {attempts: 100, backoff: fixed, first: 200ms, on: [failed, lost, refused]}
  - id: both
    parallel:
      branches:
        left:
          - id: work
            run: {argv: [sh, -c, "{{ inputs.script }}", scripted-step, "{{ inputs.log }}", again]}
            retry: {attempts: 100, backoff: fixed, first: 200ms, on: [failed, lost, refused]}
        right:
          - id: rest
            wait: {for: 200ms}
          - id: sub
            call: {recipe: echo}
  - id: once
    idempotency: at_most_once
    run: {argv: [sh, -c, "{{ inputs.script }}", scripted-step, "{{ inputs.log }}", once]}
    retry: {attempts: 100, backoff: fixed, first: 200ms, on: [failed, refused]}
  - id: agree
    approve: {question: "Go on with {{ execution.id }}?"}
  - id: tell
    notify: {to: chat, text: "{{ execution.id }} is through"}
  - id: last
    run: {argv: [sh, -c, "{{ inputs.script }}", scripted-step, "{{ inputs.log }}", again]}
    retry: {attempts: 100, backoff: fixed, first: 200ms, on: [failed, lost, refused]}
"#;

/// A message to the chat, for calls and schedules.
pub(crate) const ECHO: &str = r#"
name: echo
steps:
  - id: say
    notify: {to: chat, text: "echo of {{ execution.id }}"}
"#;
