//! The folder's `README.md`.

/// Its text.
pub(super) const TEXT: &str = r#"# Tasks as files

`shopfloor files` synchronizes this folder with a project's queue. Do not change `.shopfloor`.

| folder | content | written by |
| --- | --- | --- |
| `pending/` | the project's open tasks that are not assigned to this folder (read-only: your changes to these files have no effect). If there are very many, `MORE.txt` says how many have no file. Put new tasks here, in a file that `shopfloor task add --file` accepts: JSON, JSONL or a Markdown list of `- [ ]` items. Each task in it becomes a `NAME.json` | you and Shopfloor |
| `assigned/` | tasks for the worker in this folder: `NAME.json`, with everything to know in `brief` | Shopfloor |
| `reports/` | reports: write `NAME.json` for `assigned/NAME.json` | you |
| `completed/` | accepted tasks, with their reports | Shopfloor |
| `failed/` | failed and cancelled tasks, with the reasons | Shopfloor |

## A worker

1. Wait for a file in `assigned/`. Do what its `brief` says.
2. Write `reports/NAME.json`, with the same NAME:

   ```json
   { "summary": "What I did, in a few sentences.", "files": ["src/a.rs"], "context_score": 4 }
   ```

   Optional: `files`, `commits`, `context_score` (1 to 5), `usage`. If the task cannot be done, add `"failed": "why"`. If its
   acceptance criteria check files or run commands, push your branch to the project's repository and name it, as
   `"branch": "my-branch"`: a runner checks it there. Without a branch, such a report is refused.
3. The report disappears, then the task moves to `completed/`. If the report was refused, `reports/NAME.refused.txt` and
   `refused` in `assigned/NAME.json` say why: fix it and write `reports/NAME.json` again.

Write each file under another name (`.NAME.json` or `NAME.json.tmp`) and rename it, so that nobody reads half a file. For a
file that stays unreadable, `NAME.error.txt` beside it says why.

The lease is renewed as long as `shopfloor files` runs. After an hour without a report (`--give-back`), the task returns to
the queue; `touch assigned/NAME.json` shows that you are still working on it.
"#;
