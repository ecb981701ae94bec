/**
 * Lists and their pages: limit, offset and cursor of every list, and cursors that stay correct while the list
 * changes.
 */
import { assert, it } from "@effect/vitest"
import { Effect, type Schema } from "effect"
import type { EndpointInfo } from "../../../adapters/http/openapi/Api.ts"
import {
  aKeyOfEachRole,
  everyEndpoint,
  fieldNames,
  keyFor,
  OPERATOR_KEY,
  pathOf,
  titleOf
} from "../../support/checks/EndpointTable.ts"
import {
  aProvider,
  at,
  CATALOG,
  expecting,
  listAt,
  type Member,
  namesOf,
  putTools,
  textAt,
  valueAt
} from "../../support/market/Market.ts"
import { LIVE, send, ServiceUnderTest } from "../../support/market/ServiceUnderTest.ts"

const parametersOf = (endpoint: EndpointInfo) => fieldNames(endpoint.endpoint.query)

const lists = () => {
  const found = everyEndpoint().filter((endpoint) => parametersOf(endpoint).includes("limit"))
  assert.isAtLeast(found.length, 2)
  return found
}

const NOT_PLAIN = ["abc", "-1", "1e3", "1.5", "1.0", "0x10", "+1", " 1", "1 ", "", "٣", "１", "null", "1,2"]

it.layer(ServiceUnderTest.memory({ OPERATOR_KEY }), LIVE)("every list", (it) => {
  it.effect("rejects a limit or an offset that is not a plain integer, by name", () =>
    Effect.gen(function* () {
      const keys = yield* aKeyOfEachRole
      assert.includeMembers(
        lists().map(({ path }) => path),
        [CATALOG, "/api/v1/market/pricing"]
      )
      for (const endpoint of lists()) {
        const ask = (name: string, value: string) =>
          expecting(400, {
            path: `${pathOf(endpoint)}?${name}=${encodeURIComponent(value)}`,
            key: keyFor(endpoint, keys)
          })
        for (const name of ["limit", "offset"].filter((one) => parametersOf(endpoint).includes(one))) {
          for (const value of NOT_PLAIN) {
            const message = textAt(yield* ask(name, value), "message")
            assert.match(message, new RegExp(`^\`${name}\` must be an integer `, "u"), `${titleOf(endpoint)} ${value}`)
            if (value.trim() !== "") assert.include(message, `\`${value}\` was sent`)
          }
        }
        for (const limit of ["0", "00"]) assert.include(textAt(yield* ask("limit", limit), "message"), "of at least 1")
        for (const offset of ["1000001", "99999999999"]) yield* ask("offset", offset)
      }
    })
  )

  it.effect("names all invalid parameters at once", () =>
    Effect.gen(function* () {
      const path = `${CATALOG}?limit=x&offset=-1&category=Not%20OK&provider_id=1&sort=random`
      const message = textAt(yield* expecting(400, { path }), "message")
      for (const name of ["limit", "offset", "category", "provider_id", "sort"])
        assert.include(message, `\`${name}\` must be `)
    })
  )

  it.effect("accepts the bounds themselves, and defaults to 50", () =>
    Effect.gen(function* () {
      const keys = yield* aKeyOfEachRole
      for (const endpoint of lists()) {
        const ask = (query: string) =>
          expecting(200, { path: `${pathOf(endpoint)}${query}`, key: keyFor(endpoint, keys) })
        const first = yield* ask("")
        for (const limit of ["1", "100", "0100"]) {
          const answer = yield* ask(`?limit=${limit}`)
          if (at(first, "limit") !== undefined) assert.strictEqual(at(answer, "limit"), Number(limit))
        }
        if (at(first, "limit") !== undefined) assert.strictEqual(at(first, "limit"), 50)
        yield* ask("?offset=1000000")
      }
    })
  )

  it.effect("reduces a limit above the maximum to the maximum", () =>
    Effect.gen(function* () {
      const keys = yield* aKeyOfEachRole
      for (const endpoint of lists()) {
        const max = endpoint.path.endsWith("/usage") ? 200 : 100
        for (const limit of [String(max), String(max + 1), "99999999999", "9".repeat(100)]) {
          const answer = yield* expecting(200, {
            path: `${pathOf(endpoint)}?limit=${limit}`,
            key: keyFor(endpoint, keys)
          })
          assert.strictEqual(at(answer, "limit"), max, `${titleOf(endpoint)} ${limit}`)
        }
      }
    })
  )

  it.effect("rejects a cursor of another list, or one with an offset", () =>
    Effect.gen(function* () {
      const keys = yield* aKeyOfEachRole
      const foreign = Buffer.from(JSON.stringify(["another list", "a", "b"])).toString("base64url")
      const notACursor = [
        "",
        "x",
        "!!!",
        "AAAA",
        "eyJhIjoxfQ",
        Buffer.from("[1,2,3]").toString("base64url"),
        "a".repeat(601)
      ]
      for (const endpoint of lists().filter((one) => parametersOf(one).includes("cursor"))) {
        const ask = (query: string) =>
          expecting(400, { path: `${pathOf(endpoint)}?${query}`, key: keyFor(endpoint, keys) })
        for (const cursor of [foreign, ...notACursor]) {
          const answer = yield* ask(`cursor=${encodeURIComponent(cursor)}`)
          assert.match(
            textAt(answer, "message"),
            /^`cursor` must be the `next_cursor` of /u,
            `${titleOf(endpoint)} ${cursor}`
          )
        }
      }
    })
  )
})

const names = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, n) => `${prefix}${String(n).padStart(3, "0")}`)

const withTools = Effect.fnUntraced(function* (provider: Member, toolNames: ReadonlyArray<string>, price = 100) {
  for (let from = 0; from < toolNames.length; from += 50) {
    const tools = toolNames.slice(from, from + 50).map((tool_name) => ({ tool_name, price_microcents: price }))
    yield* putTools(provider, ...tools)
  }
})

/** Reads a whole list by its cursors. `between` runs after each page. */
const walk = Effect.fnUntraced(function* <E, R>(query: string, between: Effect.Effect<void, E, R>) {
  const found: Array<Schema.Json> = []
  for (let page = 0, cursor = ""; page < 50; page++) {
    const answer = yield* expecting(200, { path: `${CATALOG}?${query}${cursor === "" ? "" : `&cursor=${cursor}`}` })
    found.push(...listAt(answer, "tools"))
    const next = at(answer, "next_cursor")
    if (typeof next !== "string") return found
    cursor = next
    yield* between
  }
  throw new Error("The list has no end")
})

it.layer(ServiceUnderTest.memory(), LIVE)("pages", (it) => {
  it.effect("by offset have no gap and no duplicate, and state the total of the whole list", () =>
    Effect.gen(function* () {
      const provider = yield* aProvider()
      yield* withTools(provider, names(23, "t"))
      const seen: Array<unknown> = []
      for (const offset of [0, 10, 20]) {
        const path = `${CATALOG}?provider_id=${provider.id}&limit=10&offset=${offset}`
        const answer = yield* expecting(200, { path })
        assert.strictEqual(at(answer, "total"), 23)
        assert.strictEqual(at(answer, "offset"), offset)
        assert.strictEqual(typeof at(answer, "next_cursor"), offset === 20 ? "object" : "string")
        seen.push(...namesOf(listAt(answer, "tools")))
      }
      assert.deepStrictEqual(seen, names(23, "t"))
      const beyond = yield* expecting(200, { path: `${CATALOG}?provider_id=${provider.id}&offset=23` })
      assert.deepStrictEqual([at(beyond, "tools"), at(beyond, "total"), at(beyond, "next_cursor")], [[], 23, null])
    })
  )

  it.effect("by cursor stay correct in every order while tools are inserted before and after them", () =>
    Effect.gen(function* () {
      for (const sort of ["name", "price", "price_desc", "newest"]) {
        const provider = yield* aProvider()
        const before = names(12, "m")
        yield* withTools(provider, before)
        let round = 0
        const more = Effect.suspend(() => {
          round++
          return putTools(
            provider,
            { tool_name: `a${round}`, price_microcents: 1 },
            { tool_name: `z${round}`, price_microcents: 1_000_000 }
          )
        })
        const found = yield* walk(`provider_id=${provider.id}&limit=5&sort=${sort}`, more)
        const ids = found.map((tool) => valueAt(tool, "id"))
        assert.lengthOf(new Set(ids), ids.length, `${sort}: nothing twice`)
        const old = namesOf(found).filter((name) => String(name).startsWith("m"))
        assert.sameMembers(old, before, `${sort}: nothing left out`)
      }
    })
  )

  it.effect("by cursor are rejected in another order, and in another list", () =>
    Effect.gen(function* () {
      const provider = yield* aProvider()
      yield* withTools(provider, names(3, "c"))
      const cursor = textAt(yield* expecting(200, { path: `${CATALOG}?limit=1&sort=price` }), "next_cursor")
      yield* expecting(200, { path: `${CATALOG}?limit=1&sort=price&cursor=${cursor}` })
      for (const path of [
        `${CATALOG}?cursor=${cursor}`,
        `${CATALOG}?sort=price_desc&cursor=${cursor}`,
        `/api/v1/market/pricing?cursor=${cursor}`,
        `${CATALOG}?sort=price&offset=0&cursor=${cursor}`
      ]) {
        yield* expecting(400, { path })
      }
    })
  )

  it.effect("by a forged cursor are empty or rejected, never a 500", () =>
    Effect.gen(function* () {
      const made = (...parts: ReadonlyArray<unknown>) => Buffer.from(JSON.stringify(parts)).toString("base64url")
      const id = "00000000-0000-4000-8000-000000000000"
      for (const sort of ["name", "price", "price_desc", "newest"]) {
        for (const key of ["", "x", "\0", "\ud800", "9".repeat(30), "-1", "1e3", id, "'; DROP TABLE tools; --"]) {
          for (const last of [id, "x", "", "\0"]) {
            const cursor = made(`catalog:${sort}`, key, last)
            const answer = yield* send({ path: `${CATALOG}?sort=${sort}&cursor=${cursor}` })
            assert.include([200, 400], answer.status, `${sort} ${JSON.stringify([key, last])}`)
          }
        }
      }
    })
  )
})
