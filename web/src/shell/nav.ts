import { Bot, ChartColumn, FlaskConical, Inbox, MessagesSquare, ScrollText, Settings, ShieldCheck } from "lucide-react";
import type { ComponentType } from "react";

export interface NavPage {
  readonly path: string;
  readonly name: string;
  /** The second key after `g`. */
  readonly key: string;
  readonly icon: ComponentType<{ className?: string }>;
}

export const PLACES: readonly NavPage[] = [
  { path: "/", name: "Sessions", key: "s", icon: MessagesSquare },
  { path: "/approvals", name: "Approvals", key: "a", icon: Inbox },
  { path: "/costs", name: "Costs", key: "c", icon: ChartColumn },
  { path: "/agents", name: "Agents", key: "g", icon: Bot },
  { path: "/policy", name: "Policy", key: "p", icon: ShieldCheck },
  { path: "/audit", name: "Audit", key: "l", icon: ScrollText },
  { path: "/tests", name: "Tests", key: "t", icon: FlaskConical },
  { path: "/settings", name: "Settings", key: ",", icon: Settings },
];

export function isAt(place: NavPage, location: string): boolean {
  if (place.path === "/") return location === "/" || location.startsWith("/sessions") || location === "/new";
  return location === place.path || location.startsWith(`${place.path}/`);
}
