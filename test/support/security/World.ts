/**
 * Two consumers and two providers, one of each with data of every kind: what the others must not see, change or take.
 */
import { assert } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { Sequencer } from "../../../domain/log/Sequencer.ts"
import { BALANCE, BUDGETS, DISPUTES, GRANTS, INVOICES, KEYS, RECEIPTS, TOOLBOX } from "./Paths.ts"
import { aConsumer, aProvider, expecting, listAt, type Member, textAt, unasked, valueAt } from "../market/Market.ts"
import { when } from "../metering/TestTime.ts"
import { fine, providing } from "../metering/Provider.ts"
import { buy, load, offerOf, type Offer } from "../metering/Shop.ts"
import { send, type ServiceUnderTest } from "../market/ServiceUnderTest.ts"
import type { Caller, Party } from "./Callers.ts"

export const OPERATOR = "the operator's key of the matrix, 32 characters"

/** Texts by which private data is recognized. */
export interface Marks {
  readonly consumerEmail: string
  readonly providerEmail: string
  readonly consumerName: string
  readonly consumerBalance: string
  readonly consumerKey: string
  readonly providerKey: string
  readonly grant: string
  readonly budget: string
  readonly invoice: string
  readonly statement: string
  readonly receipt: string
  readonly claim: string
}
export type Mark = keyof Marks

export interface World {
  readonly keys: Readonly<Record<Caller, string | undefined>>
  readonly marks: Marks
  readonly consumer: Member
  readonly provider: Member
  readonly offer: Offer
  readonly endpointUrl: string
  /** Paid for and not disputed, one for each party. */
  readonly undisputed: { readonly byConsumer: string; readonly byProvider: string }
  readonly dispute: string
}

/** Two of them are enough for a payout: the third one's earnings are frozen by its dispute. */
export const PRICE = 6_000_000

let worlds = 0

export const aWorld = Effect.gen(function* () {
  const n = ++worlds
  const month = monthOf(n)
  const during = when(`${month}-15T12:00:00.000Z`)
  const after = when(`${monthOf(n + 1)}-01T00:06:00.000Z`)
  const cents = 1_000_00 - n
  const [consumerEmail, providerEmail] = [`consumer-${n}@owner.example`, `provider-${n}@owner.example`]
  const consumerName = `Secretive Agent ${n}`

  const consumer = yield* aConsumer({ name: consumerName, email: consumerEmail })
  const [other, otherProvider] = [yield* aConsumer(), yield* aProvider()]
  const { url } = yield* providing(fine)
  const provider = yield* aProvider({ name: `Owner's Tools ${n}`, email: providerEmail, endpoint_url: url })
  const offer = yield* offerOf(provider, { price_microcents: PRICE })
  yield* offerOf(otherProvider)
  for (const one of [consumer, other]) assert.strictEqual((yield* load(one, cents)).status, 200)

  const bought = Effect.map(buy(consumer, offer), (answer) => textAt(answer, "meta", "receipt_id"))
  const [receipt, byConsumer, byProvider] = yield* during(Effect.all([bought, bought, bought]))
  const claim = `what the parties alone know, number ${n}`
  const filing = { receipt_id: receipt, reason: "quality", description: claim }
  const dispute = yield* during(expecting(201, { path: DISPUTES, key: consumer.key, json: filing }))
  yield* after(expecting(200, { path: `${INVOICES}/run`, key: OPERATOR, json: { month } }))
  yield* inTheLog

  const made = (path: string, json: Readonly<Record<string, unknown>>) =>
    expecting(201, { path, key: consumer.key, json })
  const grant = yield* made(GRANTS, { provider_id: provider.id, cap_microcents: 10 * PRICE + n })
  const budget = yield* made(BUDGETS, { cap_microcents: 900_000_000 + n })
  const spareKey = yield* anotherKey(consumer)
  const toolbox = { tools: [offer.toolId], key_id: spareKey }
  yield* expecting(200, { path: TOOLBOX, key: consumer.key, json: toolbox })
  const world: World = {
    keys: {
      nobody: undefined,
      revoked: yield* revokedKey(consumer),
      consumerOther: other.key,
      providerOther: otherProvider.key,
      operator: OPERATOR,
      providerOwner: provider.key,
      consumerOwner: consumer.key
    },
    marks: {
      consumerEmail,
      providerEmail,
      consumerName,
      consumerBalance: String(cents * 10_000 - 3 * PRICE),
      consumerKey: spareKey,
      providerKey: yield* anotherKey(provider),
      grant: textAt(grant, "grant", "grant_id"),
      budget: textAt(budget, "budget", "budget_id"),
      invoice: yield* documentOf(consumer),
      statement: yield* documentOf(provider),
      receipt,
      claim
    },
    consumer,
    provider,
    offer,
    endpointUrl: url,
    undisputed: { byConsumer, byProvider },
    dispute: textAt(dispute, "dispute_id")
  }
  return world
})

/** For reads, which leave it unchanged. */
export class SharedWorld extends Context.Service<SharedWorld, World>()(
  "agent-tool-billing/test/support/security/SharedWorld"
) {
  static readonly layer = Layer.effect(SharedWorld, aWorld)
}

const inTheLog = Effect.flatMap(Sequencer, ({ sequence }) => sequence)

/** A month that no other world uses. */
const monthOf = (n: number): string => `${2040 + Math.floor(n / 12)}-${String((n % 12) + 1).padStart(2, "0")}`

const anotherKey = (owner: Member) =>
  Effect.map(expecting(201, { path: KEYS, key: owner.key, json: { label: "spare" } }), (answer) =>
    textAt(answer, "key", "key_id")
  )

const revokedKey = Effect.fnUntraced(function* (owner: Member) {
  const answer = yield* expecting(201, { path: KEYS, key: owner.key, json: {} })
  const path = `${KEYS}/${textAt(answer, "key", "key_id")}`
  yield* expecting(200, { method: "DELETE", path, key: owner.key })
  return textAt(answer, "api_key")
})

const documentOf = (owner: Member) =>
  Effect.map(expecting(200, { path: INVOICES, key: owner.key }), (answer) => {
    const [document] = listAt(answer, "invoices")
    return String(valueAt(document, "invoice_id"))
  })

export type Standings = Readonly<Record<Party, string>>

/** Everything that the owners can see of their own, each as one text: a different text means a change. */
export const standings = (world: World): Effect.Effect<Standings, never, ServiceUnderTest> =>
  Effect.all(
    { consumerOwner: standingOf(world, "consumerOwner"), providerOwner: standingOf(world, "providerOwner") },
    { concurrency: 2 }
  )

const standingOf = (world: World, party: Party) =>
  Effect.map(
    Effect.forEach(PATHS_OF[party](world), (path) => send({ path: unasked(path), key: world.keys[party] }), {
      concurrency: 5
    }),
    (answers) => answers.map(({ status, text }) => `${status} ${withoutTimes(text)}`).join("\n")
  )

const SHARED = [
  KEYS,
  `${RECEIPTS}?limit=100`,
  `${DISPUTES}?limit=100`,
  INVOICES,
  "/api/market/usage",
  "/api/v1/market/whoami"
]
const PATHS_OF: Readonly<Record<Party, (world: World) => ReadonlyArray<string>>> = {
  consumerOwner: ({ marks }) => [...SHARED, BALANCE, GRANTS, `${TOOLBOX}?key_id=${marks.consumerKey}`],
  providerOwner: ({ provider }) => [
    ...SHARED,
    "/api/market/connect",
    "/api/market/payouts",
    `/api/market/catalog?provider_id=${provider.id}`,
    `/api/v1/market/providers/${provider.id}/trust`
  ]
}

/** Values of the moment of the request. */
const withoutTimes = (text: string): string => text.replaceAll(/"(?:timestamp|generated_at)":"[^"]*"/gu, "")
