/**
 * Answers to public reads, kept as text for a moment: everybody asks for the same first page. Forgotten whole when the
 * catalogue or an account changes, and after a short time in any case.
 */
import { Clock, Effect, Stream } from "effect"
import { ChangeFeed } from "../../../domain/shared/ChangeFeed.ts"
import type { EncodedReply } from "./Route.ts"

export const READS_CACHED_MAX = 1_000
export const READ_CACHE_TTL_MS = 2_000
/** A page of large schemas is not worth its memory. */
const REPLY_CHARS_MAX = 262_144

interface Kept {
  readonly reply: EncodedReply
  readonly keptAtMs: number
}

export type ReadCache = <E>(key: string, read: Effect.Effect<EncodedReply, E>) => Effect.Effect<EncodedReply, E>

export const makeReadCache = Effect.gen(function* () {
  const feed = yield* ChangeFeed
  const kept = new Map<string, Kept>()
  let generation = 0

  yield* feed.changes.pipe(
    Stream.runForEach((change) =>
      Effect.sync(() => {
        if (change.topic === "key") return
        generation++
        kept.clear()
      })
    ),
    Effect.forkScoped
  )

  const cache: ReadCache = (key, read) =>
    Effect.withFiber((fiber) => {
      const nowMs = fiber.getRef(Clock.Clock).currentTimeMillisUnsafe()
      const known = kept.get(key)
      if (known !== undefined && nowMs - known.keptAtMs < READ_CACHE_TTL_MS) return Effect.succeed(known.reply)
      const generationBefore = generation
      return Effect.map(read, (reply) => {
        if (generation === generationBefore && reply.status === 200 && reply.body.length <= REPLY_CHARS_MAX) {
          kept.delete(key)
          if (kept.size >= READS_CACHED_MAX) kept.delete(kept.keys().next().value!)
          kept.set(key, { reply, keptAtMs: nowMs })
        }
        return reply
      })
    })

  return cache
})
