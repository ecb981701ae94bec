/**
 * Random histories of loads, calls, refunds and payouts, compared with a model of single numbers (`contracts/ledgerModel.ts`).
 */
import { assert, it } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { Ledger } from "../../../domain/ledger/Ledger.ts"
import { aHistory } from "../../contracts/ledgerHistory.ts"
import { expected, funded, History } from "../../contracts/ledgerModel.ts"
import { everyLedger, type LedgerPorts } from "../../contracts/ledgerPorts.ts"

const RUNS = { memory: 100, PostgreSQL: 15 } as const
const AT_ONCE = 16

const modelled = (name: keyof typeof RUNS, ports: Layer.Layer<LedgerPorts>) =>
  it.layer(ports, { timeout: "120 seconds", excludeTestServices: true })(`A random history over ${name}`, (it) => {
    it.effect.prop(
      "has the answers and balances of the model, step by step",
      [History],
      ([steps]) =>
        Effect.gen(function* () {
          const { balances, perform } = yield* aHistory
          const history = funded(steps)
          const { answers, balances: modelled } = expected(history)
          assert.deepStrictEqual(yield* Effect.forEach(history, perform), [...answers])
          assert.deepStrictEqual(yield* balances, modelled)
        }),
      { arbitrary: { runs: RUNS[name] }, timeout: 240_000 }
    )

    it.effect.prop(
      "leaves no balance negative, and every balance as the answers say, with many steps at the same time",
      [History],
      ([steps]) =>
        Effect.gen(function* () {
          const ledger = yield* Ledger
          const { balances, balancesBy, perform } = yield* aHistory
          const history = funded(steps)
          const answers = yield* Effect.forEach(history, perform, { concurrency: AT_ONCE })
          const found = yield* balances
          for (const available of found.available) assert.isTrue(available >= 0n)
          assert.deepStrictEqual(found, balancesBy(history, answers))
          assert.isTrue((yield* ledger.trialBalance).balanced)
          assert.deepStrictEqual((yield* ledger.audit).discrepancies, [])
        }),
      { arbitrary: { runs: RUNS[name] }, timeout: 240_000 }
    )
  })

for (const [name, ports] of everyLedger) modelled(name, ports)
