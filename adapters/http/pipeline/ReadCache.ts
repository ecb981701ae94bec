/**
 * Answers to public reads, kept as text for a moment: everybody asks for the same first page. Forgotten whole when the
 * catalogue or an account changes, and after a short time in any case.
 */
import { Effect } from "effect"
import { ChangeFeed, onEachChange } from "../../../domain/shared/ChangeFeed.ts"
import { makeFreshCache } from "../../../domain/shared/FreshCache.ts"
import type { EncodedReply } from "./Route.ts"

export const READS_CACHED_MAX = 1_000
export const READ_CACHE_TTL_MS = 2_000
/** A page of large schemas is not worth its memory. */
const REPLY_CHARS_MAX = 262_144

export type ReadCache = <E>(key: string, read: Effect.Effect<EncodedReply, E>) => Effect.Effect<EncodedReply, E>

export const makeReadCache = Effect.gen(function* () {
  const feed = yield* ChangeFeed
  const kept = yield* makeFreshCache<EncodedReply>({ entriesMax: READS_CACHED_MAX, ttlMs: READ_CACHE_TTL_MS })

  yield* onEachChange(feed, (change) => {
    if (change.topic !== "key") kept.forgetAll()
  })

  const cache: ReadCache = (key, read) => Effect.suspend(() => kept.readThrough(key, read, isWorthKeeping))
  return cache
})

const isWorthKeeping = (reply: EncodedReply): boolean => reply.status === 200 && reply.body.length <= REPLY_CHARS_MAX
