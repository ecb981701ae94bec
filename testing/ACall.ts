/**
 * A call of a consumer to a tool, as an agent makes it.
 */
import { Effect } from "effect"
import type { CallReport } from "../domain/metering/Call.ts"
import { Metering } from "../domain/metering/Metering.ts"
import { Microcents } from "../domain/shared/Microcents.ts"
import type { TestConsumer } from "./AConsumer.ts"
import type { TestTool } from "./ATool.ts"

/** What `aCall` sends beside the tool: by default no arguments and no cap. */
export interface CallOptions {
  readonly arguments?: Readonly<Record<string, unknown>>
  /** The most that the caller pays, in microcents. */
  readonly maxCost?: bigint
}

/** Returns the receipt and the provider's response. Fails as the service rejects calls: `InsufficientFunds` and others. */
export const aCall = Effect.fnUntraced(function* (
  consumer: Pick<TestConsumer, "id">,
  tool: Pick<TestTool, "id">,
  { arguments: given = {}, maxCost }: CallOptions = {}
) {
  const outcome = yield* (yield* Metering).call(
    {
      consumerId: consumer.id,
      tool: { toolId: tool.id, toolName: undefined, providerId: undefined },
      arguments: given,
      maxCost: maxCost === undefined ? undefined : Microcents.make(maxCost),
      idempotency: undefined
    },
    ({ answer }: CallReport) => ({ status: 200, headers: {}, body: JSON.stringify(answer.result ?? answer.problem) })
  )
  return outcome._tag === "Settled" ? outcome.report : yield* Effect.die(new Error("A call without a key was replayed"))
})
