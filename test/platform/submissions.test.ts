/**
 * The waitlist, feedback and applications: accepted and rejected fields, and a limit for each.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { UUID } from "../support/checks/ContractCheck.ts"
import { at, expecting, faultPaths, listAt, textAt } from "../support/market/Market.ts"
import { LIVE, ServiceUnderTest } from "../support/market/ServiceUnderTest.ts"

const WAITLIST = "/api/v1/waitlist"
const FEEDBACK = "/api/v1/feedback"
const APPLY = "/api/v1/apply"

const ADDRESSES: ReadonlyArray<readonly [given: string, kept: string]> = [
  ["ada@example.org", "ada@example.org"],
  ["  Ada.Lovelace@EXAMPLE.org\t", "ada.lovelace@example.org"],
  ["a+b@sub.example.co.uk", "a+b@sub.example.co.uk"],
  ["o'brien_%!#@a-b.example", "o'brien_%!#@a-b.example"],
  ["1@2.3x", "1@2.3x"],
  ["x@xn--bcher-kva.example", "x@xn--bcher-kva.example"]
]

const NO_ADDRESSES: ReadonlyArray<unknown> = [
  "",
  " ",
  "ada",
  "@",
  "ada@",
  "@example.org",
  "ada@example",
  "ada@localhost",
  "ada@@example.org",
  "ada@example.org@example.org",
  "ada@example..org",
  "ada@.example.org",
  "ada@example.org.",
  ".ada@example.org",
  "ada.@example.org",
  "a..da@example.org",
  "ada@-example.org",
  "ada@example-.org",
  "ada@sub.-example.org",
  "ada@sub-.example.org",
  "ada@example.-org",
  "ada@example.org-",
  "a da@example.org",
  "ada@exam ple.org",
  "ada@example. org",
  "ada @example.org",
  "ada@example.org\nb@example.org",
  "ada@ex_ample.org",
  "Ada <ada@example.org>",
  "ada@example.org,b@example.org",
  "ädä@example.org",
  "ada@exämple.org",
  `${"a".repeat(250)}@example.org`,
  `ada@${"a".repeat(64)}.org`,
  null,
  1,
  true,
  {},
  ["ada@example.org"],
  { email: "ada@example.org" }
]

it.layer(ServiceUnderTest.memory(), LIVE)("the waitlist", (it) => {
  it.effect("accepts an address once, in normal form: 201, then 200", () =>
    Effect.gen(function* () {
      for (const [email, kept] of ADDRESSES) {
        const first = yield* expecting(201, { path: WAITLIST, json: { email, source: "test" } })
        assert.deepStrictEqual(Object.keys(first.json as object).toSorted(), ["email", "id", "message"])
        assert.strictEqual(at(first, "email"), kept)
        assert.match(textAt(first, "id"), UUID)
        for (const again of [email, kept.toUpperCase(), ` ${kept} `]) {
          const second = yield* expecting(200, { path: WAITLIST, json: { email: again } })
          assert.deepStrictEqual(Object.keys(second.json as object).toSorted(), ["email", "message"])
          assert.strictEqual(at(second, "email"), kept)
        }
      }
    })
  )

  it.effect("rejects an invalid address, by field", () =>
    Effect.gen(function* () {
      for (const email of NO_ADDRESSES) {
        const answer = yield* expecting(422, { path: WAITLIST, json: { email } })
        assert.deepStrictEqual(faultPaths(answer), ["email"], JSON.stringify(email))
      }
      assert.deepStrictEqual(faultPaths(yield* expecting(422, { path: WAITLIST, json: {} })), ["email"])
      const long = { email: "b@example.org", source: "x".repeat(201) }
      assert.deepStrictEqual(faultPaths(yield* expecting(422, { path: WAITLIST, json: long })), ["source"])
      yield* expecting(201, { path: WAITLIST, json: { ...long, source: "x".repeat(200) } })
    })
  )

  it.effect("accepts one of several concurrent requests", () =>
    Effect.gen(function* () {
      const call = { path: WAITLIST, json: { email: "many@example.org" } }
      const answers = yield* Effect.all(
        Array.from({ length: 16 }, () => Effect.suspend(() => expectingOneOf(call))),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(answers.filter(({ status }) => status === 201).length, 1)
    })
  )
})

it.layer(ServiceUnderTest.memory(), LIVE)("feedback and applications", (it) => {
  it.effect("feedback needs a content, in one of three fields", () =>
    Effect.gen(function* () {
      const good = [
        { message: "hello" },
        { walls: ["a wall"] },
        { needs: ["a need"] },
        { walls: [" ", "one"], needs: [], message: "" },
        { ...WHOLE_FEEDBACK }
      ]
      const ids = new Set<string>()
      for (const json of good) {
        const answer = yield* expecting(201, { path: FEEDBACK, json })
        assert.deepStrictEqual(Object.keys(answer.json as object).toSorted(), ["id", "message", "received"])
        assert.strictEqual(at(answer, "received"), true)
        ids.add(textAt(answer, "id"))
      }
      assert.strictEqual(ids.size, good.length)
      const silent = [
        {},
        { message: "" },
        { message: " \n\t " },
        { walls: [] },
        { walls: [""], needs: [" "], message: " " },
        { agent_name: "x", contact: "y", use_case: "z" }
      ]
      for (const json of silent) {
        const answer = yield* expecting(422, { path: FEEDBACK, json })
        assert.include(textAt(answer, "message"), "walls", JSON.stringify(json))
      }
    })
  )

  it.effect("an application needs a name and a contact", () =>
    Effect.gen(function* () {
      for (const json of [{ name: "Ada", contact: "ada@example.org" }, WHOLE_APPLICATION]) {
        const answer = yield* expecting(201, { path: APPLY, json })
        assert.strictEqual(at(answer, "received"), true)
        assert.match(textAt(answer, "id"), UUID)
        assert.isNotEmpty(listAt(answer, "next_steps"))
      }
      const missing: ReadonlyArray<readonly [json: object, paths: ReadonlyArray<string>]> = [
        [{}, ["contact", "name"]],
        [{ name: "Ada" }, ["contact"]],
        [{ contact: "x" }, ["name"]],
        [{ name: " ", contact: "\t" }, ["contact", "name"]],
        [{ name: 1, contact: null }, ["contact", "name"]]
      ]
      for (const [json, paths] of missing) {
        assert.deepStrictEqual(faultPaths(yield* expecting(422, { path: APPLY, json })), paths)
      }
    })
  )

  it.effect("every field has a limit and a type", () =>
    Effect.gen(function* () {
      for (const [path, whole] of [
        [FEEDBACK, WHOLE_FEEDBACK],
        [APPLY, WHOLE_APPLICATION]
      ] as const) {
        for (const [field, value] of Object.entries(whole)) {
          const wrong: ReadonlyArray<unknown> = Array.isArray(value)
            ? ["text", [1], ["x".repeat(10_001)], Array.from({ length: 51 }, () => "x"), { 0: "x" }]
            : [1, null, ["x"], {}, "x".repeat(10_001)]
          for (const one of wrong) {
            const answer = yield* expecting(422, { path, json: { ...whole, [field]: one } })
            for (const fault of faultPaths(answer)) assert.match(fault, new RegExp(`^${field}`, "u"))
          }
        }
      }
      for (const agent_url of ["javascript:alert(1)", "ftp://example.org", "example.org", "data:text/html,x"]) {
        const answer = yield* expecting(422, { path: FEEDBACK, json: { message: "x", agent_url } })
        assert.deepStrictEqual(faultPaths(answer), ["agent_url"])
      }
    })
  )

  it.effect("are stored once under an Idempotency-Key", () =>
    Effect.gen(function* () {
      for (const [path, json] of [
        [FEEDBACK, { message: "once" }],
        [APPLY, { name: "Ada", contact: "x" }],
        [WAITLIST, { email: "once@example.org" }]
      ] as const) {
        const call = { path, json, headers: { "idempotency-key": `once-${path}` } }
        const first = yield* expecting(201, call)
        const again = yield* expecting(201, call)
        assert.strictEqual(again.text, first.text)
        assert.strictEqual(again.headers["idempotent-replay"], "true")
      }
    })
  )

  it.effect("appear in the platform's statistics as counts only", () =>
    Effect.gen(function* () {
      const stats = yield* expecting(200, { path: "/api/v1/stats" })
      const names = ["applications", "consumers", "feedback", "invocations", "providers", "tools", "waitlist"]
      assert.deepStrictEqual(Object.keys(at(stats, "totals") as object).toSorted(), names)
      assert.deepStrictEqual(Object.keys(at(stats, "last_24h") as object).toSorted(), [...names, "since"].toSorted())
      for (const name of names) {
        assert.isTrue(Number.isInteger(at(stats, "totals", name)), name)
        assert.isAtMost(Number(at(stats, "last_24h", name)), Number(at(stats, "totals", name)), name)
      }
      assert.isAtLeast(Number(at(stats, "totals", "feedback")), 6)
      assert.isAtLeast(Number(at(stats, "last_24h", "applications")), 3)
      assert.isAtLeast(Number(at(stats, "totals", "waitlist")), 1)
    })
  )
})

it.layer(ServiceUnderTest.memory({ RATE_LIMIT_REGISTER_RPM: "2" }))("submissions without an account", (it) => {
  it.effect("have the rate limit of registrations", () =>
    Effect.gen(function* () {
      yield* expecting(201, { path: FEEDBACK, json: { message: "one" } })
      yield* expecting(201, { path: WAITLIST, json: { email: "two@example.org" } })
      const refused = yield* expecting(429, { path: APPLY, body: "endless" })
      assert.isFalse(refused.bodyWasRead)
      yield* expecting(200, { path: APPLY })
    })
  )
})

const expectingOneOf = (call: { readonly path: string; readonly json: unknown }) =>
  Effect.flatMap(ServiceUnderTest, (service) => service.send(call))

const WHOLE_FEEDBACK = {
  agent_name: "Research agent",
  agent_url: "https://agent.example",
  contact: "ada@example.org",
  walls: ["no price before the call"],
  needs: ["a quote"],
  message: "hello",
  platform: "MCP",
  use_case: "research"
}

const WHOLE_APPLICATION = {
  name: "Ada",
  contact: "ada@example.org",
  type: "provider",
  skills: ["search"],
  projects: ["an index"],
  agents: ["a reader"],
  interest: "much",
  pitch: "short",
  availability: "weekends"
}
