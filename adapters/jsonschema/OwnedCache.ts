/**
 * Least recently used cache, bounded by weight over all owners. The owner with the highest weight loses entries first,
 * so an owner that adds many entries evicts its own.
 */
export interface Held<A> {
  /** Undefined after it was evicted. */
  value: A | undefined
  readonly weight: number
  lastUse: number
}

export interface OwnedCache<A> {
  get(owner: string, key: string): Held<A> | undefined
  set(owner: string, key: string, value: A, weight: number): Held<A>
  /** For a caller that holds it already. */
  use(held: Held<A>): void
  weight(): number
}

interface Owned<A> {
  readonly entries: Map<string, Held<A>>
  weight: number
}

export const ownedCache = <A>(weightMax: number): OwnedCache<A> => {
  const owners = new Map<string, Owned<A>>()
  let total = 0
  let uses = 0

  const remove = (owner: string, owned: Owned<A>, key: string): void => {
    const held = owned.entries.get(key)
    if (held === undefined) return
    owned.entries.delete(key)
    owned.weight -= held.weight
    total -= held.weight
    held.value = undefined
    if (owned.entries.size === 0) owners.delete(owner)
  }

  const dropOne = (): void => {
    let heaviest: readonly [string, Owned<A>] | undefined
    for (const one of owners) if (heaviest === undefined || one[1].weight > heaviest[1].weight) heaviest = one
    if (heaviest === undefined) return
    const [owner, owned] = heaviest
    let oldest: readonly [string, Held<A>] | undefined
    for (const one of owned.entries) if (oldest === undefined || one[1].lastUse < oldest[1].lastUse) oldest = one
    remove(owner, owned, oldest![0])
  }

  /** The newest entry stays, whatever its weight. */
  const isOver = (newest: number): boolean => total > weightMax && total > newest

  return {
    get: (owner, key) => {
      const held = owners.get(owner)?.entries.get(key)
      if (held !== undefined) held.lastUse = ++uses
      return held
    },
    set: (owner, key, value, weight) => {
      const before = owners.get(owner)
      if (before !== undefined) remove(owner, before, key)
      const owned: Owned<A> = owners.get(owner) ?? { entries: new Map(), weight: 0 }
      const held: Held<A> = { value, weight, lastUse: ++uses }
      owners.set(owner, owned)
      owned.entries.set(key, held)
      owned.weight += weight
      total += weight
      while (isOver(weight)) dropOne()
      return held
    },
    use: (held) => {
      held.lastUse = ++uses
    },
    weight: () => total
  }
}
