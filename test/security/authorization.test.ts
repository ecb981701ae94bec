/**
 * Authorization of every endpoint in every role: each row is tried by every caller, the owners last, so that a
 * rejection was not for lack of the object. A rejected caller has changed nothing; an accepted one sees and changes
 * only what the row says.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { OperatorKey } from "../../domain/accounts/Authentication.ts"
import { everyEndpoint, titleOf } from "../support/checks/EndpointTable.ts"
import { memoryCore } from "../support/metering/Core.ts"
import { accountRows } from "../support/security/AccountRows.ts"
import { callRows } from "../support/security/CallRows.ts"
import { DeclaredRoutes, titleOfRoute } from "../support/security/DeclaredRoutes.ts"
import type { Row, Rows } from "../support/security/Matrix.ts"
import { type Caller, CALLERS, type Party } from "../support/security/Callers.ts"
import { publicRows } from "../support/security/PublicRows.ts"
import { aWorld, type Mark, OPERATOR, SharedWorld, standings, type World } from "../support/security/World.ts"
import { type Call, LIVE, send } from "../support/market/ServiceUnderTest.ts"
import type { Answer } from "../support/checks/Answer.ts"

const matrix: Rows = { ...accountRows, ...callRows, ...publicRows }
const PARTIES: ReadonlyArray<Party> = ["consumerOwner", "providerOwner"]

/** Where MCP clients look for OAuth and for the older transport. */
const REFUSED: ReadonlySet<string> = new Set(["/register", "/authorize", "/token", "/sse"])

/** What the response shows of the owners that the request did not name itself. */
const shownIn = ({ marks }: World, call: Omit<Call, "key">, answer: Answer): ReadonlyArray<Mark> => {
  const asked = `${call.path} ${JSON.stringify(call.json)}`
  return (Object.keys(marks) as ReadonlyArray<Mark>).filter(
    (mark) => !asked.includes(marks[mark]) && answer.text.includes(marks[mark])
  )
}

const judge = Effect.fnUntraced(function* (row: Row, world: World, caller: Caller) {
  const call = row.ask(world, caller)
  const answer = yield* send({ ...call, key: world.keys[caller] })
  const { status, text } = answer
  return { caller, status, shows: shownIn(world, call, answer).toSorted(), text }
})

/** An accepted caller may change its own objects. */
const mayChange = (row: Row, caller: Caller): ReadonlyArray<string> =>
  row.answers[caller] >= 400 ? [] : [caller, ...(row.touches[caller] ?? [])]

const readByAll = Effect.fnUntraced(function* (row: Row) {
  const world = yield* SharedWorld
  for (const caller of CALLERS) {
    const { text, ...judged } = yield* judge(row, world, caller)
    assert.deepStrictEqual(judged, expected(row, caller), text.slice(0, 1_500))
  }
})

const writtenByAll = Effect.fnUntraced(function* (row: Row) {
  const world = yield* aWorld
  let before = yield* standings(world)
  for (const caller of CALLERS) {
    const { text, ...judged } = yield* judge(row, world, caller)
    assert.deepStrictEqual(judged, expected(row, caller), text.slice(0, 1_500))
    const after = yield* standings(world)
    const watched = PARTIES.filter((party) => !mayChange(row, caller).includes(party))
    for (const party of watched) assert.strictEqual(after[party], before[party], `${caller} changed ${party}`)
    before = after
  }
})

const expected = (row: Row, caller: Caller) => ({
  caller,
  status: row.answers[caller],
  shows: [...(row.shows[caller] ?? [])].toSorted()
})

it("has a row for every endpoint, and no row without one", () => {
  assert.deepStrictEqual(Object.keys(matrix).toSorted(), everyEndpoint().map(titleOf).toSorted())
})

const service = SharedWorld.layer.pipe(
  Layer.provideMerge(memoryCore),
  Layer.provide(Layer.succeed(OperatorKey, Redacted.make(OPERATOR)))
)

it.layer(service, LIVE)("Authorization", (it) => {
  for (const [title, row] of Object.entries(matrix)) {
    it.effect(title, () => (title.startsWith("GET ") ? readByAll(row) : writtenByAll(row)))
  }

  it.effect("a door for MCP opens to consumers only, whatever the method", () =>
    Effect.gen(function* () {
      const doors = (yield* DeclaredRoutes).filter(({ rule }) => rule.door)
      assert.isAtLeast(doors.length, 5)
      const world = yield* SharedWorld
      for (const { method, path } of doors) {
        for (const caller of CALLERS) {
          const call = { method, path: path.replace(":provider", world.provider.id), key: world.keys[caller] }
          const { status } = yield* send(call)
          const isConsumer = caller === "consumerOwner" || caller === "consumerOther"
          const title = `${method} ${path} of ${caller}`
          if (isConsumer) assert.notInclude([401, 403], status, title)
          else assert.strictEqual(status, caller === "nobody" || caller === "revoked" ? 401 : 403, title)
        }
      }
    })
  )

  it.effect("every route beside the contract is a public document or a door", () =>
    Effect.gen(function* () {
      const declared = yield* DeclaredRoutes
      const endpoints = new Set(everyEndpoint().map(titleOf))
      const besides = declared.filter((route) => !endpoints.has(titleOfRoute(route)))
      const documents = besides.filter(({ rule }) => !rule.door)
      assert.isAbove(documents.length, 3)
      assert.strictEqual(declared.length - besides.length, endpoints.size)
      const world = yield* SharedWorld
      for (const { method, path, rule } of documents) {
        assert.isTrue(method === "GET" || REFUSED.has(path), `${method} ${path}`)
        assert.deepStrictEqual([path, rule.roles, rule.keyOptional], [path, [], false])
        const shown = yield* Effect.forEach(CALLERS, (caller) => {
          const call = { method, path: path.replaceAll(/[:*]\w*/gu, "x") }
          return Effect.map(send({ ...call, key: world.keys[caller] }), (answer) => ({
            status: answer.status,
            shows: shownIn(world, call, answer)
          }))
        })
        for (const one of shown) assert.deepStrictEqual(one, { status: shown[0]!.status, shows: [] }, path)
      }
    })
  )
})
