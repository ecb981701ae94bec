/**
 * Starting and stopping real processes: ready in time, stopped cleanly.
 */
import { afterAll, assert, beforeAll, describe, it, vi } from "@effect/vitest"
import { Effect } from "effect"
import { stat } from "node:fs/promises"
import { connect } from "node:net"
import { join } from "node:path"
import {
  dataFolder,
  isAlive,
  makeTemplate,
  serverPid,
  type Template,
  until
} from "../support/servers/EmbeddedFolders.ts"
import { eventually } from "../support/mcp/McpClient.ts"
import { json, ready, type Started } from "../support/servers/ServiceProcess.ts"

vi.setConfig({ testTimeout: 180_000 })

/** Ten times what a fast machine takes: 2 s on an existing folder, 5 s on a new one. */
const READY_MS_MAX = { existing: 20_000, created: 50_000 }
const PROJECT = join(import.meta.dirname, "../..")

let template: Template
beforeAll(async () => {
  template = await makeTemplate()
})
afterAll(() => template.remove())

/** As a terminal's Ctrl-C: to every process in the foreground. */
const interrupt = (pid: number) => Effect.sync(() => void process.kill(-pid, "SIGINT"))

const isClosed = (port: number) =>
  Effect.callback<boolean>((resume) => {
    const socket = connect({ host: "127.0.0.1", port })
    socket.once("connect", () => {
      socket.destroy()
      resume(Effect.succeed(false))
    })
    socket.once("error", () => resume(Effect.succeed(true)))
  })

const isGone = (pid: number) =>
  until(
    `process ${pid} has ended`,
    Effect.sync(() => !isAlive(pid))
  )

/** How long it took to be ready. */
const npmStart = Effect.fnUntraced(function* (dataDir: string) {
  const service = yield* ready({ DATA_DIR: dataDir }, { command: ["npm", "start"], cwd: PROJECT })
  assert.strictEqual((yield* json(`${service.url}/api/market/health`)).body["status"], "ok")
  const database = yield* serverPid(dataDir)
  yield* interrupt(service.pid)
  assert.include([0, 130, "SIGINT"], yield* service.exit, service.problem())
  yield* isGone(database)
  assert.isTrue(yield* isClosed(service.port))
  return service.readyMs
})

const endedWell = Effect.fnUntraced(function* ({ exit, problem }: Started) {
  assert.include([0, 130, 143], yield* exit, problem())
  assert.notMatch(problem(), /at \w+ \(|Error:/u)
})

describe("a start", () => {
  it.live("by npm is ready in time on a new folder and on an existing one, and Ctrl-C ends every process", () =>
    Effect.gen(function* () {
      const dataDir = yield* dataFolder
      assert.isBelow(yield* Effect.scoped(npmStart(dataDir)), READY_MS_MAX.created)
      assert.isBelow(yield* Effect.scoped(npmStart(dataDir)), READY_MS_MAX.existing)
    })
  )

  it.live("on a port that the system chooses links to that port, in every response too", () =>
    Effect.gen(function* () {
      const service = yield* ready({ PORT: "0", PROFILE: "memory" })
      const url = /ready at (http:\/\/127\.0\.0\.1:[1-9]\d*) /u.exec(service.output())?.[1]
      assert.isDefined(url, service.output())
      assert.strictEqual((yield* json(`${url}/api/market`)).body["base_url"], url)
      yield* interrupt(service.pid)
      yield* endedWell(service)
    })
  )

  it.live("in a new folder creates the database; Ctrl-C to the service alone ends both", () =>
    Effect.gen(function* () {
      const dataDir = yield* dataFolder
      const service = yield* ready({ DATA_DIR: dataDir })
      assert.include(service.output(), service.url)
      assert.include(service.output(), "profile embedded")
      assert.include(service.output(), "can be on this machine")
      const { body, status } = yield* json(`${service.url}/api/market/health`)
      assert.deepStrictEqual([status, body["provider_count"], body["tool_count"]], [200, 0, 0])
      const secret = yield* Effect.promise(() => stat(join(dataDir, "receipt-signing-secret")))
      assert.strictEqual(secret.mode & 0o777, 0o600)
      const database = yield* serverPid(dataDir)
      yield* Effect.sync(() => void service.child.kill("SIGINT"))
      yield* endedWell(service)
      yield* isGone(database)
    })
  )

  it.live("prints commands to try, and they work", () =>
    Effect.gen(function* () {
      const service = yield* ready({ PROFILE: "memory" })
      const urls = service.output().match(/http:\/\/[^\s)/]+\/[^\s)]+/gu) ?? []
      assert.isAbove(urls.length, 2)
      for (const url of urls) {
        const response = yield* Effect.promise(() => fetch(url))
        assert.isTrue(response.ok, `${url}: ${response.status}`)
      }
    })
  )
})

/** The response of a server that has read a request's head, and waits for its body. */
const CONTINUE = "HTTP/1.1 100 Continue\r\n\r\n"

const talkTo = (port: number) => {
  let heard = ""
  const socket = connect({ host: "127.0.0.1", port }).on("error", () => {})
  socket.on("data", (chunk) => (heard += chunk.toString()))
  return { heard: () => heard, socket }
}

describe("a stop", () => {
  it.live("by SIGTERM ends the service and its database, and leaves nothing behind", () =>
    Effect.gen(function* () {
      const dataDir = yield* template.copy
      const service = yield* ready({ DATA_DIR: dataDir })
      const database = yield* serverPid(dataDir)
      assert.isTrue(isAlive(database))
      yield* Effect.sync(() => void service.child.kill("SIGTERM"))
      yield* endedWell(service)
      yield* isGone(database)
      assert.strictEqual(yield* serverPid(dataDir), 0)
      assert.isTrue(yield* isClosed(service.port))
    })
  )

  it.live("completes a call in flight, and accepts no new one", () =>
    Effect.gen(function* () {
      const service = yield* ready({ PROFILE: "memory" })
      const body = JSON.stringify({ name: "x", email: "a@b.org" })
      const head = `POST /api/market/register-consumer HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nexpect: 100-continue\r\n\r\n`
      const { heard, socket } = talkTo(service.port)
      socket.write(head + body.slice(0, 5))
      yield* eventually(() => heard() === CONTINUE)
      service.child.kill("SIGINT")
      yield* until("the port is closed", isClosed(service.port))
      socket.write(body.slice(5))
      yield* eventually(() => heard().includes("\r\n\r\n", CONTINUE.length))
      socket.end()
      yield* endedWell(service)
      const answer = heard().slice(CONTINUE.length)
      assert.match(answer, /^HTTP\/1\.1 201 /u)
      assert.include(answer, `"registered":true`)
    })
  )

  it.live("waits for such a call up to its grace period", () =>
    Effect.gen(function* () {
      const service = yield* ready({ PROFILE: "memory", SHUTDOWN_GRACE_MS: "300" })
      const { heard, socket } = talkTo(service.port)
      socket.write(
        "POST /api/market/register-consumer HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 9\r\nexpect: 100-continue\r\n\r\n{"
      )
      yield* eventually(() => heard() === CONTINUE)
      const startedAt = performance.now()
      service.child.kill("SIGINT")
      yield* endedWell(service)
      // The default would be ten seconds.
      assert.isBelow(performance.now() - startedAt, 8_000)
      socket.destroy()
    })
  )
})
