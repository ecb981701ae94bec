/**
 * Caches responses to public reads as text for a short time, because most clients request the same first page. All are
 * dropped when the catalog or an account changes.
 */
import { Effect } from "effect"
import { ChangeFeed, concernsCatalog, onEachChange } from "../../../domain/shared/ChangeFeed.ts"
import { makeFreshCache } from "../../../domain/shared/FreshCache.ts"
import type { Stage } from "./RequestContext.ts"
import type { EncodedReply } from "./Route.ts"

export const READS_CACHED_MAX = 1_000
export const READ_CACHE_TTL_MS = 2_000
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
