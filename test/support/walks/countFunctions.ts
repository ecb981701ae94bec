/**
 * Loaded before a process's own modules (`--import`): counts how often each function runs. At SIGUSR2 it writes what ran since
 * the last one to `COUNTS_FILE`, and begins again.
 */
import { renameSync, writeFileSync } from "node:fs"
import { Session } from "node:inspector"

const session = new Session()
session.connect()
session.post("Profiler.enable")
session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false })

let taken = 0
process.on("SIGUSR2", () => {
  session.post("Profiler.takePreciseCoverage", (error, coverage) => {
    if (error !== null) throw error
    const counts = coverage.result
      .filter(({ url }) => url.startsWith("file:") && !url.includes("/node_modules/"))
      // The first one is the module itself.
      .flatMap(({ functions, url }) => functions.slice(1).map(({ ranges }) => ({ url, ...ranges[0]! })))
      .filter(({ count }) => count > 0)
      .map(({ count, startOffset, url }) => [url, startOffset, count])
    const file = `${process.env["COUNTS_FILE"]}.${++taken}`
    writeFileSync(`${file}.part`, JSON.stringify(counts))
    renameSync(`${file}.part`, file)
  })
})
