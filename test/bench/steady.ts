/**
 * `npm run bench -- steady [calls]`: the memory of a durable service over a million calls, read after each tenth.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { calling, prepare, startService } from "./proxy.ts"
import { run } from "./support/LoadGenerator.ts"
import { residentMb, startScript } from "./support/Processes.ts"
import { table } from "./support/Table.ts"

const CALLS = Number(process.argv[3] ?? 1_000_000)
const PARTS = 10
const CONNECTIONS = 64
const SECONDS_MAX = 3_600
const SETTLE_MS = 5_000

export const steady = async (): Promise<void> => {
  const dataDir = mkdtempSync(join(tmpdir(), "atb-bench-"))
  const upstream = await startScript(["test/support/mcp/trivialServer.ts", "modern"], /^(\d+)/mu)
  const service = await startService("embedded", dataDir)
  try {
    const request = calling(await prepare(service.port, upstream.port))
    const resident: Array<number> = []
    for (let part = 0; part < PARTS; part++) {
      const load = { port: service.port, connections: CONNECTIONS, requests: CALLS / PARTS, secondsMax: SECONDS_MAX }
      const { statuses } = await run({ ...load, request })
      if (statuses.size !== 1 || !statuses.has(200)) throw new Error(JSON.stringify([...statuses]))
      await new Promise((resolve) => setTimeout(resolve, SETTLE_MS))
      resident.push(residentMb(service.pid))
    }
    table(`Resident memory of the service over ${CALLS} durable calls`, [
      ["calls", "MB", "of the first"],
      ...resident.map((mb, part) => [
        String(((part + 1) * CALLS) / PARTS),
        mb.toFixed(0),
        (mb / resident[0]!).toFixed(2)
      ])
    ])
  } finally {
    await Promise.all([service.stop(), upstream.stop()])
    rmSync(dataDir, { recursive: true, force: true })
  }
}
