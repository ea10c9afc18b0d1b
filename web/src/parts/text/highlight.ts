import { toJsxRuntime } from "hast-util-to-jsx-runtime";
import { common, createLowlight } from "lowlight";
import type { ReactNode } from "react";
import { Fragment, jsx, jsxs } from "react/jsx-runtime";

const known = createLowlight(common);

/** Code with its parts marked, as elements and never as HTML text. Undefined for a language that is not known. */
export function highlighted(code: string, language: string): ReactNode {
  if (!known.registered(language)) return undefined;
  return toJsxRuntime(known.highlight(language, code), { Fragment, jsx, jsxs });
}
