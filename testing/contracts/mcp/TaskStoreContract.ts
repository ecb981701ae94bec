/**
 * What a TaskStore must do.
 */
import { DateTime, Effect, Option } from "effect"
import assert from "node:assert/strict"
import { Entropy } from "../../../domain/shared/Cryptography.ts"
import { ConsumerId, ProviderId, receiptIdOf } from "../../../domain/shared/Ids.ts"
import { type CallTask, TaskStore } from "../../../domain/tasks/CallTask.ts"
import { instant } from "../shared/AccountSamples.ts"
import { type Contract, rule } from "../shared/Contract.ts"
import { uuid } from "../shared/LedgerSamples.ts"

const AT = instant("2026-11-20T12:00:00.000Z")
const at = (seconds: number): DateTime.Utc => DateTime.add(AT, { seconds })
const BYTES_MAX = 1_000
const WAITING = { waitedMs: 86_400_000, waitingSince: at(3) }
const hash = Effect.flatMap(Entropy, ({ hex }) => hex(32))

const aTask = Effect.fnUntraced(function* (changes: Partial<CallTask> = {}) {
  const task: CallTask = {
    id: yield* (yield* Entropy).hex(24),
    consumerId: ConsumerId.make(yield* uuid),
    providerId: ProviderId.make(yield* uuid),
    endpointUrl: "https://example.com/mcp",
    session: undefined,
    invocationId: receiptIdOf(yield* uuid, 0),
    upstreamId: "task-é-1",
    keyHash: undefined,
    terms: `{"price":"1000"}`,
    createdAt: AT,
    progress: {
      state: `{"status":"working","statusMessage":"½"}`,
      pollMs: 2_000,
      expiresAt: at(3_600),
      askedAt: AT,
      dueAt: at(2),
      failures: 0,
      waitedMs: 0,
      waitingSince: undefined
    },
    canceled: false,
    ended: undefined,
    final: undefined,
    ...changes
  }
  return task
})

const added = Effect.fnUntraced(function* (changes: Partial<CallTask> = {}) {
  const task = yield* aTask(changes)
  yield* (yield* TaskStore).add(task)
  return task
})

const settledTask = Effect.fnUntraced(function* (changes: Partial<CallTask>, endedAt: DateTime.Utc, final: string) {
  const store = yield* TaskStore
  const { id } = yield* added(changes)
  assert.equal(yield* store.end(id, "{}", endedAt), true)
  yield* store.settle(id, { status: "completed", text: final }, BYTES_MAX)
  return id
})

const finalOf = (id: string) =>
  Effect.flatMap(TaskStore, (store) => Effect.map(store.find(id), (found) => Option.getOrUndefined(found)?.final?.text))

export const taskStoreContract: Contract<TaskStore> = [
  rule(
    "returns a task as it was added, and the newest one of an account by its key",
    Effect.gen(function* () {
      const store = yield* TaskStore
      const keyHash = yield* hash
      const task = yield* aTask({ keyHash })
      assert.deepEqual(yield* store.find(task.id), Option.none())
      yield* store.add(task)
      assert.deepEqual(yield* store.find(task.id), Option.some(task))
      const newer = yield* added({ consumerId: task.consumerId, keyHash, createdAt: at(1) })
      yield* added({ keyHash, createdAt: at(2) })
      assert.deepEqual(yield* store.findByKey(task.consumerId, keyHash), Option.some(newer))
      assert.deepEqual(yield* store.findByKey(task.consumerId, yield* hash), Option.none())
      yield* store.remove(task.id)
      assert.deepEqual(yield* store.find(task.id), Option.none())
    })
  ),

  rule(
    "keeps the session of a task with or without an id",
    Effect.gen(function* () {
      const store = yield* TaskStore
      for (const sessionId of ["session-é", undefined]) {
        const task = yield* added({ session: { version: "2025-11-25", sessionId } })
        assert.deepEqual(yield* store.find(task.id), Option.some(task))
      }
    })
  ),

  rule(
    "lists the tasks of an account, the newest first, at a provider or at all",
    Effect.gen(function* () {
      const store = yield* TaskStore
      const { consumerId, providerId } = yield* aTask()
      const caller = { consumerId, providerId: undefined }
      assert.deepEqual(yield* store.list(caller, undefined, 10), [])
      const oldest = yield* settledTask({ consumerId, providerId }, at(9), "{}")
      const twins = [
        yield* added({ consumerId, providerId, createdAt: at(1) }),
        yield* added({ consumerId, createdAt: at(1) })
      ].toSorted((one, other) => (one.id < other.id ? 1 : -1))
      const newest = yield* added({ consumerId, providerId, createdAt: at(2) })
      yield* added({ providerId, createdAt: at(3) })
      const ids = (given: Parameters<typeof store.list>[0], after: Parameters<typeof store.list>[1], limit: number) =>
        Effect.map(store.list(given, after, limit), (tasks) => tasks.map(({ id }) => id))
      const all = [newest.id, ...twins.map(({ id }) => id), oldest]
      assert.deepEqual(yield* ids(caller, undefined, 10), all)
      assert.deepEqual(yield* ids(caller, undefined, 2), all.slice(0, 2))
      for (const [n, after] of [newest, ...twins].entries()) {
        assert.deepEqual(yield* ids(caller, after, 10), all.slice(n + 1))
      }
      assert.deepEqual(yield* ids(caller, { id: oldest, createdAt: AT }, 10), [])
      assert.deepEqual(
        yield* ids({ consumerId, providerId }, undefined, 10),
        all.filter((id) => id !== twins.find((twin) => twin.providerId !== providerId)!.id)
      )
      const [first, , , last] = yield* store.list(caller, undefined, 10)
      const { createdAt, id, progress } = newest
      assert.deepEqual(first, { id, createdAt, progress, final: undefined })
      assert.deepEqual(last?.final, { status: "completed", endedAt: at(9) })
    })
  ),

  rule(
    "gives a task to one of those that claim it, once per interval",
    Effect.gen(function* () {
      const store = yield* TaskStore
      const { id } = yield* added()
      const claim = store.claim(id, at(10), at(12))
      const claimed = yield* Effect.all([claim, claim, claim], { concurrency: "unbounded" })
      assert.equal(claimed.filter((one) => Option.isSome(one)).length, 1)
      const { askedAt, dueAt } = Option.getOrThrow(yield* store.find(id)).progress
      assert.deepEqual([askedAt, dueAt], [at(12), at(2)])
      assert.equal(Option.isSome(yield* store.claim(id, at(12), at(14))), true)
      assert.deepEqual(yield* store.claim("unknown", at(12), at(14)), Option.none())
    })
  ),

  rule(
    "gives each task that is due to one node, the longest due first",
    Effect.gen(function* () {
      const store = yield* TaskStore
      const early = instant("2001-01-01T00:00:00.000Z")
      const dueAt = (seconds: number) => DateTime.add(early, { seconds })
      const progressAt = (seconds: number) =>
        Effect.map(aTask(), ({ progress }) => ({ progress: { ...progress, dueAt: dueAt(seconds) } }))
      const second = yield* added(yield* progressAt(1))
      const first = yield* added(yield* progressAt(0))
      const third = yield* added(yield* progressAt(2))
      yield* added(yield* progressAt(9))
      const one = yield* store.claimDue(dueAt(5), at(60), 2)
      assert.deepEqual(new Set(one.map(({ id }) => id)), new Set([first.id, second.id]))
      const [last, ...none] = yield* store.claimDue(dueAt(5), at(60), 2)
      assert.deepEqual(last, { ...third, progress: { ...third.progress, askedAt: dueAt(5), dueAt: at(60) } })
      assert.deepEqual(none, [])
      // Those of this rule must not be due in another one.
      yield* store.claimDue(dueAt(9), at(86_400), 10)
    })
  ),

  rule(
    "notes progress and a cancellation until the task has ended, and keeps the first ending",
    Effect.gen(function* () {
      const store = yield* TaskStore
      const task = yield* added()
      const progress = {
        ...task.progress,
        state: `{"status":"input_required"}`,
        failures: 3,
        expiresAt: at(99),
        ...WAITING
      }
      yield* store.note(task.id, progress)
      assert.equal(yield* store.cancel(task.id), true)
      assert.deepEqual(yield* store.find(task.id), Option.some({ ...task, progress, canceled: true }))
      const endings = yield* Effect.all(
        ["a", "b", "c"].map((outcome) => store.end(task.id, outcome, at(5))),
        { concurrency: "unbounded" }
      )
      assert.equal(endings.filter((isFirst) => isFirst).length, 1)
      yield* store.note(task.id, task.progress)
      assert.equal(yield* store.cancel(task.id), false)
      const ended = Option.getOrThrow(yield* store.find(task.id))
      assert.deepEqual(ended.progress, progress)
      assert.equal(ended.ended?.outcome, ["a", "b", "c"][endings.indexOf(true)])
      assert.equal(Option.isSome(yield* store.claim(task.id, at(60), at(60))), true)
    })
  ),

  rule(
    "keeps what a settled task was first settled with, and claims it no more",
    Effect.gen(function* () {
      const store = yield* TaskStore
      const id = yield* settledTask({}, at(5), `{"n":1.50}`)
      yield* store.settle(id, { status: "failed", text: "another" }, BYTES_MAX)
      const settled = Option.getOrThrow(yield* store.find(id))
      assert.deepEqual(settled.final, { status: "completed", text: `{"n":1.50}` })
      assert.deepEqual(yield* store.claim(id, at(60), at(60)), Option.none())
      const running = yield* added()
      yield* store.settle(running.id, { status: "failed", text: "too early" }, BYTES_MAX)
      assert.deepEqual(yield* store.find(running.id), Option.some(running))
    })
  ),

  rule(
    "deletes every task of an account, and none of another",
    Effect.gen(function* () {
      const store = yield* TaskStore
      const [running, other] = [yield* added(), yield* added()]
      const settled = yield* settledTask({ consumerId: running.consumerId }, at(5), "{}")
      yield* store.removeAll(running.consumerId)
      for (const id of [running.id, settled]) assert.deepEqual(yield* store.find(id), Option.none())
      assert.deepEqual(yield* store.find(other.id), Option.some(other))
    })
  ),

  rule(
    "deletes the oldest results of an account beyond the limit, and old ones of all accounts",
    Effect.gen(function* () {
      const store = yield* TaskStore
      const { consumerId } = yield* aTask()
      const text = "x".repeat(400)
      const oldest = yield* settledTask({ consumerId }, at(1), text)
      const other = yield* settledTask({}, at(1), text)
      const running = yield* added({ consumerId })
      const second = yield* settledTask({ consumerId }, at(2), text)
      const newest = yield* settledTask({ consumerId }, at(3), text)
      assert.deepEqual(yield* Effect.forEach([oldest, second, newest, other], finalOf), [undefined, text, text, text])
      const large = yield* settledTask({ consumerId }, at(4), "y".repeat(2 * BYTES_MAX))
      assert.deepEqual(yield* Effect.forEach([second, newest], finalOf), [undefined, undefined])
      assert.equal((yield* finalOf(large))?.length, 2 * BYTES_MAX)
      assert.equal((yield* store.prune(at(2), 1)) <= 1, true)
      while ((yield* store.prune(at(2), 10)) > 0);
      assert.equal(yield* finalOf(other), undefined)
      assert.equal((yield* finalOf(large)) === undefined, false)
      assert.deepEqual(yield* store.find(running.id), Option.some(running))
    })
  )
]
