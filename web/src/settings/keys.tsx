import { useQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useState } from "react";
import type { WireKey, WireNewKey } from "../../../src/client/index.ts";
import { api, queries } from "../api.ts";
import { useCaller, useMay } from "../caller.tsx";
import { Button } from "../parts/button.tsx";
import { Checkbox } from "../parts/form/checkbox.tsx";
import { Confirm } from "../parts/form/confirm.tsx";
import { Field, Input, Select } from "../parts/form/field.tsx";
import { Ago } from "../parts/figures/figures.tsx";
import { FormDialog } from "../parts/form/form-dialog.tsx";
import { Loading } from "../parts/loading.tsx";
import { Section } from "../parts/page.tsx";
import { Problem } from "../parts/failure/problem.tsx";
import { Table } from "../parts/table.tsx";
import { tell } from "../parts/toast.tsx";
import { Pill } from "../parts/tone.tsx";
import { SecretOnce } from "./secret-once.tsx";

const ABOUT: Readonly<Record<WireKey["role"], string>> = {
  viewer: "viewer: can view everything in the project",
  operator: "operator: can start and control sessions, and answer approvals",
  admin: "admin: an operator who can also trust project files and manage agents, grants, keys and webhooks",
};

export function Keys() {
  const isAdmin = useMay("admin");
  const [open, setOpen] = useState<"new" | WireNewKey>();
  const close = (): void => setOpen(undefined);
  return (
    <Section
      title="Keys"
      actions={
        isAdmin && (
          <Button icon={<Plus className="size-4" />} onClick={() => setOpen("new")}>
            New key
          </Button>
        )
      }
    >
      {isAdmin ? (
        <KeyTable />
      ) : (
        <p className="text-sm text-muted">
          Keys let programs and people in. Only admins of the project see and make them; ask one of them.
        </p>
      )}
      {open === "new" && <NewKey onClose={close} onMade={setOpen} />}
      {typeof open === "object" && (
        <SecretOnce title={`Key ${open.name}`} secret={open.key} onClose={close}>
          Programs send it as x-api-key; people log in with it.
        </SecretOnce>
      )}
    </Section>
  );
}

function KeyTable() {
  const { id: own } = useCaller();
  const [leaving, setLeaving] = useState<WireKey>();
  const [hasRevoked, setHasRevoked] = useState(false);
  const { data, error, refetch } = useQuery({ queryKey: ["keys"], queryFn: () => api.keys.list() });
  if (error !== null) return <Problem thrown={error} title="Could not load the keys" onRetry={() => void refetch()} />;
  if (data === undefined) return <Loading />;
  const revoked = data.filter(({ revoked_at: at }) => at !== null).length;
  return (
    <>
      <Table
        caption="Keys"
        rows={hasRevoked ? data : data.filter(({ revoked_at: at }) => at === null)}
        rowKey={({ id }) => id}
        empty="No keys yet. Programs need one, and so do people who do not use the URL that the server printed."
        columns={[
          {
            title: "Name",
            flexible: true,
            cell: ({ id, name, prefix }) => (
              <div className="max-w-64 min-w-28">
                <p className="flex items-center gap-2">
                  <span dir="auto" className="truncate font-medium" title={name}>
                    {name}
                  </span>
                  {id === own && <Pill tone="accent">you</Pill>}
                </p>
                <p className="font-mono text-xs text-faint">{prefix}…</p>
              </div>
            ),
          },
          { title: "Role", cell: ({ role }) => <span title={ABOUT[role]}>{role}</span> },
          { title: "Created", minor: true, cell: ({ created_at: at }) => <Ago at={at} /> },
          {
            title: "Last used",
            minor: true,
            cell: ({ last_used_at: at }) => (at === null ? <span className="text-faint">never</span> : <Ago at={at} />),
          },
          {
            title: "Actions",
            cell: (key) =>
              key.revoked_at === null ? (
                <Button small look="danger" onClick={() => setLeaving(key)}>
                  Revoke<span className="sr-only"> {key.name}</span>
                </Button>
              ) : (
                <span className="text-muted">
                  revoked <Ago at={key.revoked_at} />
                </span>
              ),
          },
        ]}
      />
      {revoked > 0 && (
        <Checkbox className="self-start text-muted" isOn={hasRevoked} onChange={setHasRevoked}>
          Show revoked keys ({revoked})
        </Checkbox>
      )}
      {leaving !== undefined && (
        <Confirm
          title={`Revoke ${leaving.name}?`}
          action="Revoke key"
          onClose={() => setLeaving(undefined)}
          onConfirm={async () => {
            await api.keys.revoke(leaving.id);
            tell(`Revoked the key ${leaving.name}.`);
            // After revoking your own key, the refetch shows the login.
            await queries.invalidateQueries({ queryKey: leaving.id === own ? [] : ["keys"] });
          }}
        >
          <p>Its next request is refused and its open streams end. This cannot be undone.</p>
          {leaving.id === own && <p className="font-medium text-bad">You are logged in with this key.</p>}
        </Confirm>
      )}
    </>
  );
}

function NewKey({ onMade, onClose }: { readonly onMade: (key: WireNewKey) => void; readonly onClose: () => void }) {
  const [name, setName] = useState("");
  const [role, setRole] = useState<WireKey["role"]>("operator");
  const make = async (): Promise<void> => {
    const key = await api.keys.create({ name: name.trim(), role });
    await queries.invalidateQueries({ queryKey: ["keys"] });
    onMade(key);
  };
  return (
    <FormDialog
      title="New key"
      action="Create key"
      failed="The key was not created"
      isReady={name.trim() !== ""}
      onSubmit={make}
      onClose={onClose}
    >
      <Field label="Name" hint="Who or what uses it, such as ci.">
        <Input dir="auto" maxLength={256} value={name} onChange={(event) => setName(event.target.value)} />
      </Field>
      <Field label="Role" hint="Choose the lowest role that is sufficient.">
        <Select value={role} onChange={(event) => setRole(event.target.value as WireKey["role"])}>
          {Object.entries(ABOUT).map(([value, about]) => (
            <option key={value} value={value}>
              {about}
            </option>
          ))}
        </Select>
      </Field>
    </FormDialog>
  );
}
