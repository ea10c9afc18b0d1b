/** Whether a file is a suite by its name; others are agent files, which may have one in them. */
export function isSuiteFile(file: string): boolean {
  return /\.test\.ya?ml$/.test(file);
}
