/**
 * `npm run bench -- slow [ms]`: calls of tools that take 10 and 100 ms, over 256 connections, beside a bare proxy in the
 * same run, and beside the service's store of calls alone, the most that these books allow. This is what users see: most
 * tools are slower than billing.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  calling,
  callingBare,
  callingPrototype,
  prepare,
  registerTool,
  startBare,
  startService,
  TURNS,
  WALLETS
} from "./proxy.ts"
import { note } from "./support/Figures.ts"
import { startScript } from "./support/Processes.ts"
import { median, table } from "./support/Table.ts"
import { inTurns, ratioOf, type Subject } from "./support/Turns.ts"

const CONNECTIONS = 256
const CALL_MS = [10, 100]
const TARGET = 0.9
const BOOKS = "books alone"

export const slow = async (callsMs: ReadonlyArray<number> = CALL_MS): Promise<void> => {
  const dataDir = mkdtempSync(join(tmpdir(), "atb-bench-"))
  const durable = await startService("embedded", dataDir)
  const memory = await startService("memory", dataDir)
  const started = [durable, memory]
  const start = async (server: ReturnType<typeof startScript>) => {
    started.push(await server)
    return server
  }
  try {
    const upstream = await start(startScript(["test/support/mcp/servers/trivialServer.ts", "modern"], /^(\d+)/mu))
    const onDisk = await prepare(durable.port, upstream.port)
    const inMemory = await prepare(memory.port, upstream.port)
    for (const callMs of callsMs) {
      const args = ["test/support/mcp/servers/trivialServer.ts", "modern", "0", String(callMs)]
      const { port } = await start(startScript(args, /^(\d+)/mu))
      const bare = await start(startBare("bareProxy", port))
      const books = await start(startBare("booksProxy", port))
      const subjects: ReadonlyArray<Subject> = [
        { name: "bare proxy", server: bare, request: callingBare },
        { name: BOOKS, server: books, request: callingPrototype(WALLETS) },
        {
          name: "durable",
          server: durable,
          request: calling({ ...onDisk, ...(await registerTool(durable.port, port, `Slow${callMs}`)) })
        },
        {
          name: "memory",
          server: memory,
          request: calling({ ...inMemory, ...(await registerTool(memory.port, port, `Slow${callMs}`)) })
        }
      ]
      const measured = await inTurns(subjects, { ...TURNS, connections: CONNECTIONS })
      const bareTurns = measured.get("bare proxy")!
      table(`Calls that take ${callMs} ms, ${CONNECTIONS} connections, medians of ${TURNS.rounds} turns`, [
        ["", "calls/s", "of bare", "p50 ms", "p99 ms", "CPU µs/call", "database"],
        ...[...measured].map(([name, turns]) => {
          const ofBare = ratioOf(turns, bareTurns)
          if (name !== "bare proxy" && name !== BOOKS)
            note(`calls that take ${callMs} ms, ${name}, of bare`, ofBare, TARGET)
          return [
            name,
            median(turns.map((one) => one.perSecond)).toFixed(0),
            ofBare.toFixed(2),
            median(turns.map((one) => one.p50Ms)).toFixed(2),
            median(turns.map((one) => one.p99Ms)).toFixed(2),
            median(turns.map((one) => one.cpuMicros)).toFixed(0),
            median(turns.map((one) => one.databaseCpuMicros)).toFixed(0)
          ]
        })
      ])
    }
  } finally {
    await Promise.all(started.map((server) => server.stop()))
    rmSync(dataDir, { recursive: true, force: true })
  }
}
