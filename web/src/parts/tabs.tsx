import * as Radix from "@radix-ui/react-tabs";
import type { ReactNode } from "react";
import { cx } from "./cx.ts";

export interface Tab {
  readonly id: string;
  readonly label: ReactNode;
  readonly content: ReactNode;
}

export function Tabs({
  label,
  tabs,
  value,
  onChange,
  isInPage = false,
}: {
  readonly label: string;
  readonly tabs: readonly Tab[];
  readonly value?: string;
  readonly onChange?: (id: string) => void;
  /** Aligns the tabs with the page: their content has room at the sides, so that it is not clipped. */
  readonly isInPage?: boolean;
}) {
  return (
    <Radix.Root
      {...(value === undefined ? { defaultValue: tabs[0]?.id ?? "" } : { value })}
      {...(onChange !== undefined && { onValueChange: onChange })}
      className={cx("flex min-h-0 flex-1 flex-col", isInPage && "-mx-3")}
    >
      <Radix.List
        aria-label={label}
        className={cx("flex shrink-0 gap-1 overflow-x-auto border-b border-line", isInPage ? "mx-3" : "px-2")}
      >
        {tabs.map((tab) => (
          <Radix.Trigger
            key={tab.id}
            value={tab.id}
            className="-mb-px h-9 border-b-2 border-transparent px-2 text-sm font-medium whitespace-nowrap text-muted hover:text-text data-[state=active]:border-accent data-[state=active]:text-text"
          >
            {tab.label}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {tabs.map((tab) => (
        <Radix.Content key={tab.id} value={tab.id} className="min-h-0 flex-1 overflow-y-auto p-3">
          {tab.content}
        </Radix.Content>
      ))}
    </Radix.Root>
  );
}
