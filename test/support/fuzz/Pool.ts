/**
 * Ids, names and cursors of earlier responses, so that requests reach existing objects. Bounded: the oldest are
 * dropped.
 */
import type { Chance } from "./Chance.ts"

const KEPT_MAX = 50
const DEPTH_MAX = 6

type Texts = Readonly<Record<string, ReadonlyArray<string>>>

export class Pool {
  private readonly texts = new Map<string, Array<string>>()
  private readonly given: Texts

  /** Values for request fields whose name occurs in no response. */
  constructor(given: Texts) {
    this.given = given
  }

  put(name: string, text: string): void {
    const kept = this.texts.get(name) ?? []
    this.texts.set(name, kept)
    kept.push(text)
    if (kept.length > KEPT_MAX) kept.shift()
  }

  any(name: string, chance: Chance): string | undefined {
    const kept = this.given[name] ?? this.texts.get(name) ?? []
    return kept.length === 0 ? undefined : chance.pick(kept)
  }

  /** Collects every text of a response that has a field name which requests use. */
  harvest(value: unknown, parent = "", depth = 0): void {
    if (typeof value !== "object" || value === null || depth > DEPTH_MAX) return
    if (Array.isArray(value)) {
      for (const item of value.slice(0, 5)) this.harvest(item, parent, depth + 1)
      return
    }
    for (const [key, item] of Object.entries(value)) {
      if (typeof item !== "string") this.harvest(item, key, depth + 1)
      else if (item.length <= 600) this.put(nameOf(key, parent), item)
    }
  }
}

const nameOf = (key: string, parent: string): string =>
  key === "id" ? `${parent.replace(/s$/u, "")}_id` : key === "next_cursor" ? "cursor" : key
