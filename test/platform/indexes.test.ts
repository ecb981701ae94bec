/**
 * Every link and every endpoint in an index exists; and its statements about the service are true.
 */
import { assert, it } from "@effect/vitest"
import { Effect, type Schema } from "effect"
import { everyEndpoint, pathOf, titleOf } from "../support/checks/EndpointTable.ts"
import { at, expecting, listAt, textAt, valueAt } from "../support/market/Market.ts"
import { LIVE, send, ServiceUnderTest } from "../support/market/ServiceUnderTest.ts"
import type { Answer } from "../support/checks/Answer.ts"

const BASE_URL = "https://market.example"
const INDEXES = [
  "/api/market",
  "/api/v1",
  "/api/v1/status",
  "/api/v1/services",
  "/.well-known/agents.json",
  "/llms.txt",
  "/api/v1/feedback",
  "/api/v1/apply",
  "/api/v1/waitlist"
]

const isThere = (answer: Answer): boolean =>
  !(answer.status === 405 || (answer.status === 404 && answer.text.includes("There is nothing at")))

/** Every text in a JSON value, names of fields too. */
const textsIn = (value: Schema.Json | undefined): ReadonlyArray<string> => {
  if (typeof value === "string") return [value]
  if (Array.isArray(value)) return value.flatMap(textsIn)
  if (typeof value !== "object" || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => [name, ...textsIn(inner)])
}

/** A path of a route or of a template, with values for its parameters. */
const concrete = (path: string): string =>
  path
    .replace(/\{receipt_id\}/gu, "rcpt_00000000000000000000000000000000")
    .replace(/:id\b/gu, "00000000-0000-4000-8000-000000000000")
    .replace(/\{\w+\}|:\w+/gu, "0")

const sendable = (method: string, path: string) => {
  const known = everyEndpoint().find((one) => titleOf(one) === `${method} ${path}`)
  return { method, path: known === undefined ? concrete(path) : pathOf(known) }
}

it.layer(ServiceUnderTest.memory({ BASE_URL }), LIVE)("the indexes", (it) => {
  it.effect("name no endpoint and no link that does not exist", () =>
    Effect.gen(function* () {
      let walked = 0
      for (const index of INDEXES) {
        const answer = yield* expecting(200, { path: index })
        const texts = answer.json === undefined ? [answer.text] : textsIn(answer.json)
        const named = texts.flatMap((text) => [
          ...text.matchAll(/\b(GET|POST|PUT|PATCH|DELETE) (?:https:\/\/market\.example)?(\/[\w/.:{}-]*)/gu)
        ])
        for (const [whole, method, path] of named) {
          const asked = sendable(method!, path!.replace(/[.:]$/u, ""))
          const found = yield* send(asked)
          assert.isTrue(isThere(found), `${index} names ${whole}: ${found.status} ${found.text.slice(0, 200)}`)
          walked++
        }
        const links = texts.flatMap((text) => text.match(/https?:\/\/[^\s)"'`<>\]]+/gu) ?? [])
        for (const link of links.filter((url) => url !== BASE_URL && !url.startsWith("https://json-schema.org/"))) {
          assert.isTrue(link.startsWith(BASE_URL), `${index} leads to ${link}`)
          const path = concrete(link.slice(BASE_URL.length))
          const answers = yield* Effect.forEach(["GET", "POST", "DELETE"], (method) => send({ method, path }))
          assert.isTrue(answers.some(isThere), `${index} leads to ${link}`)
          walked++
        }
      }
      assert.isAbove(walked, 200)
    })
  )

  it.effect("have links that answer a GET", () =>
    Effect.gen(function* () {
      const platform = yield* expecting(200, { path: "/api/v1" })
      const groups = [
        at(platform, "links"),
        at(platform, "market", "self_service"),
        at(yield* expecting(200, { path: "/api/market" }), "links"),
        at(yield* expecting(200, { path: "/.well-known/agents.json" }), "links")
      ]
      for (const group of groups) {
        const links = Object.values(group as Readonly<Record<string, string>>)
        assert.isAbove(links.length, 3)
        for (const link of links) yield* expecting(200, { path: link.slice(BASE_URL.length) })
      }
      assert.deepStrictEqual(
        Object.keys(at(platform, "links") as object).filter((name) => name !== "llms_txt"),
        ["homepage", "docs", "openapi", "specs", "changelog", "agents_json"]
      )
    })
  )

  it.effect("name every endpoint, the platform's and the market's separately", () =>
    Effect.gen(function* () {
      const answer = yield* expecting(200, { path: "/api/v1" })
      const [own, market, trust] = [
        Object.keys(at(answer, "endpoints") as object),
        Object.keys(at(answer, "market", "endpoints") as object),
        Object.keys(at(answer, "market", "trust_layer", "endpoints") as object)
      ]
      assert.includeMembers([...own, ...market], everyEndpoint().map(titleOf))
      assert.isFalse(own.some((one) => market.includes(one)))
      assert.includeMembers(own, ["GET /metrics", "GET /livez", "POST /api/v1/waitlist", "POST /api/v1/verify"])
      assert.includeMembers(trust, ["POST /api/v1/verify", "GET /api/v1/market/receipts"])
      assert.isTrue(trust.every((one) => own.includes(one) || market.includes(one)))
      assert.deepStrictEqual(
        [at(answer, "version"), at(answer, "market", "trust_layer", "version"), at(answer, "base_url")],
        ["0.4.0", "0.4.0", BASE_URL]
      )
      const status = yield* expecting(200, { path: "/api/v1/status" })
      assert.includeMembers(Object.keys(at(status, "endpoints") as object), everyEndpoint().map(titleOf))
    })
  )

  it.effect("call a service active where it exists, and planned where it does not", () =>
    Effect.gen(function* () {
      const answer = yield* expecting(200, { path: "/api/v1/services" })
      const services = listAt(answer, "services")
      const active = services.filter((one) => valueAt(one, "status") === "active")
      assert.deepStrictEqual(
        [at(answer, "total_active"), at(answer, "total_planned")],
        [active.length, services.length - active.length]
      )
      assert.isAbove(active.length, 8)
      for (const one of active) {
        const path = String(valueAt(one, "endpoint")).slice(BASE_URL.length)
        assert.isTrue(isThere(yield* send(sendable(String(valueAt(one, "method")), path))), path)
        yield* expecting(200, { path: String(valueAt(one, "docs")).slice(BASE_URL.length) })
      }
      for (const one of services.filter((other) => !active.includes(other))) {
        assert.deepStrictEqual(
          [valueAt(one, "endpoint"), valueAt(one, "docs"), valueAt(one, "method")],
          [null, null, null]
        )
      }
      const status = yield* expecting(200, { path: "/api/v1/status" })
      assert.deepStrictEqual(
        at(status, "services"),
        Object.fromEntries(services.map((one) => [valueAt(one, "id"), valueAt(one, "status")])) as Schema.Json
      )
      assert.lengthOf(listAt(status, "capabilities"), active.length)
    })
  )

  it.effect("contain the same in text and in JSON", () =>
    Effect.gen(function* () {
      const text = yield* expecting(200, { path: "/llms.txt" })
      assert.match(text.headers["content-type"]!, /^text\/plain/u)
      assert.match(text.text, /^# Agent Tool Billing\n/u)
      const agents = yield* expecting(200, { path: "/.well-known/agents.json" })
      for (const step of listAt(agents, "steps")) assert.include(text.text, String(valueAt(step, "url")))
      for (const endpoint of everyEndpoint()) assert.include(text.text, `\`${titleOf(endpoint)}\``)
      assert.strictEqual(textAt(agents, "money", "payments"), "dry_run")
    })
  )
})
