/**
 * Which requests are never passed to a provider's server as they are: calls of tools are billed, a session begins by its own
 * operation, a request that is named like a notification could cancel the calls of others, and results of tasks are billed.
 * Some servers do not distinguish upper and lower case, or ignore other characters of a method.
 */
import { isTaskMethod } from "../upstream/TaskSupport.ts"

export const isNeverPassed = (method: string): boolean =>
  !NAME.test(method) || isTaskMethod(method) || isOfTheService(lettersOf(method))

/** The service's own requests about the task of a call. Doors answer those of clients. */
export const isOfTask = (method: string): boolean => OF_TASK.has(method)

const OF_TASK: ReadonlySet<string> = new Set(["tasks/get", "tasks/result", "tasks/update", "tasks/cancel"])

/** Segments of a path: `x/../tools/call` could be read as another method. */
const NAME = /^(?!notifications\/)[a-z_$][\w$.-]*(?:\/[\w$-][\w$.-]*)*$/iu

const isOfTheService = (letters: string): boolean => letters === "initialize" || letters.endsWith("toolscall")

const lettersOf = (method: string): string => method.toLowerCase().replaceAll(/[^a-z]/gu, "")
