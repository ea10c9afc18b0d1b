import type { Notice } from "./notices.ts";

/** Notifications of the browser about what waits, for whoever wants them. */

const KEY = "capstan-notify";

export type Wish = "on" | "off" | "refused" | "impossible";

export function notifyWish(): Wish {
  if (typeof Notification === "undefined") return "impossible";
  if (Notification.permission === "denied") return "refused";
  return Notification.permission === "granted" && localStorage.getItem(KEY) === "on" ? "on" : "off";
}

export async function setNotify(isWanted: boolean): Promise<Wish> {
  if (!isWanted) localStorage.removeItem(KEY);
  else if ((await Notification.requestPermission()) === "granted") localStorage.setItem(KEY, "on");
  return notifyWish();
}

/** Phones let only service workers notify, and throw; the title tells it there. */
export function notify({ title, body, tag, path }: Notice, open: (path: string) => void): void {
  try {
    const notification = new Notification(title, { body, tag });
    notification.addEventListener("click", () => {
      window.focus();
      open(path);
      notification.close();
    });
  } catch {
    localStorage.removeItem(KEY);
  }
}
