/** Whether a path lies in a directory, or is it. Both are absolute, without `.` and `..`. */
export function isInside(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith("/") ? directory : `${directory}/`);
}
