import { Hono } from "hono";
import { modelList, modelPage, modelToWireV1 } from "../../protocol/v1/models.ts";
import { type Env, requireRole } from "../http/context.ts";
import { notFound } from "../http/lookup.ts";
import { param, readQuery, requireNoQuery } from "./request.ts";

export function modelRoutes(): Hono<Env> {
  const routes = new Hono<Env>();

  routes.get("/models", (c) => {
    requireRole(c, "viewer");
    return c.json(modelPage(readQuery(c, modelList)));
  });

  routes.get("/models/:model", (c) => {
    requireRole(c, "viewer");
    requireNoQuery(c);
    const model = modelToWireV1(param(c, "model"));
    if (model === undefined) throw notFound("model", param(c, "model"));
    return c.json(model);
  });

  return routes;
}
