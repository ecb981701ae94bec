/**
 * `npm run bench [-- name]`: prints ratios of things measured in the same run; absolute figures mean nothing here.
 */
import { bytes } from "./bytes.ts"
import { ledger } from "./ledger.ts"
import { log } from "./log.ts"
import { mcp } from "./mcp.ts"
import { proxy } from "./proxy.ts"
import { slow } from "./slow.ts"
import { summary } from "./support/Figures.ts"
import { usage } from "./usage.ts"

const bothCalls = async (): Promise<void> => {
  await mcp("memory")
  await mcp("embedded")
}

const benches: Readonly<Record<string, () => Promise<void>>> = {
  // Those that compare with a baseline in the same run; the others print durations.
  all: async () => {
    await ledger()
    await proxy([64])
    await slow()
    summary()
  },
  bytes,
  ledger,
  log,
  mcp: () => (process.argv[3] === undefined ? bothCalls() : mcp(process.argv[3])),
  proxy: () => (process.argv[3] === undefined ? proxy() : proxy([Number(process.argv[3])])),
  slow: () => slow(process.argv[3] === undefined ? undefined : [Number(process.argv[3])]),
  usage
}

const name = process.argv[2] ?? "proxy"
const bench = benches[name]
if (bench === undefined) {
  process.stderr.write(`There is no bench "${name}". There is: ${Object.keys(benches).join(", ")}.\n`)
  process.exitCode = 1
} else {
  await bench()
}
