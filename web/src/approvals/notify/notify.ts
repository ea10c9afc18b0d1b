import type { BrowserNotice } from "./notices.ts";

/** Optional browser notifications about pending approvals. */

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

/** On phones only service workers may notify, and this throws; the page title shows the count there. */
export function notify({ title, body, tag, path }: BrowserNotice, open: (path: string) => void): void {
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
