/**
 * Health of the service: every part is checked within its own time limit. The service is down if it cannot work without
 * a failed part, and degraded with any other fault or slow response.
 */
import { Cause, Clock, Context, DateTime, Duration, Effect, Exit, Layer, Option } from "effect"
import { LogStore } from "../log/LogStore.ts"
import { CorrectedClock } from "../shared/CorrectedClock.ts"
import { diskProbe, DiskWatch } from "./DiskWatch.ts"
import { giveUpAfter } from "../shared/GiveUpAfter.ts"
import { Heartbeats } from "./Heartbeats.ts"
import { PartDown, type Probe } from "./Probe.ts"
import { ReadReplica } from "./ReadReplica.ts"
import { SchemaKeeper } from "./SchemaKeeper.ts"
import { StoreWatch } from "./StoreWatch.ts"

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

/** Probes of a node's adapters besides the core's own parts, for background checks. */
export const OutsideProbes = Context.Reference<ReadonlyArray<Probe>>(
  "agent-tool-billing/domain/platform/OutsideProbes",
  { defaultValue: () => [] }
)

const SLOW_MS = 500

/** What a schema that is behind asks for. */
export const APPLY_MIGRATIONS = "Apply the pending migrations."

export class Health extends Context.Service<
  Health,
  {
    /** Its own probes and the given ones. */
    check(others?: ReadonlyArray<Probe>): Effect.Effect<HealthReport>
    /** Only parts that the service cannot work without. */
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
