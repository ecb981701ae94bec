/**
 * Upper bound for the work of a check, from the sizes of schema and value: every part of the schema, with its
 * references expanded, checks every part of the value at most once.
 */
export interface SchemaCost {
  /** Parts of the schema, references expanded; infinite if it is recursive. */
  readonly parts: number
  /** How often a pattern can be checked for one text. */
  readonly patterns: number
  /** Steps per character of the most expensive of them. */
  readonly patternSteps: number
  /** Compares the items of an array with each other. */
  readonly comparesItems: boolean
}

const NOTHING: SchemaCost = { parts: 0, patterns: 0, patternSteps: 0, comparesItems: false }
const UNBOUNDED: SchemaCost = { ...NOTHING, parts: Infinity }

/** `stepsOf` a pattern per character of a text. */
export const costOfSchema = (root: unknown, stepsOf: (pattern: string) => number): SchemaCost => {
  const costOfPattern = (pattern: string): SchemaCost => ({ ...NOTHING, patterns: 1, patternSteps: stepsOf(pattern) })
  const known = new Map<unknown, SchemaCost>()
  const visit = (part: unknown): SchemaCost => {
    if (typeof part !== "object" || part === null) return { ...NOTHING, parts: 1 }
    const before = known.get(part)
    if (before !== undefined) return before
    // Reached again before it is done: the schema is recursive.
    known.set(part, UNBOUNDED)
    let cost: SchemaCost = { ...NOTHING, parts: 1 }
    for (const [key, value] of Object.entries(part)) cost = add(add(cost, costOfKeyword(key, value)), visit(value))
    known.set(part, cost)
    return cost
  }
  const costOfKeyword = (key: string, value: unknown): SchemaCost => {
    if (key === "$ref" && typeof value === "string") {
      const target = targetOf(root, value)
      return target === undefined ? UNBOUNDED : visit(target)
    }
    if (key === "$dynamicRef" || key === "$recursiveRef") return UNBOUNDED
    if (key === "pattern" && typeof value === "string") return costOfPattern(value)
    if (key === "patternProperties" && typeof value === "object" && value !== null) {
      return Object.keys(value).map(costOfPattern).reduce(add, NOTHING)
    }
    return key === "uniqueItems" && value === true ? { ...NOTHING, comparesItems: true } : NOTHING
  }
  return visit(root)
}

/** Upper bound of elementary steps to check a value against a schema. Stops once `limit` is passed. */
export const stepsOfCheck = (cost: SchemaCost, value: unknown, limit: number): number => {
  let weight = 1
  let texts = 0
  let longest = 0
  const text = (one: string): void => {
    texts++
    weight += one.length
    longest = Math.max(longest, one.length)
  }
  const waiting: Array<unknown> = [value]
  while (waiting.length > 0 && cost.parts * weight <= limit) {
    const one = waiting.pop()
    weight++
    if (typeof one === "string") text(one)
    else if (Array.isArray(one)) for (const item of one) waiting.push(item)
    else if (typeof one === "object" && one !== null) {
      for (const [key, member] of Object.entries(one)) {
        text(key)
        waiting.push(member)
      }
    }
  }
  const asked = cost.patterns * texts
  return cost.parts * weight * (cost.comparesItems ? weight : 1) + asked * cost.patternSteps * (longest + 1)
}

const add = (a: SchemaCost, b: SchemaCost): SchemaCost => ({
  parts: a.parts + b.parts,
  patterns: a.patterns + b.patterns,
  patternSteps: Math.max(a.patternSteps, b.patternSteps),
  comparesItems: a.comparesItems || b.comparesItems
})

/** Resolves `#` and `#/a/b`. Undefined for names, and for missing targets. */
const targetOf = (root: unknown, reference: string): unknown => {
  if (reference !== "#" && !reference.startsWith("#/")) return undefined
  let target: unknown = root
  for (const step of reference.split("/").slice(1)) {
    if (typeof target !== "object" || target === null) return undefined
    const key = decodeStep(step)
    if (key === undefined || !Object.hasOwn(target, key)) return undefined
    target = (target as Readonly<Record<string, unknown>>)[key]
  }
  return target
}

const decodeStep = (step: string): string | undefined => {
  try {
    return decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~")
  } catch {
    return undefined
  }
}
