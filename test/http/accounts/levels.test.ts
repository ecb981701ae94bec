/**
 * Keys with bounds, and runs: what they may spend and do, what stops them, and that none lifts its own bounds.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { at, expecting, KEYS, listAt, type Member, textAt, valueAt } from "../../support/market/Market.ts"
import { LIVE, send } from "../../support/market/ServiceUnderTest.ts"
import { fine, providing } from "../../support/metering/Provider.ts"
import {
  aFundedConsumer,
  anOffer,
  buy,
  everyMarket,
  memoryMarket,
  METER,
  numberAt,
  type Offer,
  offerOf,
  PRICE,
  problemOf,
  PROXY,
  qualifiedNameOf,
  receiptsOf
} from "../../support/metering/Shop.ts"

const RUNS = "/api/v1/market/runs"
const BUDGETS = "/api/v1/market/budgets"
const WHOAMI = "/api/v1/market/whoami"

const anEcho = Effect.flatMap(providing(fine), ({ url }) => anOffer(url))

interface OwnKey extends Member {
  readonly keyId: string
}

const create = (owner: Member, json: object) => send({ path: KEYS, key: owner.key, json })
const keyOf = Effect.fnUntraced(function* (owner: Member, json: object) {
  const made = yield* expecting(201, { path: KEYS, key: owner.key, json })
  const key: OwnKey = { id: owner.id, key: textAt(made, "api_key"), keyId: textAt(made, "key", "key_id") }
  return key
})
const change = (owner: Member, keyId: string, json: object) =>
  send({ method: "PATCH", path: `${KEYS}/${keyId}`, key: owner.key, json })
const runOf = Effect.fnUntraced(function* (owner: Member, limit: number, more: object = {}) {
  const made = yield* expecting(201, { path: RUNS, key: owner.key, json: { limit_microcents: limit, ...more } })
  return { id: owner.id, key: textAt(made, "run_key"), runId: textAt(made, "run_id") }
})
const limits = (calls: number, period = "total") => [{ period, limit_microcents: calls * PRICE }]
const works = (owner: Member, offer: Offer) => Effect.map(buy(owner, offer), ({ status }) => status === 200)

it.layer(memoryMarket(), LIVE)("A key with bounds", (it) => {
  it.effect("spends its limit and no more, and is told which limit stopped it, and who raises it", () =>
    Effect.gen(function* () {
      const offer = yield* anEcho
      const owner = yield* aFundedConsumer()
      const key = yield* keyOf(owner, { label: "nightly", limits: limits(2, "day") })
      assert.isTrue(yield* works(key, offer))
      assert.isTrue(yield* works(key, offer))
      const refused = yield* buy(key, offer)
      assert.deepStrictEqual(problemOf(refused), [402, "BUDGET_EXCEEDED"])
      assert.include(textAt(refused, "message"), 'The limit of the key "nightly" does not cover this call')
      assert.include(textAt(refused, "message"), "PATCH /api/v1/market/keys/{key_id} raises it")
      const told = ["level", "period", "cap_microcents", "spent_microcents", "held_microcents", "left_microcents"]
      assert.deepStrictEqual<unknown>(
        told.map((field) => at(refused, field)),
        ["key", "day", 2 * PRICE, 2 * PRICE, 0, 0]
      )
      assert.match(textAt(refused, "resets_at"), /T00:00:00\.000Z$/u)
      assert.isTrue(yield* works(owner, offer))
      assert.strictEqual((yield* change(owner, key.keyId, { limits: limits(3, "day") })).status, 200)
      assert.isTrue(yield* works(key, offer))
      assert.isFalse(yield* works(key, offer))
    })
  )

  it.effect("calls only the tools, providers and categories that it may, up to its price", () =>
    Effect.gen(function* () {
      const { url } = yield* providing(fine)
      const [cheap, other] = [yield* anOffer(url), yield* anOffer(url, { tool_name: "second", category: "search" })]
      const dear = yield* offerOf(other.provider, { tool_name: "third", price_microcents: 3 * PRICE })
      const owner = yield* aFundedConsumer()
      const name = yield* qualifiedNameOf(cheap)
      const cases: ReadonlyArray<readonly [object, ReadonlyArray<boolean>, string]> = [
        [{ allowed_tools: [name, other.toolId] }, [true, true, false], "tool"],
        [{ allowed_providers: [other.provider.id] }, [false, true, true], "provider"],
        [{ allowed_categories: ["search"] }, [false, true, false], "category"],
        [{ max_price_microcents: PRICE }, [true, true, false], "price"],
        [{ allowed_tools: [] }, [false, false, false], "tool"]
      ]
      for (const [bounds, expected, bound] of cases) {
        const key = yield* keyOf(owner, bounds)
        const answers = yield* Effect.forEach([cheap, other, dear], (offer) => buy(key, offer))
        assert.deepStrictEqual(
          answers.map(({ status }) => status === 200),
          [...expected],
          bound
        )
        for (const refused of answers.filter(({ status }) => status !== 200)) {
          assert.deepStrictEqual(problemOf(refused), [403, "CALL_NOT_ALLOWED"])
          assert.strictEqual(at(refused, "bound"), bound)
        }
        const quote = yield* buy(key, dear, { dry_run: true })
        assert.strictEqual(quote.status === 200, expected[2])
        const report = { tool_id: dear.toolId, success: true }
        const reported = yield* send({ path: METER, key: key.key, json: report })
        assert.strictEqual(reported.status === 201, expected[2], reported.text)
      }
    })
  )

  it.effect("does only what its scopes say", () =>
    Effect.gen(function* () {
      const offer = yield* anEcho
      const owner = yield* aFundedConsumer()
      const caller = yield* keyOf(owner, { scopes: ["call"] })
      const reader = yield* keyOf(owner, { scopes: ["read"] })
      const manager = yield* keyOf(owner, { scopes: ["manage", "call"] })
      const paths = ["/api/v1/market/balance", "/api/v1/market/usage", KEYS, "/api/v1/market/receipts"]
      for (const path of paths) {
        assert.deepStrictEqual(problemOf(yield* send({ path, key: caller.key })), [403, "FORBIDDEN"], path)
        assert.strictEqual((yield* send({ path, key: reader.key })).status, 200, path)
      }
      assert.deepStrictEqual(problemOf(yield* buy(reader, offer)), [403, "FORBIDDEN"])
      assert.isTrue(yield* works(caller, offer))
      const account: ReadonlyArray<readonly [string, object]> = [
        [BUDGETS, { cap_microcents: 1 }],
        ["/api/market/balance/load", { amount_cents: 100 }],
        ["/api/v1/market/balance/withdraw", { amount_cents: 100 }],
        ["/api/v1/market/default-cap", { default_cap_microcents: 1 }],
        [`${KEYS}/rotate`, {}]
      ]
      for (const key of [caller, reader, manager]) {
        for (const [path, json] of account) {
          const refused = yield* send({ path, key: key.key, json })
          assert.deepStrictEqual(problemOf(refused), [403, "FORBIDDEN"], path)
        }
        assert.strictEqual((yield* send({ path: WHOAMI, key: key.key })).status, 200)
      }
      assert.deepStrictEqual(problemOf(yield* create(caller, {})), [403, "FORBIDDEN"])
    })
  )

  it.effect("makes keys below it, within its scopes, whose calls count toward both", () =>
    Effect.gen(function* () {
      const offer = yield* anEcho
      const owner = yield* aFundedConsumer()
      const team = yield* keyOf(owner, { label: "team", scopes: ["call", "manage"], limits: limits(3) })
      const [one, two] = [yield* keyOf(team, { limits: limits(2) }), yield* keyOf(team, { limits: limits(9) })]
      assert.isTrue(yield* works(one, offer))
      assert.isTrue(yield* works(one, offer))
      assert.strictEqual(at(yield* buy(one, offer), "cap_microcents"), 2 * PRICE)
      assert.isTrue(yield* works(two, offer))
      const refused = yield* buy(two, offer)
      assert.deepStrictEqual([at(refused, "code"), at(refused, "cap_microcents")], ["BUDGET_EXCEEDED", 3 * PRICE])
      assert.include(textAt(refused, "message"), '"team"')
      const wider = yield* create(team, { scopes: ["call", "payouts"] })
      assert.deepStrictEqual(problemOf(wider), [403, "FORBIDDEN"])
      assert.include(textAt(wider, "message"), "`payouts` is not among")
      const made = yield* expecting(200, { path: `${KEYS}/${one.keyId}`, key: owner.key })
      assert.deepStrictEqual<unknown>(at(made, "bounds", "scopes"), ["call"])
    })
  )

  it.effect("changes neither itself nor a key that is not below it, and ends with all below it", () =>
    Effect.gen(function* () {
      const offer = yield* anEcho
      const owner = yield* aFundedConsumer()
      const top = yield* keyOf(owner, { scopes: ["call", "manage"], limits: limits(1) })
      const beside = yield* keyOf(owner, { limits: limits(1) })
      const below = yield* keyOf(top, { scopes: ["call", "manage"] })
      const deepest = yield* keyOf(below, {})
      const wider = { limits: limits(9) }
      for (const key of [top, below]) {
        assert.deepStrictEqual(problemOf(yield* change(key, key.keyId, wider)), [403, "FORBIDDEN"])
        assert.deepStrictEqual(problemOf(yield* change(key, beside.keyId, wider)), [404, "NOT_FOUND"])
        const path = `${KEYS}/${beside.keyId}`
        assert.deepStrictEqual(problemOf(yield* send({ method: "DELETE", path, key: key.key })), [404, "NOT_FOUND"])
      }
      assert.deepStrictEqual(problemOf(yield* change(below, top.keyId, wider)), [404, "NOT_FOUND"])
      assert.deepStrictEqual(problemOf(yield* create(below, { parent_key_id: beside.keyId })), [404, "NOT_FOUND"])
      assert.strictEqual((yield* change(owner, top.keyId, { disabled: true })).status, 200)
      assert.deepStrictEqual(problemOf(yield* buy(deepest, offer)), [401, "UNAUTHORIZED"])
      assert.strictEqual((yield* change(owner, top.keyId, { disabled: false })).status, 200)
      assert.isTrue(yield* works(deepest, offer))
      const gone = yield* send({ method: "DELETE", path: `${KEYS}/${top.keyId}`, key: owner.key })
      assert.strictEqual(gone.status, 200)
      for (const key of [top, below, deepest]) {
        assert.deepStrictEqual(problemOf(yield* buy(key, offer)), [401, "UNAUTHORIZED"])
      }
      assert.isTrue(yield* works(beside, offer))
    })
  )

  it.effect("does not get the responses of another key by its idempotency key", () =>
    Effect.gen(function* () {
      const offer = yield* anEcho
      const owner = yield* aFundedConsumer()
      const [one, two] = [
        yield* keyOf(owner, { scopes: ["call", "manage"] }),
        yield* keyOf(owner, { scopes: ["call"] })
      ]
      const once = { headers: { "idempotency-key": "1" }, json: { label: "same" } }
      const ofOwner = yield* send({ path: KEYS, key: owner.key, ...once })
      const ofOne = yield* send({ path: KEYS, key: one.key, ...once })
      assert.deepStrictEqual([ofOwner.status, ofOne.status], [201, 201])
      assert.notStrictEqual(textAt(ofOne, "api_key"), textAt(ofOwner, "api_key"))
      const calls = yield* Effect.forEach([owner, one, two, two], (key) => buy(key, offer, {}, "1"))
      assert.deepStrictEqual(
        calls.map(({ headers }) => headers["idempotent-replay"] ?? "false"),
        ["false", "false", "false", "true"]
      )
    })
  )

  it.effect("was the account's last one without bounds: then it gets none", () =>
    Effect.gen(function* () {
      const owner = yield* aFundedConsumer()
      const keyId = textAt(yield* expecting(200, { path: WHOAMI, key: owner.key }), "key_id")
      assert.deepStrictEqual(problemOf(yield* change(owner, keyId, { limits: limits(1) })), [409, "DUPLICATE"])
      yield* keyOf(owner, { limits: limits(1) })
      assert.deepStrictEqual(problemOf(yield* change(owner, keyId, { limits: limits(1) })), [409, "DUPLICATE"])
      const second = textAt(yield* expecting(201, { path: KEYS, key: owner.key, json: {} }), "api_key")
      assert.strictEqual((yield* change(owner, keyId, { limits: limits(1) })).status, 200)
      assert.deepStrictEqual(problemOf(yield* send({ path: BUDGETS, key: owner.key, json: { cap_microcents: 1 } })), [
        403,
        "FORBIDDEN"
      ])
      assert.strictEqual((yield* send({ path: BUDGETS, key: second })).status, 200)
    })
  )

  it.effect("keeps its level through a rotation: both keys spend one limit, and the old one ends alone", () =>
    Effect.gen(function* () {
      const offer = yield* anEcho
      const owner = yield* aFundedConsumer()
      const key = yield* keyOf(owner, { limits: limits(3) })
      const json = { key_id: key.keyId, grace_seconds: 3_600 }
      const rotated = yield* expecting(201, { path: `${KEYS}/rotate`, key: owner.key, json })
      const newer = { id: owner.id, key: textAt(rotated, "api_key") }
      assert.isTrue(yield* works(key, offer))
      assert.isTrue(yield* works(newer, offer))
      assert.strictEqual((yield* send({ method: "DELETE", path: `${KEYS}/${key.keyId}`, key: owner.key })).status, 200)
      assert.isFalse(yield* works(key, offer))
      assert.isTrue(yield* works(newer, offer))
      assert.deepStrictEqual(problemOf(yield* buy(newer, offer)), [402, "BUDGET_EXCEEDED"])
    })
  )

  it.effect("shows every limit that applies to it, from the account down, those that are not set included", () =>
    Effect.gen(function* () {
      const offer = yield* anEcho
      const owner = yield* aFundedConsumer(100)
      yield* expecting(201, { path: BUDGETS, key: owner.key, json: { cap_microcents: 9 * PRICE, period: "week" } })
      const top = yield* keyOf(owner, { label: "top", scopes: ["call", "manage"], rate_limit_rpm: 500 })
      const key = yield* keyOf(top, { label: "low", limits: limits(1, "hour") })
      const read = expecting(200, { path: `${KEYS}/${key.keyId}/limits`, key: owner.key })
      const before = yield* read
      assert.strictEqual(at(before, "verdict"), "open")
      const set = (answer: typeof before) =>
        listAt(answer, "checks")
          .filter((one) => valueAt(one, "verdict") !== "unset")
          .map((one) => [valueAt(one, "level"), valueAt(one, "label"), valueAt(one, "limit"), valueAt(one, "verdict")])
      assert.deepStrictEqual<unknown>(set(before), [
        ["account", "", "balance", "open"],
        ["account", "", "week", "open"],
        ["key", "top", "scopes", "open"],
        ["key", "top", "rate_limit_rpm", "open"],
        ["key", "low", "scopes", "open"],
        ["key", "low", "hour", "open"]
      ])
      assert.isAbove(listAt(before, "checks").length, 25)
      assert.isTrue(yield* works(key, offer))
      const after = yield* read
      assert.strictEqual(at(after, "verdict"), "exhausted")
      const hour = listAt(after, "checks").findLast((one) => valueAt(one, "limit") === "hour")
      assert.deepStrictEqual<unknown>(
        ["verdict", "spent_microcents", "remaining_microcents"].map((field) => valueAt(hour, field)),
        ["exhausted", PRICE, 0]
      )
      const stranger = yield* aFundedConsumer(0)
      const path = `${KEYS}/${key.keyId}/limits`
      assert.deepStrictEqual(problemOf(yield* send({ path, key: stranger.key })), [404, "NOT_FOUND"])
      const beside = yield* keyOf(owner, { limits: limits(1) })
      assert.deepStrictEqual(problemOf(yield* send({ path, key: beside.key })), [404, "NOT_FOUND"])
    })
  )

  it.effect("ends with its children when the newer key of a rotation is revoked", () =>
    Effect.gen(function* () {
      const offer = yield* anEcho
      const owner = yield* aFundedConsumer()
      const parent = yield* keyOf(owner, { scopes: ["call", "manage"] })
      const child = yield* keyOf(parent, {})
      const json = { key_id: parent.keyId, grace_seconds: 3_600 }
      const rotated = yield* expecting(201, { path: `${KEYS}/rotate`, key: owner.key, json })
      const path = `${KEYS}/${textAt(rotated, "key", "key_id")}`
      assert.strictEqual((yield* send({ method: "DELETE", path, key: owner.key })).status, 200)
      for (const key of [parent, child]) assert.isFalse(yield* works(key, offer))
    })
  )

  it.effect(
    "was one of the account, and stays so where only its label changes, or a bound that it has not is lifted",
    () =>
      Effect.gen(function* () {
        const owner = yield* aFundedConsumer(0)
        const keyId = textAt(yield* expecting(200, { path: WHOAMI, key: owner.key }), "key_id")
        for (const json of [{ label: "main" }, { rate_limit_rpm: null, disabled: false, limits: [] }]) {
          const changed = yield* change(owner, keyId, json)
          assert.deepStrictEqual<unknown>(
            [changed.status, at(changed, "bounds"), at(changed, "key", "label")],
            [200, null, "main"]
          )
        }
        yield* expecting(201, { path: BUDGETS, key: owner.key, json: { cap_microcents: 0, provider_id: owner.id } })
        const limited = yield* expecting(200, { path: `${KEYS}/${keyId}/limits`, key: owner.key })
        const exhausted = listAt(limited, "checks").filter((one) => valueAt(one, "verdict") === "exhausted")
        assert.deepStrictEqual<unknown>(
          exhausted.map((one) => valueAt(one, "limit")),
          ["balance", "month"]
        )
      })
  )

  it.effect("has a form that releases without bounds reject", () =>
    Effect.gen(function* () {
      const owner = yield* aFundedConsumer(0)
      const key = yield* keyOf(owner, { limits: limits(1) })
      assert.match(key.key, /^atb_k_[0-9a-f]{72}$/u)
      assert.match(owner.key, /^atb_c_/u)
    })
  )

  it.effect("spends one limit by reports of many times in the past", () =>
    Effect.gen(function* () {
      const offer = yield* anEcho
      const owner = yield* aFundedConsumer()
      const key = yield* keyOf(owner, { limits: limits(1, "hour") })
      const report = (hours: number) => ({
        tool_id: offer.toolId,
        success: true,
        timestamp: new Date(Date.now() - hours * 3_600_000).toISOString()
      })
      const codes = yield* Effect.forEach([3, 2, 1], (hours) =>
        Effect.map(send({ path: METER, key: key.key, json: report(hours) }), ({ status }) => status)
      )
      assert.deepStrictEqual(codes, [201, 402, 402])
    })
  )

  it.effect("keeps its limit when the budget of that id is removed, and hides the account without `read`", () =>
    Effect.gen(function* () {
      const owner = yield* aFundedConsumer()
      const key = yield* keyOf(owner, { limits: limits(1) })
      const shown = yield* expecting(200, { path: `${KEYS}/${key.keyId}`, key: owner.key })
      const path = `${BUDGETS}/${textAt(shown, "bounds", "limits", 0, "budget_id")}`
      assert.deepStrictEqual(problemOf(yield* send({ method: "DELETE", path, key: owner.key })), [404, "NOT_FOUND"])
      const account = (answer: typeof shown) =>
        listAt(answer, "checks")
          .filter((one) => valueAt(one, "level") === "account")
          .map((one) => valueAt(one, "remaining_microcents"))
      const limitsOf = (by: Member) => expecting(200, { path: `${KEYS}/${key.keyId}/limits`, key: by.key })
      assert.include(account(yield* limitsOf(owner)), 1_000_000)
      assert.notInclude(account(yield* limitsOf(key)), 1_000_000)
    })
  )

  it.effect("is rejected with a sentence for limits that no key can have", () =>
    Effect.gen(function* () {
      const owner = yield* aFundedConsumer(0)
      const wrong: ReadonlyArray<object> = [
        { limits: [...limits(1, "day"), ...limits(2, "day")] },
        { limits: [{ period: "year", limit_microcents: 1 }] },
        { limits: [{ period: "day", limit_microcents: -1 }] },
        { scopes: ["admin"] },
        { rate_limit_rpm: 0 },
        { allowed_tools: Array.from({ length: 201 }, () => "a/b") }
      ]
      for (const json of wrong) {
        assert.deepStrictEqual(problemOf(yield* create(owner, json)), [422, "VALIDATION_ERROR"], JSON.stringify(json))
      }
      let parent: Member = owner
      for (let depth = 0; depth < 10; depth++) parent = yield* keyOf(parent, { scopes: ["call", "manage"] })
      const tooDeep = yield* create(parent, {})
      assert.deepStrictEqual(problemOf(tooDeep), [422, "VALIDATION_ERROR"])
      assert.include(textAt(tooDeep, "message"), "at most 10 levels")
    })
  )
})

it.layer(memoryMarket(), LIVE)("A run", (it) => {
  it.effect("spends its limit with its own key, and does nothing else", () =>
    Effect.gen(function* () {
      const offer = yield* anEcho
      const owner = yield* aFundedConsumer()
      const run = yield* runOf(owner, 2 * PRICE, { label: "nightly" })
      assert.match(run.key, /^atb_r_[0-9a-f]{72}$/u)
      for (const path of ["/api/v1/market/balance", KEYS, "/api/v1/market/usage"]) {
        assert.deepStrictEqual(problemOf(yield* send({ path, key: run.key })), [403, "FORBIDDEN"], path)
      }
      assert.deepStrictEqual(problemOf(yield* create(run, {})), [403, "FORBIDDEN"])
      assert.isTrue(yield* works(run, offer))
      assert.isTrue(yield* works(run, offer))
      const refused = yield* buy(run, offer)
      assert.deepStrictEqual([...problemOf(refused), at(refused, "level")], [402, "BUDGET_EXCEEDED", "run"])
      const shown = yield* expecting(200, { path: `${RUNS}/${run.runId}`, key: owner.key })
      assert.deepStrictEqual<unknown>(
        ["label", "status", "calls", "spent_microcents", "remaining_microcents"].map((field) => at(shown, field)),
        ["nightly", "running", 2, 2 * PRICE, 0]
      )
      const ids = (yield* receiptsOf(owner)).map(({ receipt_id }) => receipt_id)
      assert.deepStrictEqual<unknown>(
        listAt(shown, "receipts").map((one) => valueAt(one, "receipt_id")),
        ids
      )
    })
  )

  it.effect("nests: runs below share its limit, and end with it", () =>
    Effect.gen(function* () {
      const offer = yield* anEcho
      const owner = yield* aFundedConsumer()
      const run = yield* runOf(owner, 3 * PRICE)
      const [one, two] = [yield* runOf(run, 2 * PRICE, { label: "sub" }), yield* runOf(run, 2 * PRICE)]
      const byOwner = yield* runOf(owner, PRICE, { parent_run_id: one.runId })
      const answers = yield* Effect.forEach([one, one, one, two, two, run], (each) => works(each, offer))
      assert.deepStrictEqual(answers, [true, true, false, true, false, false])
      const shown = yield* expecting(200, { path: `${RUNS}/${run.runId}`, key: run.key })
      assert.deepStrictEqual<unknown>(
        listAt(shown, "runs").map((each) => [
          valueAt(each, "run_id"),
          valueAt(each, "parent_id"),
          valueAt(each, "calls")
        ]),
        [
          [one.runId, run.runId, 2],
          [two.runId, run.runId, 1],
          [byOwner.runId, one.runId, 0]
        ]
      )
      assert.deepStrictEqual([at(shown, "calls"), at(shown, "spent_microcents")], [0, 3 * PRICE])
      const path = `${RUNS}/${one.runId}`
      assert.deepStrictEqual(problemOf(yield* send({ method: "DELETE", path, key: two.key })), [404, "NOT_FOUND"])
      assert.strictEqual((yield* send({ method: "DELETE", path: `${RUNS}/${run.runId}`, key: owner.key })).status, 200)
      for (const each of [run, one, two, byOwner]) {
        assert.deepStrictEqual(problemOf(yield* buy(each, offer)), [401, "UNAUTHORIZED"])
      }
      assert.deepStrictEqual(
        problemOf(yield* send({ path: RUNS, key: owner.key, json: { limit_microcents: 1, parent_run_id: run.runId } })),
        [404, "NOT_FOUND"]
      )
    })
  )

  it.effect("counts the calls of a key that names it in X-Run-Id, of its own account only", () =>
    Effect.gen(function* () {
      const offer = yield* anEcho
      const owner = yield* aFundedConsumer()
      const key = yield* keyOf(owner, { limits: limits(9) })
      const [run, apart] = [yield* runOf(key, PRICE), yield* runOf(owner, PRICE)]
      const called = (by: Member, runId: string) =>
        send({
          path: PROXY,
          key: by.key,
          json: { tool_id: offer.toolId, input: {} },
          headers: { "x-run-id": runId }
        })
      assert.strictEqual((yield* called(key, run.runId)).status, 200)
      assert.deepStrictEqual(problemOf(yield* called(key, run.runId)), [402, "BUDGET_EXCEEDED"])
      assert.deepStrictEqual(problemOf(yield* called(owner, run.runId)), [402, "BUDGET_EXCEEDED"])
      assert.deepStrictEqual(problemOf(yield* called(key, apart.runId)), [403, "FORBIDDEN"])
      assert.deepStrictEqual(problemOf(yield* called(yield* aFundedConsumer(), run.runId)), [403, "FORBIDDEN"])
      assert.deepStrictEqual(problemOf(yield* called(owner, "nightly")), [403, "FORBIDDEN"])
      const shown = yield* expecting(200, { path: `${KEYS}/${key.keyId}`, key: owner.key })
      assert.strictEqual(numberAt(shown, "bounds", "limits", 0, "spent_microcents"), PRICE)
    })
  )
})

for (const [name, market] of everyMarket()) {
  it.layer(market, LIVE)(`Levels, ${name}`, (it) => {
    it.effect("are exact for calls at once, over sibling keys and runs", () =>
      Effect.gen(function* () {
        const offer = yield* anEcho
        const owner = yield* aFundedConsumer()
        const top = yield* keyOf(owner, { scopes: ["call", "manage"], limits: limits(7, "day") })
        const below = yield* Effect.forEach(Array.from({ length: 4 }), () => keyOf(top, { limits: limits(5) }))
        const runs = yield* Effect.forEach(below, (key) => runOf(key, 5 * PRICE))
        const callers = [...below, ...runs].flatMap((each) => [each, each, each])
        const answers = yield* Effect.forEach(callers, (each) => buy(each, offer), { concurrency: "unbounded" })
        const codes = answers.map((answer) => at(answer, "code") ?? answer.status)
        assert.strictEqual(codes.filter((code) => code === 200).length, 7)
        assert.strictEqual(codes.filter((code) => code === "BUDGET_EXCEEDED").length, callers.length - 7)
        const shown = yield* expecting(200, { path: `${KEYS}/${top.keyId}`, key: owner.key })
        assert.deepStrictEqual(
          ["spent_microcents", "held_microcents", "remaining_microcents"].map((field) =>
            numberAt(shown, "bounds", "limits", 0, field)
          ),
          [7 * PRICE, 0, 0]
        )
      })
    )
  })
}
