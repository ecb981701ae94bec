/**
 * Port to the tasks of calls. They are in the store, so that any node asks for their results and settles them.
 */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { ConsumerId, ProviderId } from "../shared/Ids.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import type { CallTask, FinalTask, ListedTask, TaskProgress } from "./CallTask.ts"

/** Who asks for a task. */
export interface TaskCaller {
  readonly consumerId: ConsumerId
  /** At the door of one provider: only its tasks. */
  readonly providerId: ProviderId | undefined
}

/** A place in the list of an account's tasks. */
export type TaskPosition = Pick<ListedTask, "id" | "createdAt">

export class TaskStore extends Context.Service<
  TaskStore,
  {
    /** Running. */
    add(task: CallTask): Effect.Effect<void, StoreUnavailable>
    find(id: string): Effect.Effect<Option.Option<CallTask>, StoreUnavailable>
    /** The newest task of a call with this idempotency key. */
    findByKey(consumerId: ConsumerId, keyHash: string): Effect.Effect<Option.Option<CallTask>, StoreUnavailable>
    /** At most `limit`, the newest first, after this one of the list. */
    list(
      caller: TaskCaller,
      after: TaskPosition | undefined,
      limit: number
    ): Effect.Effect<ReadonlyArray<ListedTask>, StoreUnavailable>
    /**
     * For its client: the task, if it is not settled and its provider was not asked after `askedBefore`. Asked at `now`. It
     * is due as before, because its client may leave.
     */
    claim(
      id: string,
      askedBefore: DateTime.Utc,
      now: DateTime.Utc
    ): Effect.Effect<Option.Option<CallTask>, StoreUnavailable>
    /** Tasks that are due and not settled, at most `limit`. Asked at `now`, they are due again at `nextAt`: one node gets each. */
    claimDue(
      now: DateTime.Utc,
      nextAt: DateTime.Utc,
      limit: number
    ): Effect.Effect<ReadonlyArray<CallTask>, StoreUnavailable>
    /** Of a task that has not ended; another is not changed. */
    note(id: string, progress: TaskProgress): Effect.Effect<void, StoreUnavailable>
    /** The caller canceled it. False if it has ended. */
    cancel(id: string): Effect.Effect<boolean, StoreUnavailable>
    /** False if it had ended before, which is not changed. */
    end(id: string, outcome: string, at: DateTime.Utc): Effect.Effect<boolean, StoreUnavailable>
    /**
     * What the client gets from now on; the first one stays. Of the account's settled tasks the oldest are deleted beyond
     * `bytesMax` of results and terms, but not this one. The state of a settled task is empty.
     */
    settle(id: string, final: FinalTask, bytesMax: number): Effect.Effect<void, StoreUnavailable>
    /** A task that was not taken over after all. */
    remove(id: string): Effect.Effect<void, StoreUnavailable>
    /** Whatever became of them: of an erased account. */
    removeAll(consumerId: ConsumerId): Effect.Effect<void, StoreUnavailable>
    /** Deletes at most `limit` settled tasks that ended before this time; returns how many. */
    prune(endedBefore: DateTime.Utc, limit: number): Effect.Effect<number, StoreUnavailable>
  }
>()("agent-tool-billing/domain/tasks/TaskStore") {}
