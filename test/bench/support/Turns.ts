/**
 * Servers under load in many short turns. This machine's speed changes by half within a minute, so that rates of
 * different minutes are not comparable: two servers are compared within a round, and the median over all rounds is
 * reproducible. In every other round neighbors swap, which cancels a trend. No server has two turns in a row: in the
 * second one it would be warm.
 */
import { type Measured, run } from "./LoadGenerator.ts"
import { cpuSeconds, descendantCpuSeconds } from "./Processes.ts"
import { median } from "./Table.ts"

export interface Subject {
  readonly name: string
  readonly server: { readonly port: number; readonly pid: number }
  readonly request: (index: number) => string
}

export interface Turns {
  readonly connections: number
  readonly turnMs: number
  /** Load at the beginning of each turn that is not measured: after the turns of others, code is compiled again. */
  readonly leadMs?: number
  readonly rounds: number
  /** Before the measured rounds, so that code is compiled. */
  readonly warmUpRounds: number
  /** Before each turn, for background work of the one before. */
  readonly restMs?: number
}

export type Turn = Measured & {
  /** Requests that were answered, with those of the lead. */
  readonly acknowledged: number
  /** Processor time for a request: of the server, and of the database that it started. */
  readonly cpuMicros: number
  readonly databaseCpuMicros: number
}

/** `onTurn` gets the turns of the warm-up, too. */
export const inTurns = async (
  subjects: ReadonlyArray<Subject>,
  turns: Turns,
  onTurn: (subject: Subject, turn: Turn) => void = () => {}
): Promise<ReadonlyMap<string, ReadonlyArray<Turn>>> => {
  const measured = new Map(subjects.map(({ name }): [string, Array<Turn>] => [name, []]))
  for (let round = -turns.warmUpRounds; round < turns.rounds; round++) {
    for (const subject of round % 2 === 0 ? subjects : neighborsSwapped(subjects)) {
      if (turns.restMs !== undefined) await new Promise((resolve) => setTimeout(resolve, turns.restMs))
      const turn = await turnOf(subject, turns)
      onTurn(subject, turn)
      if (round >= 0) measured.get(subject.name)!.push(turn)
    }
  }
  return measured
}

const neighborsSwapped = <A>(all: ReadonlyArray<A>): ReadonlyArray<A> =>
  all.map((one, n) => all[n % 2 === 0 ? n + 1 : n - 1] ?? one)

const turnOf = async (
  { name, request, server: { pid, port } }: Subject,
  { connections, leadMs, turnMs }: Turns
): Promise<Turn> => {
  const load = { port, connections, requests: Number.POSITIVE_INFINITY, request }
  const lead = leadMs === undefined ? undefined : await run({ ...load, secondsMax: leadMs / 1_000 })
  const cpuBefore = cpuSeconds(pid)
  const databaseBefore = descendantCpuSeconds(pid)
  const result = await run({ ...load, secondsMax: turnMs / 1_000 })
  if (result.statuses.size !== 1 || !result.statuses.has(200)) {
    throw new Error(`${name}: ${JSON.stringify([...result.statuses])}`)
  }
  const microsOf = (seconds: number) => (seconds / result.completed) * 1e6
  return {
    ...result,
    acknowledged: result.completed + (lead?.completed ?? 0),
    cpuMicros: microsOf(cpuSeconds(pid) - cpuBefore),
    databaseCpuMicros: microsOf(descendantCpuSeconds(pid) - databaseBefore)
  }
}

/** How many times as fast, round by round. */
export const ratioOf = (
  turns: ReadonlyArray<{ readonly perSecond: number }>,
  bare: ReadonlyArray<{ readonly perSecond: number }>
): number => median(turns.map(({ perSecond }, round) => perSecond / bare[round]!.perSecond))
