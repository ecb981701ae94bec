/**
 * Messages of a provider's server on their way to a client.
 */
import { isOfFeatures } from "../../../domain/mcp/ServerFeatures.ts"
import type { Door } from "./Door.ts"

type Passing = Pick<Door, "featuresOff" | "onListChanged">

/** Whether a message of the server is passed on. The door hears of changes of the list. */
export const isPassed = ({ featuresOff, onListChanged }: Passing, message: string): boolean => {
  if (onListChanged !== undefined && LIST_CHANGED.test(message)) onListChanged()
  return !isOfFeatures(message, featuresOff)
}

/** Sends those that are passed on. */
export const passing =
  (door: Passing, send: (message: string) => void): ((message: string) => void) =>
  (message) => {
    if (isPassed(door, message)) send(message)
  }

const LIST_CHANGED = /"method"\s*:\s*"notifications\/tools\/list_changed"/u
