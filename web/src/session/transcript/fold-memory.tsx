import { createContext, type ReactNode, use, useState } from "react";

/** Remembers which items are open: rows that scroll out of sight are unmounted. */
const Memory = createContext<Map<string, boolean>>(new Map());

export function FoldMemory({ children }: { readonly children: ReactNode }) {
  const [memory] = useState(() => new Map<string, boolean>());
  return <Memory value={memory}>{children}</Memory>;
}

/** Whether the item is open; undefined until the person has opened or closed it. */
export function useFold(key: string): readonly [boolean | undefined, (isOpen: boolean) => void] {
  const memory = use(Memory);
  const [isOpen, setOpen] = useState(memory.get(key));
  return [
    isOpen,
    (open) => {
      memory.set(key, open);
      setOpen(open);
    },
  ];
}
