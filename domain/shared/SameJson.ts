/**
 * Whether two values are the same JSON, whatever the order of their members. The values are bounded in depth.
 */

/** An absent member equals an undefined one. */
export const sameJson = (a: unknown, b: unknown): boolean => {
  if (a === b) return true
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, i) => sameJson(item, b[i]))
  }
  const [one, other] = [a as Members, b as Members]
  const names = new Set([...Object.keys(one), ...Object.keys(other)])
  return [...names].every((name) => sameJson(memberOf(one, name), memberOf(other, name)))
}

type Members = Readonly<Record<string, unknown>>

/** Not inherited: a member may be named `constructor`. */
const memberOf = (object: Members, name: string): unknown => (Object.hasOwn(object, name) ? object[name] : undefined)
