/**
 * Tasks of calls in memory.
 */
import { DateTime, Effect, Layer, Option } from "effect"
import { isSameText } from "../../../domain/shared/Cryptography.ts"
import { type CallTask, type ListedTask, type TaskPosition, TaskStore } from "../../../domain/tasks/CallTask.ts"
import { memoryStore } from "../shared/MemoryStore.ts"
import { prune } from "../shared/MemoryRows.ts"
import { put, remove } from "../shared/MemoryUnitOfWork.ts"

export const layer = Layer.sync(TaskStore, () => {
  const tasks = new Map<string, CallTask>()

  /** False if the task is not there, or `mayChange` says no. */
  const change = (id: string, mayChange: (task: CallTask) => boolean, changes: Partial<CallTask>) => {
    const known = tasks.get(id)
    if (known === undefined || !mayChange(known)) return Effect.succeed(false)
    return Effect.as(put(tasks, id, { ...known, ...changes }), true)
  }

  const asked = (task: CallTask, askedAt: DateTime.Utc, dueAt: DateTime.Utc): Effect.Effect<CallTask> => {
    const claimed = { ...task, progress: { ...task.progress, askedAt, dueAt } }
    return Effect.as(put(tasks, task.id, claimed), claimed)
  }

  return memoryStore(TaskStore, {
    add: (task) => put(tasks, task.id, task),

    find: (id) => Option.fromUndefinedOr(tasks.get(id)),

    findByKey: (consumerId, keyHash) =>
      Option.fromUndefinedOr(
        [...tasks.values()]
          .filter((task) => task.consumerId === consumerId && isSameText(task.keyHash ?? "", keyHash))
          .toSorted((one, other) => DateTime.Order(other.createdAt, one.createdAt))[0]
      ),

    list: ({ consumerId, providerId }, after, limit) =>
      [...tasks.values()]
        .filter((task) => task.consumerId === consumerId && (providerId ?? task.providerId) === task.providerId)
        .toSorted(byPosition)
        .filter((task) => after === undefined || byPosition(after, task) < 0)
        .slice(0, limit)
        .map(listed),

    claim: (id, askedBefore, now) => {
      const task = tasks.get(id)
      return task !== undefined && isOpen(task) && isUntil(task.progress.askedAt, askedBefore)
        ? Effect.asSome(asked(task, now, task.progress.dueAt))
        : Effect.succeedNone
    },

    claimDue: (now, nextAt, limit) =>
      Effect.forEach(
        [...tasks.values()]
          .filter((task) => isOpen(task) && isUntil(task.progress.dueAt, now))
          .toSorted((one, other) => DateTime.Order(one.progress.dueAt, other.progress.dueAt))
          .slice(0, limit),
        (task) => asked(task, now, nextAt)
      ),

    note: (id, progress) => Effect.asVoid(change(id, isRunning, { progress })),

    cancel: (id) => change(id, isRunning, { canceled: true }),

    end: (id, outcome, at) => change(id, isRunning, { ended: { outcome, at } }),

    settle: Effect.fnUntraced(function* (id, final, bytesMax) {
      const task = tasks.get(id)
      if (task?.ended === undefined || !isOpen(task)) return
      const progress = { ...task.progress, state: "{}" }
      yield* put(tasks, id, { ...task, progress, final, ended: { ...task.ended, outcome: "" } })
      let bytes = final.text.length
      const others = [...tasks.values()]
        .filter((other) => other.consumerId === task.consumerId && other.id !== id && !isOpen(other))
        .toSorted((one, other) => DateTime.Order(other.ended!.at, one.ended!.at))
      for (const other of others) {
        bytes += other.final!.text.length + other.terms.length
        if (bytes > bytesMax) yield* remove(tasks, other.id)
      }
    }),

    remove: (id) => remove(tasks, id),

    removeAll: (consumerId) =>
      Effect.forEach(
        [...tasks.values()].filter((task) => task.consumerId === consumerId),
        ({ id }) => remove(tasks, id),
        { discard: true }
      ),

    prune: (endedBefore, limit) =>
      prune(
        tasks,
        ({ ended, final }) => final !== undefined && ended !== undefined && DateTime.isLessThan(ended.at, endedBefore),
        limit
      )
  })
})

const isRunning = ({ ended }: CallTask): boolean => ended === undefined
const isOpen = ({ final }: CallTask): boolean => final === undefined
const isUntil = (at: DateTime.Utc, until: DateTime.Utc): boolean => at.epochMilliseconds <= until.epochMilliseconds

/** The newest first. */
const byPosition = (one: TaskPosition, other: TaskPosition): number =>
  DateTime.Order(other.createdAt, one.createdAt) || (one.id === other.id ? 0 : one.id < other.id ? 1 : -1)

const listed = ({ createdAt, ended, final, id, progress }: CallTask): ListedTask => ({
  id,
  createdAt,
  progress,
  final: final === undefined || ended === undefined ? undefined : { status: final.status, endedAt: ended.at }
})
