/**
 * Loaded before a process's own modules (`--import`): its calendar is `CLOCK_DAYS_BEHIND` days behind until SIGUSR2
 * sets it to today. Timers are not affected.
 */
const DAY_MS = 86_400_000
const RealDate = Date
let behindMs = Number(process.env["CLOCK_DAYS_BEHIND"] ?? 0) * DAY_MS

class JumpingDate extends RealDate {
  constructor(...given: ReadonlyArray<never>) {
    if (given.length === 0) super(RealDate.now() - behindMs)
    else super(...(given as unknown as [number]))
  }
  static override now(): number {
    return RealDate.now() - behindMs
  }
}

globalThis.Date = JumpingDate as DateConstructor
process.on("SIGUSR2", () => {
  behindMs = 0
})
