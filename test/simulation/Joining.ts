/**
 * Joining the market, and the terms on which one is there.
 */
import { Effect } from "effect"
import { consumerBody, CONSUMERS, KEYS, providerBody, PROVIDERS, textAt, TOOLS } from "../support/Market.ts"
import type { Answer } from "../support/ServiceUnderTest.ts"
import { asking, askingUnderKey, one, wrong } from "./Asking.ts"
import type { OfferedTool } from "./Facts.ts"
import type { ActOf, ToolTerms } from "./Step.ts"
import { nowMs, type World } from "./World.ts"

/** Few, so that they meet often. */
const CONSUMERS_MAX = 6
const PROVIDERS_MAX = 4
const BUDGETS = "/api/v1/market/budgets"
/** It may have been carried out late, and the clock been set meanwhile. */
const KNOWN_EVERYWHERE_AFTER_MS = 10 * 60_000

export const joinAsConsumer = Effect.fnUntraced(function* (world: World) {
  if (world.facts.consumers.length >= CONSUMERS_MAX) return "enough"
  const answer = yield* asking(world, { path: CONSUMERS, json: consumerBody() })
  if (answer.status === 201) {
    world.facts.consumers.push({ id: textAt(answer, "consumer_id"), key: textAt(answer, "api_key") })
  }
  return String(answer.status)
})

export const joinAsProvider = Effect.fnUntraced(function* (world: World, { tools }: ActOf<"Provider">) {
  if (world.facts.providers.length >= PROVIDERS_MAX) return "enough"
  const declared = tools.map((terms, n) => declaration(`tool_${n}`, terms))
  const answer = yield* asking(world, { path: PROVIDERS, json: providerBody({ tools: declared }) })
  if (answer.status === 201) {
    const provider = { id: textAt(answer, "provider_id"), key: textAt(answer, "api_key") }
    world.facts.providers.push(provider)
    for (const [n, terms] of tools.entries()) {
      const tool: OfferedTool = { id: textAt(answer, "tools", n, "id"), provider, terms, prices: [terms.price] }
      world.facts.tools.push(tool)
    }
  }
  return String(answer.status)
})

/** Whether or not the answer came, the next call shows which price holds: see `Receipts`. */
export const price = Effect.fnUntraced(function* (world: World, act: ActOf<"Price">) {
  const tool = one(world.facts.tools, act.tool)
  if (tool === undefined) return "nobody"
  const name = `tool_${world.facts.tools.filter(({ provider }) => provider === tool.provider).indexOf(tool)}`
  const json = { tools: [declaration(name, { ...tool.terms, price: act.price })] }
  tool.prices.push(act.price)
  return String((yield* asking(world, { path: TOOLS, key: tool.provider.key, json })).status)
})

export const budget = Effect.fnUntraced(function* (world: World, { cap, period, who }: ActOf<"Budget">) {
  const owner = one(world.facts.consumers, who)
  if (owner === undefined) return "nobody"
  const answer = yield* asking(world, { path: BUDGETS, key: owner.key, json: { cap_microcents: cap, period } })
  return String(answer.status)
})

/** The old key works on for as long as was asked, and not longer. */
export const rotateKey = Effect.fnUntraced(function* (world: World, act: ActOf<"RotateKey">) {
  const over = yield* overRotated(world, act.who)
  const member = one([...world.facts.consumers, ...world.facts.providers], act.who)
  if (member === undefined) return "nobody"
  const old = member.key
  const call = { path: `${KEYS}/rotate`, key: old, json: { grace_seconds: act.graceHours * 3_600 } }
  const learn = (answer: Answer) => {
    if (member.key !== old) return
    Object.assign(member, { key: textAt(answer, "api_key") })
    // The grace time begins when it was carried out, which may be with a repetition.
    world.facts.rotated.push({ key: old, endsAtMs: Date.parse(textAt(answer, "replaces", "revoked_at")) })
  }
  return `${(yield* askingUnderKey(world, call, "api_key", learn)).status} ${over}`
})

const overRotated = Effect.fnUntraced(function* (world: World, which: number) {
  const now = yield* nowMs
  const ended = one(
    world.facts.rotated.filter(({ endsAtMs }) => endsAtMs + KNOWN_EVERYWHERE_AFTER_MS < now),
    which
  )
  if (ended === undefined) return "none over"
  const { status } = yield* asking(world, { path: KEYS, key: ended.key })
  return status < 400
    ? yield* wrong("a rotated key ends", `one that ended at ${ended.endsAtMs} opens at ${now}`)
    : "over"
})

const declaration = (name: string, { freeCalls, most, policy, price }: ToolTerms) => ({
  tool_name: name,
  price_microcents: price,
  free_tier_calls: freeCalls,
  billing_policy: policy,
  ...(most === undefined ? {} : { max_cost_microcents: Math.floor((price * most) / 100) })
})
