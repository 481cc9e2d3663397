import type { Me, Project } from "../../protocol";

/** Whether this person has write access to a project; the hub enforces it. */
export function canWrite(me: Me | null, project: Project): boolean {
  if (!me?.user) return false;
  return project.owner.id === me.user.id || project.visibility === "read-write";
}

/** Whether this person may change access to a project or delete it. */
export function canGovern(me: Me | null, project: Project): boolean {
  return me?.user?.id === project.owner.id;
}
