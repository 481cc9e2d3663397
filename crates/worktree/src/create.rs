//! Creates a workspace: built aside, then moved into place atomically.

use std::fs;

use domain::WorkspaceId;

use crate::author;
use crate::bare::{self, Oid};
use crate::bundle;
use crate::commit::Commit;
use crate::git::Git;
use crate::layout::{Facts, Home, folder, now, sync, write};
use crate::location::Location;
use crate::names::BranchName;
use crate::options::{Author, Progress};
use crate::store::Store;
use crate::{Error, Result, Work, Worktrees};

/// What to create a workspace from.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// The repository; without one the workspace is an empty folder.
    pub location: Option<Location>,
    /// The branch to start from; the repository's own default when absent.
    pub base: Option<BranchName>,
    /// The branch to work on; required with a repository.
    pub branch: Option<BranchName>,
    /// Ignored files to copy in, as patterns such as `.env` or `config/*.local`.
    pub copy: Vec<String>,
    /// Where to copy them from; default: the repository's own folder, if it is on this machine.
    pub copy_from: Option<std::path::PathBuf>,
    /// Existing work to continue.
    pub from: Option<Start>,
}

/// Work that was done elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// A branch of the repository; it counts as changed against the base.
    Branch(BranchName),
    /// A file that another runner packed; it counts as changed against the base.
    Bundle(std::path::PathBuf),
    /// Accepted works, merged into the base in their order; only what is added to them counts as changed.
    Work(Vec<Work>),
}

/// The initial content of a workspace.
#[derive(Default)]
pub(crate) struct Beginning {
    pub(crate) base: Option<BranchName>,
    /// The commit that its work is compared with.
    pub(crate) base_commit: Option<Oid>,
    /// The commit that is checked out.
    pub(crate) head: Option<Oid>,
    /// The commit with its files; differs from `head` if some were uncommitted.
    pub(crate) files: Option<Oid>,
}

/// A workspace on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    /// What it was made from.
    pub facts: Facts,
    /// The folder to work in.
    pub path: std::path::PathBuf,
    /// The ignored files that were copied, and why others were not; only in the call that created it.
    pub copied: crate::Copied,
}

impl Worktrees {
    /// Creates a workspace, or finds the existing one: may be repeated after a kill at any point.
    pub async fn create(&self, id: WorkspaceId, plan: &Plan, progress: &Progress) -> Result<Workspace> {
        let space = self.space(id);
        let mut space = space.lock().await;
        let home = self.layout().home(id);
        if home.0.exists() {
            let facts = home.facts().ok_or_else(|| Error::Tampered {
                path: home.0.join("workspace.json"),
                why: "it is unreadable; move the folder away to start over".into(),
            })?;
            return Ok(Workspace { facts, path: home.tree(), copied: crate::Copied::default() });
        }
        *space = None;
        let store = Store(self.layout().store(plan.location.as_ref()));
        let start = self.start(&store, id, plan, progress).await?;
        let making = Home(self.layout().making().join(id.to_string()));
        let aside = making.0.clone();
        blocking(move || crate::beneath::delete(&aside)).await.map_err(Error::io("delete", &making.0))?;
        let begin = self.begin(&store, plan, start, &making).await?;
        let facts = Facts {
            id,
            location: plan.location.clone(),
            base: begin.base.clone(),
            base_commit: begin.base_commit.as_ref().map(Oid::to_string),
            branch: plan.location.as_ref().and(plan.branch.clone()),
            created_at: now(),
        };
        progress.tell("Checking out", None);
        build(&making, &store, &facts, self.options().author.as_ref(), &begin).await?;
        begin_chain(&store, id, begin.files.as_ref()).await?;
        let copied = self.copy_in(&making, plan).await?;
        making.write_facts(&facts)?;
        sync(&making.0);
        fs::rename(&making.0, &home.0).map_err(Error::io("move into place", &home.0))?;
        sync(&self.layout().workspaces());
        Ok(Workspace { facts, path: home.tree(), copied })
    }

    /// Fetches and finds the commit to start from; `None` in an empty repository, or without one.
    async fn start(
        &self,
        store: &Store,
        id: WorkspaceId,
        plan: &Plan,
        progress: &Progress,
    ) -> Result<Option<(BranchName, Oid)>> {
        let Some(location) = &plan.location else {
            self.prepare(store).await?;
            return Ok(None);
        };
        let Some(branch) = &plan.branch else {
            return Err(Error::Branch { name: String::new(), why: "a workspace of a repository needs its own branch" });
        };
        self.refresh(location, progress).await?;
        // A workspace that continues work, or that lost its folder after a push, may find its branch there.
        let fresh = matches!(plan.from, None | Some(Start::Work(_)));
        let begins = fresh && store.refs(&crate::save::saved_ref(id)).await?.is_empty();
        if begins && let Some(there) = store.in_the_way(branch).await? {
            let (location, branch) = (location.to_string(), branch.to_string());
            return Err(Error::BranchTaken { location, branch, there });
        }
        let base = match &plan.base {
            Some(base) => base.clone(),
            None => match self.default_branch(location).await? {
                Some(base) => base,
                None => return Ok(None),
            },
        };
        match store.head(&base).await? {
            Some(commit) => Ok(Some((base, commit))),
            // A repository without commits has no branch to start from, whichever was named.
            None if store.refs("refs/origin/heads/").await?.is_empty() => Ok(None),
            None => Err(store.no_branch(location, &base).await),
        }
    }

    /// The initial content: the base, or continued work.
    async fn begin(
        &self,
        store: &Store,
        plan: &Plan,
        start: Option<(BranchName, Oid)>,
        making: &Home,
    ) -> Result<Beginning> {
        let (base, commit) = start.unzip();
        match (&plan.from, &plan.location) {
            (Some(Start::Branch(branch)), Some(location)) => {
                let Some(head) = store.head(branch).await? else { return Err(store.no_branch(location, branch).await) };
                let left = match &commit {
                    Some(commit) => store.merge_base(commit, &head).await?,
                    None => None,
                };
                let base_commit = left.or(commit);
                Ok(Beginning { base, base_commit, head: Some(head.clone()), files: Some(head) })
            }
            (Some(Start::Bundle(file)), _) => {
                let taken = bundle::take(store, &making.0.join("taken.git"), file).await?;
                let base_commit = taken.base.or(commit);
                Ok(Beginning { base, base_commit, head: taken.head, files: Some(taken.files) })
            }
            (Some(Start::Work(works)), Some(location)) => {
                let commit = self.joined(location, store, commit, works).await?;
                Ok(Beginning { base, base_commit: commit.clone(), head: commit.clone(), files: commit })
            }
            _ => Ok(Beginning { base, base_commit: commit.clone(), head: commit.clone(), files: commit }),
        }
    }
}

/// The agent's folder with its own `.git`, and our repository beside it.
pub(crate) async fn build(
    home: &Home,
    store: &Store,
    facts: &Facts,
    author: Option<&Author>,
    begin: &Beginning,
) -> Result<()> {
    let (tree, control) = (home.tree(), home.control());
    folder(&tree)?;
    bare::make(&control, &[&store.objects()])?;
    if let Some(commit) = &begin.head {
        // Files are written by our repository's rules; the agent's git gets a copy of the index and finds everything
        // unchanged.
        check_out(home, commit).await?;
    }
    agents_git(home, store, facts, author, begin.head.as_ref()).await?;
    match &begin.files {
        Some(files) if begin.files != begin.head => check_out(home, files).await,
        _ => Ok(()),
    }
}

async fn check_out(home: &Home, commit: &Oid) -> Result<()> {
    let git = Git::new(&home.control(), "read-tree").work_tree(&home.tree());
    let git = git.timeout(std::time::Duration::from_secs(900)).args(["-u", "--reset"]);
    git.operands([commit]).run().await.map(drop)
}

/// The agent's `.git`: its own configuration and refs, with the store's objects; none without a repository.
pub(crate) async fn agents_git(
    home: &Home,
    store: &Store,
    facts: &Facts,
    author: Option<&Author>,
    commit: Option<&Oid>,
) -> Result<()> {
    let (Some(location), Some(branch)) = (&facts.location, &facts.branch) else { return Ok(()) };
    let git = home.tree().join(".git");
    for name in ["objects/info", "objects/pack", "refs/tags", "refs/remotes/origin", "info"] {
        folder(&git.join(name))?;
    }
    bare::borrow(&git, &[&store.objects()])?;
    let mut config = format!(
        "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n\
         [remote \"origin\"]\n\turl = {}\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\
         [push]\n\tdefault = current\n\tautoSetupRemote = true\n[gc]\n\tauto = 0\n",
        quoted(&location.to_string())
    );
    let own = author::of_folder(store, location).await;
    if let Some(Author { name, email }) = own.as_ref().or(author) {
        // In a sandbox, git cannot read the person's settings.
        config.push_str(&format!("[user]\n\tname = {}\n\temail = {}\n", quoted(name), quoted(email)));
    }
    write(&git.join("config"), config.as_bytes())?;
    let mut packed = String::new();
    for (name, oid) in store.refs("refs/origin/").await? {
        let name = match name.strip_prefix("refs/origin/heads/") {
            Some(head) => format!("refs/remotes/origin/{head}"),
            None => name.replacen("refs/origin/", "refs/", 1),
        };
        packed.push_str(&format!("{oid} {name}\n"));
    }
    write(&git.join("packed-refs"), packed.as_bytes())?;
    if let Some(base) = &facts.base {
        let head = format!("ref: refs/remotes/origin/{base}\n");
        write(&git.join("refs/remotes/origin/HEAD"), head.as_bytes())?;
    }
    let own = git.join("refs/heads").join(branch.as_str());
    folder(own.parent().unwrap_or(&git))?;
    if let Some(commit) = commit {
        write(&own, format!("{commit}\n").as_bytes())?;
        let (from, to) = (home.control().join("index"), git.join("index"));
        fs::copy(&from, &to).map_err(Error::io("copy to", &to))?;
        // A copy that looks newer than it is would hide changes in the second of the original.
        let written = fs::metadata(&from).and_then(|found| found.modified()).map_err(Error::io("look at", &from))?;
        let copy = fs::File::options().write(true).open(&to);
        copy.and_then(|copy| copy.set_modified(written)).map_err(Error::io("date", &to))?;
    }
    write(&git.join("HEAD"), format!("ref: refs/heads/{branch}\n").as_bytes())
}

/// The first save of the chain: the workspace's start.
async fn begin_chain(store: &Store, id: WorkspaceId, commit: Option<&Oid>) -> Result<()> {
    let name = crate::save::saved_ref(id);
    // A workspace whose folder was lost continues its chain.
    if !store.refs(&name).await?.is_empty() {
        return Ok(());
    }
    // The base is its parent, so that later saves have a merge base with it.
    let parents: Vec<Oid> = commit.cloned().into_iter().collect();
    // Named, so that no two commits are equal: two equal packs at once would collide.
    let message = format!("shopfloor: where the workspace started ({name})");
    let first = Commit::start(store, &name, &parents, &message).await?;
    first.finish().await.map(drop)
}

/// A value as git's configuration quotes it.
fn quoted(value: &str) -> String {
    let value: String = value.chars().filter(|c| !c.is_control()).collect();
    format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Runs file work off the async threads.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}
