import { Plus } from "lucide-react";
import type { ReactNode } from "react";
import { useLocation } from "wouter";
import { Menu, MenuItem } from "../parts/menu.tsx";
import type { NavPage } from "./nav.ts";

/** The pages that do not fit into a phone's navigation bar. */
export function MoreMenu({
  trigger,
  places,
  mayStart,
}: {
  readonly trigger: ReactNode;
  readonly places: readonly NavPage[];
  readonly mayStart: boolean;
}) {
  const [, navigate] = useLocation();
  return (
    <Menu trigger={trigger}>
      {mayStart && (
        <MenuItem icon={<Plus />} onSelect={() => navigate("/new")}>
          New session
        </MenuItem>
      )}
      {places.map(({ path, name, icon: Icon }) => (
        <MenuItem key={path} icon={<Icon />} onSelect={() => navigate(path)}>
          {name}
        </MenuItem>
      ))}
    </Menu>
  );
}
