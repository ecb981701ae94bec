/**
 * The configurations that pages and the command line show connect real clients: what they say is what a client gets.
 */
import { assert, describe, it } from "@effect/vitest"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import { Effect } from "effect"
import { join } from "node:path"
import { type ClientId, clientConfig, type Door, providerDoor } from "../../../adapters/site/connect/ClientConfigs.ts"
import { post, ready, temporaryFolder } from "../../support/servers/ServiceProcess.ts"

const SLOW = 180_000
const MCP_REMOTE = join(import.meta.dirname, "../../../node_modules/mcp-remote/dist/proxy.js")

/** A service with the demo provider, and a consumer with funds. */
const market = Effect.gen(function* () {
  const { url } = yield* ready({ PROFILE: "memory", DEMO_PROVIDER: "on", LOG_LEVEL: "Error" })
  const made = yield* post(`${url}/api/market/register-consumer`, { name: "Agent", email: "agent@example.org" })
  const key = String(made.body["api_key"])
  yield* post(`${url}/api/market/balance/load`, { amount_cents: 100 }, key)
  return { url, key }
})

const entryOf = <A>(id: ClientId, door: Door, key: string): A => {
  const { mcpServers } = JSON.parse(clientConfig(id, door, key).snippets[0]!.code) as {
    readonly mcpServers: Readonly<Record<string, A>>
  }
  return mcpServers[door.name]!
}

interface Remote {
  readonly url: string
  readonly headers: Record<string, string>
}

interface Local {
  readonly command: string
  readonly args: ReadonlyArray<string>
  readonly env: Record<string, string>
}

const overHttp = (id: "cursor" | "json", door: Door, key: string): Transport => {
  const { headers, url } = entryOf<Remote>(id, door, key)
  return new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }) as Transport
}

/** As Claude Desktop starts it, with the installed mcp-remote instead of one from the registry. */
const overStdio = (door: Door, key: string, home: string): Transport => {
  const { args, command, env } = entryOf<Local>("claude-desktop", door, key)
  assert.deepStrictEqual([command, ...args.slice(0, 2)], ["npx", "-y", "mcp-remote"])
  return new StdioClientTransport({
    command: process.execPath,
    args: [MCP_REMOTE, ...args.slice(2)],
    env: { ...env, HOME: home, MCP_REMOTE_CONFIG_DIR: home, PATH: process.env["PATH"] ?? "" },
    stderr: "ignore"
  })
}

const connected = (transport: Transport) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const client = new Client({ name: "test", version: "1" })
      await client.connect(transport)
      return client
    }),
    (client) => Effect.promise(() => client.close())
  )

const works = Effect.fnUntraced(function* (transport: Transport, echo: string) {
  const client = yield* connected(transport)
  const { tools } = yield* Effect.promise(() => client.listTools())
  assert.include(
    tools.map(({ name }) => name),
    echo
  )
  const result = yield* Effect.promise(() => client.callTool({ name: echo, arguments: { message: "hello" } }))
  assert.deepStrictEqual(result.content, [{ type: "text", text: "hello" }])
  const billing = result._meta?.["agent-tool-billing/billing"] as Readonly<Record<string, unknown>>
  assert.strictEqual(billing["cost_microcents"], 500)
})

describe("the configuration of a client connects", () => {
  it.live(
    "over HTTP",
    () =>
      Effect.gen(function* () {
        const { key, url } = yield* market
        yield* works(overHttp("json", providerDoor(url, "demo"), key), "echo")
        yield* works(overHttp("cursor", providerDoor(url, "demo"), key), "echo")
      }).pipe(Effect.scoped),
    SLOW
  )

  it.live(
    "through mcp-remote",
    () =>
      Effect.gen(function* () {
        const { key, url } = yield* market
        const home = yield* temporaryFolder
        yield* works(overStdio(providerDoor(url, "demo"), key, home), "echo")
      }).pipe(Effect.scoped),
    SLOW
  )
})
