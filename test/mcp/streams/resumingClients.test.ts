/**
 * Real clients whose connection breaks in the middle of a call: they reconnect without help, with Last-Event-ID and get the
 * result. The provider gets one request, and the call is settled once.
 */
import { assert, it } from "@effect/vitest"
import { MultiServerMCPClient } from "@langchain/mcp-adapters"
import { Client as Client2, StreamableHTTPClientTransport as Http2 } from "@modelcontextprotocol/client"
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { StreamableHTTPClientTransport as Http1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import { Context, Effect, Layer } from "effect"
import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { walletOf } from "../../support/load/LoadMarket.ts"
import { breakingHop } from "../../support/mcp/servers/BreakingHop.ts"
import { gatedServer } from "../../support/mcp/servers/GatedServer.ts"
import { aLegacyDoor, aPricedTool, type LegacyDoor } from "../../support/mcp/LegacyClients.ts"
import { settled } from "../../support/mcp/LegacyWire.ts"
import { eventually } from "../../support/mcp/McpClient.ts"
import { ready, temporaryFolder } from "../../support/servers/ServiceProcess.ts"

const PRICE = 1_000
const LOADED = 100_000_000
const MCP_REMOTE = join(import.meta.dirname, "../../../node_modules/mcp-remote/dist/proxy.js")
const INSPECTOR = join(
  import.meta.dirname,
  "../../../node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
)
const IDENTITY = { name: "test", version: "1" }
const RECONNECTION = {
  initialReconnectionDelay: 200,
  maxReconnectionDelay: 1_000,
  reconnectionDelayGrowFactor: 1.5,
  maxRetries: 20
}

interface Service {
  readonly url: string
  readonly port: number
}

class Running extends Context.Service<Running, Service>()("agent-tool-billing/test/mcp/Resuming") {
  static readonly layer = Layer.effect(Running, ready({ PROFILE: "memory", LOG_LEVEL: "Warn" }))
}

/** Calls `wait` and returns its result as text. */
type Caller = (heard: (progress: number) => void) => Promise<string>

interface Connected {
  readonly call: Caller
  readonly close: () => Promise<void>
}

type Connect = (door: Pick<LegacyDoor, "door" | "key">, home: string) => Promise<Connected>

const bearer = (key: string) => ({ authorization: `Bearer ${key}` })

const textOf = (result: object): string =>
  (result as { readonly content: ReadonlyArray<{ readonly text: string }> }).content[0]!.text

const callOf1 = (client: Client1): Connected => ({
  call: async (heard) =>
    textOf(
      await client.callTool({ name: "wait", arguments: {} }, undefined, {
        onprogress: ({ progress }) => heard(progress)
      })
    ),
  close: () => client.close()
})

const sdk1: Connect = async ({ door, key }) => {
  const client = new Client1(IDENTITY)
  const options = { requestInit: { headers: bearer(key) }, reconnectionOptions: RECONNECTION }
  await client.connect(new Http1(new URL(door), options) as Transport)
  return callOf1(client)
}

/** In the legacy era: streams of the modern one do not resume. */
const sdk2: Connect = async ({ door, key }) => {
  const client = new Client2(IDENTITY, { versionNegotiation: { mode: "legacy" } })
  await client.connect(
    new Http2(new URL(door), { requestInit: { headers: bearer(key) }, reconnectionOptions: RECONNECTION })
  )
  return {
    call: async (heard) =>
      textOf(
        await client.callTool(
          { name: "wait", arguments: {} },
          { onprogress: ({ progress }: { readonly progress: number }) => heard(progress) }
        )
      ),
    close: () => client.close()
  }
}

const mcpRemote: Connect = async ({ door, key }, home) => {
  const client = new Client1(IDENTITY)
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [MCP_REMOTE, door, "--allow-http", "--header", `Authorization:Bearer ${key}`],
      env: { HOME: home, MCP_REMOTE_CONFIG_DIR: home, PATH: process.env["PATH"] ?? "" },
      stderr: "ignore"
    })
  )
  return callOf1(client)
}

const langChain: Connect = async ({ door, key }) => {
  let heard: (progress: number) => void = () => {}
  const client = new MultiServerMCPClient({
    mcpServers: {
      market: {
        transport: "http",
        url: door,
        headers: bearer(key),
        reconnect: { enabled: true, maxAttempts: 20, delayMs: 200 }
      }
    },
    onProgress: ({ progress }) => heard(progress)
  })
  const tools = await client.getTools()
  return {
    call: async (onProgress) => {
      heard = onProgress
      return JSON.stringify(await tools.find(({ name }) => name === "wait")!.invoke({}))
    },
    close: () => client.close()
  }
}

const CLIENTS: ReadonlyArray<readonly [name: string, connect: Connect]> = [
  ["the 1.x SDK", sdk1],
  ["the 2.x SDK", sdk2],
  ["mcp-remote", mcpRemote],
  ["LangChain", langChain]
]

it.layer(Running.layer, { timeout: "60 seconds", excludeTestServices: true })(
  "A call whose connection breaks is resumed",
  (it) => {
    for (const [name, connect] of CLIENTS) {
      it.effect(
        `by ${name}, which gets the result; it is forwarded and settled once`,
        () =>
          Effect.gen(function* () {
            const { port, url } = yield* Running
            const gated = yield* gatedServer
            const hop = yield* breakingHop(port)
            const direct = yield* aLegacyDoor(url, gated.server.url, [aPricedTool("wait", { timeout_ms: 60_000 })])
            const door = direct.door.replace(`:${port}/`, `:${hop.port}/`)
            const home = yield* temporaryFolder
            const client = yield* Effect.acquireRelease(
              Effect.promise(() => connect({ ...direct, door }, home)),
              ({ close }) => Effect.promise(close)
            )

            // What comes while the client is away: progress, then the result itself.
            for (const [n, away] of ["progress", "result"].entries()) {
              const heard: Array<number> = []
              const before = hop.resumed.length
              const result = client.call((progress) => heard.push(progress))
              yield* eventually(() => heard.length === 1)
              hop.breakAll()
              if (away === "progress") {
                gated.report(n, 2)
                yield* eventually(() => heard.length === 2)
              }
              gated.finish(n, `result ${n}`)
              assert.include(yield* Effect.promise(() => result), `result ${n}`)
              assert.isAbove(hop.resumed.length, before)
              assert.deepStrictEqual(heard, away === "progress" ? [1, 2] : [1], "nothing comes twice")
              const receipts = yield* settled(direct, n + 1)
              assert.deepStrictEqual(
                receipts.map((receipt) => [receipt["status"], receipt["cost_microcents"]]),
                receipts.map(() => ["success", PRICE])
              )
              assert.lengthOf(gated.server.of("tools/call"), n + 1)
            }
            assert.lengthOf(gated.server.of("notifications/cancelled"), 0)
            assert.deepStrictEqual(yield* walletOf(url, direct.key), { balance: LOADED - 2 * PRICE, held: 0 })
          }),
        120_000
      )
    }

    it.effect(
      "by the inspector on the command line",
      () =>
        Effect.gen(function* () {
          const { port, url } = yield* Running
          const gated = yield* gatedServer
          const hop = yield* breakingHop(port)
          const direct = yield* aLegacyDoor(url, gated.server.url, [aPricedTool("wait", { timeout_ms: 60_000 })])
          const door = direct.door.replace(`:${port}/`, `:${hop.port}/`)
          const header = ["--header", `Authorization: Bearer ${direct.key}`]
          const call = ["--method", "tools/call", "--tool-name", "wait"]
          const printed = promisify(execFile)(
            process.execPath,
            [INSPECTOR, "--cli", door, "--transport", "http", ...header, ...call],
            { timeout: 100_000, env: { ...process.env, MCP_CATALOG_PATH: "/dev/null" } }
          )
          yield* eventually(() => gated.open.length === 1 && hop.streamed() > 0, 60_000)
          hop.breakAll()
          gated.finish(0, "after the break")
          const { stdout } = yield* Effect.promise(() => printed)
          assert.include(stdout, "after the break")
          assert.isAbove(hop.resumed.length, 0)
          const [receipt] = yield* settled(direct, 1)
          assert.strictEqual(receipt!["cost_microcents"], PRICE)
          assert.lengthOf(gated.server.of("tools/call"), 1)
        }),
      120_000
    )
  }
)
