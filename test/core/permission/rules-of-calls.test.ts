import { describe, expect, test } from "vitest";
import type { Verdict } from "../../../src/core/permission/decide.ts";
import { bash, decided, type Situation, subject } from "./subjects.ts";

const edit = (path: string) => subject("Edit", { file_path: path });
const read = (path: string) => subject("Read", { file_path: path });
const fetch = (url: string) => subject("WebFetch", { url });

type Row = [what: string, about: ReturnType<typeof subject>, Situation, Verdict["behavior"], decidedBy: string];

describe("a rule", () => {
  test.each<Row>([
    [
      "Edit covers Write",
      subject("Write", { file_path: "src/a" }),
      { allow: ["Edit(src/**)"] },
      "allow",
      "rule:allow Edit(src/**)",
    ],
    [
      "Edit covers notebooks",
      subject("NotebookEdit", { notebook_path: "src/a" }),
      { deny: ["Edit(src/**)"] },
      "deny",
      "rule:deny Edit(src/**)",
    ],
    ["Write does not cover Edit", edit("src/a"), { allow: ["Write(src/**)"] }, "ask", "default:ask"],
    [
      "Read denies in a subdirectory",
      read("./src/../secrets/k"),
      { deny: ["Read(./secrets/**)"] },
      "deny",
      "rule:deny Read(./secrets/**)",
    ],
    [
      "who may not read may not edit",
      edit("secrets/k"),
      { deny: ["Read(./secrets/**)"], mode: "yolo" },
      "deny",
      "rule:deny Read(./secrets/**)",
    ],
    [
      "nor write",
      subject("Write", { file_path: "secrets/k" }),
      { deny: ["Read(./secrets/**)"], mode: "accept-edits" },
      "deny",
      "rule:deny Read(./secrets/**)",
    ],
    [
      "nor edit a notebook",
      subject("NotebookEdit", { notebook_path: "secrets/k" }),
      { deny: ["Read(./secrets/**)"], mode: "yolo" },
      "deny",
      "rule:deny Read(./secrets/**)",
    ],
    [
      "what is asked about before reading is asked about before editing",
      edit("notes/a"),
      { ask: ["Read(./notes/**)"], mode: "yolo" },
      "ask",
      "rule:ask Read(./notes/**)",
    ],
    [
      "who may not use Read may still write elsewhere",
      edit("a"),
      { deny: ["Read"], mode: "yolo" },
      "allow",
      "mode:yolo",
    ],
    [
      "an accent is the same letter, however it is composed",
      read("cafe\u0301/k"),
      { deny: ["Read(./caf\u00E9/**)"] },
      "deny",
      "rule:deny Read(./caf\u00E9/**)",
    ],
    ["a file that may hold a secret is asked about", read("deep/.env"), {}, "ask", "default:ask"],
    ["so is a search in it", subject("Grep", { pattern: "x", path: ".env" }), {}, "ask", "default:ask"],
    ["an example of one is not", read(".env.example"), {}, "allow", "tool:read-only"],
    ["nor what a rule allows", read(".env"), { allow: ["Read(.env)"] }, "allow", "rule:allow Read(.env)"],
    ["nor anything in yolo mode", read(".env"), { mode: "yolo" }, "allow", "mode:yolo"],
    ["a command may not read one for free", bash("cat < .env"), { allow: ["Bash(cat *)"] }, "ask", "default:ask"],
    [
      "Read denies Glob there",
      subject("Glob", { pattern: "*", path: "secrets" }),
      { deny: ["Read(secrets/**)"] },
      "deny",
      "rule:deny Read(secrets/**)",
    ],
    [
      "a search that may reach a denied place asks",
      subject("Grep", { pattern: "x" }),
      { deny: ["Read(./secrets/**)"], allow: ["Grep"] },
      "ask",
      "rule:deny Read(./secrets/**)",
    ],
    [
      "a search elsewhere does not",
      subject("Grep", { pattern: "x", path: "src" }),
      { deny: ["Read(./secrets/**)"] },
      "allow",
      "tool:read-only",
    ],
    [
      "a glob that begins above may reach it",
      subject("Glob", { pattern: "/nowhere/**" }),
      { deny: ["Read(~/.ssh/**)"] },
      "ask",
      "rule:deny Read(~/.ssh/**)",
    ],
    [
      "an absolute glob begins there",
      subject("Glob", { pattern: "/srv/*.key" }),
      { deny: ["Read(//srv/**)"] },
      "deny",
      "rule:deny Read(//srv/**)",
    ],
    [
      "allow Read covers a search of all it holds",
      subject("Grep", { path: "/srv/x" }),
      { allow: ["Read(//srv/**)"] },
      "allow",
      "rule:allow Read(//srv/**)",
    ],
    ["and not of more", subject("Grep", { path: "/srv" }), { allow: ["Read(//srv/*)"] }, "ask", "default:ask"],
    [
      "a slash is the workspace's root to a deny rule",
      read("secrets/k"),
      { deny: ["Read(/secrets/**)"] },
      "deny",
      "rule:deny Read(/secrets/**)",
    ],
    [
      "and the file system's to an allow rule",
      edit("secrets/k"),
      { allow: ["Edit(/secrets/**)"] },
      "ask",
      "default:ask",
    ],
    [
      "a call without its path may be about anything",
      subject("Read"),
      { deny: ["Read(secrets)"] },
      "ask",
      "rule:deny Read(secrets)",
    ],
    [
      "of a domain",
      fetch("https://X.org:8080/a"),
      { allow: ["WebFetch(domain:x.org)"] },
      "allow",
      "rule:allow WebFetch(domain:x.org)",
    ],
    [
      "of a domain, not its subdomains",
      fetch("https://a.x.org"),
      { allow: ["WebFetch(domain:x.org)"] },
      "ask",
      "default:ask",
    ],
    [
      "of subdomains",
      fetch("https://a.b.x.org."),
      { deny: ["WebFetch(domain:*.x.org)"] },
      "deny",
      "rule:deny WebFetch(domain:*.x.org)",
    ],
    [
      "of subdomains, not of look-alikes",
      fetch("https://evilx.org"),
      { allow: ["WebFetch(domain:*.x.org)"] },
      "ask",
      "default:ask",
    ],
    [
      "of a domain behind a user name",
      fetch("https://x.org@evil.org/"),
      { allow: ["WebFetch(domain:x.org)"] },
      "ask",
      "default:ask",
    ],
    [
      "of a domain and no address",
      fetch("x.org"),
      { mode: "yolo", deny: ["WebFetch(domain:x.org)"] },
      "ask",
      "rule:deny WebFetch(domain:x.org)",
    ],
    ["of a server", subject("mcp__files__list"), { allow: ["mcp__files"] }, "allow", "rule:allow mcp__files"],
    [
      "of a server, not of one with a longer name",
      subject("mcp__files2__list"),
      { allow: ["mcp__files"] },
      "ask",
      "default:ask",
    ],
    [
      "of a server's tools",
      subject("mcp__files__list"),
      { deny: ["mcp__files__*"] },
      "deny",
      "rule:deny mcp__files__*",
    ],
    [
      "of some of a server's tools",
      subject("mcp__files__get_a"),
      { allow: ["mcp__files__get_*"] },
      "allow",
      "rule:allow mcp__files__get_*",
    ],
    [
      "of a subagent",
      subject("Agent", { subagent_type: "reviewer" }),
      { deny: ["Task(review*)"] },
      "deny",
      "rule:deny Task(review*)",
    ],
    ["of everything", subject("mcp__files__list"), { mode: "yolo", ask: ["*"] }, "ask", "rule:ask *"],
    ["in small letters", bash("ls"), { deny: ["bash(ls)"] }, "deny", "rule:deny bash(ls)"],
    ["in small letters, for a tool of that very name", subject("read"), { deny: ["read"] }, "deny", "rule:deny read"],
  ])("%s", (_what, about, situation, behavior, decidedBy) => {
    expect(decided(about, situation)).toMatchObject({ behavior, decidedBy });
  });
});
