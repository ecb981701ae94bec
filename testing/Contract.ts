/**
 * What every adapter of a port must do, as named effects: run each of them with your adapter, in any test runner. A rule
 * dies with an AssertionError where the adapter does not keep it. Rules share nothing but the adapter: one may be run after
 * the other on the same database.
 */
import { Effect } from "effect"

export interface Rule<Ports> {
  readonly title: string
  readonly check: Effect.Effect<void, never, Ports>
}

export type Contract<Ports> = ReadonlyArray<Rule<Ports>>

export const rule = <E, Ports>(title: string, check: Effect.Effect<void, E, Ports>): Rule<Ports> => ({
  title,
  check: Effect.orDie(check)
})
