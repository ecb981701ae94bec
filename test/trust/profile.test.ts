/**
 * What a provider changes of its account: a verification stays only while it is of what the provider has, and
 * an address counts once its mailbox is proven.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { Erasure } from "../../domain/erasure/Erasure.ts"
import { ENDPOINT_CHANGES_PER_HOUR_MAX, ProviderProfile } from "../../domain/providers/ProviderProfile.ts"
import type { ProviderId } from "../../domain/shared/Ids.ts"
import { CHECKS_PER_HOUR_MAX } from "../../domain/trust/Verification.ts"
import type { Answer } from "../support/checks/Answer.ts"
import {
  aProvider,
  at,
  CATALOG,
  expecting,
  listAt,
  listedTool,
  type Member,
  textAt,
  unasked
} from "../support/market/Market.ts"
import { LIVE, send } from "../support/market/ServiceUnderTest.ts"
import { eventually } from "../support/mcp/McpClient.ts"
import { memoryCoreReading } from "../support/metering/Core.ts"
import { fine, forwarded, providing, slowProvider } from "../support/metering/Provider.ts"
import { aFundedConsumer, buy, offerOf, PRICE, problemOf, walletOf } from "../support/metering/Shop.ts"
import { later } from "../support/metering/TestTime.ts"
import { evidence, World } from "../support/trust/World.ts"

const PROFILE = "/api/v1/market/providers/profile"
const EMAIL = "/api/v1/market/providers/email"
const VERIFY = "/api/v1/market/providers/verify"

const change = (provider: Member, json: object) => send({ path: PROFILE, key: provider.key, json })
const emailing = (provider: Member, json: object) => send({ path: EMAIL, key: provider.key, json })
const profileOf = (provider: Member) => expecting(200, { path: PROFILE, key: provider.key })

let addresses = 0
const anAddress = () => `owner${++addresses}@mailbox${addresses}.example`

const lettersTo = (address: string) =>
  Effect.map(World, ({ mail }) => mail.letters.filter(({ to }) => to === address).map(({ text }) => text))

const codeTo = (address: string) =>
  Effect.map(lettersTo(address), (letters) => /^ {2}([0-9a-f]{64})\r?$/mu.exec(letters.at(-1) ?? "")![1]!)

const aChange = Effect.gen(function* () {
  const [before, after] = [anAddress(), anAddress()]
  const provider = yield* aProvider({ email: before })
  const asked = yield* emailing(provider, { email: after })
  assert.strictEqual(asked.status, 200, asked.text)
  return { provider, before, after, asked, code: yield* codeTo(after) }
})

const email = (answer: Answer) => [at(answer, "email"), at(answer, "pending_email")]

const found = (q: string) =>
  Effect.map(expecting(200, { path: unasked(`${CATALOG}?q=${q}`) }), (answer) => listAt(answer, "tools").length)

it.layer(memoryCoreReading(evidence).pipe(Layer.provideMerge(evidence)), LIVE)("A provider's profile", (it) => {
  it.effect("changes what is sent, by the rules of registration, and the catalog finds its tools by the new name", () =>
    Effect.gen(function* () {
      const [before, after] = ["Cirrus", "Nimbus"]
      const provider = yield* aProvider({ name: before, description: "Clouds" })
      yield* offerOf(provider, { description: "Repeats" })
      const { handle, ...shown } = (yield* profileOf(provider)).json as Record<string, unknown>
      assert.deepInclude(shown, {
        name: before,
        description: "Clouds",
        email: "owner@example.org",
        pending_email: null
      })
      const changed = yield* change(provider, { name: ` ${after} ` })
      assert.strictEqual(changed.status, 200, changed.text)
      assert.deepInclude(changed.json, { name: after, description: "Clouds", handle: handle as string })
      assert.deepStrictEqual([yield* found(before), yield* found(after), yield* found("repeats")].slice(0, 2), [0, 1])
      const tool = yield* listedTool(provider, "echo")
      assert.deepInclude(JSON.stringify(tool), `"name":"${after}"`)
      for (const wrong of [
        { name: "" },
        { name: " " },
        { name: "x".repeat(201) },
        { description: "x".repeat(4_001) },
        { endpoint_url: "ftp://tools.example.org" },
        { endpoint_url: "https://me:secret@tools.example.org/mcp" },
        { endpoint_url: "" },
        { handle: "another" },
        { email: "me@example.org" }
      ]) {
        assert.deepStrictEqual(problemOf(yield* change(provider, wrong)), [422, "VALIDATION_ERROR"])
      }
      assert.strictEqual(at(yield* profileOf(provider), "name"), after)
    })
  )

  it.effect("keeps the prices, drafts and withdrawn tools of a renamed provider", () =>
    Effect.gen(function* () {
      const provider = yield* aProvider()
      yield* offerOf(provider, { tool_name: "listed", max_cost_microcents: 50_000, billing_policy: "attempt" })
      const gone = yield* offerOf(provider, { tool_name: "gone" })
      yield* expecting(200, { method: "DELETE", path: `/api/v1/market/tools/${gone.toolId}`, key: provider.key })
      const own = Effect.map(expecting(200, { path: "/api/v1/market/tools", key: provider.key }), (answer) =>
        listAt(answer, "tools").map((tool) => ({ ...(tool as object), provider: undefined }))
      )
      const before = yield* own
      assert.strictEqual((yield* change(provider, { name: "Renamed" })).status, 200)
      assert.deepStrictEqual(yield* own, before)
    })
  )

  it.effect("moves its endpoint: the next call goes there, a call in flight ends where it began", () =>
    Effect.gen(function* () {
      const slow = yield* slowProvider()
      const fast = yield* providing(fine)
      const provider = yield* aProvider({ endpoint_url: slow.server.url })
      const offer = yield* offerOf(provider)
      const consumer = yield* aFundedConsumer()
      const waiting = yield* Effect.forkChild(buy(consumer, offer))
      yield* eventually(() => forwarded(slow.server) === 1)
      assert.strictEqual((yield* change(provider, { endpoint_url: fast.url })).status, 200)
      assert.strictEqual((yield* buy(consumer, offer)).status, 200)
      assert.deepStrictEqual([forwarded(slow.server), forwarded(fast)], [1, 1])
      yield* slow.answer
      assert.strictEqual((yield* Fiber.join(waiting)).status, 200)
      assert.strictEqual((yield* walletOf(consumer)).balance, 1_000_000 - 2 * PRICE)
    })
  )

  it.effect("loses the verification of a domain that its endpoint has left, at once and also a challenge of it", () =>
    Effect.gen(function* () {
      const { zone } = yield* World
      const domain = `moving${++addresses}.example.org`
      const provider = yield* aProvider({ endpoint_url: `https://mcp.${domain}/mcp` })
      const ask = (json: object) => send({ path: VERIFY, key: provider.key, json: { level: "domain", ...json } })
      const publish = Effect.gen(function* () {
        const challenge = textAt(yield* ask({ domain }), "challenge", "record_value")
        zone.set(`_mcp-billing-verify.${domain}`, [challenge])
      })
      yield* publish
      assert.strictEqual(at(yield* ask({ domain }), "verified"), true)
      const stays = yield* change(provider, { endpoint_url: `https://other.${domain}/v2` })
      assert.strictEqual(at(stays, "verification_level"), "domain")
      const moved = yield* change(provider, { endpoint_url: "https://elsewhere.example.net/mcp" })
      assert.strictEqual(at(moved, "verification_level"), "unverified")
      const back = yield* change(provider, { endpoint_url: `https://mcp.${domain}/mcp` })
      assert.strictEqual(at(back, "verification_level"), "unverified")
      // The text that is still published is not of the new challenge.
      yield* ask({ domain })
      assert.strictEqual(at(yield* ask({ domain }), "verified"), false)
      yield* publish
      assert.strictEqual(at(yield* ask({ domain }), "verified"), true)
    })
  )

  it.effect("changes its email address when the code that was mailed there is sent, once", () =>
    Effect.gen(function* () {
      const { after, asked, before, code, provider } = yield* aChange
      assert.deepStrictEqual(email(asked), [before, after])
      assert.notInclude(asked.text, code)
      assert.strictEqual(at(asked, "verification_level"), "unverified")
      assert.deepStrictEqual(yield* lettersTo(before), [])
      const thief = yield* aProvider()
      assert.deepStrictEqual(problemOf(yield* emailing(thief, { token: code })), [422, "VALIDATION_ERROR"])
      assert.strictEqual(
        at(yield* send({ path: VERIFY, key: provider.key, json: { level: "email", token: code } }), "verified"),
        false
      )
      const confirmed = yield* Effect.all([emailing(provider, { token: code }), emailing(provider, { token: code })], {
        concurrency: 2
      })
      assert.deepStrictEqual(confirmed.map(({ status }) => status).toSorted(), [200, 422])
      assert.deepStrictEqual(email(yield* profileOf(provider)), [after, null])
      assert.strictEqual(at(yield* profileOf(provider), "verification_level"), "email")
      const [told, ...more] = yield* lettersTo(before)
      assert.include(told, "was changed")
      assert.lengthOf(more, 0)
    })
  )

  it.effect("loses the verification of a mailbox only together with the mailbox", () =>
    Effect.gen(function* () {
      const { mail } = yield* World
      const [before, after] = [anAddress(), anAddress()]
      const provider = yield* aProvider({ email: before })
      const verify = (json: object) => send({ path: VERIFY, key: provider.key, json: { level: "email", ...json } })
      yield* verify({})
      const token = /"token": "([0-9a-f]{64})"/u.exec(mail.letters.findLast(({ to }) => to === before)!.text)![1]
      assert.strictEqual(at(yield* verify({ token }), "verified"), true)
      assert.strictEqual(at(yield* emailing(provider, { email: after }), "verification_level"), "email")
      assert.strictEqual(at(yield* emailing(provider, { email: before }), "pending_email"), null)
      const withdrawn = yield* codeTo(after)
      assert.deepStrictEqual(problemOf(yield* emailing(provider, { token: withdrawn })), [422, "VALIDATION_ERROR"])
      assert.deepStrictEqual(email(yield* profileOf(provider)), [before, null])
    })
  )

  it.effect("rejects codes that have expired, and counts wrong ones", () =>
    Effect.gen(function* () {
      const { code, provider } = yield* aChange
      const { confirmEmail, find } = yield* ProviderProfile
      const id = provider.id as ProviderId
      const late = later("25 hours")
      assert.strictEqual((yield* late(Effect.flip(confirmEmail(id, code))))._tag, "EmailTokenRejected")
      assert.isUndefined((yield* late(find(id))).pendingEmail)
      const { code: next, provider: guesser } = yield* aChange
      for (let n = 0; n < CHECKS_PER_HOUR_MAX; n++) {
        assert.strictEqual((yield* emailing(guesser, { token: "0".repeat(64) })).status, 422)
      }
      assert.deepStrictEqual(problemOf(yield* emailing(guesser, { token: next })), [429, "RATE_LIMITED"])
    })
  )

  it.effect("mails three times an hour for one provider, and five times a day to one mailbox", () =>
    Effect.gen(function* () {
      const victim = anAddress()
      const asking = Effect.gen(function* () {
        const provider = yield* aProvider({ email: anAddress() })
        const statuses: Array<number> = []
        for (let n = 0; n < 4; n++) statuses.push((yield* emailing(provider, { email: victim })).status)
        return statuses
      })
      assert.deepStrictEqual(
        [yield* asking, yield* asking],
        [
          [200, 200, 200, 429],
          [200, 200, 429, 429]
        ]
      )
      assert.lengthOf(yield* lettersTo(victim), 5)
    })
  )

  it.effect("tells a mailbox that was never verified of a change only within that limit", () =>
    Effect.gen(function* () {
      const victim = anAddress()
      for (let n = 0; n < 7; n++) {
        const after = anAddress()
        const provider = yield* aProvider({ email: victim })
        yield* emailing(provider, { email: after })
        assert.strictEqual((yield* emailing(provider, { token: yield* codeTo(after) })).status, 200)
      }
      assert.lengthOf(yield* lettersTo(victim), 5)
    })
  )

  it.effect("answers the same whether another account has the address", () =>
    Effect.gen(function* () {
      const taken = anAddress()
      yield* aProvider({ email: taken })
      const provider = yield* aProvider({ email: anAddress() })
      const other = yield* emailing(provider, { email: anAddress() })
      const same = yield* emailing(provider, { email: taken })
      const shape = ({ json, status }: Answer) => [status, Object.keys(json as object)]
      assert.deepStrictEqual(shape(same), shape(other))
    })
  )

  it.effect("moves its endpoint a limited number of times an hour, and retries are safe", () =>
    Effect.gen(function* () {
      const provider = yield* aProvider()
      for (let n = 0; n < ENDPOINT_CHANGES_PER_HOUR_MAX; n++) {
        assert.strictEqual((yield* change(provider, { endpoint_url: `http://127.0.0.1:1/${n}` })).status, 200)
      }
      const same = { endpoint_url: `http://127.0.0.1:1/${ENDPOINT_CHANGES_PER_HOUR_MAX - 1}` }
      assert.strictEqual((yield* change(provider, same)).status, 200)
      assert.deepStrictEqual(problemOf(yield* change(provider, { endpoint_url: "http://127.0.0.1:1/x" })), [
        429,
        "RATE_LIMITED"
      ])
      const keyed = (json: object) =>
        send({ path: PROFILE, key: provider.key, json, headers: { "idempotency-key": "one" } })
      assert.strictEqual((yield* keyed({ name: "First" })).status, 200)
      assert.strictEqual((yield* change(provider, { name: "Second" })).status, 200)
      assert.strictEqual((yield* keyed({ name: "First" })).headers["idempotent-replay"], "true")
      assert.strictEqual(at(yield* profileOf(provider), "name"), "Second")
    })
  )

  it.effect("is neither read nor changed with a consumer's key or after its erasure", () =>
    Effect.gen(function* () {
      const consumer = yield* aFundedConsumer(0)
      assert.deepStrictEqual(problemOf(yield* change(consumer, { name: "x" })), [403, "FORBIDDEN"])
      assert.deepStrictEqual(problemOf(yield* emailing(consumer, { email: "x@example.org" })), [403, "FORBIDDEN"])
      const provider = yield* aProvider()
      const { erase } = yield* Erasure
      yield* erase({ ownerId: provider.id, by: "its owner", leaveMoney: false })
      const { change: changing, requestEmail } = yield* ProviderProfile
      const id = provider.id as ProviderId
      assert.strictEqual((yield* Effect.flip(changing(id, { name: "x" })))._tag, "ProviderNotFound")
      assert.strictEqual((yield* Effect.flip(requestEmail(id, anAddress())))._tag, "ProviderNotFound")
    })
  )
})
