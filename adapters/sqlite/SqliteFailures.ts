/**
 * What a failure of SQLite means. The file is locked, or its disk is full or away: `StoreUnavailable`. Anything else is an
 * error in our SQL, and a defect.
 */
import { Effect } from "effect"
import { StoreUnavailable } from "../../domain/shared/StoreUnavailable.ts"

/** By primary result code: https://www.sqlite.org/rescode.html */
const REASONS: ReadonlyMap<number, StoreUnavailable["reason"]> = new Map([
  [5, "busy"],
  [6, "busy"],
  [8, "unreachable"],
  [10, "unreachable"],
  [13, "disk_full"],
  [14, "unreachable"]
])

export const raise = (cause: unknown): Effect.Effect<never, StoreUnavailable> => {
  const reason = REASONS.get(primaryCodeOf(cause))
  return reason === undefined ? Effect.die(cause) : Effect.fail(new StoreUnavailable({ reason, cause }))
}

/** The lowest byte of the extended code. */
const primaryCodeOf = (cause: unknown): number =>
  cause instanceof Error && "errcode" in cause ? Number(cause.errcode) & 0xff : 0
