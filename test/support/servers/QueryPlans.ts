/**
 * How PostgreSQL runs the statements of a store.
 */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient, Statement } from "effect/sql"

/** The plans of all statements of an effect. */
export const plansOf = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const sql = yield* SqlClient.SqlClient
  const sent: Array<readonly [text: string, parameters: ReadonlyArray<unknown>]> = []
  const recording: Statement.Transformer = (statement) =>
    Effect.sync(() => {
      sent.push(statement.compile())
      return statement
    })
  yield* Effect.provideService(effect, Statement.CurrentTransformer, recording)
  assert.isAtLeast(sent.length, 1)
  const plans: Array<string> = []
  for (const [text, parameters] of sent) {
    const rows = yield* sql.unsafe<{ readonly "QUERY PLAN": string }>(`EXPLAIN (COSTS OFF) ${text}`, parameters)
    plans.push(rows.map((row) => row["QUERY PLAN"]).join("\n"))
  }
  return plans
})
