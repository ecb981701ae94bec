/**
 * Two people with data of every kind, whom the operator may erase.
 */
import { Effect } from "effect"
import { Erasure } from "../../../domain/erasure/Erasure.ts"
import { Sequencer } from "../../../domain/log/Sequencer.ts"
import { aConsumer, aProvider, expecting, type Member, textAt } from "../market/Market.ts"
import { fine, providing } from "../metering/Provider.ts"
import { buy, GRANTS, load, offerOf } from "../metering/Shop.ts"
import { BUDGETS, DISPUTES, KEYS, TOOLBOX } from "./Paths.ts"

/** Part of every text that the person has sent: what is left of it afterwards is found by it. */
export const MARK = "Zanzibar"
export const CALLS = 3
export const CENTS = 100

let people = 0

/** A consumer and a provider with data of every kind, who have dealt with each other. */
export const aPair = Effect.gen(function* () {
  const n = ++people
  const [mail, providerMail] = [`zanzibar-${n}@person.example`, `zanzibar-provider-${n}@person.example`]
  const { url } = yield* providing(fine)
  const provider = yield* aProvider({
    name: `${MARK} Works`,
    email: providerMail,
    endpoint_url: url,
    description: `By ${MARK} herself`
  })
  const words = { display_name: `${MARK}'s echo`, description: `Made by ${MARK}`, category: "games" }
  const offer = yield* offerOf(provider, {
    ...words,
    input_schema: { type: "object", description: `${MARK} knows` }
  })
  const consumer = yield* aConsumer({ name: `Agent of ${MARK}`, email: mail, use_case: `What ${MARK} does` })
  yield* load(consumer, CENTS)
  const receipts: Array<string> = []
  for (let call = 0; call < CALLS; call++) receipts.push(textAt(yield* buy(consumer, offer), "meta", "receipt_id"))
  yield* Effect.flatMap(Sequencer, ({ sequence }) => sequence)
  const made = (path: string, json: Readonly<Record<string, unknown>>) =>
    expecting(201, { path, key: consumer.key, json })
  yield* made(GRANTS, { provider_id: provider.id, cap_microcents: 1_000 })
  yield* made(BUDGETS, { cap_microcents: 900_000_000 })
  yield* made(KEYS, { label: `${MARK}'s laptop` })
  yield* expecting(200, { path: TOOLBOX, key: consumer.key, json: { tools: [offer.toolId] } })
  // The alias, which contains the handle, is given when the tool is listed.
  yield* expecting(200, { path: TOOLBOX, key: consumer.key })
  for (const [path, json] of [
    ["/api/v1/waitlist", { email: mail, source: MARK }],
    ["/api/v1/feedback", { contact: ` ${mail.toUpperCase()}`, message: `${MARK} says` }],
    ["/api/v1/apply", { name: MARK, contact: mail, pitch: MARK }]
  ] as const) {
    yield* expecting(201, { path, json })
  }
  return { consumer, provider, offer, receipts, mail, providerMail }
})
export type Pair = Effect.Success<typeof aPair>

export const filed = ({ consumer, receipts }: Pair) =>
  Effect.map(
    expecting(201, {
      path: DISPUTES,
      key: consumer.key,
      json: { receipt_id: receipts[0], reason: "quality", description: `${MARK} is not amused` }
    }),
    (answer) => textAt(answer, "dispute_id")
  )

export const ordered = (owner: Pick<Member, "id">, leaveMoney = true, by = "ticket 1") =>
  Effect.flatMap(Erasure, ({ erase }) => erase({ ownerId: owner.id, by, leaveMoney }))

export const refusalOf = (owner: Pick<Member, "id">, leaveMoney = true) => Effect.flip(ordered(owner, leaveMoney))
