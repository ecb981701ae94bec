/**
 * Notices when what the market door lists for a key has changed: the toolbox, or a tool in it, its price included. Also
 * when an announced price takes effect.
 */
import { Clock, Context, type DateTime, Duration, Effect, Layer, Queue, type Scope } from "effect"
import { ChangeFeed, onEachChange } from "../shared/ChangeFeed.ts"
import type { ConsumerId, KeyId } from "../shared/Ids.ts"
import { type ListedTools, Toolbox } from "./Toolbox.ts"

/** Changes of one request come together: they are one change of the list. */
const GATHER = Duration.millis(250)
/** A change that the feed has lost is noticed after this time. */
const RECHECK_MS_MAX = 300_000

export class ToolboxChanges extends Context.Service<
  ToolboxChanges,
  {
    /** `onChange` is called while the scope lives. */
    watch(
      consumerId: ConsumerId,
      keyId: KeyId | undefined,
      onChange: () => void
    ): Effect.Effect<void, never, Scope.Scope>
  }
>()("agent-tool-billing/domain/mcp/ToolboxChanges") {
  static readonly layer = Layer.effect(
    ToolboxChanges,
    Effect.gen(function* () {
      const toolbox = yield* Toolbox
      const feed = yield* ChangeFeed

      const watch = Effect.fn("ToolboxChanges.watch")(function* (
        consumerId: ConsumerId,
        keyId: KeyId | undefined,
        onChange: () => void
      ) {
        const hints = yield* Queue.sliding<void>(1)
        /** Of the listed tools and their providers. */
        let ids: ReadonlySet<string> = new Set()
        yield* onEachChange(feed, ({ id, topic }) => {
          const concerns =
            topic === "everything" ||
            (topic === "toolbox" && (id === consumerId || id === keyId)) ||
            ((topic === "catalog" || topic === "account") && ids.has(id))
          if (concerns) Queue.offerUnsafe(hints, undefined)
        })

        /** Undefined while the store does not answer: nothing is known then. */
        const read = Effect.map(
          Effect.orElseSucceed(toolbox.listed(consumerId, keyId), () => undefined),
          (listed) => {
            if (listed !== undefined)
              ids = new Set(listed.tools.flatMap(({ entry: { provider, tool } }) => [tool.id, provider.id]))
            return listed
          }
        )
        const first = yield* read

        const follow = Effect.gen(function* () {
          let known = first
          for (;;) {
            const wait = yield* Effect.map(Clock.currentTimeMillis, (nowMs) => waitMs(known, nowMs))
            yield* Effect.timeoutOption(Queue.take(hints), wait)
            yield* Effect.sleep(GATHER)
            yield* Queue.clear(hints)
            const next = yield* read
            if (next === undefined) continue
            if (known !== undefined && versionOf(known) !== versionOf(next)) onChange()
            known = next
          }
        })
        yield* Effect.forkScoped(follow)
      })

      return ToolboxChanges.of({ watch })
    })
  )
}

/** What clients see of the list, without the free calls that are left. */
const versionOf = ({ tools }: ListedTools): string =>
  tools.map(({ alias, entry }) => `${alias} ${entry.priceVersion} ${entry.tool.updatedAt.epochMilliseconds}`).join("\n")

/** Until the next announced price takes effect, at most the time of a recheck. */
const waitMs = (listed: ListedTools | undefined, nowMs: number): number => {
  const announced = (listed?.tools ?? []).flatMap(({ entry }) => entry.prices.upcoming?.effectiveFrom ?? [])
  const next = Math.min(...announced.map((from: DateTime.Utc) => from.epochMilliseconds - nowMs), RECHECK_MS_MAX)
  return Math.max(next, 0)
}
