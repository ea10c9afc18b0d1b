import { Archive, DollarSign, Download, Ellipsis, GitFork, Minimize2, Pencil, ScrollText, Trash2 } from "lucide-react";
import { useState } from "react";
import { useLocation } from "wouter";
import type { WireSessionWithState } from "../../../src/client/index.ts";
import { api, queries } from "../api.ts";
import { IconButton } from "../parts/button.tsx";
import { Confirm } from "../parts/form/confirm.tsx";
import { Menu, MenuItem } from "../parts/menu.tsx";
import { saveFile } from "../parts/save-file.ts";
import { tell, tellProblem } from "../parts/toast.tsx";
import { LimitDialog, RenameDialog } from "./session-dialogs.tsx";
import { nameOf } from "./session-name.ts";

/** Actions on the whole session. */
export function SessionMenu({
  session,
  mayChange,
}: {
  readonly session: WireSessionWithState;
  readonly mayChange: boolean;
}) {
  const [, navigate] = useLocation();
  const [open, setOpen] = useState<"rename" | "limit" | "archive" | "delete">();
  const { id } = session;
  const close = (): void => setOpen(undefined);
  const save = (): void => {
    api.sessions
      .export(id)
      .then(async (stream) => saveFile(`${id}.jsonl`, await new Response(stream).blob()))
      .catch(tellProblem);
  };
  const fork = (): void => {
    api.sessions
      .fork(id)
      .then((forked) => navigate(`/sessions/${forked.id}`))
      .catch(tellProblem);
  };
  const compact = (): void => {
    api.sessions
      .compact(id)
      .then(() => tell("Summarizing the conversation."))
      .catch(tellProblem);
  };
  const isOver = session.archived_at !== null;
  return (
    <>
      <Menu
        trigger={
          <IconButton label="More">
            <Ellipsis className="size-4" />
          </IconButton>
        }
      >
        {mayChange && (
          <>
            <MenuItem icon={<Pencil />} onSelect={() => setOpen("rename")}>
              Rename
            </MenuItem>
            <MenuItem icon={<DollarSign />} disabled={isOver} onSelect={() => setOpen("limit")}>
              Change limit
            </MenuItem>
            <MenuItem icon={<GitFork />} onSelect={fork}>
              Fork from the end
            </MenuItem>
            <MenuItem icon={<Minimize2 />} disabled={isOver || session.status !== "idle"} onSelect={compact}>
              Summarize conversation
            </MenuItem>
          </>
        )}
        <MenuItem icon={<ScrollText />} onSelect={() => navigate(`/audit/${id}`)}>
          Timeline
        </MenuItem>
        <MenuItem icon={<Download />} onSelect={save}>
          Save log
        </MenuItem>
        {mayChange && (
          <>
            <MenuItem icon={<Archive />} disabled={isOver} onSelect={() => setOpen("archive")}>
              Archive
            </MenuItem>
            <MenuItem icon={<Trash2 />} danger onSelect={() => setOpen("delete")}>
              Delete
            </MenuItem>
          </>
        )}
      </Menu>
      {open === "rename" && <RenameDialog session={session} onClose={close} />}
      {open === "limit" && <LimitDialog session={session} onClose={close} />}
      {open === "archive" && (
        <Confirm
          title="Archive this session?"
          action="Archive"
          onClose={close}
          onConfirm={async () => {
            await api.sessions.archive(id);
            await queries.invalidateQueries({ queryKey: ["session", id] });
            await queries.invalidateQueries({ queryKey: ["sessions"] });
          }}
        >
          <p>It can no longer be continued. Its log stays available for reading and forking.</p>
        </Confirm>
      )}
      {open === "delete" && (
        <Confirm
          title="Delete this session?"
          action="Delete"
          onClose={close}
          onConfirm={async () => {
            await api.sessions.delete(id);
            await queries.invalidateQueries({ queryKey: ["sessions"] });
            navigate("/");
            tell("Session deleted.");
          }}
        >
          <p>
            “{nameOf(session)}”, its conversation and its files will be permanently deleted. Its costs stay in the
            ledger.
          </p>
        </Confirm>
      )}
    </>
  );
}
