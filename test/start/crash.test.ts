/**
 * `kill -9` of the service, of the database, of both; the next start has the same data and one server, without manual
 * repair.
 */
import { afterAll, assert, beforeAll, describe, it, vi } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { spawnSync } from "node:child_process"
import {
  anotherServerThan,
  isAlive,
  kill,
  makeTemplate,
  serverPid,
  type Template,
  until
} from "../support/servers/EmbeddedFolders.ts"
import { json, post, ready } from "../support/servers/ServiceProcess.ts"

vi.setConfig({ testTimeout: 180_000 })

let template: Template
beforeAll(async () => {
  template = await makeTemplate()
})
afterAll(() => template.remove())

const TOOL = { tool_name: "kept", price_microcents: 100 }

/** A provider with a tool, which must not be lost. */
const committed = Effect.fnUntraced(function* (url: string) {
  const body = { name: "Kept Works", email: "kept@example.org", endpoint_url: "http://127.0.0.1:1/mcp", tools: [TOOL] }
  const registered = yield* post(`${url}/api/market/register-provider`, body)
  assert.strictEqual(registered.status, 201)
  return String(registered.body["api_key"])
})

const isAllThere = Effect.fnUntraced(function* (url: string, key: string, tools: number) {
  const catalog = yield* json(`${url}/api/market/catalog?utm_read=${performance.now()}`)
  assert.deepStrictEqual([catalog.status, catalog.body["total"]], [200, tools])
  const headers = { authorization: `Bearer ${key}` }
  const who = yield* json(`${url}/api/v1/market/whoami`, { headers })
  assert.deepStrictEqual([who.status, who.body["name"]], [200, "Kept Works"])
})

/** The database's main processes in this folder. */
const serversIn = (dataDir: string): ReadonlyArray<string> => {
  const { stdout } = spawnSync("ps", ["-ww", "-eo", "pid=,args="], { encoding: "utf8" })
  return stdout.split("\n").filter((line) => line.includes(dataDir) && /postgres\S* .*-D/u.test(line))
}

/** A process that the server has just forked looks like a second server until it has set its title. */
const isOneServer = (dataDir: string) =>
  until(
    "one server is left",
    Effect.sync(() => serversIn(dataDir).length === 1)
  )

const dead = (pid: number) =>
  Effect.andThen(
    Effect.sync(() => void process.kill(pid, "SIGKILL")),
    until(
      `process ${pid} has ended`,
      Effect.sync(() => !isAlive(pid))
    )
  )

describe("after kill -9", () => {
  for (const victims of ["the service", "the database", "both"] as const) {
    it.live(`of ${victims}, the next start has the same data and one server`, () =>
      Effect.gen(function* () {
        const dataDir = yield* template.copy
        const first = yield* ready({ DATA_DIR: dataDir })
        const key = yield* committed(first.url)
        const database = yield* serverPid(dataDir)
        switch (victims) {
          case "the service":
            yield* kill(first.child, "SIGKILL")
            assert.isTrue(isAlive(database))
            break
          case "the database":
            yield* dead(database)
            yield* Effect.sync(() => void first.child.kill("SIGTERM"))
            yield* first.exit
            break
          case "both":
            yield* kill(first.child, "SIGKILL")
            yield* dead(database)
        }
        const second = yield* ready({ DATA_DIR: dataDir })
        yield* isAllThere(second.url, key, 1)
        yield* isOneServer(dataDir)
        assert.notInclude(second.output() + second.problem(), "secret")
        yield* Effect.sync(() => void second.child.kill("SIGINT"))
        assert.include([0, 130], yield* second.exit)
        assert.lengthOf(serversIn(dataDir), 0)
      })
    )
  }

  it.live("of the database alone, the service restarts it and continues automatically", () =>
    Effect.gen(function* () {
      const dataDir = yield* template.copy
      const service = yield* ready({ DATA_DIR: dataDir })
      const key = yield* committed(service.url)
      const database = yield* serverPid(dataDir)
      yield* dead(database)
      yield* anotherServerThan(database, dataDir)
      const health = json(`${service.url}/api/market/health`)
      yield* until(
        "the service is healthy",
        Effect.map(health, ({ status }) => status === 200)
      )
      yield* isAllThere(service.url, key, 1)
      const tools = [{ tool_name: "afterwards" }]
      assert.strictEqual((yield* post(`${service.url}/api/market/tools`, { tools }, key)).status, 201)
      yield* isAllThere(service.url, key, 2)
      yield* isOneServer(dataDir)
      assert.isTrue(isAlive(service.pid))
    })
  )

  it.live("during writes, everything that was acknowledged exists, and every row is complete", () =>
    Effect.gen(function* () {
      const dataDir = yield* template.copy
      const first = yield* ready({ DATA_DIR: dataDir, RATE_LIMIT_RPM: "0", RATE_LIMIT_IP_RPM: "0" })
      const key = yield* committed(first.url)
      let answered = 1
      const write = Effect.fnUntraced(function* (n: number) {
        const tools = [{ tool_name: `t${n}a` }, { tool_name: `t${n}b` }]
        const answer = yield* Effect.exit(post(`${first.url}/api/market/tools`, { tools }, key))
        if (Exit.isSuccess(answer) && answer.value.status === 201) answered += 2
      })
      const writing = Effect.forEach(
        Array.from({ length: 300 }, (_, n) => n),
        write,
        { concurrency: 8 }
      )
      yield* Effect.all([writing, Effect.andThen(Effect.sleep("250 millis"), killAll(first.child.pid!, dataDir))], {
        concurrency: 2
      })
      const second = yield* ready({ DATA_DIR: dataDir })
      const { body } = yield* json(`${second.url}/api/market/catalog`)
      const total = Number(body["total"])
      assert.isAtLeast(total, answered)
      assert.strictEqual(total % 2, 1, "two tools of a request are kept together, beside the first one")
      yield* isAllThere(second.url, key, total)
    })
  )
})

const killAll = Effect.fnUntraced(function* (service: number, dataDir: string) {
  const database = yield* serverPid(dataDir)
  process.kill(service, "SIGKILL")
  process.kill(database, "SIGKILL")
})
