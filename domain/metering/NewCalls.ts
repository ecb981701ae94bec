/**
 * Calls that are not open yet: the terms, the checks before the hold, and the replay of a call that was made before.
 */
import { DateTime, Effect } from "effect"
import type { CatalogEntry } from "../catalog/CatalogStore.ts"
import { JsonSchemas } from "../catalog/JsonSchemas.ts"
import type { ConsumerId, ProviderId } from "../shared/Ids.ts"
import { membersOf } from "../shared/JsonText.ts"
import { zero } from "../shared/Microcents.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import { declaresTasks, withoutTasks } from "../upstream/Protocol.ts"
import type { McpExchange } from "../upstream/ToolUpstream.ts"
import type { CallOutcome, CallReport, CallRequest, HandOver, Unsettled } from "./Call.ts"
import {
  type CallRejected,
  InvalidArguments,
  replayOrFail,
  requirePermitted,
  TooManyCallsWaiting
} from "./CallRejections.ts"
import { CallRuns } from "./CallRun.ts"
import { CallStore, type KeptResult, replayed, SUSPENDED_CALLS_MAX } from "./CallStore.ts"
import { deadlineMsOf, holdFor, UpstreamLimits } from "./CallTerms.ts"
import { makeCallNames, ToolDirectory } from "./ToolDirectory.ts"

// What an account may still call while as many of its calls wait as may: everything, except that no further call waits. Else
// each would start work at its provider for nothing, or a provider that never answers would close the account's other calls.

const RETRY_AFTER_SECONDS = 60

export const makeWaitingCalls = Effect.gen(function* () {
  const calls = yield* CallStore

  /** What the caller can do, as its provider is told for this call; undefined: the same as it declared. */
  return Effect.fnUntraced(function* (
    consumerId: ConsumerId,
    providerId: ProviderId,
    { asTask, capabilities, inSession }: McpExchange
  ): Effect.fn.Return<string | undefined, TooManyCallsWaiting | StoreUnavailable> {
    const wantsTask = asTask === true
    if (!wantsTask && !(!inSession && capabilities !== undefined && mayWait(capabilities))) return undefined
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

export type Render = (report: CallReport) => KeptResult

export const makeNewCalls = Effect.gen(function* () {
  const { run } = yield* CallRuns
  const directory = yield* ToolDirectory
  const schemas = yield* JsonSchemas
  const calls = yield* CallStore
  const nameCall = yield* makeCallNames
  const limits = yield* UpstreamLimits
  const capabilitiesFor = yield* makeWaitingCalls

  const checkArguments = Effect.fnUntraced(function* (
    { provider, tool }: CatalogEntry,
    given: CallRequest["arguments"]
  ) {
    const { inputSchema } = tool
    if (inputSchema === undefined) return
    const check = (value: unknown) => schemas.violations(inputSchema, value, { providerId: provider.id, of: "input" })
    const violations = yield* check(given)
    if (violations.length === 0) return
    // Many models write `null` for an argument that they leave out: the provider decides what it means.
    if (JSON.stringify(given).includes("null") && (yield* check(withoutNulls(given))).length === 0) return
    return yield* new InvalidArguments({ violations })
  })

  const callNow = Effect.fnUntraced(function* <Ending>(
    request: CallRequest,
    render: Render,
    handOver: HandOver<Ending> | undefined
  ): Effect.fn.Return<CallOutcome | Ending, CallRejected | Unsettled> {
    const entry = yield* directory.find(request.tool)
    const { tool, provider } = entry
    const holdAmount = yield* holdFor(entry, request)
    const { levels } = request
    if (levels !== undefined && levels.length > 0) yield* requirePermitted(levels, entry, holdAmount)
    if (tool.inputSchema !== undefined) yield* checkArguments(entry, request.arguments)
    const { exchange } = request
    const capabilities =
      exchange === undefined ? undefined : yield* capabilitiesFor(request.consumerId, provider.id, exchange)
    const openedAt = yield* DateTime.now
    const { feeBasisPoints, invocationId } = yield* nameCall(provider.fee, openedAt)
    request.onReceiptId?.(invocationId)
    const timeoutMs = tool.timeoutMs ?? limits.timeoutMs
    const opening = calls.open({
      invocationId,
      consumerId: request.consumerId,
      providerId: provider.id,
      toolId: tool.id,
      toolName: tool.toolName,
      priceVersion: entry.priceVersion,
      holdAmount,
      feeBasisPoints,
      freeTierCalls: holdAmount === zero ? 0 : entry.freeTierCalls,
      origin: "proxy",
      openedAt,
      deadlineAt: DateTime.makeUnsafe(openedAt.epochMilliseconds + deadlineMsOf(timeoutMs, limits)),
      idempotency: request.idempotency,
      levels: levels?.map(({ id }) => id)
    })
    return yield* run<Ending>({
      request: capabilities === undefined ? request : { ...request, exchange: { ...exchange!, capabilities } },
      restricted: capabilities !== undefined,
      entry,
      invocationId,
      openedAt,
      feeBasisPoints,
      holdAmount,
      timeoutMs,
      opening,
      handOver,
      render
    })
  })

  const call = <Ending = never>(
    request: CallRequest,
    render: Render,
    handOver?: HandOver<Ending>
  ): Effect.Effect<CallOutcome | Ending, CallRejected | Unsettled> => {
    const { consumerId, idempotency } = request
    const now = callNow(request, render, handOver)
    if (idempotency === undefined) return now
    const before = replayOrFail(calls, consumerId, idempotency)
    return now.pipe(
      Effect.catch((rejection) =>
        rejection._tag === "ResultNotRetained" ? Effect.fail(rejection) : Effect.flatMap(before(rejection), replayed)
      )
    )
  }

  return { call, checkArguments }
})

/** The members of objects that are `null`, left out at any depth. Elements of arrays stay. */
const withoutNulls = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (typeof value !== "object" || value === null) return value
  const left = Object.entries(value).filter(([, member]) => member !== null)
  return Object.fromEntries(left.map(([name, member]) => [name, withoutNulls(member)]))
}

export type NewCalls = Effect.Success<typeof makeNewCalls>
