/**
 * Which requests are never passed to a provider's server as they are: calls of tools are billed, a session begins by its own
 * operation, a request that is named like a notification could cancel the calls of others, and tasks are not offered. Some
 * servers do not distinguish upper and lower case, or ignore other characters of a method.
 */
import { isTaskMethod } from "./Tasks.ts"

export const isNeverPassed = (method: string): boolean =>
  isTaskMethod(method) || NOTIFICATION.test(method) || OF_THE_SERVICE.has(lettersOf(method))

const NOTIFICATION = /^[^a-z]*notifications\//iu

const OF_THE_SERVICE = new Set(["toolscall", "initialize"])

const lettersOf = (method: string): string => method.toLowerCase().replaceAll(/[^a-z]/gu, "")
