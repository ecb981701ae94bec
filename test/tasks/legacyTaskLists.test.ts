/**
 * `tasks/list` of version 2025-11-25 with more than one page, at the doors of two providers and of the market.
 */
import { assert, it } from "@effect/vitest"
import type { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { Effect } from "effect"
import { text } from "../../testing/mcp/ScriptedServer.ts"
import { aDeveloper, loaded } from "../support/market/HttpMarket.ts"
import { aLegacyDoor, aPricedTool, connected } from "../support/mcp/LegacyClients.ts"
import { arranged, codeOf, TaskDoor } from "../support/mcp/LegacyTaskDoor.ts"
import { taskServer, type TaskServer } from "../support/mcp/servers/TaskServer.ts"

const PAGE = 50
const MANY = PAGE + 3
const FEW = 4
const AT_ONCE = 8

const parsed = {
  parse: (value: unknown) => value,
  safeParse: (data: unknown) => ({ success: true, data })
} as never

/** Starts and completes tasks, and returns their ids, the newest first. */
const completed = Effect.fnUntraced(function* (client: Client, server: TaskServer, count: number) {
  const ids: Array<string> = []
  while (ids.length < count) {
    const round = Array.from({ length: Math.min(AT_ONCE, count - ids.length) })
    const started = yield* Effect.promise(async () => {
      const inRound: Array<string> = []
      for (const _ of round) {
        const params = { name: "job", arguments: {}, task: {} }
        const { task } = (await client.request({ method: "tools/call", params } as never, parsed)) as {
          readonly task: { readonly taskId: string }
        }
        await server.finish("completed", text("done"))
        inRound.push(task.taskId)
      }
      await Promise.all(inRound.map((taskId) => client.request({ method: "tasks/result", params: { taskId } }, parsed)))
      return inRound
    })
    ids.push(...started)
  }
  return ids.toReversed()
})

/** The ids of each page, and the cursors between them. */
const pages = (client: Client) =>
  Effect.promise(async () => {
    const cursors: Array<string> = []
    const ids: Array<ReadonlyArray<string>> = []
    for (let cursor: string | undefined; ids.length === 0 || cursor !== undefined;) {
      const page = await client.experimental.tasks.listTasks(cursor)
      ids.push(page.tasks.map(({ taskId }) => taskId))
      cursor = page.nextCursor
      if (cursor !== undefined) cursors.push(cursor)
    }
    return { cursors, ids }
  })

const after = (client: Client, cursor: string) =>
  Effect.promise(async () => (await client.experimental.tasks.listTasks(cursor)).tasks.map(({ taskId }) => taskId))

it.layer(TaskDoor.layer, { timeout: "120 seconds", excludeTestServices: true })("A list of tasks", (it) => {
  it.effect(
    "has every task of its account once, page by page, and no other's for any cursor",
    () =>
      Effect.gen(function* () {
        const { client, door, key, market, server, url } = yield* arranged
        const otherServer = yield* taskServer
        const tools = [aPricedTool("job", { free_tier_calls: 0 })]
        const { door: otherDoor } = yield* aLegacyDoor(url, otherServer.url, tools)
        const { client: atOther } = yield* connected({ door: otherDoor, key })
        const { client: atMarket } = yield* connected({ door: market, key })
        const strangerKey = yield* aDeveloper(url)
        yield* loaded(url, strangerKey, 10_000)
        const { client: stranger } = yield* connected({ door, key: strangerKey })
        const { client: strangerAtMarket } = yield* connected({ door: market, key: strangerKey })

        const early = yield* completed(atOther, otherServer, FEW)
        const foreign = yield* completed(stranger, server, 2)
        const own = yield* completed(client, server, MANY)
        const all = [...own, ...early]

        const here = yield* pages(client)
        assert.deepStrictEqual(here.ids, [own.slice(0, PAGE), own.slice(PAGE)])
        assert.deepStrictEqual((yield* pages(atOther)).ids, [early])
        const everywhere = yield* pages(atMarket)
        assert.deepStrictEqual(everywhere.ids, [all.slice(0, PAGE), all.slice(PAGE)])
        for (const theirs of [stranger, strangerAtMarket]) assert.deepStrictEqual((yield* pages(theirs)).ids, [foreign])

        // A cursor is a place in the list of the account that sends it, at the door that it is sent to.
        const cursor = here.cursors[0]!
        assert.deepStrictEqual(yield* after(atMarket, cursor), all.slice(PAGE))
        assert.deepStrictEqual(yield* after(atOther, cursor), early)
        const [ms] = cursor.split(".")
        for (const guess of [cursor, `${ms}.0`, `${ms}.${foreign[0]}`, `9999999999999.${"f".repeat(64)}`]) {
          for (const theirs of [stranger, strangerAtMarket]) {
            for (const taskId of yield* after(theirs, guess)) assert.include(foreign, taskId)
          }
          for (const taskId of yield* after(client, guess)) assert.include(own, taskId)
        }
        assert.deepStrictEqual(yield* after(client, "0.0"), [])
        assert.deepStrictEqual(yield* after(stranger, `9999999999999.${"f".repeat(64)}`), foreign)
        const tooLong = `1.${"a".repeat(65)}`
        for (const malformed of [
          "",
          "1",
          ".",
          "-1.a",
          tooLong,
          "1.x'--",
          "99999999999999.a",
          `${cursor}\n`,
          1,
          null,
          {}
        ]) {
          const listing = () => client.request({ method: "tasks/list", params: { cursor: malformed } } as never, parsed)
          assert.strictEqual(yield* codeOf(listing), -32_602, String(malformed))
        }
      }),
    120_000
  )
})
