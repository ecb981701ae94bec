/**
 * Consumers that call, repeat calls and report calls, providers that bill, and their checks of the responses.
 */
import { Effect } from "effect"
import { ReceiptId } from "../../../domain/shared/Ids.ts"
import { at, type Member, textAt } from "../../support/market/Market.ts"
import { GRANTS, METER, PROXY } from "../../support/metering/Shop.ts"
import type { Call as Request } from "../../support/market/ServiceUnderTest.ts"
import type { Answer } from "../../support/checks/Answer.ts"
import { askAgain, asking, lately, one, undisturbed, wrong } from "./Asking.ts"
import { maximumOf } from "./Joining.ts"
import type { OfferedTool, Sent } from "../books/Facts.ts"
import type { ActOf, Call } from "./Step.ts"
import { nowMs, type World } from "./World.ts"

export const call = Effect.fnUntraced(function* (world: World, act: Call) {
  const buyer = one(world.facts.consumers, act.who)
  const tool = one(world.facts.tools, act.tool)
  if (buyer === undefined || tool === undefined) return "skipped"
  // Usage-priced tools are not called without a cap.
  const cap = act.cap ?? (maximumOf(tool.terms) > tool.terms.price ? 100 : undefined)
  return yield* callOf(world, cap === undefined ? act : { ...act, cap }, buyer, tool)
})

export const callOf = Effect.fnUntraced(function* (
  world: World,
  act: Omit<Call, "_tag" | "who" | "tool">,
  buyer: Member,
  tool: OfferedTool
) {
  const requests: Array<Sent> = []
  for (let n = 0; n < act.times; n++) {
    requests.push(act.keyed && n > 0 ? requests[0]! : yield* request(world, act, buyer, tool))
  }
  const sending = Effect.forEach(requests, (sent) => send(world, sent), { concurrency: "unbounded" })
  if (act.goesAwayAfterMs === undefined) return (yield* sending).join(" ")
  const leaving = Effect.map(Effect.sleep(act.goesAwayAfterMs), () => {
    for (const { word } of requests) world.facts.asked.get(word)!.left = true
    return ["went away"]
  })
  return (yield* Effect.raceFirst(sending, leaving)).join(" ")
})

const request = Effect.fnUntraced(function* (
  world: World,
  { cap, keyed, provider }: Pick<Call, "cap" | "keyed" | "provider">,
  buyer: Member,
  tool: OfferedTool
) {
  const word = `word-${++world.facts.words}`
  const { reports } = provider
  const most = maximumOf(tool.terms)
  world.providers.behaviors.set(word, {
    ...provider,
    reportedMicrocents: reports === undefined ? undefined : Math.floor((most * reports) / 100)
  })
  const capMicrocents = cap === undefined ? undefined : Math.floor((most * cap) / 100)
  const sentAtMs = yield* nowMs
  world.facts.asked.set(word, {
    tool,
    sentAtMs,
    cap: capMicrocents === undefined ? undefined : BigInt(capMicrocents),
    disturbancesBefore: world.board.disturbancesBefore,
    life: world.lives(),
    left: false
  })
  const sent: Sent = {
    word,
    by: buyer,
    sentAtMs,
    answered: undefined,
    call: {
      path: PROXY,
      key: buyer.key,
      json: {
        tool_id: tool.id,
        input: { word },
        ...(capMicrocents === undefined ? {} : { max_cost_microcents: capMicrocents })
      },
      headers: keyed ? { "idempotency-key": `key-${word}` } : {}
    }
  }
  world.facts.sent.push(sent)
  return sent
})

/** The same request byte for byte, or another one under its key. */
export const again = Effect.fnUntraced(function* (world: World, act: ActOf<"Again">) {
  const keyed = world.facts.sent.filter(({ call: { headers } }) => headers?.["idempotency-key"] !== undefined)
  const sent = one(yield* lately(keyed), act.which)
  if (sent === undefined) return "nothing"
  if (!act.changed) return yield* send(world, sent)
  const word = `word-${++world.facts.words}`
  world.providers.behaviors.set(word, { outcome: "success", latencyMs: 10, reportedMicrocents: undefined })
  const before = world.facts.asked.get(sent.word)!
  world.facts.asked.set(word, { ...before, sentAtMs: yield* nowMs, life: world.lives(), left: false })
  const json = { ...(sent.call.json as object), input: { word } }
  return yield* send(world, { ...sent, word, call: { ...sent.call, json }, answered: undefined })
})

/** Every caller gets its own response, the same one each time, and a receipt confirms it. */
const send = Effect.fnUntraced(function* (world: World, sent: Sent) {
  const before = world.board.disturbancesBefore
  const answer = yield* world.send({ ...sent.call, key: sent.by.key })
  if (answer.status !== 200) return yield* refused(world, answer, before)
  const keyed = sent.call.headers?.["idempotency-key"] !== undefined
  const said = at(answer, "result", "content", 0, "text")
  if (said !== sent.word) return yield* wrong("own answer", `asked with ${sent.word}, answered with ${said}`)
  if (keyed && (sent.answered ??= answer.text) !== answer.text) {
    return yield* wrong("same answer", `${sent.word} was answered with ${sent.answered}, then with ${answer.text}`)
  }
  acknowledge(world, answer, String(at(answer, "meta", "outcome")), ["meta"])
  return "200"
})

/** A call that was made and went wrong has a receipt too. */
const refused = Effect.fnUntraced(function* (world: World, answer: Answer, faultsBefore: number) {
  if (at(answer, "receipt_id") !== undefined) acknowledge(world, answer, String(at(answer, "outcome")), [])
  else yield* undisturbed(world, answer, faultsBefore)
  return String(answer.status)
})

const acknowledge = (world: World, answer: Answer, status: string, place: ReadonlyArray<string>): void => {
  world.facts.acknowledged.push({
    receiptId: ReceiptId.make(String(at(answer, ...place, "receipt_id"))),
    costMicrocents: Number(at(answer, ...place, "cost_microcents")),
    status
  })
}

/** Any other request that came under a key. */
export const repeat = Effect.fnUntraced(function* (world: World, { which }: ActOf<"Repeat">) {
  const keyed = one(yield* lately(world.facts.keyed), which)
  return keyed === undefined ? "nothing" : String((yield* askAgain(world, keyed)).status)
})

export const meter = Effect.fnUntraced(function* (world: World, act: ActOf<"Meter">) {
  const buyer = one(world.facts.consumers, act.who)
  const tool = one(world.facts.tools, act.tool)
  if (buyer === undefined || tool === undefined) return "skipped"
  return yield* report(world, {
    path: METER,
    key: buyer.key,
    json: { tool_id: tool.id, status: act.ok ? "success" : "error", duration_ms: 5 },
    headers: act.keyed ? { "idempotency-key": `meter-${++world.facts.words}` } : {}
  })
})

/** A provider reports a call of its own tool, at a cost of its own. */
export const bill = Effect.fnUntraced(function* (world: World, act: ActOf<"Bill">) {
  const granted = one(world.facts.granted.slice(-6), act.who)
  const offered = world.facts.tools.filter(({ provider }) => provider === granted?.provider)
  const [buyer, tool] = [granted?.consumer, one(offered, act.tool)]
  if (buyer === undefined || tool === undefined) return "skipped"
  const cost_microcents = Math.floor((tool.prices.at(-1)! * act.percent) / 100)
  return yield* report(world, {
    path: METER,
    key: tool.provider.key,
    json: { tool_id: tool.id, agent_id: buyer.id, status: "success", cost_microcents }
  })
})

export const grant = Effect.fnUntraced(function* (world: World, act: ActOf<"Grant">) {
  const buyer = one(world.facts.consumers, act.who)
  const provider = one(world.facts.providers, act.provider)
  if (buyer === undefined || provider === undefined) return "skipped"
  const json = { provider_id: provider.id, cap_microcents: act.cap, period: act.period }
  const answer = yield* asking(world, { path: GRANTS, key: buyer.key, json })
  if (answer.status !== 201) return String(answer.status)
  world.facts.granted.push({ consumer: buyer, provider, id: textAt(answer, "grant", "grant_id"), cap: BigInt(act.cap) })
  return "201"
})

/** What is billed from then on needs another one; what was billed stays. */
export const revoke = Effect.fnUntraced(function* (world: World, { which }: ActOf<"Revoke">) {
  const granted = one(world.facts.granted.slice(-6), which)
  if (granted === undefined) return "nothing"
  const path = `${GRANTS}/${granted.id}`
  return String((yield* asking(world, { path, method: "DELETE", key: granted.consumer.key })).status)
})

const report = Effect.fnUntraced(function* (world: World, request: Request) {
  const answer = yield* asking(world, request)
  if (answer.status === 201) acknowledge(world, answer, String(at(answer, "status")), ["receipt"])
  return String(answer.status)
})
