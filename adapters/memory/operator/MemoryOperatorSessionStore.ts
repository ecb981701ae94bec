/**
 * The operator's sessions in memory.
 */
import { DateTime, Effect, Layer, Option } from "effect"
import {
  type OperatorSession,
  type OperatorSessionId,
  OperatorSessionStore,
  type SessionTimes
} from "../../../domain/accounts/Principal.ts"
import { newestFirst, prune } from "../shared/MemoryRows.ts"
import { put, remove } from "../shared/MemoryUnitOfWork.ts"

export const layer = Layer.sync(OperatorSessionStore, () => {
  /** By hash. */
  const sessions = new Map<string, OperatorSession>()

  const isOver = ({ expiresAt, lastUsedAt }: OperatorSession, { idleSince, now }: SessionTimes): boolean =>
    DateTime.isLessThanOrEqualTo(expiresAt, now) || DateTime.isLessThan(lastUsedAt, idleSince)

  const insert = Effect.fnUntraced(function* (session: OperatorSession, hash: string, liveMax: number) {
    yield* put(sessions, hash, session)
    const kept = new Set([...sessions.values()].toSorted(newestFirst((one) => one.createdAt)).slice(0, liveMax))
    for (const [key, one] of sessions) if (!kept.has(one)) yield* remove(sessions, key)
  })

  const use = Effect.fnUntraced(function* (hash: string, times: SessionTimes) {
    const found = sessions.get(hash)
    if (found === undefined || isOver(found, times)) return Option.none<OperatorSession>()
    const used = { ...found, lastUsedAt: times.now }
    yield* put(sessions, hash, used)
    return Option.some<OperatorSession>(used)
  })

  const end = (id: OperatorSessionId) =>
    Effect.map(
      prune(sessions, (one) => one.id === id, 1),
      (ended) => ended === 1
    )

  const endAll = Effect.suspend(() => prune(sessions, () => true, sessions.size))

  return OperatorSessionStore.of({
    insert,
    use,
    end,
    endAll,
    prune: (times, limit) => prune(sessions, (one) => isOver(one, times), limit)
  })
})
