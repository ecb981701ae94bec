/**
 * A consumer's registration: every field of the contract and its limits; and it does not reveal who is registered
 * with an email address.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { hash } from "node:crypto"
import { UUID } from "../../support/checks/ContractCheck.ts"
import {
  aConsumer,
  aProvider,
  at,
  CONSUMERS,
  consumerBody,
  expecting,
  faultPaths,
  KEYS,
  PROVIDERS,
  providerBody,
  textAt
} from "../../support/market/Market.ts"
import { ServiceUnderTest, LIVE, send } from "../../support/market/ServiceUnderTest.ts"

const WHOAMI = "/api/v1/market/whoami"

const isChecked = (key: string): boolean => hash("sha256", key.slice(0, -8), "hex").startsWith(key.slice(-8))

const consumer = (changes: Readonly<Record<string, unknown>>) => ({ path: CONSUMERS, json: consumerBody(changes) })
const provider = (changes: Readonly<Record<string, unknown>>) => ({ path: PROVIDERS, json: providerBody(changes) })

it.layer(ServiceUnderTest.memory({ RATE_LIMIT_RPM: "60" }), LIVE)("a consumer's registration", (it) => {
  it.effect("returns the account, its first key and the next steps", () =>
    Effect.gen(function* () {
      const answer = yield* expecting(201, consumer({ name: "  Curious Agent ", use_case: "weather" }))
      const { api_key: key, consumer_id: id, next_steps: steps, ...rest } = answer.json as Record<string, unknown>
      assert.match(String(id), UUID)
      assert.match(String(key), /^atb_c_[0-9a-f]{64}[0-9a-f]{8}$/u)
      assert.isTrue(isChecked(String(key)))
      assert.isNotEmpty(steps)
      assert.deepStrictEqual(rest, {
        registered: true,
        agent_id: id,
        name: "Curious Agent",
        api_key_prefix: String(key).slice(0, 14),
        balance: "$0.00",
        balance_microcents: 0,
        rate_limit_rpm: 60,
        message: rest["message"]
      })
      const who = yield* expecting(200, { path: WHOAMI, key: String(key) })
      assert.deepStrictEqual([at(who, "role"), at(who, "id"), at(who, "name")], ["consumer", id, "Curious Agent"])
    })
  )

  it.effect("grants the requested rate, at most the ceiling", () =>
    Effect.gen(function* () {
      for (const [asked, granted] of [
        [undefined, 60],
        [1, 1],
        [100, 100],
        [6_000, 6_000],
        [6_001, 6_000],
        [1_000_000, 6_000]
      ]) {
        const answer = yield* expecting(201, consumer({ rate_limit_rpm: asked }))
        assert.strictEqual(at(answer, "rate_limit_rpm"), granted)
        const who = yield* expecting(200, { path: WHOAMI, key: textAt(answer, "api_key") })
        assert.strictEqual(at(who, "rate_limit_rpm"), at(answer, "rate_limit_rpm"))
      }
      for (const asked of [0, -1, 1.5, "60", null, 1_000_001, 2 ** 53]) {
        assert.deepStrictEqual(faultPaths(yield* expecting(422, consumer({ rate_limit_rpm: asked }))), [
          "rate_limit_rpm"
        ])
      }
    })
  )

  it.effect("accepts common forms of email addresses, and rejects anything else", () =>
    Effect.gen(function* () {
      const good = [
        "a@b.co",
        " Ada.Lovelace+tag@Example.ORG ",
        "x_y-z@sub.domain.example",
        "1@2.de",
        "o'neil@example.org"
      ]
      for (const email of good) yield* expecting(201, consumer({ email }))
      const bad = [
        "",
        " ",
        "a",
        "@example.org",
        "a@",
        "a@b",
        "a@b..org",
        "a@.org",
        "a@org.",
        "a@-b.org",
        "a@b-.org",
        ".a@b.org",
        "a.@b.org",
        "a..b@c.org",
        "a b@c.org",
        "a@b c.org",
        "a@b@c.org",
        "a@b.org\nbcc: d@e.org",
        "ä@example.org",
        `${"a".repeat(250)}@b.org`,
        null,
        7,
        ["a@b.org"],
        { a: "b@c.org" }
      ]
      for (const email of bad) {
        const answer = yield* expecting(422, consumer({ email }))
        assert.deepStrictEqual(faultPaths(answer), ["email"], JSON.stringify(email))
      }
    })
  )

  it.effect("accepts any name of up to 200 characters that is not blank and has no hidden characters", () =>
    Effect.gen(function* () {
      for (const name of ["x", "x".repeat(200), "Ünï 日本 😀 |<b>'\"\\", "null"]) {
        const answer = yield* expecting(201, consumer({ name }))
        assert.strictEqual(at(answer, "name"), name)
        const who = yield* expecting(200, { path: WHOAMI, key: textAt(answer, "api_key") })
        assert.strictEqual(at(who, "name"), name)
      }
      for (const name of ["", " ", "\t\n", "x".repeat(201), null, 1, [], {}]) {
        assert.deepStrictEqual(faultPaths(yield* expecting(422, consumer({ name }))), ["name"], JSON.stringify(name))
      }
      yield* expecting(201, consumer({ use_case: "x".repeat(4_000) }))
      assert.deepStrictEqual(faultPaths(yield* expecting(422, consumer({ use_case: "x".repeat(4_001) }))), ["use_case"])
    })
  )

  it.effect("rejects unknown fields, `__proto__` too", () =>
    Effect.gen(function* () {
      const body = `{"name":"x","email":"a@b.org","__proto__":{"name":"y"},"constructor":1,"balance_microcents":5}`
      const answer = yield* expecting(422, { path: CONSUMERS, body })
      assert.deepStrictEqual(faultPaths(answer), ["__proto__", "balance_microcents", "constructor"])
    })
  )
})

it.layer(ServiceUnderTest.memory({ RATE_LIMIT_RPM: "60" }), LIVE)("an email address", (it) => {
  it.effect("does not reveal that another account is registered with it", () =>
    Effect.gen(function* () {
      const known = "known@example.org"
      yield* aConsumer({ email: known })
      yield* aProvider({ email: known })
      const stranger = yield* aConsumer({ email: "stranger@example.org" })
      const shape = (email: string, key?: string) =>
        Effect.gen(function* () {
          const answers = [yield* send({ ...consumer({ email }), key }), yield* send({ ...provider({ email }), key })]
          return answers.map(({ headers, json, status }) => [status, Object.keys(headers), Object.keys(json as object)])
        })
      assert.deepStrictEqual(yield* shape(known), yield* shape("unknown@example.org"))
      assert.deepStrictEqual(yield* shape(known, stranger.key), yield* shape("unknown@example.org", stranger.key))
    })
  )

  it.effect("that is the caller's own returns a clear 409", () =>
    Effect.gen(function* () {
      const [mine, ours] = [
        yield* aConsumer({ email: "Me@example.org" }),
        yield* aProvider({ email: "us@example.org" })
      ]
      for (const [call, key, id] of [
        [consumer({ email: " ME@EXAMPLE.org " }), mine.key, mine.id],
        [provider({ email: "us@example.org" }), ours.key, ours.id]
      ] as const) {
        const answer = yield* expecting(409, { ...call, key })
        assert.strictEqual(at(answer, "code"), "DUPLICATE")
        assert.include(textAt(answer, "message"), id)
        assert.include(textAt(answer, "message"), KEYS)
      }
      // In the other role it is another account.
      yield* expecting(201, { ...provider({ email: "me@example.org" }), key: mine.key })
    })
  )
})
