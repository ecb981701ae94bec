/**
 * Turns of the event loop of this process, and the CPU time of the longest one.
 */
import { Effect } from "effect"

/** The number of the current turn. */
export const countTurns = Effect.gen(function* () {
  let turns = 0
  yield* everyTurn(() => turns++)
  return () => turns
})

/** CPU time of the main thread, so that other work of the machine does not count. */
export const longestTurnMs = Effect.gen(function* () {
  let before = process.threadCpuUsage()
  let longest = 0
  yield* everyTurn(() => {
    const { system, user } = process.threadCpuUsage(before)
    longest = Math.max(longest, (system + user) / 1_000)
    before = process.threadCpuUsage()
  })
  return () => longest
})

const everyTurn = (task: () => void) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const state = { isOver: false }
      const next = () => {
        if (state.isOver) return
        task()
        setImmediate(next)
      }
      setImmediate(next)
      return state
    }),
    (state) =>
      Effect.sync(() => {
        state.isOver = true
      })
  )
