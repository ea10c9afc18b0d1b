import { toJsxRuntime } from "hast-util-to-jsx-runtime";
import { common, createLowlight } from "lowlight";
import type { ReactNode } from "react";
import { Fragment, jsx, jsxs } from "react/jsx-runtime";

const known = createLowlight(common);

/** Highlights code as elements, never as an HTML string. Undefined for an unknown language. */
export function highlight(code: string, language: string): ReactNode {
  if (!known.registered(language)) return undefined;
  return toJsxRuntime(known.highlight(language, code), { Fragment, jsx, jsxs });
}
