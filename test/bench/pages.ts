/**
 * `npm run bench -- pages`: every page of the service in memory, with a catalog of fifty tools, requested by a few
 * connections at once.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { startService } from "./proxy.ts"
import { get, run } from "./support/LoadGenerator.ts"
import { table } from "./support/Table.ts"

const CONNECTIONS = 4
const REQUESTS = 2_000
const TOOLS = 50
const TARGET_P99_MS = 20

const registered = async (port: number): Promise<string> => {
  const response = await fetch(`http://127.0.0.1:${port}/api/market/register-provider`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      name: "Bench",
      email: "bench@example.org",
      endpoint_url: "http://127.0.0.1:9/mcp",
      tools: Array.from({ length: TOOLS }, (_, n) => ({ tool_name: `tool_${n}`, price_microcents: 100 + n }))
    })
  })
  const { tools } = (await response.json()) as { readonly tools: ReadonlyArray<{ readonly id: string }> }
  return tools[0]!.id
}

export const pages = async (): Promise<void> => {
  const dataDir = mkdtempSync(join(tmpdir(), "atb-bench-"))
  const service = await startService("memory", dataDir)
  try {
    const toolId = await registered(service.port)
    const rows: Array<ReadonlyArray<string>> = [["", "p50 ms", "p99 ms", "in time"]]
    for (const path of [
      "/",
      "/catalog",
      "/catalog?q=tool&sort=price",
      `/catalog/${toolId}`,
      "/developers/register",
      "/providers/register",
      "/developer",
      "/provider",
      "/verify",
      "/status",
      "/spec",
      "/changelog",
      "/docs"
    ]) {
      const request = get(path, { accept: "text/html", "accept-encoding": "gzip" })
      const load = { port: service.port, connections: CONNECTIONS, secondsMax: 30, request: () => request }
      await run({ ...load, requests: REQUESTS / 10 })
      const { p50Ms, p99Ms, statuses } = await run({ ...load, requests: REQUESTS })
      if (statuses.size !== 1 || !statuses.has(200)) throw new Error(`${path}: ${JSON.stringify([...statuses])}`)
      rows.push([path.slice(0, 30), p50Ms.toFixed(2), p99Ms.toFixed(2), p99Ms < TARGET_P99_MS ? "yes" : "NO"])
    }
    table(`Pages from memory, ${CONNECTIONS} connections, ${REQUESTS} times each`, rows)
  } finally {
    await service.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}
