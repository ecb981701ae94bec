/**
 * How much processor time a kind of work may take: a burst, then a share of the time. Work on schemas is synchronous, so
 * whoever asks for one large piece after the other would otherwise hold up everybody.
 */
export interface WorkBudget {
  /** Milliseconds until more work may be done; 0: now. */
  waitMs(nowMs: number): number
  spend(durationMs: number): void
}

export interface WorkBounds {
  readonly burstMs: number
  readonly share: number
}

export const workBudget = ({ burstMs, share }: WorkBounds): WorkBudget => {
  let spentMs = 0
  let sinceMs = Infinity
  return {
    waitMs: (nowMs) => {
      spentMs = Math.max(0, spentMs - Math.max(0, nowMs - sinceMs) * share)
      sinceMs = nowMs
      return spentMs < burstMs ? 0 : (spentMs - burstMs) / share + 1
    },
    spend: (durationMs) => {
      spentMs += durationMs
    }
  }
}
