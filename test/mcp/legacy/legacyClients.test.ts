/**
 * Clients of the legacy era at a provider's door, with the official 1.x SDK: what they can do at the server directly they can
 * do through the door, and calls are billed.
 */
import { assert, it } from "@effect/vitest"
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema
} from "@modelcontextprotocol/sdk/types.js"
import { Context, Effect, Layer } from "effect"
import { got } from "../../support/market/HttpMarket.ts"
import { aLegacyDoor, aPricedTool, connected, type LegacyDoor } from "../../support/mcp/LegacyClients.ts"
import { eventually } from "../../support/mcp/McpClient.ts"
import { everythingServer } from "../../support/mcp/servers/RealServers.ts"
import { ready } from "../../support/servers/ServiceProcess.ts"

const TOOLS = [
  "echo",
  "get-sum",
  "get-structured-content",
  "get-roots-list",
  "trigger-long-running-operation",
  "trigger-sampling-request",
  "trigger-elicitation-request",
  "toggle-simulated-logging",
  "toggle-subscriber-updates"
]

class EverythingDoor extends Context.Service<EverythingDoor, LegacyDoor>()("agent-tool-billing/test/EverythingDoor") {
  static readonly layer = Layer.effect(
    EverythingDoor,
    Effect.gen(function* () {
      const server = yield* everythingServer
      const service = yield* ready({ PROFILE: "memory", LOG_LEVEL: "Warn" })
      return yield* aLegacyDoor(
        service.url,
        server.url,
        // Some are only listed to clients with capabilities that the service itself does not have.
        TOOLS.map((name) => aPricedTool(name, { unlisted: true }))
      )
    })
  )
}

const text = (result: unknown): string =>
  (result as { readonly content: ReadonlyArray<{ readonly text?: string }> }).content
    .map((part) => part.text)
    .join("\n")

it.layer(EverythingDoor.layer, { timeout: "60 seconds", excludeTestServices: true })("A legacy client", (it) => {
  it.effect("connects, lists and calls; each call is billed once", () =>
    Effect.gen(function* () {
      const door = yield* EverythingDoor
      const { client, transport } = yield* connected(door)
      assert.match(transport.sessionId ?? "", /^[0-9a-f]{64}$/u)
      assert.strictEqual(client.getServerVersion()?.name, "mcp-servers/everything")
      const { tools } = yield* Effect.promise(() => client.listTools())
      assert.includeMembers(
        tools.map(({ name }) => name),
        ["echo", "get-sum"]
      )
      const result = yield* Effect.promise(() => client.callTool({ name: "get-sum", arguments: { a: 2, b: 40 } }))
      assert.include(text(result), "42")
      const billing = (result._meta as Record<string, Record<string, unknown>>)["agent-tool-billing/billing"]!
      assert.strictEqual(billing["cost_microcents"], 1_000)
      const receipt = yield* got(`${door.url}/api/v1/market/receipts/${String(billing["receipt_id"])}`, door.key)
      assert.strictEqual(JSON.stringify(receipt).includes("get-sum"), true)
    })
  )

  it.effect("receives progress of a call with its own token", () =>
    Effect.gen(function* () {
      const { client } = yield* connected(yield* EverythingDoor)
      const progress: Array<number> = []
      const result = yield* Effect.promise(() =>
        client.callTool({ name: "trigger-long-running-operation", arguments: { duration: 0.5, steps: 5 } }, undefined, {
          onprogress: (report) => progress.push(report.progress)
        })
      )
      assert.include(text(result), "completed")
      assert.deepStrictEqual(progress, [1, 2, 3, 4, 5])
    })
  )

  it.effect("answers sampling, elicitation and roots that a tool asks for", () =>
    Effect.gen(function* () {
      const asked: Array<string> = []
      const { client } = yield* connected(yield* EverythingDoor, {
        capabilities: { sampling: {}, elicitation: {}, roots: { listChanged: true } },
        prepare: (client) => {
          client.setRequestHandler(CreateMessageRequestSchema, () => {
            asked.push("sampling")
            return { model: "m", role: "assistant" as const, content: { type: "text" as const, text: "sampled" } }
          })
          client.setRequestHandler(ElicitRequestSchema, () => {
            asked.push("elicitation")
            return { action: "decline" as const }
          })
          client.setRequestHandler(ListRootsRequestSchema, () => {
            asked.push("roots")
            return { roots: [{ uri: "file:///tmp/root", name: "root" }] }
          })
        }
      })
      const sampled = yield* Effect.promise(() =>
        client.callTool({ name: "trigger-sampling-request", arguments: { prompt: "p", maxTokens: 5 } })
      )
      assert.include(text(sampled), "sampled")
      const elicited = yield* Effect.promise(() =>
        client.callTool({ name: "trigger-elicitation-request", arguments: {} })
      )
      assert.include(text(elicited), "declined")
      assert.includeMembers(asked, ["sampling", "elicitation"])
      yield* eventually(() => asked.includes("roots"))
    })
  )

  it.effect("reads resources and prompts, completes, and pings", () =>
    Effect.gen(function* () {
      const { client } = yield* connected(yield* EverythingDoor)
      const { resources } = yield* Effect.promise(() => client.listResources())
      assert.isAbove(resources.length, 0)
      const { contents } = yield* Effect.promise(() => client.readResource({ uri: resources[0]!.uri }))
      assert.strictEqual(contents.length, 1)
      const { prompts } = yield* Effect.promise(() => client.listPrompts())
      assert.isAbove(prompts.length, 0)
      const { resourceTemplates } = yield* Effect.promise(() => client.listResourceTemplates())
      assert.isAbove(resourceTemplates.length, 0)
      yield* Effect.promise(() => client.ping())
      const failure = yield* Effect.promise(() =>
        client.readResource({ uri: "demo://none" }).then(
          () => undefined,
          (error: unknown) => error as { readonly code?: number }
        )
      )
      assert.isNumber(failure?.code)
    })
  )

  it.effect("subscribes to resources and log messages, which come on the stream of the session", () =>
    Effect.gen(function* () {
      const updated: Array<string> = []
      const logged: Array<unknown> = []
      const { client } = yield* connected(yield* EverythingDoor, {
        prepare: (client) => {
          client.setNotificationHandler(
            ResourceUpdatedNotificationSchema,
            ({ params }) => void updated.push(params.uri)
          )
          client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void logged.push(params.data))
        }
      })
      yield* Effect.promise(() => client.setLoggingLevel("debug"))
      const uri = "demo://resource/dynamic/text/1"
      yield* Effect.promise(() => client.subscribeResource({ uri }))
      yield* Effect.promise(() => client.callTool({ name: "toggle-subscriber-updates", arguments: {} }))
      yield* Effect.promise(() => client.callTool({ name: "toggle-simulated-logging", arguments: {} }))
      yield* eventually(() => updated.includes(uri) && logged.length > 0)
      yield* Effect.promise(() => client.unsubscribeResource({ uri }))
    })
  )
})
