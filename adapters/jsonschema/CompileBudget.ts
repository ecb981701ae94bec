/**
 * How much of the process may go into compiling schemas: a burst, then a share of the time. Compiling cannot be shared out
 * among requests, so strangers who send one large schema after the other would otherwise hold up everybody.
 */
const BURST_MS = 5_000
const SHARE = 0.5

export interface CompileBudget {
  isSpent(nowMs: number): boolean
  spend(durationMs: number): void
}

export const compileBudget = (): CompileBudget => {
  let spentMs = 0
  let sinceMs = Infinity
  return {
    isSpent: (nowMs) => {
      spentMs = Math.max(0, spentMs - Math.max(0, nowMs - sinceMs) * SHARE)
      sinceMs = nowMs
      return spentMs >= BURST_MS
    },
    spend: (durationMs) => {
      spentMs += durationMs
    }
  }
}
