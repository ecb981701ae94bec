/**
 * A modern MCP client of a door, at the level of HTTP: what a test sends is what is sent.
 */
import { assert } from "@effect/vitest"
import { Effect } from "effect"

export const VERSION = "2026-07-28"

export type Json = Readonly<Record<string, unknown>>

export interface Asked {
  readonly url: string
  readonly key?: string
  readonly method: string
  readonly params?: Json
  readonly meta?: Json
  readonly id?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

export interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The JSON-RPC response; the last message of a stream. */
  readonly body: Json
  /** All messages of a stream. */
  readonly messages: ReadonlyArray<Json>
}

export const metaOf = (more: Json = {}): Json => ({
  "io.modelcontextprotocol/protocolVersion": VERSION,
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
  ...more
})

export const bodyOf = ({ id = 1, meta, method, params = {} }: Asked): string =>
  JSON.stringify({ jsonrpc: "2.0", id, method, params: { ...params, _meta: metaOf(meta) } })

export const headersOf = ({ headers, key, method, params = {} }: Asked): Record<string, string> => {
  const name = params["name"] ?? params["uri"]
  return {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": VERSION,
    "mcp-method": method,
    ...(typeof name === "string" ? { "mcp-name": name } : {}),
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    ...headers
  }
}

export const opened = (asked: Asked) =>
  Effect.promise(() =>
    fetch(asked.url, {
      method: "POST",
      headers: headersOf(asked),
      body: bodyOf(asked),
      ...(asked.signal === undefined ? {} : { signal: asked.signal })
    })
  )

export const ask = (asked: Asked): Effect.Effect<Answered> => Effect.flatMap(opened(asked), answered)

export const answered = (response: Response): Effect.Effect<Answered> =>
  Effect.promise(async () => {
    const text = await response.text()
    const isStream = response.headers.get("content-type") === "text/event-stream"
    const messages = isStream ? eventsIn(text) : text === "" ? [] : [JSON.parse(text) as Json]
    return { status: response.status, headers: response.headers, text, body: messages.at(-1) ?? {}, messages }
  })

/** Comments are left out. */
export const eventsIn = (text: string): ReadonlyArray<Json> =>
  text
    .split("\n\n")
    .filter((block) => block.includes("data: "))
    .map((block) => {
      assert.notInclude(block, "event:", "messages have no event name")
      const data = block
        .split("\n")
        .filter((line) => line.startsWith("data: "))
        .map((line) => line.slice("data: ".length))
      return JSON.parse(data.join("\n")) as Json
    })

export const at = (value: unknown, ...path: ReadonlyArray<string | number>): unknown =>
  path.reduce<unknown>(
    (inner, name) => (inner as Readonly<Record<string | number, unknown>> | undefined)?.[name],
    value
  )

export const errorCode = ({ body, status }: Answered): readonly [number, unknown] => [status, at(body, "error", "code")]

export const billingOf = ({ body }: Answered): unknown => at(body, "result", "_meta", "agent-tool-billing/billing")

export const textOf = ({ body }: Answered): string => String(at(body, "result", "content", 0, "text"))
