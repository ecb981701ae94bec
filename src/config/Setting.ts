/**
 * One setting: how its text is decoded, what it means, and its default.
 */
import type { Schema } from "effect"

export interface Setting<A, F extends string | undefined> {
  readonly schema: Schema.ConstraintDecoder<A>
  readonly meaning: string
  /** As text; undefined: the setting is absent by default. */
  readonly fallback: F
  readonly secret: boolean
}

export const setting = <A, const F extends string | undefined = undefined>(
  schema: Schema.ConstraintDecoder<A>,
  meaning: string,
  fallback?: F
): Setting<A, F> => ({ schema, meaning, fallback: fallback as F, secret: false })

/** Not shown by `config`. */
export const secretSetting = <A>(schema: Schema.ConstraintDecoder<A>, meaning: string): Setting<A, undefined> => ({
  ...setting(schema, meaning),
  secret: true
})
