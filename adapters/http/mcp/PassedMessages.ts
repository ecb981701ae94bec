/**
 * Messages of a provider's server on their way to a client.
 */
import { isOfFeatures } from "../../../domain/accounts/Account.ts"
import type { Door } from "./Door.ts"

type Passing = Pick<Door, "featuresOff" | "onListChanged">

/**
 * Whether a message of the server is passed on. The door hears of changes of the list. What a server says of tasks may
 * contain results that are not billed yet.
 */
export const isPassed = ({ featuresOff, onListChanged }: Passing, message: string): boolean => {
  if (onListChanged !== undefined && LIST_CHANGED.test(message)) onListChanged()
  return !(MAY_BE_OF_TASKS.test(message) && isOfTasks(message)) && !isOfFeatures(message, featuresOff)
}

/** Sends those that are passed on. */
export const passing =
  (door: Passing, send: (message: string) => void): ((message: string) => void) =>
  (message) => {
    if (isPassed(door, message)) send(message)
  }

/** A name may be written with escapes. */
const MAY_BE_OF_TASKS = /notifications\/tasks|\\[u/]/iu

const isOfTasks = (message: string): boolean => {
  const { method } = JSON.parse(message) as { readonly method?: unknown }
  return typeof method === "string" && /^[^a-z]*notifications\/tasks/iu.test(method)
}

const LIST_CHANGED = /"method"\s*:\s*"notifications\/tools\/list_changed"/u
