/**
 * Stages of reads: public ones are cached for a short time, and those of one account run a few at a time.
 */
import { Effect, Semaphore } from "effect"
import { ChangeFeed, concernsCatalog, onEachChange } from "../../../domain/shared/ChangeFeed.ts"
import { makeFreshCache } from "../../../domain/shared/FreshCache.ts"
import type { EncodedReply, RequestContext, Stage } from "./Route.ts"

// Caches responses to public reads as text for a short time, because most clients request the same first page. All are
// dropped when the catalog or an account changes.

const READS_CACHED_MAX = 1_000
const READ_CACHE_TTL_MS = 2_000
/** Larger responses, such as pages of large schemas, are not cached. */
const REPLY_CHARS_MAX = 262_144

export const makeReadCache = Effect.gen(function* () {
  const feed = yield* ChangeFeed
  const kept = yield* makeFreshCache<EncodedReply>({ entriesMax: READS_CACHED_MAX, ttlMs: READ_CACHE_TTL_MS })

  yield* onEachChange(feed, (change) => {
    if (concernsCatalog(change)) kept.forgetAll()
  })

  const cacheReads: Stage = (context, next) => {
    const { request, route } = context
    if (!route.rule.cacheable) return next(context)
    const key = `${request.path}?${request.query}`
    return Effect.suspend(() =>
      kept.readThrough(
        key,
        Effect.suspend(() => next(context)),
        isCacheable
      )
    )
  }
  return cacheReads
})

const isCacheable = (reply: EncodedReply): boolean => reply.status === 200 && reply.body.length <= REPLY_CHARS_MAX

// Reads of one account run a few at a time, and the others wait. A page deep in a long list takes the database a second:
// without this, one account could occupy every connection, and the reads of all others would wait.

/** One account has less than half of a node's connections to the database, by default. */
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

/** Undefined if the request does not wait: writes, streams of MCP doors, reads of the operator or without a key. */
const ownerOfRead = ({ caller, route: { method, rule } }: RequestContext): string | undefined =>
  method !== "GET" || rule.door || caller === undefined || caller.role === "operator" ? undefined : caller.ownerId
