/**
 * Reads of one account run a few at a time, and the others wait. A page deep in a long list takes the database a second:
 * without this, one account could occupy every connection, and the reads of all others would wait.
 */
import { Effect, Semaphore } from "effect"
import type { RequestContext, Stage } from "./RequestContext.ts"

/** Of one account on each node: less than half of the connections to the database, by default. */
export const READS_AT_ONCE_MAX = 4

interface Reading {
  readonly turn: Semaphore.Semaphore
  /** Running or waiting. Their number is limited by the connections of an address. */
  count: number
}

export const makeFairReads = (): Stage => {
  const accounts = new Map<string, Reading>()

  const enter = (owner: string): Reading => {
    const reading = accounts.get(owner) ?? { turn: Semaphore.makeUnsafe(READS_AT_ONCE_MAX), count: 0 }
    accounts.set(owner, reading)
    reading.count++
    return reading
  }

  const leave = (owner: string, reading: Reading): void => {
    if (--reading.count === 0) accounts.delete(owner)
  }

  return (context, next) => {
    const owner = ownerOfRead(context)
    if (owner === undefined) return next(context)
    return Effect.acquireUseRelease(
      Effect.sync(() => enter(owner)),
      ({ turn }) => turn.withPermits(1)(Effect.suspend(() => next(context))),
      (reading) => Effect.sync(() => leave(owner, reading))
    )
  }
}

/** Undefined for what does not wait: writes, streams of MCP doors, and reads of the operator or without a key. */
const ownerOfRead = ({ caller, route: { method, rule } }: RequestContext): string | undefined =>
  method !== "GET" || rule.door || caller === undefined || caller.role === "operator" ? undefined : caller.ownerId
