/**
 * Name squatting: what an attacker that lists a tool under a popular name could do to the calls of others. Each of
 * these turned working calls into 409, or forwarded them to the attacker, before bare names were pinned and providers
 * had handles.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { ProviderId } from "../../domain/shared/Ids.ts"
import { verify } from "../../testing/contracts/providers/HandleStoreContract.ts"
import {
  at,
  expecting,
  listAt,
  type Member,
  PROVIDERS,
  providerBody,
  putTools,
  textAt,
  TOOLS
} from "../support/market/Market.ts"
import { everyCore, memoryCore } from "../support/metering/Core.ts"
import { fine, forwarded, providing } from "../support/metering/Provider.ts"
import {
  aFundedConsumer,
  anOffer,
  METER,
  numberAt,
  type Offer,
  PRICE,
  problemOf,
  PROXY,
  walletOf,
  qualifiedNameOf
} from "../support/metering/Shop.ts"
import { OWN_TOOLS } from "../support/security/Paths.ts"
import { LIVE, send } from "../support/market/ServiceUnderTest.ts"
import { ordered } from "../support/security/Erasable.ts"

const GREED = 40 * PRICE

let names = 0
const aName = (): string => `popular_${++names}`

const call = (consumer: Member, toolName: string, more: object = {}) =>
  send({ path: PROXY, key: consumer.key, json: { tool_name: toolName, input: {}, ...more } })

const report = (consumer: Member, toolName: string) =>
  send({ path: METER, key: consumer.key, json: { tool_name: toolName, success: true } })

const withdraw = ({ provider, toolId }: Offer) =>
  expecting(200, { method: "DELETE", path: `${OWN_TOOLS}/${toolId}`, key: provider.key })

/** No consumer has called it yet, except the squatter's. */
const aVictim = Effect.fnUntraced(function* (toolName: string) {
  const server = yield* providing(fine)
  return { server, offer: yield* anOffer(server.url, { tool_name: toolName }) }
})

const aSquatter = Effect.fnUntraced(function* (toolName: string) {
  const server = yield* providing(fine)
  return { server, offer: yield* anOffer(server.url, { tool_name: toolName, price_microcents: GREED }) }
})

const register = (changes: object) => send({ path: PROVIDERS, json: providerBody({ ...changes }) })

let handles = 0
/** No two of them look alike. */
const aHandle = (): string => `shop-${[...String(++handles)].map((digit) => "abcdfhjkmn"[Number(digit)]).join("x")}`

it.layer(memoryCore, LIVE)("Name squatting", (it) => {
  it.effect("turns no working call, quote or report into a conflict, and receives none of them", () =>
    Effect.gen(function* () {
      const popular = aName()
      const victim = yield* aVictim(popular)
      const consumer = yield* aFundedConsumer()
      assert.strictEqual((yield* call(consumer, popular)).status, 200)

      const squatter = yield* aSquatter(popular)
      const answer = yield* call(consumer, popular)
      assert.strictEqual(answer.status, 200, answer.text)
      assert.deepStrictEqual(
        [at(answer, "meta", "tool_id"), at(answer, "meta", "cost_microcents")],
        [victim.offer.toolId, PRICE]
      )
      const quote = yield* call(consumer, popular, { dry_run: true })
      assert.strictEqual(at(quote, "quote", "tool_id"), victim.offer.toolId, quote.text)
      const reported = yield* report(consumer, popular)
      assert.deepStrictEqual([reported.status, at(reported, "tool_id")], [201, victim.offer.toolId], reported.text)
      const own = yield* send({
        path: METER,
        key: victim.offer.provider.key,
        json: { tool_name: popular, success: true }
      })
      assert.deepStrictEqual([own.status, at(own, "tool_id")], [201, victim.offer.toolId], own.text)
      assert.deepStrictEqual([forwarded(victim.server), forwarded(squatter.server)], [2, 0])
      assert.strictEqual((yield* walletOf(consumer)).balance, 1_000_000 - 3 * PRICE)
    })
  )

  it.effect("receives no call once the victim withdraws, and the victim gets the calls back with the tool", () =>
    Effect.gen(function* () {
      const popular = aName()
      const victim = yield* aVictim(popular)
      const [caller, reporter] = [yield* aFundedConsumer(), yield* aFundedConsumer()]
      assert.strictEqual((yield* call(caller, popular)).status, 200)
      assert.strictEqual((yield* report(reporter, popular)).status, 201)
      const squatter = yield* aSquatter(popular)
      yield* withdraw(victim.offer)

      const asks = [
        call(caller, popular),
        call(caller, popular, { dry_run: true }),
        report(caller, popular),
        call(reporter, popular),
        report(reporter, popular)
      ]
      for (const ask of asks) {
        const gone = yield* ask
        assert.deepStrictEqual(problemOf(gone), [410, "TOOL_WITHDRAWN"], gone.text)
        assert.strictEqual(at(gone, "tool_id"), victim.offer.toolId)
      }
      assert.strictEqual(forwarded(squatter.server), 0)
      for (const one of [caller, reporter]) {
        assert.strictEqual((yield* walletOf(one)).balance, 1_000_000 - PRICE)
      }

      yield* putTools(victim.offer.provider, { tool_name: popular })
      const back = yield* call(caller, popular)
      assert.deepStrictEqual([back.status, at(back, "meta", "tool_id")], [200, victim.offer.toolId], back.text)
    })
  )

  it.effect("causes a free conflict with the qualified names for an account without a pin", () =>
    Effect.gen(function* () {
      const popular = aName()
      const victim = yield* aVictim(popular)
      const squatter = yield* aSquatter(popular)
      const consumer = yield* aFundedConsumer()
      const qualified = yield* Effect.forEach([victim.offer, squatter.offer], qualifiedNameOf)
      for (const ask of [
        call(consumer, popular),
        call(consumer, popular, { dry_run: true }),
        report(consumer, popular)
      ]) {
        const refused = yield* ask
        assert.deepStrictEqual(problemOf(refused), [409, "DUPLICATE"], refused.text)
        const candidates = listAt(refused, "candidates").map((_, n) => at(refused, "candidates", n, "qualified_name"))
        assert.deepStrictEqual(candidates, qualified)
        for (const one of qualified) assert.include(textAt(refused, "message"), one)
      }
      assert.deepStrictEqual([forwarded(victim.server), forwarded(squatter.server)], [0, 0])
      assert.strictEqual((yield* walletOf(consumer)).balance, 1_000_000)

      for (const [n, { toolId }] of [victim.offer, squatter.offer].entries()) {
        const answer = yield* call(consumer, qualified[n]!)
        assert.deepStrictEqual([answer.status, at(answer, "meta", "tool_id")], [200, toolId], answer.text)
        assert.strictEqual((yield* call(consumer, popular)).status, 409, "a qualified name pins nothing")
      }
    })
  )

  it.effect("gets no pin by a quote, a failed call, a qualified name, an id or another's report", () =>
    Effect.gen(function* () {
      const popular = aName()
      const server = yield* providing((_, response) => void response.writeHead(500).end())
      const first = yield* anOffer(server.url, { tool_name: popular })
      const consumer = yield* aFundedConsumer()
      const qualified = yield* qualifiedNameOf(first)
      yield* call(consumer, popular, { dry_run: true })
      assert.strictEqual((yield* call(consumer, popular)).status, 502)
      assert.strictEqual((yield* report(consumer, qualified)).status, 201)
      const byId = { tool_id: first.toolId, success: true }
      yield* expecting(201, { path: METER, key: consumer.key, json: byId })
      yield* expecting(201, {
        path: "/api/v1/market/grants",
        key: consumer.key,
        json: { provider_id: first.provider.id, cap_microcents: 10 * PRICE }
      })
      const billed = { tool_name: popular, success: true, consumer_id: consumer.id }
      yield* expecting(201, { path: METER, key: first.provider.key, json: billed })
      yield* withdraw(first)

      const second = yield* aVictim(popular)
      const answer = yield* call(consumer, popular)
      assert.deepStrictEqual([answer.status, at(answer, "meta", "tool_id")], [200, second.offer.toolId], answer.text)
    })
  )

  it.effect("takes no tool name with a slash over by a handle, nor a handle's tools by a tool name", () =>
    Effect.gen(function* () {
      const handle = aHandle()
      const victim = yield* aVictim(`${handle}/route`)
      const consumer = yield* aFundedConsumer()
      assert.strictEqual((yield* call(consumer, `${handle}/route`)).status, 200)
      assert.deepStrictEqual(problemOf(yield* register({ handle })), [409, "DUPLICATE"])
      const derived = yield* register({ name: handle })
      assert.strictEqual(derived.status, 201)
      assert.notStrictEqual(textAt(derived, "handle"), handle)

      const taken = aHandle()
      assert.strictEqual((yield* register({ handle: taken, tools: [{ tool_name: "echo" }] })).status, 201)
      const stolen = { tools: [{ tool_name: `${taken}/echo` }, { tool_name: `${taken}/other` }] }
      const refused = yield* send({ path: TOOLS, key: victim.offer.provider.key, json: stolen })
      assert.deepStrictEqual(problemOf(refused), [422, "VALIDATION_ERROR"], refused.text)
      assert.include(refused.text, `\`${taken}\` is the handle of another provider`)
    })
  )

  it.effect("cannot register a handle that looks like a verified provider's, nor get one derived", () =>
    Effect.gen(function* () {
      const handle = `original-${aHandle()}`
      const original = yield* expecting(201, { path: PROVIDERS, json: providerBody({ handle }) })
      const imitations = [
        handle.replaceAll("o", "0"),
        handle.replaceAll("i", "1"),
        handle.replaceAll("i", "l"),
        handle.replaceAll("-", ""),
        handle.replace("shop", "sh-op"),
        handle.replaceAll("s", "5"),
        handle.replace("original", "originall"),
        handle.replace("original", "0r1g1na1")
      ]
      const early = yield* expecting(201, { path: PROVIDERS, json: providerBody({ handle: imitations[0] }) })
      yield* verify(ProviderId.make(textAt(original, "provider_id")))
      for (const imitation of imitations.slice(1)) {
        const refused = yield* register({ handle: imitation })
        assert.deepStrictEqual(problemOf(refused), [422, "VALIDATION_ERROR"], `${imitation} ${refused.text}`)
        assert.include(textAt(refused, "details", 0, "message"), `looks like \`${handle}\``)
      }
      assert.deepStrictEqual(problemOf(yield* register({ handle })), [409, "DUPLICATE"])
      for (const like of [handle, handle.toUpperCase(), imitations[2]!, handle.replaceAll("-", " _ ")]) {
        const derived = yield* register({ name: like })
        assert.strictEqual(derived.status, 201, derived.text)
        assert.match(textAt(derived, "handle"), /^provider-[0-9a-f]{6,}$/u)
      }
      assert.strictEqual(textAt(early, "handle"), imitations[0], "it was there before")
    })
  )

  it.effect("cannot get the handle of an erased account", () =>
    Effect.gen(function* () {
      const handle = aHandle()
      const first = yield* expecting(201, { path: PROVIDERS, json: providerBody({ handle }) })
      yield* ordered({ id: textAt(first, "provider_id") })
      assert.deepStrictEqual(problemOf(yield* register({ handle })), [409, "DUPLICATE"])
      assert.notStrictEqual(textAt(yield* register({ name: handle }), "handle"), handle)
      const erased = `erased-${textAt(first, "provider_id").slice(-12)}`
      assert.deepStrictEqual(problemOf(yield* register({ handle: erased })), [422, "VALIDATION_ERROR"])
    })
  )

  it.effect("gets no calls at a higher price by a tool whose qualified name is another tool's name", () =>
    Effect.gen(function* () {
      const server = yield* providing(fine)
      const handle = aHandle()
      const [bare, own] = [aName(), `${handle}/${aName()}`]
      const listed = [{ tool_name: own, price_microcents: PRICE, free_tier_calls: 0 }]
      const body = providerBody({ handle, endpoint_url: server.url, tools: listed })
      const registered = yield* expecting(201, { path: PROVIDERS, json: body })
      const key = textAt(registered, "api_key")
      const dear = { tool_name: own.slice(handle.length + 1), price_microcents: GREED }
      const refused = yield* send({ path: TOOLS, key, json: { tools: [dear] } })
      assert.deepStrictEqual(problemOf(refused), [422, "VALIDATION_ERROR"], refused.text)
      assert.include(textAt(refused, "message"), `calls of your tool \`${own}\` would go to this one`)
      yield* expecting(201, { path: TOOLS, key, json: { tools: [{ ...dear, tool_name: bare }] } })
      const answer = yield* call(yield* aFundedConsumer(), own)
      assert.strictEqual(numberAt(answer, "meta", "cost_microcents"), PRICE, answer.text)
    })
  )
})

for (const [name, core] of everyCore) {
  it.layer(core, LIVE)(`Name squatting over ${name}`, (it) => {
    it.effect("gets none of the calls of an account whose first calls are concurrent", () =>
      Effect.gen(function* () {
        const popular = aName()
        const first = yield* aVictim(popular)
        const consumer = yield* aFundedConsumer()
        const racing = Effect.all(
          Array.from({ length: 8 }, () => call(consumer, popular)),
          { concurrency: "unbounded" }
        )
        const answers = yield* racing
        assert.deepStrictEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
        yield* aSquatter(popular)
        const later = yield* racing
        for (const answer of later) assert.strictEqual(at(answer, "meta", "tool_id"), first.offer.toolId, answer.text)
        assert.strictEqual(numberAt(later[0]!, "meta", "cost_microcents"), PRICE)
      })
    )
  })
}
