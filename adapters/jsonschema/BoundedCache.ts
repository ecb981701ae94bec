/**
 * Keeps what was used last, bounded in number and in weight.
 */
export interface BoundedCache<A> {
  get(key: string): A | undefined
  set(key: string, value: A, weight: number): void
}

export const boundedCache = <A>(bounds: {
  readonly entriesMax: number
  readonly weightMax: number
}): BoundedCache<A> => {
  // A Map remembers the order of insertion: the first entry is the one that was used longest ago.
  const entries = new Map<string, { readonly value: A; readonly weight: number }>()
  let weightSum = 0

  const remove = (key: string): void => {
    weightSum -= entries.get(key)?.weight ?? 0
    entries.delete(key)
  }

  return {
    get: (key) => {
      const entry = entries.get(key)
      if (entry === undefined) return undefined
      entries.delete(key)
      entries.set(key, entry)
      return entry.value
    },
    set: (key, value, weight) => {
      remove(key)
      entries.set(key, { value, weight })
      weightSum += weight
      while (entries.size > bounds.entriesMax || (weightSum > bounds.weightMax && entries.size > 1)) {
        remove(entries.keys().next().value!)
      }
    }
  }
}
