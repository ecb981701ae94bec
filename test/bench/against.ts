/**
 * `npm run bench -- against <folder> [connections]`: the calls of this tree's service beside those of another tree's
 * (a checkout with its packages installed), in turns. Prints for each profile the calls per second of this tree
 * relative to the other. Starts of one service differ by a tenth, so that both are restarted several times.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { calling, prepare, startService } from "./proxy.ts"
import { startScript } from "./support/Processes.ts"
import { median, table } from "./support/Table.ts"
import { inSittings, inTurns, ratioOf, type Subject, type Turn } from "./support/Turns.ts"

const SITTINGS = 4
/** As long as those of `proxy`: a service that rests drops compiled code, and short turns measure compiling it again. */
const TURNS = { turnMs: 5_000, rounds: 3, warmUpRounds: 1, restMs: 400 }
const CONNECTIONS = [1, 64, 256]

export const against = async (): Promise<void> => {
  const other = process.argv[3]
  if (other === undefined) throw new Error("Name the folder of the other tree: npm run bench -- against ../other")
  const asked = process.argv[4]
  const upstream = await startScript(["test/support/mcp/trivialServer.ts", "modern"], /^(\d+)/mu)
  try {
    for (const connections of asked === undefined ? CONNECTIONS : [Number(asked)]) {
      const measured = await inSittings(SITTINGS, () => sit(other, upstream.port, connections))
      const pairs = [...measured].filter(([name]) => name.endsWith(", this"))
      table(`This tree beside ${other}, ${connections} connections, medians of ${SITTINGS} starts`, [
        ["", "calls/s", "of the other", "p50 ms", "other", "CPU µs/call", "other"],
        ...pairs.map(([name, turns]) => row(name, turns, measured.get(name.replace(/this$/u, "other"))!))
      ])
    }
  } finally {
    await upstream.stop()
  }
}

const sit = async (
  other: string,
  upstreamPort: number,
  connections: number
): Promise<ReadonlyMap<string, ReadonlyArray<Turn>>> => {
  const dataDir = mkdtempSync(join(tmpdir(), "atb-against-"))
  const started = await Promise.all(
    (["embedded", "memory"] as const).flatMap((profile) =>
      ([undefined, other] as const).map(async (cwd) => {
        const tree = cwd === undefined ? "this" : "other"
        const server = await startService(profile, join(dataDir, `${tree}-${profile}`), cwd)
        return { tree, profile, server, market: await prepare(server.port, upstreamPort) }
      })
    )
  )
  try {
    const subjects = started.flatMap(({ market, profile, server, tree }): ReadonlyArray<Subject> => {
      const many = { name: `${profile}, many wallets, ${tree}`, server, request: calling(market) }
      return profile === "memory"
        ? [many]
        : [many, { name: `${profile}, one hot wallet, ${tree}`, server, request: calling(market, 1) }]
    })
    return await inTurns(subjects, { ...TURNS, connections })
  } finally {
    await Promise.all(started.map(({ server }) => server.stop()))
    rmSync(dataDir, { recursive: true, force: true })
  }
}

const row = (name: string, turns: ReadonlyArray<Turn>, others: ReadonlyArray<Turn>): ReadonlyArray<string> => {
  const of = (all: ReadonlyArray<Turn>, figure: (turn: Turn) => number, digits: number) =>
    median(all.map(figure)).toFixed(digits)
  return [
    name.replace(/, this$/u, ""),
    of(turns, (turn) => turn.perSecond, 0),
    ratioOf(turns, others).toFixed(3),
    of(turns, (turn) => turn.p50Ms, 2),
    of(others, (turn) => turn.p50Ms, 2),
    of(turns, (turn) => turn.cpuMicros, 0),
    of(others, (turn) => turn.cpuMicros, 0)
  ]
}
