/**
 * A tool that a provider offers, and the price it has had since when.
 */
import { type DateTime, Schema } from "effect"
import type { ProviderId, ToolId } from "../shared/Ids.ts"
import type { Microcents } from "../shared/Microcents.ts"

/** As MCP names tools; it also stands in headers and receipts, so it is plain ASCII. */
export const ToolName = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9_./-]{1,128}$/u, {
    message: "Expected 1 to 128 letters, digits, `_`, `-`, `.` or `/`"
  })
)

export const Category = Schema.String.check(
  Schema.isPattern(/^[a-z0-9][a-z0-9 _-]{0,49}$/u, {
    message: "Expected 1 to 50 lowercase letters, digits, spaces, `_` or `-`"
  })
)

/**
 * When a call costs money: on success, only when the output fits the tool's schema, or for every attempt.
 */
export type BillingPolicy = "success" | "valid_output" | "attempt"

/** What happens to a forwarded call whose caller goes away: it is finished, or the cancellation is passed to the provider. */
export type OnCancel = "finish" | "pass"

/** What a call costs whose cancellation was passed to the provider: its list price, at most what was held, or nothing. */
export type CanceledCallCosts = "price" | "nothing"

export type JsonSchemaObject = Readonly<Record<string, unknown>>

/** What a provider says about a tool. Undefined means: the provider's or the platform's default. */
export interface ToolDeclaration {
  readonly toolName: string
  readonly displayName: string
  readonly description: string
  readonly category: string
  readonly price: Microcents | undefined
  readonly freeTierCalls: number | undefined
  readonly inputSchema: JsonSchemaObject | undefined
  readonly outputSchema: JsonSchemaObject | undefined
  readonly billingPolicy: BillingPolicy
  /** The most that one call may cost, for a provider that reports the actual cost of a call. */
  readonly maxCost: Microcents | undefined
  readonly timeoutMs: number | undefined
  /** Calling twice does no harm: a broken stream may be tried again. */
  readonly idempotent: boolean
  readonly onCancel: OnCancel
  readonly canceledCallCosts: CanceledCallCosts
}

export interface Tool extends ToolDeclaration {
  readonly id: ToolId
  readonly providerId: ProviderId
  readonly createdAt: DateTime.Utc
  readonly updatedAt: DateTime.Utc
  /** Counts the changes of price or free tier; receipts keep the one they were billed at. */
  readonly priceVersion: number
  /** Since when its provider offers it no more; undefined while it is listed. */
  readonly withdrawnAt: DateTime.Utc | undefined
}

export interface PriceVersion {
  readonly version: number
  readonly price: Microcents
  readonly freeTierCalls: number
  readonly effectiveFrom: DateTime.Utc
}
