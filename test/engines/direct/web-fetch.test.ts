import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { htmlToMarkdown } from "../../../src/engines/direct/tools/web/html-to-markdown.ts";
import { listen, type Listening } from "../../support/mcp-remote.ts";
import { textOf, toolWorkspace, type ToolWorkspace } from "./tool-workspace.ts";

const PAGE = `<!doctype html><html><head><title>Title</title><style>x{}</style><script>if (a < b) "</p>"</script></head>
<body><!-- not shown --><h1>Head &amp; line</h1><p>Some <b>bold</b> and <a href="/there?x=1">a link</a>.<br>Next</p>
<ul><li>one</li><li>two<ol><li>deep</li></ol></li></ul><pre><code>a  b
c</code></pre><table><tr><th>k</th><th>v</th></tr><tr><td>1</td><td>2</td></tr></table><blockquote>said</blockquote></body></html>`;

/** A server on loopback, and tools of a session whose settings name it. */
async function site(
  handler: Parameters<typeof listen>[0],
): Promise<AsyncDisposable & { t: ToolWorkspace; at: Listening }> {
  const at = await listen(handler);
  const t = toolWorkspace({ sandbox: { domains: ["127.0.0.1"] } });
  return {
    t,
    at,
    async [Symbol.asyncDispose]() {
      t[Symbol.dispose]();
      await at[Symbol.asyncDispose]();
    },
  };
}

describe("WebFetch", () => {
  test("gives a page as Markdown", async () => {
    await using s = await site((_request, response) => {
      response.writeHead(200, { "content-type": "text/html; charset=utf-8", "content-encoding": "gzip" });
      response.end(gzipSync(PAGE));
    });
    const outcome = await s.t.call("WebFetch", { url: `${s.at.origin}/page`, prompt: "What is it?" });
    expect(outcome.isError).toBe(false);
    expect(textOf(outcome)).toBe(
      [
        "Title",
        "# Head & line",
        `Some **bold** and [a link](${s.at.origin}/there?x=1).\nNext`,
        "- one\n- two\n  1. deep",
        "```\na  b\nc\n```",
        "| k | v |\n| 1 | 2 |",
        "> said",
      ].join("\n\n"),
    );
  });

  test("gives a long page in parts", async () => {
    await using s = await site((_request, response) => {
      response.writeHead(200, { "content-type": "text/plain" }).end("0123456789".repeat(12_000));
    });
    const fetch = (offset?: number) =>
      s.t.call("WebFetch", { url: s.at.origin, prompt: "", ...(offset !== undefined && { offset }) });
    expect(textOf(await fetch())).toMatch(
      /9\n\n\[Characters 0 to 50000 of 120000 are shown\. Read on with offset: 50000\.\]$/,
    );
    expect(textOf(await fetch(100_000))).toBe("0123456789".repeat(2_000));
    expect(textOf(await fetch(200_000))).toContain("none at offset 200000");
  });

  test("follows a redirect of the same host alone", async () => {
    await using s = await site((request, response) => {
      const to = {
        "/same": "/page",
        "/other": "http://other.example/x",
        "/loop": "/loop",
        "/port": "http://127.0.0.1:1/",
        "/cloud": "http://[fd00:ec2::254]/latest/meta-data",
      }[request.url ?? ""];
      if (to === undefined) response.writeHead(200, { "content-type": "text/plain" }).end("arrived");
      else response.writeHead(302, { location: to }).end();
    });
    const fetch = async (path: string) => textOf(await s.t.call("WebFetch", { url: s.at.origin + path, prompt: "p" }));
    expect(await fetch("/same")).toBe("arrived");
    expect(await fetch("/other")).toMatch(
      /^REDIRECT DETECTED: The URL redirects to a different host\.\n\nOriginal URL: .*\/other\nRedirect URL: http:\/\/other\.example\/x\nStatus: 302 Found/,
    );
    expect(await fetch("/port")).toContain("REDIRECT DETECTED");
    expect(await fetch("/cloud")).toContain("REDIRECT DETECTED");
    expect(await fetch("/loop")).toContain("redirects too often");
  });

  test("reaches neither this machine nor a private network unless the settings name it", async () => {
    let asked = 0;
    await using at = await listen((_request, response) => {
      asked += 1;
      response.end("inside");
    });
    const { port } = new URL(at.origin);
    using closed = toolWorkspace({ sandbox: { domains: ["*.example.com", "localtest.example"] } });
    for (const host of [
      "127.0.0.1",
      "[::1]",
      "[::ffff:127.0.0.1]",
      "2130706433",
      "0x7f.1",
      "10.0.0.1",
      "169.254.169.254",
      "[fd00:ec2::254]",
      "[fc00::1]",
      "[fdff::1]",
      "[fe80::1]",
      "[febf::1]",
      "[fec0::1]",
      "[64:ff9b::7f00:1]",
      "[2002:7f00:1::]",
    ]) {
      const outcome = await closed.call("WebFetch", { url: `http://${host}:${port}/`, prompt: "" });
      expect(outcome.isError).toBe(true);
      expect(textOf(outcome)).toMatch(/is on this machine or a private network|hostnames without a dot/);
    }
    const local = await closed.call("WebFetch", { url: `http://localhost:${port}/`, prompt: "" });
    expect(textOf(local)).toContain("hostnames without a dot");
    using unspecified = toolWorkspace({ sandbox: { domains: ["[::]"] } });
    const any = await unspecified.call("WebFetch", { url: `http://[::]:${port}/`, prompt: "" });
    expect(textOf(any)).toContain("is on this machine or a private network");
    // Naming an address of a cloud's own service, or of the link, in brackets is not enough either.
    const inside = ["[fd00:ec2::254]", "[fe80::1]", "[::1]"];
    using cloud = toolWorkspace({ sandbox: { domains: inside } });
    for (const host of inside)
      expect(textOf(await cloud.call("WebFetch", { url: `http://${host}:${port}/`, prompt: "" }))).toContain(
        "is on this machine or a private network",
      );
    expect(asked).toBe(0);
    using named = toolWorkspace({ sandbox: { domains: ["localhost"] } });
    const open = await named.call("WebFetch", { url: `http://localhost:${port}/`, prompt: "" });
    expect(textOf(open)).toBe("inside");
  });

  test("bounds what it reads, packed or not, and refuses what is not text", async () => {
    await using s = await site((request, response) => {
      if (request.url === "/bomb") {
        response.writeHead(200, { "content-type": "text/plain", "content-encoding": "gzip" });
        response.end(gzipSync(Buffer.alloc(30 * 1024 * 1024)));
      } else if (request.url === "/pdf") response.writeHead(200, { "content-type": "application/pdf" }).end("%PDF-");
      else if (request.url === "/broken") {
        response.writeHead(200, { "content-type": "text/plain", "content-encoding": "gzip" }).end("not gzip");
      } else response.writeHead(404, { "content-type": "text/plain" }).end("nothing here");
    });
    const fetch = async (path: string) => {
      const outcome = await s.t.call("WebFetch", { url: s.at.origin + path, prompt: "" });
      expect(outcome.isError).toBe(true);
      return textOf(outcome);
    };
    expect(await fetch("/bomb")).toContain("larger than 10 MB");
    expect(await fetch("/pdf")).toContain("sent application/pdf, 5 bytes, which is not text");
    expect(await fetch("/broken")).toMatch(/incorrect header/);
    expect(await fetch("/none")).toMatch(/answered 404 Not Found\.\n\nnothing here$/);
  });

  test("fails for a server that switches protocols or hangs up", async () => {
    await using s = await site((request) => {
      const isSwitch = request.url === "/switch";
      if (isSwitch)
        request.socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n");
      else request.socket.destroy();
    });
    const fetch = (path: string) => s.t.call("WebFetch", { url: s.at.origin + path, prompt: "" });
    const switched = await fetch("/switch");
    expect(switched.isError).toBe(true);
    expect(textOf(switched)).toContain("wants to switch to another protocol");
    expect((await fetch("/gone")).isError).toBe(true);
  });

  test("ends when the turn is interrupted, and for addresses it cannot use", async () => {
    const controller = new AbortController();
    await using s = await site(() => controller.abort());
    const outcome = await s.t.call("WebFetch", { url: s.at.origin, prompt: "" }, { signal: controller.signal });
    expect(outcome.isError).toBe(true);
    for (const url of [
      "ftp://example.com/x",
      "https://name:password@example.com/",
      `https://example.com/${"x".repeat(2_000)}`,
      "no address",
    ])
      expect((await s.t.call("WebFetch", { url, prompt: "" })).isError).toBe(true);
  });
});

function read(html: string): string {
  return htmlToMarkdown(html, "https://example.com/");
}

test("broken and hostile HTML is read in one pass", () => {
  expect(read("<p>a<b>b<i>c</p> <a href=javascript:x>d</a>")).toContain("d");
  expect(read("a < b &unknown; &#xD800; &#x1F600;")).toBe("a < b &unknown; &#xD800; 😀");
  expect(read("<!-- open")).toBe("");
  expect(read("<script>x")).toBe("");
  const count = 200_000;
  for (const piece of ["<b>", "<!--", "<a ", '<a x="', "<li>", "</b>", "<", "<td>", "&"])
    expect(read(piece.repeat(count)).length).toBeLessThan(count * 10);
});

test("quotes and lists are nested five deep at most, and what follows them keeps its place", () => {
  const quotes = read(`${"<blockquote>".repeat(98)}a<br>b${"</blockquote>".repeat(97)}c</blockquote>d`);
  expect(quotes).toBe("> > > > > a\n> > > > > b\n>\n> c\n\nd");
  const lists = read(`${"<ul><li>x".repeat(8)}<li>y${"</ul>".repeat(7)}<li>z</ul>end`);
  const deepest = " ".repeat(10);
  expect(lists).toBe(
    [
      "- x",
      "  - x",
      "    - x",
      "      - x",
      "        - x",
      ...["x", "x", "x", "y"].map((one) => `${deepest}- ${one}`),
      "- z\n\nend",
    ].join("\n"),
  );
  const items = read("<li>x<b>".repeat(40));
  expect(Math.max(...items.split("\n").map((line) => line.search(/\S/)))).toBeLessThanOrEqual(10);
});

test("a page of more than 1 MB of HTML is converted up to there, and says so", () => {
  const long = read(`<p>start</p>${"x".repeat(1_000_000)}<p>end</p>`);
  expect(long).toMatch(
    /^start\n\nx+\n\n\[The page has 1000022 characters of HTML\. Only the first 1000000 were read\.\]$/,
  );
});
