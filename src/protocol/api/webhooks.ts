import { z } from "zod";
import { NOTIFICATION_TYPES } from "../../core/session/notification.ts";
import type { DeliveryRecord, WebhookRecord } from "../../core/ports/registry.ts";
import { isoTime, isoTimeOrNull, timestamp } from "./common.ts";

export const webhook = z.object({
  id: z.string(),
  url: z.string(),
  events: z.array(z.string()).describe("The event types to deliver; empty for all."),
  created_at: timestamp,
  disabled_at: timestamp.nullable().describe("When the webhook was disabled."),
});
export type WireWebhook = z.infer<typeof webhook>;

export const newWebhook = webhook.extend({
  secret: z.string().describe("The signing key, whsec_…: shown only here."),
});
export type WireNewWebhook = z.infer<typeof newWebhook>;

export const webhookInput = z.strictObject({
  url: z.string().min(1).max(2_000),
  events: z.array(z.enum(NOTIFICATION_TYPES)).max(NOTIFICATION_TYPES.length).default([]),
});
export type WebhookRequest = z.input<typeof webhookInput>;

export const delivery = z.object({
  id: z.string(),
  type: z.string(),
  status: z.enum(["waiting", "delivered", "failed"]),
  attempts: z.int(),
  created_at: timestamp,
  next_attempt_at: timestamp.nullable(),
  last_status: z.int().nullable().describe("The receiver's last response."),
  last_error: z.string().nullable(),
});
export type WireDelivery = z.infer<typeof delivery>;

export function webhookToWire({ id, url, events, createdAt, disabledAt }: WebhookRecord): WireWebhook {
  return { id, url, events: [...events], created_at: isoTime(createdAt), disabled_at: isoTimeOrNull(disabledAt) };
}

export function deliveryToWire(record: DeliveryRecord): WireDelivery {
  const { id, type, status, attempts, createdAt, nextAt, lastStatus, lastError } = record;
  return {
    id,
    type,
    status,
    attempts,
    created_at: isoTime(createdAt),
    next_attempt_at: status === "waiting" ? isoTime(nextAt) : null,
    last_status: lastStatus,
    last_error: lastError,
  };
}
