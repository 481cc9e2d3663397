import type { Me, Project } from "../../protocol";

/** Whether this person may write in a project; the hub decides, the page only spares a refusal. */
export function canWrite(me: Me | null, project: Project): boolean {
  if (!me?.user) return false;
  return project.owner.id === me.user.id || project.visibility === "read-write";
}

/** Whether this person may change who sees a project, or delete it. */
export function canGovern(me: Me | null, project: Project): boolean {
  return me?.user?.id === project.owner.id;
}
