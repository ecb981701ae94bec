/**
 * Chooses the engine of a pattern. V8's engine is the fastest and is used if the pattern's shape bounds its work by the
 * length of the text. Any other pattern runs on RE2, whose work is bounded for every pattern. Patterns that RE2 cannot
 * express stay on V8, with a cost that puts their checks under the watchdog.
 */
import { RE2Set } from "re2js"
import { costOf, type PatternCost } from "./PatternCost.ts"
import { re2Syntax } from "./Re2Syntax.ts"

export interface PatternEngine {
  readonly kind: "native" | "linear"
  readonly cost: PatternCost
  test(text: string): boolean
}

/** Memory for cached states of RE2; without cached states it continues more slowly. */
export const LINEAR_ENGINE_BYTES = 16_384
/** Cost of RE2 per character and position of the pattern, in V8 steps. */
const LINEAR_STEPS_PER_PLACE = 20

/** Throws like `RegExp` for an invalid regular expression. */
export const engineOf = (pattern: string): PatternEngine => {
  const native = new RegExp(pattern, "u")
  const cost = costOf(pattern)
  const onNative: PatternEngine = { kind: "native", cost, test: (text) => native.test(text) }
  if (cost.degree <= 1 && Number.isFinite(cost.factor)) return onNative
  return linearEngine(pattern) ?? onNative
}

const linearEngine = (pattern: string): PatternEngine | undefined => {
  const syntax = re2Syntax(pattern)
  if (syntax === undefined) return undefined
  const set = new RE2Set(RE2Set.UNANCHORED, 0, LINEAR_ENGINE_BYTES)
  try {
    set.add(syntax)
    set.compile()
  } catch {
    return undefined
  }
  const places = set.prog.numInst() as number
  return {
    kind: "linear",
    cost: { factor: places * LINEAR_STEPS_PER_PLACE, degree: 1 },
    test: (text) => set.match(text).length > 0
  }
}
