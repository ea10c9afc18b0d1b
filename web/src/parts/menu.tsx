import * as Radix from "@radix-ui/react-dropdown-menu";
import type { ReactNode } from "react";
import { cx } from "./cx.ts";

/** A menu. Not modal: that would add an inline style, which the page's policy forbids. */
export function Menu({ trigger, children }: { readonly trigger: ReactNode; readonly children: ReactNode }) {
  return (
    <Radix.Root modal={false}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          align="end"
          sideOffset={4}
          collisionPadding={8}
          className="z-50 min-w-44 rounded-lg border border-line bg-surface p-1 text-sm shadow-float"
        >
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

export function MenuItem({
  icon,
  danger = false,
  disabled = false,
  onSelect,
  children,
}: {
  readonly icon?: ReactNode;
  readonly danger?: boolean;
  readonly disabled?: boolean;
  readonly onSelect: () => void;
  readonly children: ReactNode;
}) {
  return (
    <Radix.Item
      disabled={disabled}
      onSelect={onSelect}
      className={cx(
        "flex h-8 cursor-pointer items-center gap-2 rounded-md px-2 outline-none data-[highlighted]:bg-sunken data-[disabled]:cursor-not-allowed data-[disabled]:opacity-50 [&>svg]:size-4",
        danger ? "text-bad" : "text-text",
      )}
    >
      {icon}
      {children}
    </Radix.Item>
  );
}

export function MenuChoice<Value extends string>({
  label,
  value,
  options,
  onChoose,
}: {
  readonly label: string;
  readonly value: Value | undefined;
  readonly options: readonly { readonly value: Value; readonly label: ReactNode }[];
  readonly onChoose: (value: Value) => void;
}) {
  return (
    <Radix.RadioGroup {...(value !== undefined && { value })} onValueChange={(chosen) => onChoose(chosen as Value)}>
      <Radix.Label className="px-2 py-1 text-xs text-faint">{label}</Radix.Label>
      {options.map((option) => (
        <Radix.RadioItem
          key={option.value}
          value={option.value}
          className="flex min-h-8 cursor-pointer items-center gap-2 rounded-md px-2 py-1 outline-none data-[highlighted]:bg-sunken"
        >
          <span
            aria-hidden
            className={cx("size-1.5 rounded-full", option.value === value ? "bg-accent" : "bg-transparent")}
          />
          {option.label}
        </Radix.RadioItem>
      ))}
    </Radix.RadioGroup>
  );
}
