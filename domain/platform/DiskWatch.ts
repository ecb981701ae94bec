/**
 * Whether there is disk space: what is free where this node's database is, and whether a database rejected a write
 * because its disk was full.
 */
import { Clock, Context, Effect } from "effect"
import { PartDown, type Probe } from "./Probe.ts"

/** Below this PostgreSQL may stop in the middle of its work. */
export const DISK_FREE_BYTES_MIN = 128 * 1024 * 1024
/** How long a rejection counts. Load balancers then try again. */
const REJECTION_MS = 30_000

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
