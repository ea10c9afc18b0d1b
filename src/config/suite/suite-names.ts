/** Whether a file's name is that of a suite; others are agent files, which may contain one. */
export function isSuiteFile(file: string): boolean {
  return /\.test\.ya?ml$/.test(file);
}
