/**
 * The figures of a provider depend only on its own outcomes, and not on who calls, disconnects, reports or disputes. Outcomes are
 * kept in `CallsThatWereLeft`.
 */
import { Context, DateTime, Effect, Option } from "effect"
import { MarketFigures } from "../../../domain/catalog/CatalogStore.ts"
import { ProviderId, ToolId } from "../../../domain/shared/Ids.ts"
import { type Dispute, DisputeStore } from "../../../domain/trust/DisputeStore.ts"
import { windowStart } from "../../../domain/trust/Sla.ts"
import { Trust } from "../../../domain/trust/Trust.ts"
import { wrong } from "../world/Asking.ts"
import type { World } from "../world/World.ts"
import type { OfferedTool, Outcome } from "./Facts.ts"

const DAY_MS = 24 * 3_600_000
/** Net, within the window: from then on a consumer counts. */
const COUNTS_FROM_MICROCENTS = 1_000_000n

interface Tally {
  successes: number
  /** Of these it is known that they have been counted. */
  placedSuccesses: number
  failures: number
}

export const makeFigureChecks = (world: World) => {
  const { facts, stores } = world
  const disputes = Context.get(stores, DisputeStore)
  const decided = new Map<string, Dispute>()

  const tallyOf = (isCounted: (outcome: Outcome) => boolean): Tally => {
    const tally = { successes: 0, placedSuccesses: 0, failures: 0 }
    for (const [id, outcome] of facts.outcomes) {
      if (!isCounted(outcome)) continue
      if (outcome.status !== "success") tally.failures++
      else {
        tally.successes++
        if (!facts.unplaced.has(id)) tally.placedSuccesses++
      }
    }
    return tally
  }

  const uptimeIsTheToolsOwn = Effect.fnUntraced(function* (tool: OfferedTool) {
    const id = ToolId.make(tool.id)
    const shown = (yield* world.port(MarketFigures).ofTools([id])).get(id)
    if (shown === undefined || shown.uptimePct === undefined) return
    const { failures, placedSuccesses } = tallyOf(({ receipt }) => receipt.tool_id === tool.id)
    const least = failures === 0 ? 100 : (100 * placedSuccesses) / (placedSuccesses + failures)
    if (shown.uptimePct < least - ROUNDING) {
      return yield* wrong(
        "figures are the provider's own",
        `${tool.id} is shown with ${shown.uptimePct} %, not ${least} %`
      )
    }
  })

  const slaIsItsOwn = Effect.fnUntraced(function* (providerId: ProviderId, nowMs: number) {
    const fromMs = windowStart(DateTime.makeUnsafe(nowMs)).epochMilliseconds
    const { sla } = yield* world.service(Trust).sla(providerId).pipe(Effect.orDie)
    const own = tallyOf(({ receipt }) => receipt.provider_id === providerId && Date.parse(receipt.timestamp) >= fromMs)
    if (sla.calls - sla.successes > own.failures || sla.successes < own.placedSuccesses) {
      const shown = `${sla.successes} of ${sla.calls}`
      return yield* wrong(
        "figures are the provider's own",
        `the SLA of ${providerId} says ${shown}; ${own.placedSuccesses} succeeded, ${own.failures} failed`
      )
    }
  })

  const trustIsEarned = Effect.fnUntraced(function* (providerId: ProviderId, nowMs: number) {
    const { counted, trust } = yield* world.service(Trust).score(providerId).pipe(Effect.orDie)
    const paid = new Map<string, bigint>()
    const add = (consumerId: string, amount: bigint) => paid.set(consumerId, (paid.get(consumerId) ?? 0n) + amount)
    for (const { receipt } of facts.outcomes.values()) {
      if (receipt.provider_id !== providerId || Date.parse(receipt.timestamp) < nowMs - 32 * DAY_MS) continue
      add(receipt.agent_id, receipt.cost_microcents)
    }
    for (const { consumerId, cost, createdAt, providerId: by, receiptId, status } of decided.values()) {
      const isCounted = createdAt.epochMilliseconds > nowMs - 29 * DAY_MS && facts.outcomes.has(receiptId)
      if (by === providerId && status === "resolved_refund" && isCounted) add(consumerId, -cost)
    }
    const payers = [...paid.values()].filter((amount) => amount >= COUNTS_FROM_MICROCENTS).length
    if (counted.consumers > payers) {
      return yield* wrong(
        "trust is earned",
        `${counted.consumers} consumers count for ${providerId}, and ${payers} have paid`
      )
    }
    const upheld = [...decided.values()].filter(
      (one) =>
        one.providerId === providerId &&
        one.cost > 0n &&
        one.status !== "resolved_denied" &&
        one.createdAt.epochMilliseconds > nowMs - 32 * DAY_MS
    ).length
    if (trust.components.disputes < pointsFor(upheld, counted.calls)) {
      return yield* wrong(
        "trust is lost by decisions alone",
        `${providerId} has ${trust.components.disputes} points for ${upheld} upheld disputes of ${counted.calls} calls`
      )
    }
  })

  const learnDecisions = Effect.gen(function* () {
    for (const id of facts.disputes) {
      const dispute = decided.has(id) ? undefined : Option.getOrUndefined(yield* disputes.find(id))
      if (dispute?.decision !== undefined) decided.set(id, dispute)
    }
  })

  /** Of each provider, what its figures are made of: they are looked at again when it has changed. */
  const seen = new Map<string, string>()
  let turn = 0

  const made = (): Map<string, string> => {
    const counts = new Map<string, number>()
    for (const [id, { provider_id }] of facts.receipts) {
      counts.set(provider_id, (counts.get(provider_id) ?? 0) + (facts.unplaced.has(id) ? 1 : PLACED))
    }
    const of = (count: number): string => `${count} ${facts.disputes.size} ${decided.size}`
    return new Map([...counts].map(([id, count]) => [id, of(count)]))
  }

  return Effect.gen(function* () {
    const nowMs = (yield* DateTime.now).epochMilliseconds
    yield* learnDecisions
    const now = made()
    turn++
    for (const [n, { id }] of facts.providers.entries()) {
      if (seen.get(id) === now.get(id) && turn % facts.providers.length !== n) continue
      for (const tool of facts.tools) if (tool.provider.id === id) yield* uptimeIsTheToolsOwn(tool)
      yield* slaIsItsOwn(ProviderId.make(id), nowMs)
      yield* trustIsEarned(ProviderId.make(id), nowMs)
      const state = now.get(id)
      if (state !== undefined) seen.set(id, state)
    }
  })
}

/** In a sum beside the others. */
const PLACED = 1_000_000

/** Two decimals are shown. */
const ROUNDING = 0.011

/** As it is published. */
const pointsFor = (upheld: number, calls: number): number => {
  const share = upheld / Math.max(1, calls)
  if (upheld === 0) return 24
  if (share < 0.01) return 20
  if (share < 0.05) return 15
  return share < 0.1 ? 8 : 2
}
