import { useQuery } from "@tanstack/react-query";
import { ChevronDown } from "lucide-react";
import { useState } from "react";
import type { WireSessionWithState } from "../../../src/client/index.ts";
import { api, queries } from "../api.ts";
import { Button } from "../parts/button.tsx";
import { Confirm } from "../parts/form/confirm.tsx";
import { Menu, MenuChoice } from "../parts/menu.tsx";
import { tellProblem } from "../parts/toast.tsx";
import { MODE_NAMES, MODE_WORDS, type Mode } from "../policy/modes.tsx";
import { ENGINE_NAMES, ENGINES, type EngineName } from "./engines.ts";

const OPTIONS = MODE_NAMES.map((value) => ({ value, label: <Choice name={value} about={MODE_WORDS[value]} /> }));
const ENGINE_OPTIONS = ENGINE_NAMES.map((value) => ({ value, label: <Choice name={value} about={ENGINES[value]} /> }));

/** The model, mode and engine that the session continues with. */
export function SessionControls({
  session,
  mayChange,
}: {
  readonly session: WireSessionWithState;
  readonly mayChange: boolean;
}) {
  const { id, state, agent, engine } = session;
  const model = state.model ?? agent.model;
  const mode = (state.mode ?? agent.permissions.mode) as Mode;
  const { data: models = [] } = useQuery({ queryKey: ["models"], queryFn: () => api.models(), staleTime: 300_000 });
  const change = (patch: { readonly mode?: Mode; readonly model?: string; readonly engine?: EngineName }): void => {
    api.sessions
      .update(id, patch)
      .then((changed) => queries.setQueryData(["session", id], changed))
      .catch(tellProblem);
  };
  const [isAsking, setAsking] = useState(false);
  const known = models.some((one) => one.id === model) ? models : [{ id: model }, ...models];
  return (
    <>
      <Menu
        trigger={
          <Button look="quiet" small disabled={!mayChange} aria-label={`Mode: ${mode}`}>
            <span className={mode === "yolo" ? "text-waiting" : undefined}>{mode}</span>
            <ChevronDown className="size-3.5" aria-hidden />
          </Button>
        }
      >
        <MenuChoice
          label="Mode"
          value={mode}
          options={OPTIONS}
          onChoose={(chosen) => (chosen === "yolo" ? setAsking(true) : change({ mode: chosen }))}
        />
      </Menu>
      <Menu
        trigger={
          <Button look="quiet" small disabled={!mayChange} aria-label={`Model: ${model}`}>
            <span className="max-w-32 truncate">{model.replace(/^claude-/, "")}</span>
            <ChevronDown className="size-3.5" aria-hidden />
          </Button>
        }
      >
        <MenuChoice
          label="Model"
          value={model}
          options={known.map((one) => ({ value: one.id, label: one.id }))}
          onChoose={(chosen) => change({ model: chosen })}
        />
      </Menu>
      <Menu
        trigger={
          <Button look="quiet" small disabled={!mayChange} aria-label={`Engine: ${engine}`}>
            <span>{engine}</span>
            <ChevronDown className="size-3.5" aria-hidden />
          </Button>
        }
      >
        <MenuChoice
          label="Engine (from the next turn)"
          value={engine as EngineName}
          options={ENGINE_OPTIONS}
          onChoose={(chosen) => change({ engine: chosen })}
        />
      </Menu>
      {isAsking && (
        <Confirm
          title="Stop asking for approval?"
          action="Use yolo"
          onClose={() => setAsking(false)}
          onConfirm={async () => change({ mode: "yolo" })}
        >
          <p>In this mode {MODE_WORDS.yolo}. This takes effect immediately, including in the current turn.</p>
        </Confirm>
      )}
    </>
  );
}

function Choice({ name, about }: { readonly name: string; readonly about: string }) {
  return (
    <span className="max-w-72">
      <span className="font-medium">{name}</span>
      <span className="block text-xs text-faint">{about}</span>
    </span>
  );
}
