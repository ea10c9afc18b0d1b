import { dataList } from "../../protocol/api/common.ts";
import { keyInput, keyToWire, newKey } from "../../protocol/api/registry.ts";
import { mintKey } from "../http/key-secret.ts";
import { notFound } from "../http/lookup.ts";
import { keyComponent } from "./document/components.ts";
import type { ApiDeps } from "./deps.ts";
import { type Api, endpoint } from "./endpoint.ts";

const tag = "Keys";

/** Keys of the caller's project. */
export function addKeys(api: Api, deps: ApiDeps): void {
  const { keys } = deps.registry;

  endpoint(
    api,
    {
      method: "get",
      path: "/api/keys",
      role: "admin",
      tag,
      summary: "List keys",
      description: "Oldest first, including revoked keys.",
      answer: dataList(keyComponent),
    },
    async ({ caller }) => ({ data: (await keys.list(caller.project)).map(keyToWire) }),
  );

  endpoint(
    api,
    {
      method: "post",
      path: "/api/keys",
      role: "admin",
      tag,
      summary: "Create a key",
      description: "Only this response contains the key.",
      body: keyInput,
      answer: newKey,
      status: 201,
    },
    async ({ caller, body: { name, role } }) => {
      const { record, secret } = mintKey({ project: caller.project, name, role }, deps);
      await keys.create(record);
      return { ...keyToWire(record), key: secret };
    },
  );

  endpoint(
    api,
    {
      method: "delete",
      path: "/api/keys/{id}",
      role: "admin",
      tag,
      summary: "Revoke a key",
      description: "The key stops working immediately. Revoking it again has no effect.",
      answer: keyComponent,
    },
    async ({ caller, params: { id } }) => {
      const find = async () => (await keys.list(caller.project)).find((one) => one.id === id);
      if ((await find()) === undefined) throw notFound("key", id);
      await keys.revoke(id, deps.clock.now());
      const revoked = await find();
      if (revoked === undefined) throw notFound("key", id);
      return keyToWire(revoked);
    },
  );
}
