import { assert, it } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { Ledger } from "../../domain/ledger/Ledger.ts"
import { aHistory } from "../contracts/ledgerHistory.ts"
import { expected, funded, History } from "../contracts/ledgerModel.ts"
import { everyLedger, type LedgerPorts } from "../contracts/ledgerPorts.ts"

const RUNS = { memory: 100, PostgreSQL: 15 } as const
const AT_ONCE = 16

const modelled = (name: keyof typeof RUNS, ports: Layer.Layer<LedgerPorts>) =>
  it.layer(ports, { timeout: "120 seconds", excludeTestServices: true })(`Any history over ${name}`, (it) => {
    it.effect.prop(
      "comes, step by step, to what the model says",
      [History],
      ([steps]) =>
        Effect.gen(function* () {
          const { live, purses } = yield* aHistory
          const history = funded(steps)
          const { answers, purses: modelled } = expected(history)
          assert.deepStrictEqual(yield* Effect.forEach(history, live), [...answers])
          assert.deepStrictEqual(yield* purses, modelled)
        }),
      { arbitrary: { runs: RUNS[name] }, timeout: 240_000 }
    )

    it.effect.prop(
      "lived by many at once, leaves nobody below zero, everything in balance, and each with what the answers say",
      [History],
      ([steps]) =>
        Effect.gen(function* () {
          const ledger = yield* Ledger
          const { live, purses, pursesBy } = yield* aHistory
          const history = funded(steps)
          const answers = yield* Effect.forEach(history, live, { concurrency: AT_ONCE })
          const found = yield* purses
          for (const available of found.available) assert.isTrue(available >= 0n)
          assert.deepStrictEqual(found, pursesBy(history, answers))
          assert.isTrue((yield* ledger.trialBalance).balanced)
          assert.deepStrictEqual((yield* ledger.audit).discrepancies, [])
        }),
      { arbitrary: { runs: RUNS[name] }, timeout: 240_000 }
    )
  })

for (const [name, ports] of everyLedger) modelled(name, ports)
