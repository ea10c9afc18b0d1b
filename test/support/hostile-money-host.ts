import { open } from "../gateway/support.ts";
import { MODEL, till } from "./hostile-money.ts";

/** A host of its own, to be killed while its request is under way. Its lease has run out by then. */
const [url = "", path = ""] = process.argv.slice(2);
await using t = await till(url, { path, budget: { usd: 10 }, leaseMs: 1 });
const body = JSON.stringify({ model: MODEL, stream: true, messages: [{ role: "user", content: "x".repeat(4_000) }] });
await open(t.access.url, { token: t.access.token, body });
