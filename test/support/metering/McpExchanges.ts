/**
 * What a caller that speaks MCP adds to a call, and how its response is rendered.
 */
import type { KeptResult } from "../../../domain/metering/CallStore.ts"
import type { CallReport } from "../../../domain/metering/Call.ts"
import type { McpExchange } from "../../../domain/upstream/ToolUpstream.ts"

export const exchangeOf = (changes: Partial<McpExchange> = {}): McpExchange => ({
  arguments: "{}",
  meta: undefined,
  otherParams: undefined,
  capabilities: `{"elicitation":{"form":{},"url":{}}}`,
  clientInfo: undefined,
  inSession: false,
  session: undefined,
  requestId: "1",
  progressToken: undefined,
  onMessage: () => {},
  ...changes
})

export const render = ({ answer, receipt }: CallReport): KeptResult => ({
  status: 200,
  headers: { "x-receipt": receipt.receipt_id },
  body: JSON.stringify(answer.result ?? answer.problem)
})
