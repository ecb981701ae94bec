/**
 * Runs a synchronous task with a time limit, which also interrupts loops inside regular expressions: another thread
 * tells V8 to stop. That thread costs a few tenths of a millisecond, so tasks that are known to be fast run without it.
 */
import { createContext, Script } from "node:vm"

export const COMPILE_CPU_MS_MAX = 2_000
export const CHECK_CPU_MS_MAX = 100

export type Watched<A> = { readonly _tag: "Done"; readonly value: A } | { readonly _tag: "OutOfTime" }

const global: { task: (() => unknown) | undefined } = { task: undefined }
const context = createContext(global)
const script = new Script("task()")

/** `task` starts no other watched task. */
export const runWatched = <A>(task: () => A, timeMsMax: number): Watched<A> => {
  global.task = task
  try {
    return { _tag: "Done", value: script.runInContext(context, { timeout: timeMsMax }) as A }
  } catch (cause) {
    if (isOutOfTime(cause)) return { _tag: "OutOfTime" }
    throw cause
  } finally {
    global.task = undefined
  }
}

const isOutOfTime = (cause: unknown): boolean =>
  typeof cause === "object" && cause !== null && "code" in cause && cause.code === "ERR_SCRIPT_EXECUTION_TIMEOUT"
