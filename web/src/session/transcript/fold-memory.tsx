import { createContext, type ReactNode, use, useState } from "react";

/** What somebody opened stays open when it is scrolled out of sight and back: the row itself is gone in between. */
const Memory = createContext<Map<string, boolean>>(new Map());

export function FoldMemory({ children }: { readonly children: ReactNode }) {
  const [memory] = useState(() => new Map<string, boolean>());
  return <Memory value={memory}>{children}</Memory>;
}

/** Whether the thing with this key is open; undefined until somebody said so. */
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
