/**
 * Tasks are not offered. The server of a task answers the call at once and delivers its result later, to requests that name
 * the task. A call is billed by its own response, so the result of a task would be free, or would be billed before it is
 * known. Tasks are removed from what both sides declare, and requests about them are rejected.
 */
import { Schema } from "effect"
import { membersOf, objectWith } from "../shared/JsonText.ts"

/** Of the modern era, in `extensions` of the capabilities. */
export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks"

export class TasksNotOffered extends Schema.TaggedError<TasksNotOffered>()("TasksNotOffered", {}) {
  override get message() {
    return "Tasks are not offered: call the tool without `task`, and wait for its response. Nothing was charged."
  }
}

/** Such as `tasks/get`. Some servers do not distinguish upper and lower case. */
export const isTaskMethod = (method: string): boolean => TASK.test(method)

const TASK = /^[^a-z]*tasks\//iu

/** Capabilities of a client or a server, as JSON. */
export const withoutTasks = (capabilities: string): string => {
  if (!MAY_NAME_TASKS.test(capabilities)) return capabilities
  const others = objectWith(capabilities, "tasks", undefined)
  const extensions = membersOf(others).findLast(({ name }) => name === "extensions")
  return extensions?.text.startsWith("{") === true
    ? objectWith(others, "extensions", objectWith(extensions.text, TASKS_EXTENSION, undefined))
    : others
}

/** The params of a client's `initialize`, as the server gets them: verbatim unless they declare tasks. */
export const passedParams = (params: string): string => {
  const declared = membersOf(params).filter(({ name, text }) => name === "capabilities" && text.startsWith("{"))
  if (declared.every(({ text }) => withoutTasks(text) === text)) return params
  return objectWith(params, "capabilities", withoutTasks(declared.at(-1)!.text))
}

/** A name may be written with escapes. */
const MAY_NAME_TASKS = /tasks|\\/u
