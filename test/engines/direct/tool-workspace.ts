import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { AgentDefinition } from "../../../src/core/agent/agent-definition.ts";
import type { PathAccess } from "../../../src/core/rules/subject.ts";
import type { SandboxPlan } from "../../../src/core/environment/sandbox.ts";
import type { BuiltinOutcome, BuiltinTool } from "../../../src/engines/direct/tools/builtin-tool.ts";
import { fileTools } from "../../../src/engines/direct/tools/file-tools.ts";
import { subjectOf } from "../../../src/runtime/subject/call-subject.ts";
import { fileInput } from "../../../src/runtime/paths/file-input.ts";
import { temporaryDirectory } from "../../support/host.ts";

export interface ToolWorkspace extends Disposable {
  readonly cwd: string;
  readonly stateDir: string;
  /** Outside of the workspace. */
  readonly outside: string;
  write(name: string, content: string | Buffer): string;
  /** Makes a call as the runtime does: paths are written out and followed before the tool runs. */
  call(tool: string, input: Record<string, unknown>, more?: CallOptions): Promise<BuiltinOutcome>;
  /** The same tools after a restart. */
  restart(): void;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly threadId?: string;
  /** Happens after the call was permitted, and before it runs. */
  readonly between?: () => void;
  readonly places?: readonly PathAccess[];
}

export function toolWorkspace({
  deny = [],
  sandbox,
}: { readonly deny?: string[]; readonly sandbox?: Partial<SandboxPlan> } = {}): ToolWorkspace {
  const directory = temporaryDirectory();
  const root = realpathSync(directory.path);
  const [cwd, stateDir, outside] = ["workspace", "state", "outside"].map((name) => {
    mkdirSync(join(root, name));
    return join(root, name);
  }) as [string, string, string];
  const permissions = { mode: "normal", allow: [], ask: [], deny } as unknown as AgentDefinition["permissions"];
  const make = (): BuiltinTool[] =>
    fileTools({
      place: { sessionId: "sesn_1", cwd, stateDir },
      agent: { permissions },
      sandbox: sandbox && { ...OPEN_PLAN, workspace: cwd, ...sandbox },
    });
  let tools = make();
  return {
    cwd,
    stateDir,
    outside,
    write(name, content) {
      const path = join(cwd, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content);
      return path;
    },
    async call(name, given, { signal = new AbortController().signal, threadId, between, places } = {}) {
      const tool = tools.find((one) => one.name === name);
      if (tool === undefined) throw new Error(`There is no tool ${name}.`);
      const around = { cwd, home: root };
      const { input } = fileInput(name, given, around);
      const { paths } = subjectOf({ tool: name, input }, around);
      between?.();
      return tool.run(input, { callId: "toolu_1", signal, threadId, places: places ?? paths });
    },
    restart: () => void (tools = make()),
    [Symbol.dispose]: () => directory[Symbol.dispose](),
  };
}

export const OPEN_PLAN: SandboxPlan = {
  mode: "off",
  autoAllow: false,
  workspace: "/",
  domains: [],
  denyRead: [],
  allowRead: [],
  secretRoots: [],
  shownSecrets: [],
  partlyHidden: [],
  denyWrite: [],
  configuration: [],
  gitDirectories: [],
  allowWrite: [],
  hiddenVariables: [],
  excludedCommands: [],
  unixSockets: [],
};

export function textOf({ content }: BuiltinOutcome): string {
  return content.map((block) => (block.type === "text" ? block.text : `[${block.type}]`)).join("\n");
}
