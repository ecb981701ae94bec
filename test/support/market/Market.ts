/**
 * Accounts and tools created over the API, and access to values of responses.
 */
import { assert } from "@effect/vitest"
import { Effect, type Schema } from "effect"
import { type Call, send } from "./ServiceUnderTest.ts"
import type { Answer } from "../checks/Answer.ts"

export interface Member {
  readonly id: string
  readonly key: string
}

export const CONSUMERS = "/api/market/register-consumer"
export const PROVIDERS = "/api/market/register-provider"
export const TOOLS = "/api/market/tools"
export const CATALOG = "/api/market/catalog"
export const KEYS = "/api/v1/market/keys"

export const consumerBody = (changes: Readonly<Record<string, unknown>> = {}) => ({
  name: "Curious Agent",
  email: "agent@example.org",
  ...changes
})

/** At an address where no server listens: no test reaches outside by accident. */
export const providerBody = (changes: Readonly<Record<string, unknown>> = {}) => ({
  name: "Weather Works",
  email: "owner@example.org",
  endpoint_url: "http://127.0.0.1:1/mcp",
  ...changes
})

/** As `send`, and asserts the status. */
export const expecting = (status: number, call: Call) =>
  Effect.map(send(call), (answer) => {
    assert.strictEqual(answer.status, status, `${call.path}: ${answer.text.slice(0, 1_000)} ${answer.log}`)
    return answer
  })

export const aConsumer = (changes: Readonly<Record<string, unknown>> = {}): Registered =>
  Effect.map(expecting(201, { path: CONSUMERS, json: consumerBody(changes) }), member("consumer_id"))

export const aProvider = (changes: Readonly<Record<string, unknown>> = {}): Registered =>
  Effect.map(expecting(201, { path: PROVIDERS, json: providerBody(changes) }), member("provider_id"))

export const putTools = (provider: Member, ...tools: ReadonlyArray<Readonly<Record<string, unknown>>>) =>
  expecting(201, { path: TOOLS, key: provider.key, json: { tools } })

let asked = 0

/** A public read with a new URL, so that no cache has the response. */
export const unasked = (path: string): string => `${path}${path.includes("?") ? "&" : "?"}utm_read=${++asked}`

/** A provider's only tool of that name, as the catalog shows it. */
export const listedTool = (provider: Member, toolName: string) =>
  Effect.map(expecting(200, { path: unasked(`${CATALOG}?limit=100&provider_id=${provider.id}`) }), (answer) => {
    const found = listAt(answer, "tools").find((tool) => valueAt(tool, "tool_name") === toolName)
    assert.isDefined(found, `${toolName} is not in the catalogue`)
    return found
  })

/** The value at a path of a response's body, or undefined. */
export const at = (answer: Answer, ...path: Path): Schema.Json | undefined => valueAt(answer.json, ...path)

export const valueAt = (value: Schema.Json | undefined, ...path: Path): Schema.Json | undefined =>
  path.reduce<Schema.Json | undefined>(
    (inner, step) =>
      typeof inner === "object" && inner !== null
        ? (inner as Readonly<Record<string | number, Schema.Json | undefined>>)[step]
        : undefined,
    value
  )

export const textAt = (answer: Answer, ...path: Path): string => {
  const found = at(answer, ...path)
  if (typeof found === "string") return found
  throw new Error(`There is no text at ${path.join(".")} of ${answer.text.slice(0, 1_000)}`)
}

export const listAt = (answer: Answer, ...path: Path): ReadonlyArray<Schema.Json> => {
  const found = at(answer, ...path)
  if (Array.isArray(found)) return found as ReadonlyArray<Schema.Json>
  throw new Error(`There is no list at ${path.join(".")} of ${answer.text.slice(0, 1_000)}`)
}

export const namesOf = (tools: ReadonlyArray<Schema.Json>): ReadonlyArray<Schema.Json | undefined> =>
  tools.map((tool) => valueAt(tool, "tool_name"))

/** The paths of a problem's details, as dotted texts, each once, in order. */
export const faultPaths = (answer: Answer): ReadonlyArray<string> =>
  [...new Set(listAt(answer, "details").map((fault) => dotted(valueAt(fault, "path"))))].toSorted()

const dotted = (path: Schema.Json | undefined): string => (Array.isArray(path) ? path.join(".") : "?")

type Path = ReadonlyArray<string | number>
type Registered = Effect.Effect<Member, never, Effect.Services<ReturnType<typeof send>>>

const member =
  (idField: string) =>
  (answer: Answer): Member => ({ id: textAt(answer, idField), key: textAt(answer, "api_key") })
