//! What the folder says about itself.

/// The text of `README.md` in the folder.
pub(super) const TEXT: &str = r#"# Tasks as files

`shopfloor files` keeps this folder in step with a project's queue. Leave `.shopfloor` alone.

| folder | what is in it | who writes |
| --- | --- | --- |
| `pending/` | tasks of the project that are not done and not given to this folder, whoever added them (to read: writing into them changes nothing). If there are very many, `MORE.txt` says how many have no file. Put new ones here: JSON, JSONL or a Markdown list of `- [ ]` items, as `shopfloor task add --file` takes them. A file becomes `NAME.json` for each of its tasks | you, and Shopfloor |
| `assigned/` | tasks for whoever works in this folder: `NAME.json` with `brief`, everything there is to know | Shopfloor |
| `reports/` | what was done: write `NAME.json` for `assigned/NAME.json` | you |
| `completed/` | what was accepted, with its report | Shopfloor |
| `failed/` | what failed or was cancelled, with the reason | Shopfloor |

## A worker

1. Wait for a file in `assigned/`. Do what its `brief` says.
2. Write `reports/NAME.json`, with the same NAME:

   ```json
   { "summary": "What I did, in a few sentences.", "files": ["src/a.rs"], "context_score": 4 }
   ```

   Optional: `files`, `commits`, `context_score` (1 to 5), `usage`. If it cannot be done, add `"failed": "why"`. If the task
   is accepted by what is in files or what commands say, push your branch to the project's repository and name it, as
   `"branch": "my-branch"`: a machine checks it there. Without it the report is refused.
3. The report disappears, then the task moves to `completed/`. If it was refused, `reports/NAME.refused.txt` and `refused`
   in `assigned/NAME.json` say why: put it right and write `reports/NAME.json` again.

Write a file under another name (`.NAME.json` or `NAME.json.tmp`) and rename it: then nobody reads half of it. A file that
stays unreadable gets a `NAME.error.txt` beside it.

The lease is renewed as long as `shopfloor files` runs. If nothing comes for an hour (`--give-back`), the task is given
back; `touch assigned/NAME.json` says that you are still at it.
"#;
