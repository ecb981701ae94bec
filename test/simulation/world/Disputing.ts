/**
 * Disputes about calls, by every party.
 */
import { Effect } from "effect"
import { at } from "../../support/market/Market.ts"
import { DISPUTES } from "../../support/trust/Disputing.ts"
import { asking, askingUnderKey, one } from "./Asking.ts"
import type { ActOf } from "./Step.ts"
import { OPERATOR } from "../parts/Service.ts"
import type { World } from "./World.ts"

export const file = Effect.fnUntraced(function* (world: World, { byProvider, which }: ActOf<"File">) {
  const receipt = one([...world.facts.receipts.values()].slice(-30), which)
  if (receipt === undefined) return "nothing"
  const owner = byProvider ? receipt.provider_id : receipt.agent_id
  const filer = [...world.facts.consumers, ...world.facts.providers].find(({ id }) => id === owner)
  if (filer === undefined) return "skipped"
  const json = { receipt_id: receipt.receipt_id, reason: "quality" }
  return String((yield* askingUnderKey(world, { path: DISPUTES, key: filer.key, json })).status)
})

export const respond = Effect.fnUntraced(function* (world: World, { action, which }: ActOf<"Respond">) {
  const id = one([...world.facts.disputes].slice(-10), which)
  if (id === undefined) return "nothing"
  const providers = yield* Effect.forEach(world.facts.providers, ({ key }) =>
    Effect.map(
      asking(world, { path: `${DISPUTES}/${id}/respond`, key, json: { action, message: "so it is" } }),
      ({ status }) => status
    )
  )
  return providers.join(" ")
})

export const resolve = Effect.fnUntraced(function* (world: World, act: ActOf<"Resolve">) {
  const id = one([...world.facts.disputes].slice(-10), act.which)
  if (id === undefined) return "nothing"
  const dispute = yield* asking(world, { path: `${DISPUTES}/${id}`, key: OPERATOR })
  const cost = Number(at(dispute, "cost_microcents") ?? 0)
  const amount =
    act.resolution === "resolved_credit" ? { amount_microcents: Math.floor((cost * act.percent) / 100) } : {}
  const json = { resolution: act.resolution, ...amount }
  return String((yield* asking(world, { path: `${DISPUTES}/${id}/resolve`, key: OPERATOR, json })).status)
})
