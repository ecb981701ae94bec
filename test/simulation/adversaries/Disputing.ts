/**
 * A ring disputes its own calls, so that its provider refunds them, or calls of others.
 */
import { Effect } from "effect"
import { METER } from "../../support/metering/Shop.ts"
import { at } from "../../support/market/Market.ts"
import { DISPUTES } from "../../support/trust/Disputing.ts"
import { asking, one } from "../world/Asking.ts"
import type { Member } from "../../support/market/Market.ts"
import type { ActOf } from "../world/Step.ts"
import type { World } from "../world/World.ts"
import { othersTools, ringOf } from "./Ring.ts"

export const disputeOwn = Effect.fnUntraced(function* (world: World, act: ActOf<"RingDisputes">) {
  const { consumers, providers } = ringOf(world, act.ring)
  const own = [...world.facts.receipts.values()].filter(
    ({ agent_id, cost_microcents, provider_id }) =>
      cost_microcents > 0n &&
      consumers.some(({ id }) => id === agent_id) &&
      providers.some(({ id }) => id === provider_id)
  )
  let filed = 0
  for (const { agent_id, provider_id, receipt_id } of own.toReversed()) {
    if (filed >= act.times) break
    const id = yield* file(
      world,
      consumers.find((one) => one.id === agent_id)!,
      receipt_id
    )
    if (id === undefined) continue
    filed++
    const provider = providers.find((one) => one.id === provider_id)!
    const json = { action: "accept", message: "so it is" }
    if (act.accepts) yield* asking(world, { path: `${DISPUTES}/${id}/respond`, key: provider.key, json })
  }
  return String(filed)
})

const file = Effect.fnUntraced(function* (world: World, filer: Member, receiptId: string) {
  if (world.facts.refusedDisputes.has(receiptId)) return undefined
  const json = { receipt_id: receiptId, reason: "quality" }
  const answer = yield* asking(world, { path: DISPUTES, key: filer.key, json })
  if (answer.status === 201) return String(at(answer, "dispute_id"))
  if (answer.status === 409) world.facts.refusedDisputes.add(receiptId)
  return undefined
})

export const smear = Effect.fnUntraced(function* (world: World, act: ActOf<"RingSmears">) {
  const { consumers } = ringOf(world, act.ring)
  const tool = one(othersTools(world), act.tool)
  if (tool === undefined || consumers.length === 0) return "skipped"
  return yield* act.by === "reports" ? reportFailures(world, consumers, tool.id, act.times) : disputeOthers(world, act)
})

const reportFailures = Effect.fnUntraced(function* (
  world: World,
  consumers: ReadonlyArray<Member>,
  toolId: string,
  times: number
) {
  const answers = yield* Effect.forEach(
    Array.from({ length: times }, (_, n) => one(consumers, n)!),
    ({ key }) => asking(world, { path: METER, key, json: { tool_id: toolId, status: "error", duration_ms: 60_000 } })
  )
  return answers.map(({ status }) => status).join(" ")
})

const disputeOthers = Effect.fnUntraced(function* (world: World, { ring, times }: ActOf<"RingSmears">) {
  const { consumers, providers } = ringOf(world, ring)
  const receipts = [...world.facts.receipts.values()].filter(
    ({ agent_id, provider_id }) =>
      consumers.some(({ id }) => id === agent_id) && !providers.some(({ id }) => id === provider_id)
  )
  let filed = 0
  for (const { agent_id, receipt_id } of receipts.slice(-times)) {
    if (
      (yield* file(
        world,
        consumers.find(({ id }) => id === agent_id)!,
        receipt_id
      )) !== undefined
    )
      filed++
  }
  return String(filed)
})
