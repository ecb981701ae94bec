/**
 * Loaded before a process's own modules (`--import`): its wall clock is off by `CLOCK_AHEAD_MS`, from the start with
 * `CLOCK_WRONG=start`, and every SIGUSR2 makes it wrong or right again. Timers and the monotonic clock are not
 * affected.
 */
const RealDate = Date
const aheadMs = Number(process.env["CLOCK_AHEAD_MS"] ?? 0)
let isWrong = process.env["CLOCK_WRONG"] === "start"
const now = (): number => RealDate.now() + (isWrong ? aheadMs : 0)

class WrongDate extends RealDate {
  constructor(...given: ReadonlyArray<never>) {
    if (given.length === 0) super(now())
    else super(...(given as unknown as [number]))
  }
  static override now(): number {
    return now()
  }
}

globalThis.Date = WrongDate as DateConstructor
process.on("SIGUSR2", () => {
  isWrong = !isWrong
})
