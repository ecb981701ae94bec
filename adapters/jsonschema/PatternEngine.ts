/**
 * Which engine runs a pattern. V8's own is the fastest and stays where a pattern's shape bounds its work by the length of
 * the text; any other pattern runs on RE2, whose work is so bounded for every pattern. What RE2 cannot express is left to
 * V8, at a cost that sends its checks under the watchdog.
 */
import { RE2Set } from "re2js"
import { costOf, type PatternCost } from "./PatternCost.ts"
import { re2Syntax } from "./Re2Syntax.ts"

export interface PatternEngine {
  readonly kind: "native" | "linear"
  readonly cost: PatternCost
  test(text: string): boolean
}

/** Of the states that an engine of RE2 remembers; without more of them it goes on without remembering. */
export const LINEAR_ENGINE_BYTES = 16_384
/** One character costs RE2 so many of V8's steps for each place of the pattern. */
const LINEAR_STEPS_PER_PLACE = 20

/** Throws what `RegExp` throws for what is no regular expression. */
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
