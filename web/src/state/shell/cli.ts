/** A project as the command line takes it: by name where a shell leaves that alone, else by id. */
export function projectArg(project: { id: string; name: string }): string {
  if (/^[\p{L}\p{N}_.-]+$/u.test(project.name) && !project.name.startsWith("-")) return project.name;
  return /^[\p{L}\p{N}_.,:()+ -]+$/u.test(project.name) ? `"${project.name}"` : project.id;
}
