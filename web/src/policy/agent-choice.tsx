import { useQuery } from "@tanstack/react-query";
import { api } from "../api.ts";
import { Field, Select } from "../parts/form/field.tsx";

/** How many agents to offer, newest first. */
const OFFERED = 100;

export function useAgents() {
  return useQuery({ queryKey: ["agents", "choice"], queryFn: () => api.agents.list({ limit: OFFERED }) });
}

/** An agent, or the project default if empty. */
export function AgentChoice({ value, onChoose }: { readonly value: string; readonly onChoose: (id: string) => void }) {
  const { data = [] } = useAgents();
  return (
    <Field label="Agent">
      <Select value={value} onChange={(event) => onChoose(event.target.value)}>
        <option value="">Project default</option>
        {data.map(({ id, name, version }) => (
          <option key={id} value={id}>
            {name} (version {version})
          </option>
        ))}
      </Select>
    </Field>
  );
}

/** The default agent comes from the settings; a session started with it has its definition. */
export function useLastOwn() {
  return useQuery({
    queryKey: ["policy", "last-own"],
    queryFn: async () =>
      (await api.sessions.list({ limit: 50 })).find(({ agent_ref: ref, forked_from: fork }) => !ref && !fork) ?? null,
  });
}
