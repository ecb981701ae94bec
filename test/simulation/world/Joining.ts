/**
 * Registration, and the terms of tools.
 */
import { Effect } from "effect"
import { consumerBody, CONSUMERS, KEYS, providerBody, PROVIDERS, textAt, TOOLS } from "../../support/market/Market.ts"
import type { Answer } from "../../support/checks/Answer.ts"
import { asking, askingUnderKey, one, wrong } from "./Asking.ts"
import type { OfferedTool } from "../books/Facts.ts"
import { defaultFeeOf } from "../books/Fees.ts"
import { Published } from "../books/Published.ts"
import type { ActOf } from "./Step.ts"
import type { ToolTerms } from "../books/ToolTerms.ts"
import { nowMs, type World } from "./World.ts"

/** Few, so that they meet often. */
const CONSUMERS_MAX = 6
const PROVIDERS_MAX = 4
const BUDGETS = "/api/v1/market/budgets"
/** It may have been carried out late, and the clock been set meanwhile. */
const KNOWN_EVERYWHERE_AFTER_MS = 10 * 60_000
const HOUR_MS = 3_600_000

export const joinAsConsumer = Effect.fnUntraced(function* (world: World) {
  if (world.facts.consumers.length >= CONSUMERS_MAX + membersOf(world, "consumers")) return "enough"
  return (yield* registerConsumer(world)).status
})

export const joinAsProvider = Effect.fnUntraced(function* (world: World, { tools }: ActOf<"Provider">) {
  if (world.facts.providers.length >= PROVIDERS_MAX + membersOf(world, "providers")) return "enough"
  return (yield* registerProvider(world, tools)).status
})

/** Of rings: they come on top of the others. */
const membersOf = ({ facts }: World, role: "consumers" | "providers"): number =>
  [...facts.rings.values()].reduce((sum, ring) => sum + ring[role].length, 0)

export const registerConsumer = Effect.fnUntraced(function* (world: World) {
  const sentAtMs = yield* nowMs
  const answer = yield* asking(world, { path: CONSUMERS, json: consumerBody() })
  if (answer.status !== 201) return { status: String(answer.status), member: undefined }
  const member = { id: textAt(answer, "consumer_id"), key: textAt(answer, "api_key") }
  world.facts.consumers.push(member)
  world.facts.joinedAtMs.set(member.id, sentAtMs)
  return { status: "201", member }
})

export const registerProvider = Effect.fnUntraced(function* (world: World, tools: ReadonlyArray<ToolTerms>) {
  const sentAtMs = yield* nowMs
  const declared = tools.map((terms, n) => declaration(`tool_${n}`, terms))
  const answer = yield* asking(world, { path: PROVIDERS, json: providerBody({ tools: declared }) })
  if (answer.status !== 201) return { status: String(answer.status), member: undefined }
  const provider = { id: textAt(answer, "provider_id"), key: textAt(answer, "api_key") }
  world.facts.providers.push(provider)
  world.facts.joinedAtMs.set(provider.id, sentAtMs)
  world.facts.fees.set(provider.id, defaultFeeOf(world))
  const published = (value: number) => new Published(value, sentAtMs, world.terms.priceNoticeHours * HOUR_MS)
  for (const [n, terms] of tools.entries()) {
    const tool: OfferedTool = {
      id: textAt(answer, "tools", n, "id"),
      name: `tool_${n}`,
      provider,
      terms,
      prices: [terms.price],
      price: published(terms.price),
      maximum: published(maximumOf(terms)),
      attempts: published(attemptsOf(terms))
    }
    world.facts.tools.push(tool)
  }
  return { status: "201", member: provider }
})

export const price = Effect.fnUntraced(function* (world: World, act: ActOf<"Price">) {
  const tool = one(world.facts.tools, act.tool)
  return tool === undefined ? "skipped" : yield* changeTerms(world, tool, { price: act.price })
})

/** Whether or not the answer came, the next call shows which terms hold: see `Receipts`. */
export const changeTerms = Effect.fnUntraced(function* (world: World, tool: OfferedTool, changes: Partial<ToolTerms>) {
  const terms = { ...tool.terms, ...changes }
  const sentAtMs = yield* nowMs
  tool.prices.push(terms.price)
  tool.terms = terms
  const sent = [
    [tool.price, tool.price.send(terms.price, sentAtMs)],
    [tool.maximum, tool.maximum.send(maximumOf(terms), sentAtMs)],
    [tool.attempts, tool.attempts.send(attemptsOf(terms), sentAtMs)]
  ] as const
  const json = { tools: [declaration(tool.name, terms)] }
  const { status } = yield* asking(world, { path: TOOLS, key: tool.provider.key, json })
  const answeredAtMs = yield* nowMs
  if (status === 201) for (const [published, change] of sent) published.confirm(change, answeredAtMs)
  return String(status)
})

export const budget = Effect.fnUntraced(function* (world: World, { cap, period, who }: ActOf<"Budget">) {
  const owner = one(world.facts.consumers, who)
  if (owner === undefined) return "skipped"
  const answer = yield* asking(world, { path: BUDGETS, key: owner.key, json: { cap_microcents: cap, period } })
  return String(answer.status)
})

/** The old key works on for as long as was asked, and not longer. */
export const rotateKey = Effect.fnUntraced(function* (world: World, act: ActOf<"RotateKey">) {
  const over = yield* overRotated(world, act.who)
  const member = one([...world.facts.consumers, ...world.facts.providers], act.who)
  if (member === undefined) return "skipped"
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

const declaration = (name: string, terms: ToolTerms) => ({
  tool_name: name,
  price_microcents: terms.price,
  free_tier_calls: terms.freeCalls,
  billing_policy: terms.policy,
  ...(terms.most === undefined && terms.maximum === undefined ? {} : { max_cost_microcents: maximumOf(terms) })
})

/** The most that a call may cost. */
export const maximumOf = ({ maximum, most = 100, price }: ToolTerms): number =>
  Math.max(price, maximum ?? Math.floor((price * most) / 100))

const attemptsOf = ({ policy }: ToolTerms): number => (policy === "attempt" ? 1 : 0)
