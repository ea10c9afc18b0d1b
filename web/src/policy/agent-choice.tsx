import { useQuery } from "@tanstack/react-query";
import { api } from "../api.ts";
import { Field, Select } from "../parts/form/field.tsx";

/** In agents: what the choice offers, the newest ones. */
const OFFERED = 100;

export function useAgents() {
  return useQuery({ queryKey: ["agents", "choice"], queryFn: () => api.agents.list({ limit: OFFERED }) });
}

/** A stored agent, or with an empty value the project's own. */
export function AgentChoice({ value, onChoose }: { readonly value: string; readonly onChoose: (id: string) => void }) {
  const { data = [] } = useAgents();
  return (
    <Field label="Agent">
      <Select value={value} onChange={(event) => onChoose(event.target.value)}>
        <option value="">The project&apos;s own</option>
        {data.map(({ id, name, version }) => (
          <option key={id} value={id}>
            {name} (version {version})
          </option>
        ))}
      </Select>
    </Field>
  );
}

/** The project's own agent is made of settings; a session that was started with it knows what it was. */
export function useLastOwn() {
  return useQuery({
    queryKey: ["policy", "last-own"],
    queryFn: async () =>
      (await api.sessions.list({ limit: 50 })).find(({ agent_ref: ref, forked_from: fork }) => !ref && !fork) ?? null,
  });
}
