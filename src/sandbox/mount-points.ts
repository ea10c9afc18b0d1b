import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/**
 * Mount points of any process of this user. Each sandbox has its own mounts, which are invisible to others; a process
 * whose mounts can't be read belongs to someone else.
 */
export function mountPoints(): ReadonlySet<string> {
  const seen = new Set<string>();
  const points = new Set<string>();
  for (const pid of processes()) {
    try {
      const namespace = readlinkSync(`/proc/${pid}/ns/mnt`);
      if (seen.has(namespace)) continue;
      const lines = readFileSync(`/proc/${pid}/mountinfo`, "utf8").split("\n");
      seen.add(namespace);
      for (const line of lines) {
        const point = line.split(" ")[4];
        if (point !== undefined) points.add(unescapeOctal(point));
      }
    } catch {
      // It has ended, or belongs to another user.
    }
  }
  return points;
}

function processes(): string[] {
  try {
    return readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

/** Spaces, tabs, newlines and backslashes are octal escapes. */
function unescapeOctal(point: string): string {
  return point.replaceAll(/\\([0-7]{3})/g, (_whole, digits: string) => String.fromCharCode(parseInt(digits, 8)));
}
