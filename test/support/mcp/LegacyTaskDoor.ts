/**
 * A provider with tasks of version 2025-11-25 behind both doors of a running service, and clients of the 1.x SDK.
 */
import type { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js"
import { Context, Effect, Layer } from "effect"
import { aDeveloper, got, loaded } from "../market/HttpMarket.ts"
import { walletOf } from "../load/LoadMarket.ts"
import { ready } from "../servers/ServiceProcess.ts"
import { aLegacyDoor, aPricedTool, connected, type LegacyDoor } from "./LegacyClients.ts"
import { taskServer, type TaskServer } from "./servers/TaskServer.ts"

export const PRICE = 1_000
export const LOADED = 1_000_000 * 100
const FREE = { free_tier_calls: 0 }
export const TTL = 86_400_000

interface Here extends LegacyDoor {
  readonly server: TaskServer
  readonly market: string
}

export class TaskDoor extends Context.Service<TaskDoor, Here>()("agent-tool-billing/test/TaskDoor") {
  static readonly layer = Layer.effect(
    TaskDoor,
    Effect.gen(function* () {
      const server = yield* taskServer
      const service = yield* ready({ PROFILE: "memory", LOG_LEVEL: "Warn", DEMO_PROVIDER: "off" })
      const door = yield* aLegacyDoor(service.url, server.url, [
        aPricedTool("job", { ...FREE, on_cancel: "pass", canceled_call_costs: "price" }),
        aPricedTool("maybe", FREE),
        aPricedTool("plain", FREE)
      ])
      return { ...door, server, market: `${service.url}/mcp` }
    })
  )
}

/** Another account with funds at the same doors, and its client. */
export const arranged = Effect.gen(function* () {
  const here = yield* TaskDoor
  const key = yield* aDeveloper(here.url)
  yield* loaded(here.url, key, LOADED / 10_000)
  const { client } = yield* connected({ ...here, key })
  const tasks = client.experimental.tasks
  const wallet = walletOf(here.url, key)
  const start = (name = "job", ttl?: unknown) =>
    Effect.promise(async () => {
      await client.listTools()
      const task = (ttl === undefined ? {} : { ttl }) as { ttl?: number }
      for await (const message of tasks.callToolStream({ name, arguments: {} }, undefined, { task })) {
        if (message.type === "taskCreated") return message.task.taskId
        if (message.type === "error") throw message.error
      }
      throw new Error("No task")
    })
  const receipts = Effect.map(
    got(`${here.url}/api/v1/market/receipts?limit=100`, key),
    (body) => body["receipts"] as ReadonlyArray<Readonly<Record<string, unknown>>>
  )
  return { ...here, key, client, tasks, wallet, start, receipts }
})

/** Asks when it runs: a promise that is made earlier may reject before it is awaited. */
export const codeOf = (ask: () => Promise<unknown>) =>
  Effect.promise(() =>
    ask().then(
      () => 0,
      (error: { readonly code?: number }) => error.code ?? 1
    )
  )

export const codeOfStart = (starting: Effect.Effect<string>) => codeOf(() => Effect.runPromise(starting))

export const resultOf = (client: Client, taskId: string) =>
  Effect.promise(() => client.experimental.tasks.getTaskResult(taskId, CallToolResultSchema)) as Effect.Effect<{
    readonly content: ReadonlyArray<{ readonly text: string }>
    readonly isError?: boolean
    readonly _meta: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  }>

export const statusOf = (client: Client, taskId: string) =>
  Effect.promise(() => client.experimental.tasks.getTask(taskId).then(({ status }) => status))
