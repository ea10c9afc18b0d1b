import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { openHost } from "../../src/app/open-host.ts";
import { type RunningServer, serve } from "../../src/app/serve/serve.ts";
import { hostOptions } from "../../src/cli/target/host.ts";
import { type CapstanClient, createClient } from "../../src/client/index.ts";
import { loadConfiguration } from "../../src/config/load.ts";
import { sharedBrowser } from "./browser.ts";
import { temporaryDirectory, testEnvironment, ANY_PRESSURE } from "./host.ts";
import { type Script, type ScriptedModel, scriptedModel } from "./scripted-model.ts";
import { TEST_ENGINE } from "./test-engine.ts";
import { recordTrust } from "./trust.ts";

export interface ConsoleOptions {
  /** What the model says; without it the built-in scripted model speaks. */
  readonly script?: Script;
  /** The project's settings, as in `.capstan/config.yaml`. */
  readonly settings?: string;
  /** Of the browser's window. */
  readonly width?: number;
  readonly height?: number;
  readonly theme?: "light" | "dark";
}

export interface Console extends AsyncDisposable {
  /** Somebody who is logged in as an admin and looks at the first page. */
  readonly page: Page;
  readonly context: BrowserContext;
  readonly url: string;
  /** The same, for what a test prepares or looks up. */
  readonly client: CapstanClient;
  /** What says that it is the same person, for a request of a test's own. */
  readonly cookie: string;
  readonly model: ScriptedModel | undefined;
  /** The project's directory, where sessions work. */
  readonly directory: string;
  /** What the page complained about: errors, and what its policy forbade. */
  readonly complaints: readonly string[];
  /** A page of somebody else, who comes with a key of this role. */
  visitor(role: "viewer" | "operator" | "admin"): Promise<Page>;
  /** Ends the server; what it drives is cut. */
  stop(): Promise<void>;
  /** Starts it again on the same store and port. */
  start(): Promise<void>;
}

/**
 * A page that looks whether there is news, or tries again what failed, does so ten times as often: nobody has to wait for it.
 * What it tries again it does after one, two and four seconds.
 */
const ASK_OFTEN = `{
  const { setInterval: repeat, setTimeout: wait } = globalThis;
  globalThis.setInterval = (act, ms, ...given) => repeat(act, ms >= 2_000 ? ms / 10 : ms, ...given);
  globalThis.setTimeout = (act, ms, ...given) => wait(act, [1_000, 2_000, 4_000].includes(ms) ? ms / 10 : ms, ...given);
}`;

async function newContext(browser: Browser, options: BrowserContextOptions): Promise<BrowserContext> {
  const context = await browser.newContext({ reducedMotion: "reduce", ...options });
  context.setDefaultTimeout(45_000);
  await context.addInitScript(ASK_OFTEN);
  return context;
}

/** The console in a real browser, before a real server with a real engine; only the model is scripted. */
export async function openConsole(options: ConsoleOptions = {}): Promise<Console> {
  await using stack = new AsyncDisposableStack();
  const place = stack.use(temporaryDirectory());
  const directory = join(place.path, "project");
  mkdirSync(join(directory, ".capstan"), { recursive: true });
  writeFileSync(join(directory, ".capstan", "config.yaml"), options.settings ?? "{}\n");
  const model = options.script === undefined ? undefined : stack.use(await scriptedModel(options.script));
  const environment = {
    ...testEnvironment(model?.url ?? "http://127.0.0.1:9"),
    HOME: place.path,
    CAPSTAN_HOME: join(place.path, "home"),
    CAPSTAN_ENGINE: TEST_ENGINE,
  };
  await recordTrust({ cwd: directory, environment });
  const configuration = await loadConfiguration({ cwd: directory, environment, flags: {} });
  const log = { info() {}, warn() {}, error() {} };
  const open = (port: number): Promise<RunningServer> =>
    serve({
      openHost: () =>
        openHost({
          ...hostOptions(configuration),
          environment,
          retries: 1,
          capacity: ANY_PRESSURE,
          rehearsal: model === undefined,
        }),
      configuration,
      shell: environment,
      cwd: directory,
      person: "tester",
      port,
      log,
    });
  let server: RunningServer | undefined = await open(0);
  stack.defer(() => server?.suspend(0));
  const { url, loginUrl } = server;
  const browser = await sharedBrowser();
  const contexts = stack.use(new AsyncDisposableStack());
  const viewport = { width: options.width ?? 1280, height: options.height ?? 800 };
  const openContext = async (more: BrowserContextOptions): Promise<BrowserContext> => {
    const opened = await newContext(browser, { viewport, ...more });
    contexts.defer(() => opened.close());
    return opened;
  };
  const context = await openContext({ colorScheme: options.theme ?? "light" });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    // A refusal that the page handles is told by the browser as well, also that of a socket.
    if (
      message.type() === "error" &&
      !/Failed to load resource|^WebSocket connection to \S+ failed/.test(message.text())
    )
      complaints.push(message.text());
  });
  await page.goto(loginUrl);
  // Keys that are pressed before the page is there are lost, as they would be for anybody.
  await page.locator("#content").waitFor();
  const cookies = await context.cookies();
  const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join("; ");
  const client = createClient({
    baseUrl: url,
    fetch: (input, init) => {
      const headers = new Headers(init?.headers);
      headers.set("cookie", cookie);
      return fetch(input, { ...init, headers });
    },
  });
  const parts = stack.move();
  return {
    page,
    context,
    url,
    client,
    cookie,
    model,
    directory,
    complaints,
    async visitor(role) {
      const { key } = await client.keys.create({ name: `a ${role}`, role });
      const theirs = await (await openContext({})).newPage();
      await theirs.goto(`${url}/login`);
      await theirs.getByLabel("Key").fill(key);
      await theirs.getByRole("button", { name: "Log in" }).click();
      return theirs;
    },
    async stop() {
      await server?.suspend(0);
      server = undefined;
    },
    async start() {
      server = await open(Number(new URL(url).port));
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}
