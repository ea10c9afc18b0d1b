import { type PreparedCall, hidesProgram } from "./match-call.ts";
import { type LocatedPath, nameThatLeads } from "../paths/match-path.ts";
import type { Rule } from "../rules/rule.ts";
import { familyOf } from "../rules/tool-names.ts";

/**
 * Finds the few rules among hundreds that can match a call: by program name, first path component, or tool. It may find
 * too many, never too few; test/core/permission/rule-index.test.ts compares it with all rules.
 */
export class RuleIndex {
  readonly #size: number;
  readonly #always: number[] = [];
  readonly #tools = new Map<string, number[]>();
  readonly #mcp: number[] = [];
  readonly #programs = new Map<string, number[]>();
  readonly #anyProgram: number[] = [];
  readonly #commands: number[] = [];
  /** First components of paths from the root, the workspace and the home, and names at any depth. */
  readonly #names = {
    root: new Map<string, number[]>(),
    workspace: new Map<string, number[]>(),
    home: new Map<string, number[]>(),
    any: new Map<string, number[]>(),
  };
  readonly #anyPath: number[] = [];
  readonly #paths: number[] = [];

  constructor(rules: readonly Rule[]) {
    this.#size = rules.length;
    for (const [id, rule] of rules.entries()) this.#add(id, rule);
  }

  #add(id: number, rule: Rule): void {
    switch (rule.kind) {
      case "any":
        this.#always.push(id);
        break;
      case "tool":
        for (const tool of new Set([...familyOf(rule.tool), rule.written])) push(this.#tools, tool, id);
        // A redirection is an edit or a read.
        if (rule.tool === "Read" || rule.tool === "Edit" || rule.tool === "Write") push(this.#tools, "Bash", id);
        break;
      case "command":
        this.#commands.push(id);
        if (rule.pattern.program?.literal === undefined) this.#anyProgram.push(id);
        else push(this.#programs, rule.pattern.program.literal, id);
        break;
      case "path":
        this.#paths.push(id);
        for (const lead of rule.pattern.alternatives.map(nameThatLeads)) {
          if (lead === undefined) this.#anyPath.push(id);
          else for (const place of lead.places) push(this.#names[place], lead.name, id);
        }
        break;
      case "domain":
        push(this.#tools, "WebFetch", id);
        break;
      case "mcp":
        this.#mcp.push(id);
        break;
      case "subagent":
        push(this.#tools, "Agent", id);
        break;
      case "skill":
        push(this.#tools, "Skill", id);
        break;
    }
  }

  /** The indexes of the rules in their list, in order. */
  candidates(call: PreparedCall): readonly number[] {
    const { subject, parts, paths, mentions } = call;
    const found = new Uint8Array(this.#size);
    add(found, this.#always);
    add(found, this.#tools.get(subject.tool));
    if (subject.tool.startsWith("mcp__")) add(found, this.#mcp);
    if (subject.shell !== undefined) this.#addCommands(found, call);
    let isOpen =
      subject.search === true ||
      (paths.length === 0 && subject.shell === undefined) ||
      subject.shell?.more_mentions === true ||
      (subject.shell?.vague ?? []).length > 0 ||
      (subject.shell?.unclear ?? []).length > 0 ||
      (subject.shell?.searched ?? []).length > 0;
    for (const place of paths) this.#addPlace(found, place);
    for (const place of mentions) this.#addPlace(found, place);
    for (const part of parts) {
      if (part.kind !== "redirection") continue;
      if (part.places.length === 0) isOpen = true;
      for (const place of part.places) this.#addPlace(found, place);
    }
    add(found, isOpen ? this.#paths : this.#anyPath);
    const ids: number[] = [];
    for (let id = 0; id < this.#size; id++) if (found[id] === 1) ids.push(id);
    return ids;
  }

  #addCommands(found: Uint8Array, { subject, parts }: PreparedCall): void {
    if (subject.shell?.unclear.length !== 0 || parts.some(hidesProgram)) return add(found, this.#commands);
    add(found, this.#anyProgram);
    for (const part of parts) {
      if (part.kind !== "command") continue;
      if (part.spoken.names.length === 0) return add(found, this.#commands);
      for (const name of part.spoken.names) add(found, this.#programs.get(name));
    }
  }

  #addPlace(found: Uint8Array, { named, real }: { readonly named: LocatedPath; readonly real: LocatedPath }): void {
    this.#addPath(found, named);
    if (real !== named) this.#addPath(found, real);
  }

  #addPath(found: Uint8Array, { names, inWorkspace, inHome }: LocatedPath): void {
    const { root, workspace, home, any } = this.#names;
    if (names[0] !== undefined) add(found, root.get(names[0]));
    if (inWorkspace?.[0] !== undefined) add(found, workspace.get(inWorkspace[0]));
    if (inHome?.[0] !== undefined) add(found, home.get(inHome[0]));
    if (any.size > 0) for (const name of names) add(found, any.get(name));
  }
}

function push(map: Map<string, number[]>, key: string, id: number): void {
  const ids = map.get(key);
  if (ids === undefined) map.set(key, [id]);
  else ids.push(id);
}

function add(found: Uint8Array, ids: readonly number[] | undefined): void {
  if (ids !== undefined) for (const id of ids) found[id] = 1;
}
