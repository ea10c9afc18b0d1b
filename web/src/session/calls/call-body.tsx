import { Bot, CircleCheck, Circle, CircleDot } from "lucide-react";
import { Button } from "../../parts/button.tsx";
import { Code, FoldedText, languageOf } from "../../parts/text/code.tsx";
import { DiffView, diffOf, PatchView } from "../../parts/text/diff-view.tsx";
import { Markdown } from "../../parts/text/markdown.tsx";
import { Tree } from "../../parts/text/tree.tsx";
import { exitCode, inputOf, reportOf, resultText, textOf } from "./call-facts.ts";
import { ContentBlocks } from "./content-blocks.tsx";
import { isClipped } from "../save-whole.tsx";
import type { Call } from "../transcript/transcript.ts";

/** A call, shown in the form that fits its tool (default: input and result as they are). */
export function CallBody({ call, onThread }: { readonly call: Call; readonly onThread: (id: string) => void }) {
  switch (call.use.name) {
    case "Bash":
      return <BashBody call={call} />;
    case "Write":
    case "Edit":
    case "MultiEdit":
    case "NotebookEdit":
      return <EditBody call={call} />;
    case "Read":
      return <ReadBody call={call} />;
    case "Grep":
    case "Glob":
      return <ResultText call={call} empty="No matches." />;
    case "WebFetch":
    case "WebSearch":
      return <WebBody call={call} />;
    case "Task":
    case "Agent":
      return <SubagentBody call={call} onThread={onThread} />;
    case "AskUserQuestion":
      return <AnswersBody call={call} />;
    case "ExitPlanMode":
      return <Markdown text={textOf(inputOf(call)["plan"])} />;
    case "TodoWrite":
      return <TodoBody call={call} />;
    default:
      return <AnyBody call={call} />;
  }
}

function BashBody({ call }: { readonly call: Call }) {
  const command = textOf(inputOf(call)["command"]);
  const isBackground = inputOf(call)["run_in_background"] === true;
  const { code, output } =
    call.result?.is_error === true ? exitCode(resultText(call)) : { code: 0, output: resultText(call) };
  return (
    <>
      <div className="rounded-md bg-sunken px-2 py-1.5">
        <FoldedText text={`$ ${command}`} language="bash" />
      </div>
      {call.progress?.text !== undefined && call.result === undefined && <FoldedText text={call.progress.text} end />}
      {call.result !== undefined && (
        <>
          {output.trim() === "" ? (
            <p className="text-xs text-faint">No output.</p>
          ) : (
            // The page has only the beginning of a very long output.
            <FoldedText text={output} end={!isClipped(call.result)} />
          )}
          {code !== undefined && !isBackground && (
            <p data-figure className={`text-xs ${code === 0 ? "text-faint" : "text-bad"}`}>
              Exit code {code}
            </p>
          )}
        </>
      )}
    </>
  );
}

function EditBody({ call }: { readonly call: Call }) {
  const input = inputOf(call);
  const path = textOf(input["file_path"] ?? input["notebook_path"]);
  // The diff from the approval has context lines and line numbers.
  if (call.asked?.diff !== undefined && !isClipped(call.asked) && call.decision?.input === undefined)
    return <PatchView patch={call.asked.diff} />;
  const edits = Array.isArray(input["edits"]) ? (input["edits"] as Readonly<Record<string, unknown>>[]) : [input];
  return (
    <div className="flex flex-col gap-2">
      {edits.map((edit, index) => (
        <DiffView
          // The edits of a call keep their order.
          // oxlint-disable-next-line react/no-array-index-key
          key={index}
          file={diffOf(
            path,
            textOf(edit["old_string"]),
            textOf(edit["new_string"] ?? edit["content"] ?? edit["new_source"]),
          )}
        />
      ))}
    </div>
  );
}

function ReadBody({ call }: { readonly call: Call }) {
  const blocks = call.result?.content ?? [];
  if (blocks.some(({ type }) => type !== "text")) return <ContentBlocks content={blocks} />;
  return <FoldedText text={resultText(call)} language={languageOf(textOf(inputOf(call)["file_path"]))} />;
}

function ResultText({ call, empty }: { readonly call: Call; readonly empty: string }) {
  const text = resultText(call);
  if (call.result === undefined) return <Tree value={inputOf(call)} />;
  return text.trim() === "" ? <p className="text-xs text-faint">{empty}</p> : <FoldedText text={text} />;
}

function WebBody({ call }: { readonly call: Call }) {
  const { url, query, prompt } = inputOf(call);
  return (
    <>
      <p dir="auto" className="font-mono text-xs break-all">
        {textOf(url ?? query)}
      </p>
      {prompt !== undefined && (
        <p dir="auto" className="text-sm text-muted">
          {textOf(prompt)}
        </p>
      )}
      {call.result !== undefined && <FoldedText text={resultText(call)} />}
    </>
  );
}

function SubagentBody({ call, onThread }: { readonly call: Call; readonly onThread: (id: string) => void }) {
  const { thread } = call;
  return (
    <>
      <p dir="auto" className="text-sm whitespace-pre-wrap text-muted">
        {textOf(inputOf(call)["prompt"]).slice(0, 1_000)}
      </p>
      {thread !== undefined && (
        <Button small className="self-start" icon={<Bot className="size-3.5" />} onClick={() => onThread(thread.id)}>
          Open {thread.agent}
        </Button>
      )}
      {call.result !== undefined && <Markdown text={reportOf(resultText(call)).slice(0, 20_000)} />}
    </>
  );
}

function AnswersBody({ call }: { readonly call: Call }) {
  const answers = Object.entries(call.answer?.answers ?? {});
  if (answers.length === 0) return <AnyBody call={call} />;
  return (
    <dl className="flex flex-col gap-1 text-sm">
      {answers.map(([question, answer]) => (
        <div key={question}>
          <dt dir="auto" className="text-muted">
            {question}
          </dt>
          <dd dir="auto" className="font-medium">
            {answer}
          </dd>
        </div>
      ))}
    </dl>
  );
}

const TODO_ICONS: Readonly<Record<string, typeof Circle>> = { completed: CircleCheck, in_progress: CircleDot };

function TodoBody({ call }: { readonly call: Call }) {
  const todos = inputOf(call)["todos"];
  const items = Array.isArray(todos) ? (todos as { readonly content?: unknown; readonly status?: unknown }[]) : [];
  return (
    <ul className="flex flex-col gap-1 text-sm">
      {items.map(({ content, status }) => {
        const Icon = TODO_ICONS[textOf(status)] ?? Circle;
        return (
          <li key={textOf(content)} className="flex items-start gap-2">
            <Icon aria-label={textOf(status)} className="mt-1 size-3.5 shrink-0 text-muted" />
            <span dir="auto" className={status === "completed" ? "text-faint line-through" : ""}>
              {textOf(content)}
            </span>
          </li>
        );
      })}
    </ul>
  );
}

function AnyBody({ call }: { readonly call: Call }) {
  const text = resultText(call);
  const parsed = parsedJson(text);
  return (
    <>
      <Tree value={inputOf(call)} />
      {call.result !== undefined && (
        <div className="border-t border-line pt-2">
          {parsed === undefined ? <ContentBlocks content={call.result.content ?? []} /> : <Tree value={parsed} />}
        </div>
      )}
      {call.result === undefined && call.progress?.text !== undefined && <Code text={call.progress.text} />}
    </>
  );
}

/** Many tools return JSON, which is easier to read as a tree. */
function parsedJson(text: string): object | undefined {
  if (!/^\s*[[{]/.test(text) || text.length > 200_000) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
