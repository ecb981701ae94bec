/**
 * Ends what stays open under a key when the key is revoked or expires, on every node.
 */
import { Clock, Effect, Queue } from "effect"
import { Authentication, type Unauthorized } from "../../../domain/accounts/Authentication.ts"
import { ChangeFeed, onEachChange } from "../../../domain/shared/ChangeFeed.ts"
import { Digest } from "../../../domain/shared/Cryptography.ts"
import { credentialOf } from "../pipeline/Authenticate.ts"
import type { WebRequest } from "../pipeline/WebRequest.ts"
import type { Consumer } from "./Door.ts"

/** So that the cache of keys has heard of the change too. */
const SETTLED_AFTER_MS = 250
/** A key that was rotated works for some time. */
const CHECK_AGAIN_AFTER_MS = 60_000
/** No stream is open for longer. */
const OPEN_MS_MAX = 3_600_000

type Hint = () => void

export const makeKeyRejections = Effect.gen(function* () {
  const authentication = yield* Authentication
  const feed = yield* ChangeFeed
  const { sha256Hex } = yield* Digest
  const open = new Map<string, Set<Hint>>()

  yield* onEachChange(feed, ({ id, topic }) => {
    if (topic === "key") for (const hint of open.get(id) ?? []) hint()
    if (topic === "everything") for (const hints of open.values()) for (const hint of hints) hint()
  })

  const register = (hash: string, hint: Hint): Effect.Effect<void> => {
    const hints = open.get(hash) ?? new Set()
    open.set(hash, hints.add(hint))
    return Effect.sync(() => {
      hints.delete(hint)
      if (hints.size < 1) open.delete(hash)
    })
  }

  /** Fails when the key of the request does not work any more. */
  return Effect.fnUntraced(function* (
    request: WebRequest,
    { expiresAt }: Consumer
  ): Effect.fn.Return<never, Unauthorized> {
    const credential = credentialOf(request)
    const hints = yield* Queue.sliding<void>(1)
    const check = Effect.catchTag(authentication.authenticate(credential), "StoreUnavailable", () => Effect.void)
    const untilMs = expiresAt?.epochMilliseconds ?? Number.POSITIVE_INFINITY
    let waitMs = Math.min(untilMs - (yield* Clock.currentTimeMillis), OPEN_MS_MAX)
    const watch = Effect.gen(function* () {
      for (;;) {
        yield* Effect.timeoutOption(Queue.take(hints), Math.max(0, waitMs))
        yield* Effect.sleep(SETTLED_AFTER_MS)
        yield* check
        waitMs = CHECK_AGAIN_AFTER_MS
      }
    })
    const forget = register(sha256Hex(credential), () => void Queue.offerUnsafe(hints, undefined))
    return yield* Effect.ensuring(watch, forget)
  })
})
