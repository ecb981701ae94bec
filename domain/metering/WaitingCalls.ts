/**
 * What an account may still call while as many of its calls wait as may: everything, except that no further call waits. Else
 * each would start work at its provider for nothing, or a provider that never answers would close the account's other calls.
 */
import { Effect } from "effect"
import { declaresTasks, withoutTasks } from "../upstream/TaskSupport.ts"
import { membersOf } from "../shared/JsonText.ts"
import type { ConsumerId, ProviderId } from "../shared/Ids.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import { TooManyCallsWaiting } from "./CallRejections.ts"
import { CallStore } from "./CallStore.ts"
import { SUSPENDED_CALLS_MAX } from "./SuspendedCall.ts"
import type { McpExchange } from "../upstream/ToolUpstream.ts"

const RETRY_AFTER_SECONDS = 60

export const makeWaitingCalls = Effect.gen(function* () {
  const calls = yield* CallStore

  /** What the caller can do, as its provider is told for this call; undefined: the same as it declared. */
  return Effect.fnUntraced(function* (
    consumerId: ConsumerId,
    providerId: ProviderId,
    { asTask, capabilities, era }: McpExchange
  ): Effect.fn.Return<string | undefined, TooManyCallsWaiting | StoreUnavailable> {
    const wantsTask = asTask === true
    if (!wantsTask && !(era === "modern" && capabilities !== undefined && mayWait(capabilities))) return undefined
    if (yield* calls.mayWait(consumerId, providerId, SUSPENDED_CALLS_MAX)) return undefined
    return wantsTask
      ? yield* new TooManyCallsWaiting({ max: SUSPENDED_CALLS_MAX, retryAfterSeconds: RETRY_AFTER_SECONDS })
      : withoutInput(withoutTasks(capabilities!))
  })
})

/** What a provider asks its caller for, in version 2026-07-28. Some servers do not distinguish upper and lower case. */
const isInput = ({ name }: { readonly name: string }): boolean => INPUT.has(name.toLowerCase())
const INPUT: ReadonlySet<string> = new Set(["elicitation", "roots", "sampling"])

const mayWait = (capabilities: string): boolean => declaresTasks(capabilities) || membersOf(capabilities).some(isInput)

const withoutInput = (capabilities: string): string => {
  const others = membersOf(capabilities).filter((member) => !isInput(member))
  return `{${others.map(({ name, text }) => `${JSON.stringify(name)}:${text}`).join(",")}}`
}
