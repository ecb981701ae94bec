/**
 * The worker thread that judges schemas: no verdict depends on how busy the machine is.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import type { Worker } from "node:worker_threads"
import { schemaBudgets } from "../../../adapters/jsonschema/SchemaCost.ts"
import { makeSchemaWorker } from "../../../adapters/jsonschema/SchemaWorker.ts"
import { someProvider } from "../../support/checks/SchemaUses.ts"

/** Takes tens of milliseconds to compile. */
const large = (n: number): string =>
  JSON.stringify({
    title: `${n}`,
    properties: Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`p${i}`, { type: "string", minLength: i }]))
  })

/** The threads that are started meanwhile. */
const threadsOf = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const started: Array<Worker> = []
  const note = (worker: Worker) => started.push(worker)
  process.on("worker", note)
  const result = yield* Effect.ensuring(
    effect,
    Effect.sync(() => process.off("worker", note))
  )
  return { result, started }
})

describe("a schema's verdict", () => {
  it.effect("does not depend on the time that the first one of the process took", () =>
    Effect.promise(async () => {
      const child = spawn(process.execPath, [
        fileURLToPath(new URL("../../support/market/FirstSchemas.ts", import.meta.url))
      ])
      const said: Array<string> = []
      child.stdout.on("data", (data: Buffer) => said.push(data.toString()))
      await once(child.stdout, "data")
      // The machine has no time for it, for longer than a compilation may take.
      child.kill("SIGSTOP")
      await new Promise((resume) => setTimeout(resume, 2_500))
      child.kill("SIGCONT")
      await once(child, "close")
      assert.strictEqual(said.join(""), "checking\nvalid\nvalid\n")
    })
  )

  it.effect("is found by starting again, on a new thread, where its time elapsed without being used", () =>
    Effect.gen(function* () {
      const { result, started } = yield* threadsOf(
        Effect.scoped(
          Effect.gen(function* () {
            // 20 ms at first.
            const worker = yield* makeSchemaWorker(schemaBudgets(), 0.01)
            return yield* worker.run(someProvider(), { work: "judge", text: large(0) })
          })
        )
      )
      assert.deepStrictEqual(result, { _tag: "Judged", problem: undefined, unchecked: [] })
      assert.isAbove(started.length, 1)
    })
  )
})

describe("the worker thread", () => {
  it.effect("starts with the first job, is used again, and ends with the scope", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const { result: worker, started: none } = yield* threadsOf(
        Effect.provideService(makeSchemaWorker(schemaBudgets()), Scope.Scope, scope)
      )
      assert.lengthOf(none, 0)
      const jobs = Effect.forEach([1, 2, 3], (n) => worker.run(someProvider(), { work: "judge", text: large(n) }))
      const { started } = yield* threadsOf(jobs)
      assert.lengthOf(started, 1)
      assert.isAbove(started[0]!.threadId, 0)
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(started[0]!.threadId, -1)
    })
  )

  it.effect("has a bounded queue, in which providers take turns and checks go first", () =>
    Effect.gen(function* () {
      const worker = yield* makeSchemaWorker(schemaBudgets())
      const [greedy, other] = [someProvider(), someProvider()]
      const order: Array<string> = []
      const judge = (name: string, providerId: string, n: number) =>
        Effect.tap(worker.run(providerId, { work: "judge", text: large(n) }), () => Effect.sync(() => order.push(name)))
      const check = Effect.tap(worker.run(someProvider(), { work: "input", text: "{}", value: { of: 1 } }), () =>
        Effect.sync(() => order.push("check"))
      )
      const many = Effect.all(
        Array.from({ length: 40 }, (_, n) => Effect.result(judge("greedy", greedy, n % 4))),
        { concurrency: "unbounded" }
      )
      const [greedyResults] = yield* Effect.all([many, judge("other", other, 9), check], { concurrency: "unbounded" })
      const refused = greedyResults.flatMap((one) => (one._tag === "Failure" ? [one.failure.of] : []))
      assert.lengthOf(refused, 40 - 17)
      assert.deepStrictEqual([...new Set(refused)], ["provider"])
      assert.deepStrictEqual(order.slice(0, 3), ["greedy", "check", "other"])
    }).pipe(Effect.scoped)
  )

  it.effect("asks for budgets when a job begins, not when it is sent", () =>
    Effect.gen(function* () {
      const budgets = schemaBudgets()
      const worker = yield* makeSchemaWorker(budgets)
      const provider = someProvider()
      const first = worker.run(provider, { work: "judge", text: large(0) })
      const second = worker.run(provider, { work: "judge", text: large(1) })
      const spend = Effect.sync(() => budgets.spend(provider, "judge", 60_000, 0))
      const [one, , two] = yield* Effect.all([Effect.result(first), spend, Effect.result(second)], {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual([one._tag, two._tag], ["Success", "Failure"])
    }).pipe(Effect.scoped)
  )
})
