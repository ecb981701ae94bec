/**
 * A ring calls a tool that asks for input, and cheats with its answers: a question counts once, for its own call.
 */
import { Effect, type Result } from "effect"
import type { McpCallOutcome, McpCallRequest } from "../../../domain/metering/Call.ts"
import { McpCalls } from "../../../domain/mcp/McpCalls.ts"
import { ConsumerId, ToolId } from "../../../domain/shared/Ids.ts"
import { Microcents } from "../../../domain/shared/Microcents.ts"
import type { Member } from "../../support/market/Market.ts"
import { exchangeOf, render } from "../../support/metering/McpExchanges.ts"
import { wrong } from "../world/Asking.ts"
import type { OfferedTool } from "../books/Facts.ts"
import { maximumOf } from "../world/Joining.ts"
import type { ActOf } from "../world/Step.ts"
import { nowMs, type World } from "../world/World.ts"
import { othersConsumers, othersTools, pair, ringOf } from "./Ring.ts"

type Outcome = Result.Result<McpCallOutcome, { readonly _tag: string; readonly message: string }>

const RACERS = 4

export const answer = Effect.fnUntraced(function* (world: World, act: ActOf<"RingAnswers">) {
  const found = pair(world, ringOf(world, act.ring), act.who, act.tool, othersTools(world))
  if (found === undefined) return "skipped"
  const [buyer, tool] = found
  const word = yield* worded(world, tool, act.asks)
  const most = maximumOf(tool.terms)
  const ask = (state?: string, by: Member = buyer, text = "{}") =>
    asked(world, requestOf(word, act.keyed, by, tool, most, state, text))

  let outcome = yield* ask()
  /** Of answers that were taken. */
  const used: Array<string> = []
  while (outcome._tag === "Success" && outcome.success._tag === "InputRequired") {
    const { requestState: state }: { readonly requestState: string } = JSON.parse(outcome.success.resultText)
    if (act.trick === "abandons") return "abandoned"
    if (act.trick === "changes") yield* expectRejected(yield* ask(state, buyer, `{"n":1}`), "other arguments")
    const [stranger] = othersConsumers(world)
    if (act.trick === "steals" && stranger !== undefined) {
      yield* expectRejected(yield* ask(state, stranger), "another account")
    }
    if (act.trick !== "races") {
      outcome = yield* ask(state)
      if (outcome._tag === "Success") used.push(state)
      continue
    }
    const raced = yield* Effect.forEach(Array.from({ length: RACERS }), () => ask(state), { concurrency: "unbounded" })
    const resumed = raced.filter((one) => one._tag === "Success" && one.success._tag !== "Replayed")
    if (resumed.length > 1) return yield* wrong("a leg counts once", `${resumed.length} of ${RACERS} for ${word}`)
    outcome = resumed[0] ?? raced[0]!
  }
  if (act.trick === "replays") {
    for (const state of used) {
      const again = yield* ask(state)
      if (again._tag === "Success" && again.success._tag !== "Replayed") {
        return yield* wrong("a leg counts once", `${word} got ${again.success._tag} for a state that was used`)
      }
    }
  }
  return outcome._tag === "Failure" ? outcome.failure._tag : outcome.success._tag
})

/** The word of a new call, whose provider asks this often. */
export const worded = Effect.fnUntraced(function* (world: World, tool: OfferedTool, asks: number) {
  const word = `word-${++world.facts.words}`
  world.providers.behaviors.set(word, { outcome: "success", latencyMs: 20, reportedMicrocents: undefined, asks })
  world.facts.asked.set(word, {
    tool,
    sentAtMs: yield* nowMs,
    cap: BigInt(maximumOf(tool.terms)),
    disturbancesBefore: world.board.disturbancesBefore,
    life: world.lives(),
    left: false
  })
  return word
})

const expectRejected = (outcome: Outcome, what: string) =>
  outcome._tag === "Failure" ? Effect.void : wrong("a state is its call's", `${what}: ${outcome.success._tag}`)

const UNAVAILABLE: ReadonlySet<string> = new Set(["StoreUnavailable", "SignerUnavailable", "CallOverdue"])

export const asked = Effect.fnUntraced(function* (world: World, request: McpCallRequest) {
  const before = world.board.disturbancesBefore
  const outcome: Outcome = yield* Effect.result(world.service(McpCalls).call(request, render))
  if (outcome._tag === "Failure") {
    const { _tag, message } = outcome.failure
    if (UNAVAILABLE.has(_tag) && !world.board.wasDisturbedSince(before)) {
      return yield* wrong("no failure by itself", `${_tag}: ${message}`)
    }
  } else if (outcome.success._tag === "Settled") {
    const { cost_microcents, receipt_id, status } = outcome.success.report.receipt
    world.facts.acknowledged.push({ receiptId: receipt_id, costMicrocents: Number(cost_microcents), status })
  }
  return outcome
})

export const requestOf = (
  word: string,
  keyed: boolean,
  by: Member,
  tool: OfferedTool,
  most: number,
  state: string | undefined,
  text: string
): McpCallRequest => ({
  consumerId: ConsumerId.make(by.id),
  tool: { toolId: ToolId.make(tool.id), toolName: undefined, providerId: undefined },
  arguments: { word },
  maxCost: Microcents.make(BigInt(most)),
  idempotency: keyed ? { keyHash: hexOf(`key ${word}`), requestHash: hexOf(text) } : undefined,
  exchange: exchangeOf({
    arguments: text,
    otherParams: state === undefined ? undefined : `"inputResponses":{},"requestState":${JSON.stringify(state)}`
  })
})

const hexOf = (text: string): string => Buffer.from(text.padEnd(32, ".").slice(0, 32)).toString("hex")
