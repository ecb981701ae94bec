/**
 * A doubly linked ring, for what comes and goes with every call: removal needs no search and no hashing. A removed item refers
 * to no other, so that the garbage collector frees each on its own. The former tables of a Map, which refer to their
 * successors, kept more alive.
 */
export class RingItem {
  before: RingItem = this
  after: RingItem = this

  get isAlone(): boolean {
    return this.after === this
  }

  /** Behind all that were added to this one before. */
  add(item: RingItem): void {
    item.before = this.before
    item.after = this
    this.before.after = item
    this.before = item
  }

  /** Takes it out of its ring. Whether it was in one. */
  end(): boolean {
    if (this.isAlone) return false
    this.before.after = this.after
    this.after.before = this.before
    this.before = this
    this.after = this
    return true
  }
}
