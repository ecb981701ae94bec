/**
 * Money in and out: loads, payments at the processor, its events, payouts and credit notes.
 */
import { Effect } from "effect"
import { listAt, valueAt } from "../../support/market/Market.ts"
import { LOAD } from "../../support/metering/Shop.ts"
import { asking, askingUnderKey, one } from "../world/Asking.ts"
import { type News, SIGNATURE } from "../parts/Processor.ts"
import type { ActOf } from "../world/Step.ts"
import { OPERATOR } from "../parts/Service.ts"
import { nowMs, type World } from "../world/World.ts"

const WEBHOOK = "/api/webhooks/stripe"
export const CONNECT = "/api/market/connect"
export const PAYOUTS = "/api/market/payouts"
const INVOICES = "/api/v1/market/invoices"

export const load = Effect.fnUntraced(function* (world: World, { cents, keyed, who }: ActOf<"Load">) {
  const payer = one(world.facts.consumers, who)
  if (payer === undefined) return "skipped"
  const call = { path: LOAD, key: payer.key, json: { amount_cents: cents } }
  return String((yield* keyed ? askingUnderKey(world, call, "session_id") : asking(world, call)).status)
})

/** On the processor's pages; the service hears of it by webhook, or when it asks. */
export const checkout = (world: World, { fate, which }: ActOf<"Checkout">) =>
  Effect.sync(() => {
    const open = [...world.processor.checkouts.values()].filter(({ state }) => state === "open")
    const ordered = one(open, which)
    if (ordered !== undefined) world.processor.end(ordered, fate)
    return ordered === undefined ? "nothing" : fate
  })

export const takeBack = (world: World, { cause, percent, which }: ActOf<"TakeBack">) =>
  Effect.sync(() => {
    const paid = [...world.processor.checkouts.values()].filter(({ state }) => state === "paid")
    const ordered = one(paid, which)
    if (ordered !== undefined) world.processor.takeBack(ordered, cause, percent)
    return ordered === undefined ? "nothing" : cause
  })

export const bringBack = Effect.fnUntraced(function* (world: World, { which }: ActOf<"BringBack">) {
  const gone = one([...world.processor.goneBack.values(), ...world.processor.refunds.values()], which)
  if (gone !== undefined && "partId" in gone) world.processor.returnRefund(gone)
  else if (gone !== undefined) world.processor.bringBack(gone, yield* nowMs)
  return gone === undefined ? "nothing" : "returned"
})

/** Sent again until it is acknowledged; an acknowledgement may be lost too. */
export const webhook = Effect.fnUntraced(function* (world: World, { answerLost, copies, which }: ActOf<"Webhook">) {
  const news = one([...world.processor.news.values()], which)
  return news === undefined ? "nothing" : yield* hand(world, news, copies, answerLost)
})

/** All that it has to tell, in order. */
export const handAll = Effect.fnUntraced(function* (world: World) {
  for (const news of world.processor.news.values()) yield* hand(world, news)
})

const hand = Effect.fnUntraced(function* (world: World, news: News, copies = 1, answerLost = false) {
  const headers = { "stripe-signature": SIGNATURE, "content-type": "application/json" }
  const answers = yield* Effect.forEach(
    Array.from({ length: copies }),
    () => asking(world, { path: WEBHOOK, body: news.body, headers }),
    { concurrency: "unbounded" }
  )
  if (answers.some(({ status }) => status === 200)) {
    world.processor.acknowledge(news.id, yield* nowMs)
    if (!answerLost) world.processor.news.delete(news.id)
  }
  return answers.map(({ status }) => status).join(" ")
})

export const connect = Effect.fnUntraced(function* (world: World, act: ActOf<"Connect">) {
  const provider = one(world.facts.providers, act.provider)
  if (provider === undefined) return "skipped"
  const answer = yield* asking(world, { path: CONNECT, key: provider.key, json: {} })
  yield* asking(world, { path: `${PAYOUTS}/automatic`, key: provider.key, json: { enabled: act.automatic } })
  return String(answer.status)
})

/** The service hears of it by webhook. */
export const restrict = (world: World, act: ActOf<"Restrict">) =>
  Effect.sync(() => {
    const provider = one(world.facts.providers, act.provider)
    if (provider === undefined) return "skipped"
    world.processor.restrict(`acct_${provider.id}`, act.restricted)
    return act.restricted ? "restricted" : "free again"
  })

export const payout = Effect.fnUntraced(function* (world: World, act: ActOf<"Payout">) {
  const provider = one(world.facts.providers, act.provider)
  if (provider === undefined) return "skipped"
  const call = { path: PAYOUTS, key: provider.key, json: {} }
  return String((yield* act.keyed ? askingUnderKey(world, call, "payout_id") : asking(world, call)).status)
})

export const transferBack = (world: World, { percent, which }: ActOf<"TransferBack">) =>
  Effect.sync(() => {
    const id = one([...world.processor.transfers.keys()], which)
    if (id !== undefined) world.processor.reverse(id, percent)
    return id === undefined ? "nothing" : "reversed"
  })

/** A credit note on one of a consumer's invoices. */
export const correct = Effect.fnUntraced(function* (world: World, { percent, which }: ActOf<"Correct">) {
  const owner = one(world.facts.consumers, which)
  if (owner === undefined) return "skipped"
  const list = yield* asking(world, { path: INVOICES, key: owner.key })
  if (list.status !== 200) return String(list.status)
  const invoice = one(
    listAt(list, "invoices").filter((each) => valueAt(each, "kind") === "invoice"),
    which
  )
  if (invoice === undefined) return "nothing"
  world.facts.corrected = true
  const amount = Math.floor((Number(valueAt(invoice, "total_microcents")) * percent) / 100)
  const json = { amount_microcents: amount, reason: "it was too much" }
  const path = `${INVOICES}/${String(valueAt(invoice, "invoice_id"))}/credit-notes`
  return String((yield* askingUnderKey(world, { path, key: OPERATOR, json })).status)
})
