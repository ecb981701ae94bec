/**
 * A provider's server behind its door, and clients of the official 1.x SDK at it.
 */
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import type { ClientCapabilities } from "@modelcontextprotocol/sdk/types.js"
import { Effect } from "effect"
import { aDeveloper, loaded, posted } from "../market/HttpMarket.ts"

export interface LegacyDoor {
  /** Of the service. */
  readonly url: string
  /** Of the door. */
  readonly door: string
  readonly key: string
}

const CENTS = 10_000

/** Lists the tools of a server at a running service, and funds a developer. */
export const aLegacyDoor = Effect.fnUntraced(function* (
  url: string,
  serverUrl: string,
  tools: ReadonlyArray<Readonly<Record<string, unknown>>>
) {
  const made = yield* posted(`${url}/api/market/register-provider`, {
    name: "Ada Tools",
    email: "ada@example.org",
    endpoint_url: serverUrl
  })
  yield* posted(`${url}/api/market/tools`, { tools }, String(made["api_key"]))
  const key = yield* aDeveloper(url)
  yield* loaded(url, key, CENTS)
  const door: LegacyDoor = { url, door: `${url}/mcp/${String(made["provider_id"])}`, key }
  return { ...door, providerKey: String(made["api_key"]) }
})

export const aPricedTool = (name: string, more: Readonly<Record<string, unknown>> = {}) => ({
  tool_name: name,
  display_name: name,
  description: `The tool ${name}`,
  category: "tests",
  price_microcents: 1_000,
  ...more
})

export interface SdkClient {
  readonly client: Client
  readonly transport: StreamableHTTPClientTransport
}

/** Closed with the scope of the test. */
export const connected = (
  { door, key }: Pick<LegacyDoor, "door" | "key">,
  options: {
    readonly capabilities?: ClientCapabilities
    readonly fetch?: typeof fetch
    readonly prepare?: (client: Client) => void
  } = {}
) =>
  Effect.acquireRelease(
    Effect.promise(async (): Promise<SdkClient> => {
      const client = new Client({ name: "test", version: "1" }, { capabilities: options.capabilities ?? {} })
      options.prepare?.(client)
      const transport = new StreamableHTTPClientTransport(new URL(door), {
        requestInit: { headers: { authorization: `Bearer ${key}` } },
        reconnectionOptions: {
          initialReconnectionDelay: 50,
          maxReconnectionDelay: 500,
          reconnectionDelayGrowFactor: 1.5,
          maxRetries: 1_000
        },
        ...(options.fetch === undefined ? {} : { fetch: options.fetch })
      })
      await client.connect(transport as Transport)
      return { client, transport }
    }),
    ({ client }) => Effect.promise(() => client.close())
  )

/** One request as a client sends it, without an SDK. */
export const rpc = (
  { door, key }: Pick<LegacyDoor, "door" | "key">,
  message: unknown,
  headers: Readonly<Record<string, string>> = {},
  signal?: AbortSignal
) =>
  fetch(door, {
    method: "POST",
    headers: {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers
    },
    body: typeof message === "string" ? message : JSON.stringify(message),
    ...(signal === undefined ? {} : { signal })
  })
