/**
 * Health of the service: every part is checked within its own time limit. The service is down if it cannot work without
 * a failed part, and degraded with any other fault or slow response.
 */
import { Cause, Clock, Context, DateTime, Duration, Effect, Exit, Layer, Option, Schema } from "effect"
import { LogStore } from "../log/LogStore.ts"
import { giveUpAfter } from "../shared/Deadlines.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import { CorrectedClock } from "../shared/Time.ts"
import { ReadReplica } from "./ReadReplica.ts"

/** Says whether rate limits are shared by all nodes, if there is a store for that. Default: nothing is wrong. */
export const RateLimitState = Context.Reference<{
  /** The reason why each node counts alone for now; undefined if nothing is wrong. */
  readonly problem: () => string | undefined
}>("agent-tool-billing/domain/platform/RateLimitState", { defaultValue: () => ({ problem: () => undefined }) })

/** The part does not work. `problem` is the reason, for operators. */
export class PartDown extends Schema.TaggedError<PartDown>()("PartDown", { problem: Schema.String }) {
  override get message() {
    return this.problem
  }
}

/** A health check of one part of the service. */
export interface Probe {
  readonly name: string
  /** The service is down without a critical part. */
  readonly critical: boolean
  readonly limitMs: number
  /** A slower response means degraded. */
  readonly slowMs: number
  /** Returns what is wrong although it works; undefined if nothing is. A failure states why it does not work. */
  readonly ask: Effect.Effect<string | Note | undefined, PartDown | StoreUnavailable>
}

/** A fact that operators should know although nothing is wrong. */
export interface Note {
  readonly note: string
}

/** Below this PostgreSQL may stop in the middle of its work. */
export const DISK_FREE_BYTES_MIN = 128 * 1024 * 1024
/** Load balancers try again after this time. */
const REJECTION_MS = 30_000

/**
 * Watches disk space: the free space where this node's database is, and whether a database rejected a write because its
 * disk was full. Default: the disk is not watched.
 */
export interface DiskWatch {
  /** Undefined if the database's disk is not visible here. */
  readonly freeBytes: Effect.Effect<number> | undefined
  /** A database rejected a write now. */
  rejected(nowMs: number): void
  readonly rejectedAtMs: number
}

export const makeDiskWatch = (freeBytes?: Effect.Effect<number>): DiskWatch => {
  let rejectedAtMs = Number.NEGATIVE_INFINITY
  return {
    freeBytes,
    rejected: (nowMs) => {
      rejectedAtMs = nowMs
    },
    get rejectedAtMs() {
      return rejectedAtMs
    }
  }
}

const UNWATCHED: DiskWatch = {
  freeBytes: undefined,
  rejected: () => {},
  rejectedAtMs: Number.NEGATIVE_INFINITY
}

/** Watches nothing by default; `service` has its own. */
export const DiskWatch = Context.Reference<DiskWatch>("agent-tool-billing/domain/platform/DiskWatch", {
  defaultValue: () => UNWATCHED
})

export const diskProbe = (disk: DiskWatch): Probe => ({
  name: "disk",
  critical: true,
  limitMs: 1_000,
  slowMs: 500,
  ask: Effect.gen(function* () {
    if ((yield* Clock.currentTimeMillis) - disk.rejectedAtMs < REJECTION_MS) {
      return yield* new PartDown({ problem: "The database rejects writes: its disk is full. Free some space." })
    }
    const free = disk.freeBytes === undefined ? Number.POSITIVE_INFINITY : yield* disk.freeBytes
    if (free >= DISK_FREE_BYTES_MIN) return undefined
    const [mib, least] = [free, DISK_FREE_BYTES_MIN].map((bytes) => Math.floor(bytes / 1_048_576))
    return yield* new PartDown({
      problem: `The disk of DATA_DIR is full: ${mib} MiB are free and at least ${least} MiB are required. Free some space.`
    })
  })
})

/** A run of a job that failed. */
export interface JobFailure {
  readonly atMs: number
  readonly problem: string
}

/** The last time that a background job completed, and whether the next run is overdue. */
export interface Heartbeat {
  readonly job: string
  /** The last success; before the first one, the start of the node. */
  readonly lastMs: number
  readonly intervalMs: number
  /** Undefined before the first successful run. */
  readonly durationMs: number | undefined
  /** The last failure since the start of the node. */
  readonly failure: JobFailure | undefined
  /** The job counts as late from then on. */
  readonly lateFromMs: number
  readonly late: boolean
}

/** Missed rounds, and additional time, before a job is late. */
const ROUNDS_MISSED_MAX = 3
const GRACE_MS = 60_000
const PROBLEM_CHARS_MAX = 300

/** The last success and failure of each background job of this node. A job without success for too long is late. */
export class Heartbeats extends Context.Service<
  Heartbeats,
  {
    /** Notes a run of a job that runs every `interval`. Called at its start, too, then without a duration. */
    beat(job: string, interval: Duration.Duration, durationMs?: number): Effect.Effect<void>
    failed(job: string, problem: string): Effect.Effect<void>
    readonly read: Effect.Effect<ReadonlyArray<Heartbeat>>
  }
>()("agent-tool-billing/domain/platform/Heartbeats") {
  static readonly layer = Layer.sync(Heartbeats, () => {
    const beats = new Map<string, Pick<Heartbeat, "lastMs" | "intervalMs" | "durationMs">>()
    const failures = new Map<string, JobFailure>()
    return Heartbeats.of({
      beat: (job, interval, durationMs) =>
        Effect.map(Clock.currentTimeMillis, (lastMs) => {
          beats.set(job, { lastMs, intervalMs: Duration.toMillis(interval), durationMs })
        }),
      failed: (job, problem) =>
        Effect.map(Clock.currentTimeMillis, (atMs) => {
          failures.set(job, { atMs, problem: problem.slice(0, PROBLEM_CHARS_MAX) })
        }),
      read: Effect.map(Clock.currentTimeMillis, (nowMs) =>
        [...beats].map(([job, beat]) => {
          const lateFromMs = beat.lastMs + beat.intervalMs * ROUNDS_MISSED_MAX + GRACE_MS
          return { ...beat, job, lateFromMs, late: nowMs > lateFromMs, failure: failures.get(job) }
        })
      )
    })
  })
}

/** A node serves only the version that it expects. */
export interface SchemaState {
  readonly version: number
  /** The version of this release. */
  readonly expected: number
}

/** The changes that brought the schema up to date, and the tables that exist now. */
export interface SchemaUpdate {
  /** The migrations applied now, by name. */
  readonly applied: ReadonlyArray<string>
  readonly version: number
  readonly tables: ReadonlyArray<string>
}

/** Port to the schema of the stores. A store without a schema is at version 0. */
export class SchemaKeeper extends Context.Service<
  SchemaKeeper,
  {
    readonly state: Effect.Effect<SchemaState, StoreUnavailable>
    /** Idempotent, also concurrently. */
    readonly bringUpToDate: Effect.Effect<SchemaUpdate, StoreUnavailable>
  }
>()("agent-tool-billing/domain/platform/SchemaKeeper") {}

/** The number of the service's connections in one state, such as `idle in transaction`. */
export interface StoreConnections {
  readonly state: string
  readonly count: number
}

/** Pending work in the store, for any node. */
export interface StoreBacklog {
  /** Calls that are held and not settled. */
  readonly openCalls: number
  /** The open calls that the sweeper should have ended. */
  readonly overdueCalls: number
  readonly heldMicrocents: bigint
  /** Receipts that are not in the log yet, counted up to `BACKLOG_COUNTED_MAX`. */
  readonly unloggedReceipts: number
  /** Acknowledged calls that the store lost, and that no operator has reviewed. */
  readonly lostCalls: number
}

/** Counting further would slow down a store that is slow already. */
export const BACKLOG_COUNTED_MAX = 100_000

/** Port to the state of the store itself. */
export class StoreWatch extends Context.Service<
  StoreWatch,
  {
    /** A query that only a working store answers. Returns what operators should know of it, in a sentence. */
    readonly ping: Effect.Effect<string | undefined, StoreUnavailable>
    /** The service's connections as the store sees them, of every node; none for a store without connections. */
    readonly connections: Effect.Effect<ReadonlyArray<StoreConnections>, StoreUnavailable>
    readonly backlog: Effect.Effect<StoreBacklog, StoreUnavailable>
  }
>()("agent-tool-billing/domain/platform/StoreWatch") {}

/** `degraded` still serves requests; `down` does not. */
export type Condition = "ok" | "degraded" | "down"

/** The result of one health check. The message is for operators. */
export interface Check {
  readonly name: string
  readonly status: Condition
  readonly latencyMs: number
  readonly message: string | undefined
}

/** All checks of this node. Its status is the worst of them. */
export interface HealthReport {
  readonly status: Condition
  readonly uptimeSeconds: number
  readonly at: DateTime.Utc
  readonly checks: ReadonlyArray<Check>
}

const SLOW_MS = 500

export const APPLY_MIGRATIONS = "Apply the pending migrations."

export class Health extends Context.Service<
  Health,
  {
    /** Its own probes and the given ones. */
    check(others?: ReadonlyArray<Probe>): Effect.Effect<HealthReport>
    /** Asks only parts that the service cannot work without. */
    readonly isReady: Effect.Effect<boolean>
    readonly startedAt: DateTime.Utc
  }
>()("agent-tool-billing/domain/platform/Health") {
  static readonly layer = Layer.effect(
    Health,
    Effect.gen(function* () {
      const store = yield* StoreWatch
      const schema = yield* SchemaKeeper
      const heartbeats = yield* Heartbeats
      const log = yield* LogStore
      const corrected = yield* CorrectedClock
      const startedAt = yield* DateTime.now
      const disk = yield* DiskWatch
      const replica = yield* ReadReplica

      const clock: Probe = {
        name: "clock",
        critical: true,
        limitMs: 1_000,
        slowMs: SLOW_MS,
        ask: Effect.suspend(() => {
          const problem = corrected?.fault()
          return problem === undefined ? Effect.succeed(corrected?.jobsWaitFor()) : new PartDown({ problem })
        })
      }

      const own: ReadonlyArray<Probe> = [
        {
          name: "database",
          critical: true,
          limitMs: 2_000,
          slowMs: SLOW_MS,
          ask: Effect.map(store.ping, (note) => (note === undefined ? undefined : { note }))
        },
        diskProbe(disk),
        // Without a database there is no other clock to compare with.
        ...(corrected === undefined ? [] : [clock]),
        ...(replica === undefined ? [] : [replicaProbe(replica)]),
        {
          name: "schema",
          critical: false,
          limitMs: 2_000,
          slowMs: SLOW_MS,
          ask: Effect.map(schema.state, ({ expected, version }) =>
            version < expected
              ? `The schema is at version ${version}, this release needs ${expected}. ${APPLY_MIGRATIONS}`
              : undefined
          )
        },
        {
          name: "log",
          critical: false,
          limitMs: 2_000,
          slowMs: SLOW_MS,
          ask: Effect.map(log.logs, (logs) => {
            const open = logs.at(-1)
            return open?.stopped === undefined ? undefined : `The log ${open.origin} is stopped: ${open.stopped}.`
          })
        },
        {
          name: "background",
          critical: false,
          limitMs: 1_000,
          slowMs: SLOW_MS,
          ask: Effect.map(heartbeats.read, (beats) => {
            const late = beats.filter((beat) => beat.late).map(({ job }) => job)
            return late.length === 0 ? undefined : `Late: ${late.join(", ")}.`
          })
        }
      ]

      const check = Effect.fn("Health.check")(function* (others: ReadonlyArray<Probe> = []) {
        const probes = [...own, ...others]
        const checks = yield* Effect.forEach(probes, runCheck, { concurrency: "unbounded" })
        const at = yield* DateTime.now
        return {
          status: overall(probes, checks),
          uptimeSeconds: Math.max(0, Math.floor((at.epochMilliseconds - startedAt.epochMilliseconds) / 1_000)),
          at,
          checks
        }
      })

      const needed = own.filter(({ critical }) => critical)
      const isReady = Effect.map(Effect.forEach(needed, runCheck), (checks) =>
        checks.every(({ status }) => status !== "down")
      )

      return Health.of({ check, isReady, startedAt })
    })
  )
}

/** Its host is not named: any client can read this. */
const replicaProbe = (replica: ReadReplica): Probe => ({
  name: "read_replica",
  critical: false,
  limitMs: 1_000,
  slowMs: SLOW_MS,
  ask: Effect.sync(() =>
    replica.isFresh()
      ? { note: `It is at most ${Math.ceil(replica.lagMs())} ms behind the primary.` }
      : `No read replica is within ${replica.lagMsMax} ms of the primary, which answers all reads.`
  )
})

const runCheck = Effect.fnUntraced(function* ({ ask, limitMs, name, slowMs }: Probe): Effect.fn.Return<Check> {
  const startNanos = yield* Clock.monotonicTimeNanos
  const exit = yield* Effect.exit(giveUpAfter(Duration.millis(limitMs))(ask))
  const latencyMs = Math.round(Number((yield* Clock.monotonicTimeNanos) - startNanos) / 1_000) / 1_000
  if (Exit.isFailure(exit)) {
    const known = Option.getOrUndefined(Cause.findErrorOption(exit.cause))
    if (known instanceof PartDown) return { name, status: "down", latencyMs, message: known.problem }
    yield* Effect.logWarning(`The health check of ${name} failed`, exit.cause)
    const message = latencyMs >= limitMs ? `No response within ${limitMs} ms.` : "It does not work at the moment."
    return { name, status: "down", latencyMs, message }
  }
  if (typeof exit.value === "string") return { name, status: "degraded", latencyMs, message: exit.value }
  return latencyMs > slowMs
    ? { name, status: "degraded", latencyMs, message: `The response took longer than ${slowMs} ms.` }
    : { name, status: "ok", latencyMs, message: exit.value?.note }
})

export const overall = (
  probes: ReadonlyArray<Pick<Probe, "name" | "critical">>,
  checks: ReadonlyArray<Pick<Check, "name" | "status">>
): Condition => {
  const critical = new Set(probes.filter((probe) => probe.critical).map(({ name }) => name))
  if (checks.some(({ name, status }) => status === "down" && critical.has(name))) return "down"
  return checks.every(({ status }) => status === "ok") ? "ok" : "degraded"
}
