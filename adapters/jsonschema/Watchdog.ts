/**
 * Runs a synchronous task and ends it after a time, loops inside regular expressions included: V8 is told to stop from
 * another thread. That thread costs a few tenths of a millisecond, so what is known to be quick goes without.
 */
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

const isOutOfTime = (cause: unknown): boolean =>
  cause instanceof Error && "code" in cause && cause.code === "ERR_SCRIPT_EXECUTION_TIMEOUT"
