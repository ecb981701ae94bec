/**
 * A client of a door in either era, on the wire, and a provider's server of the same era.
 */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { type Answer, json, result, scriptedServer } from "../../../testing/mcp/ScriptedServer.ts"
import { ECHO, onOther } from "./ADoor.ts"
import { ask, type Answered, answered, type Json } from "./DoorClient.ts"
import { rpc } from "./LegacyClients.ts"

export type Era = "modern" | "legacy"
export const ERAS: ReadonlyArray<Era> = ["modern", "legacy"]

/** Lists `echo`. */
export const aServerOf = (era: Era, onCall: Answer) =>
  scriptedServer({
    era: era === "modern" ? "modern" : "stateful",
    onCall,
    onOther: (seen, response) => {
      if (era === "modern") return onOther!(seen, response)
      if (seen.method !== "tools/list") return false
      json(response, result(seen, { tools: [ECHO] }))
      return true
    }
  })

export interface EraClient {
  /** Of the legacy era. */
  readonly session: Readonly<Record<string, string>>
  readonly send: (method: string, params?: Json, more?: Sending) => Effect.Effect<Answered>
}

interface Sending {
  readonly key?: string
  readonly meta?: Json
  readonly headers?: Readonly<Record<string, string>>
}

/** In the legacy era, with a session. */
export const aClientOf = Effect.fnUntraced(function* (era: Era, url: string, key: string) {
  const session = era === "modern" ? {} : yield* sessionAt(url, key)
  const client: EraClient = {
    session,
    send: (method, params = {}, { headers = {}, key: other = key, meta = {} } = {}) =>
      era === "modern"
        ? ask({ url, key: other, method, params, meta, headers })
        : Effect.flatMap(
            Effect.promise(() =>
              rpc(
                { door: url, key: other },
                {
                  jsonrpc: "2.0",
                  id: 1,
                  method,
                  params: { ...params, ...(method === "tools/call" ? { _meta: meta } : {}) }
                },
                { ...session, ...headers }
              )
            ),
            answered
          )
  }
  return client
})

const sessionAt = (door: string, key: string) =>
  Effect.promise(async () => {
    const params = {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "wire", version: "1" }
    }
    const response = await rpc({ door, key }, { jsonrpc: "2.0", id: 0, method: "initialize", params })
    const id = response.headers.get("mcp-session-id")
    assert.isNotNull(id, await response.text())
    return { "mcp-session-id": id }
  })
