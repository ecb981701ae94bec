/**
 * Positions of the primary in its write-ahead log, with the times at which they were asked for. A replica that has
 * replayed a position has everything that the primary had at its time. So the lag needs no clock of another machine, and
 * an idle primary, which writes nothing for hours, is not late.
 */
export interface WalSamples {
  add(sample: { readonly atMs: number; readonly position: bigint }): void
  /** The newest time whose position was replayed. Undefined: it is older than every sample. */
  asOfMs(replayed: bigint): number | undefined
}

/** Samples older than `windowMs` are dropped: a replica that far behind is not used. */
export const makeWalSamples = (windowMs: number): WalSamples => {
  let samples: Array<{ readonly atMs: number; readonly position: bigint }> = []
  return {
    add: (sample) => {
      samples = [...samples.filter(({ atMs }) => atMs >= sample.atMs - windowMs), sample]
    },
    // After a failover the positions of the new primary may be lower than those of the old one.
    asOfMs: (replayed) => samples.findLast(({ position }) => position <= replayed)?.atMs
  }
}
