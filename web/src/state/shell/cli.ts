/** A project as a command-line argument: its name if it is safe in a shell, otherwise its id. */
export function projectArg(project: { id: string; name: string }): string {
  if (/^[\p{L}\p{N}_.-]+$/u.test(project.name) && !project.name.startsWith("-")) return project.name;
  return /^[\p{L}\p{N}_.,:()+ -]+$/u.test(project.name) ? `"${project.name}"` : project.id;
}
