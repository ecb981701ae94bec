/**
 * Whether a tool's output fits its output schema. Tools with the policy `valid_output` are paid by this, and disputes are
 * decided by it.
 */
import { Effect, Schedule } from "effect"
import { JsonSchemas } from "../catalog/JsonSchemas.ts"
import type { Tool } from "../catalog/Tool.ts"
import type { UpstreamResponse } from "../upstream/ToolUpstream.ts"

/** Seconds. */
const RECHECKS_MAX = 2

/** Undefined: there is nothing to check, or other providers have used up the processing time of the service. */
export const makeOutputCheck = Effect.gen(function* () {
  const schemas = yield* JsonSchemas

  return Effect.fnUntraced(function* (
    tool: Pick<Tool, "outputSchema" | "providerId">,
    { result }: Pick<UpstreamResponse, "result">
  ) {
    const output = result?.["structuredContent"]
    if (tool.outputSchema === undefined || result === undefined) return undefined
    if (output === undefined) return false
    const check = schemas.violations(tool.outputSchema, output, { providerId: tool.providerId, of: "output" })
    // If the provider's own schemas used up their time, the output counts as unfit. Time used up by other providers does not
    // count against it: no dispute is decided by that.
    return yield* Effect.retry(check, { schedule: Schedule.spaced("1 second"), times: RECHECKS_MAX }).pipe(
      Effect.map((violations): boolean | undefined => violations.length === 0),
      Effect.catch((spent) => Effect.succeed(spent.of === "provider" ? false : undefined))
    )
  })
})
