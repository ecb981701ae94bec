/**
 * `npm run bench [-- name]`: prints ratios of things measured in the same run; absolute figures mean nothing here.
 */
import { against } from "./against.ts"
import { books } from "./books.ts"
import { bytes } from "./bytes.ts"
import { catalog } from "./catalog.ts"
import { dashboards } from "./dashboards.ts"
import { dispatched } from "./dispatched.ts"
import { ledger } from "./ledger.ts"
import { log } from "./log.ts"
import { mcp } from "./mcp.ts"
import { pages } from "./pages.ts"
import { proxy } from "./proxy.ts"
import { reads } from "./reads.ts"
import { slow } from "./slow.ts"
import { steady } from "./steady.ts"
import { summary } from "./support/Figures.ts"
import { usage } from "./usage.ts"
import { verifyRatio } from "./verify.ts"

const bothReads = async (): Promise<void> => {
  await reads("memory")
  await reads("embedded")
}

const bothCalls = async (): Promise<void> => {
  await mcp("memory")
  await mcp("embedded")
}

const benches: Readonly<Record<string, () => Promise<void>>> = {
  // Those that compare with a baseline in the same run; the others print durations.
  all: async () => {
    await bothReads()
    await verifyRatio()
    await ledger()
    await proxy([64])
    await slow()
    summary()
  },
  against,
  books,
  bytes,
  catalog,
  dashboards,
  dispatched,
  ledger,
  log,
  mcp: () => (process.argv[3] === undefined ? bothCalls() : mcp(process.argv[3])),
  pages,
  proxy: () => (process.argv[3] === undefined ? proxy() : proxy([Number(process.argv[3])])),
  slow: () => slow(process.argv[3] === undefined ? undefined : [Number(process.argv[3])]),
  steady,
  usage,
  reads: bothReads,
  verify: verifyRatio
}

const name = process.argv[2] ?? "reads"
const bench = benches[name]
if (bench === undefined) {
  process.stderr.write(`There is no bench "${name}". There is: ${Object.keys(benches).join(", ")}.\n`)
  process.exitCode = 1
} else {
  await bench()
}
