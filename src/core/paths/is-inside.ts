/** Whether a path is in a directory, or the directory itself. Both are absolute, without `.` and `..`. */
export function isInside(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith("/") ? directory : `${directory}/`);
}
