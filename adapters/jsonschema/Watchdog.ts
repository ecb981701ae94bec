/**
 * Runs a synchronous task with a time limit, which also interrupts loops inside regular expressions: another thread
 * tells V8 to stop. That thread costs a few tenths of a millisecond, so tasks that are known to be fast run without it.
 */
import { Predicate } from "effect"
import { createContext, Script } from "node:vm"

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

/** By name: an error from inside the context has another `Error` class. */
const isOutOfTime = (cause: unknown): boolean =>
  Predicate.hasProperty(cause, "code") && cause.code === "ERR_SCRIPT_EXECUTION_TIMEOUT"

export const isStackOverflow = (cause: unknown): boolean =>
  Predicate.hasProperty(cause, "name") && cause.name === "RangeError"
