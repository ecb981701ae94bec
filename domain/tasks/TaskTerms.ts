/**
 * What the call of a task is settled by, as it was when the call was opened: stored with the task, since the tool and its
 * terms may have changed when the task ends.
 */
import { type DateTime, Schema } from "effect"
import { CancellationTerm, STORED_CANCELLATION, termsOf } from "../catalog/Terms.ts"
import { BillingPolicy } from "../catalog/Tool.ts"
import type { HeldCall } from "../metering/Call.ts"
import type { UpstreamResponse } from "../upstream/ToolUpstream.ts"
import { ProviderId, ToolId } from "../shared/Ids.ts"
import { Microcents } from "../shared/Microcents.ts"

const TaskTerms = Schema.Struct({
  toolId: ToolId,
  /** As the caller named it: a success may pin the name. */
  reference: Schema.Struct({
    toolId: Schema.optionalKey(ToolId),
    toolName: Schema.optionalKey(Schema.String),
    providerId: Schema.optionalKey(ProviderId)
  }),
  idempotency: Schema.optionalKey(Schema.Struct({ keyHash: Schema.String, requestHash: Schema.String })),
  price: Microcents,
  maximum: Microcents,
  freeTierCalls: Schema.Int,
  billingPolicy: BillingPolicy,
  cancellation: CancellationTerm,
  priceVersion: Schema.Int,
  feeBasisPoints: Schema.Int,
  /** Where it decides what is billed. */
  outputSchema: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown)),
  /** The caller's cap, which the provider was told. */
  holdAmount: Microcents,
  held: Microcents,
  free: Schema.Boolean,
  freeCallsLeft: Schema.optionalKey(Schema.Int),
  holdMs: Schema.Int,
  /** Of the request that started the task. */
  requestId: Schema.optionalKey(Schema.String),
  /** When the provider had started the task. */
  startedMs: Schema.Int,
  /** Time that the provider took until then. */
  latencyMs: Schema.Int,
  attempts: Schema.Int,
  requestBytes: Schema.Int,
  responseBytes: Schema.Int
}).pipe(Schema.encodeKeys({ cancellation: STORED_CANCELLATION }))
export type TaskTerms = typeof TaskTerms.Type

const Stored = Schema.fromJsonString(Schema.toCodecJson(TaskTerms))
const encode = Schema.encodeSync(Stored)
export const termsIn = Schema.decodeSync(Stored)

export const termsText = (held: HeldCall, answer: UpstreamResponse, startedAt: DateTime.Utc): string => {
  const { entry, feeBasisPoints, holdAmount, opened, request } = held
  const { idempotency, tool } = request
  return encode({
    toolId: entry.tool.id,
    reference: {
      ...(tool.toolId === undefined ? {} : { toolId: tool.toolId }),
      ...(tool.toolName === undefined ? {} : { toolName: tool.toolName }),
      ...(tool.providerId === undefined ? {} : { providerId: tool.providerId })
    },
    ...(idempotency === undefined ? {} : { idempotency }),
    ...termsOf(entry),
    priceVersion: entry.priceVersion,
    feeBasisPoints,
    holdAmount,
    held: opened.held,
    free: opened.free,
    ...(opened.freeCallsLeft === undefined ? {} : { freeCallsLeft: opened.freeCallsLeft }),
    holdMs: held.holdMs,
    ...(request.requestId === undefined ? {} : { requestId: request.requestId }),
    startedMs: startedAt.epochMilliseconds,
    latencyMs: answer.latencyMs,
    attempts: answer.attempts,
    requestBytes: answer.requestBytes,
    responseBytes: answer.responseBytes
  })
}
