/**
 * Limits the CPU time of a kind of work: a burst, then a share of the time. Work on schemas is synchronous, so one
 * large piece after another would block all other requests.
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
