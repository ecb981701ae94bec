/**
 * What sides declare of tasks. A server that starts a task answers a call at once, and delivers its result to later requests
 * that name the task. The server decides which call becomes a task, or, in a session, the client.
 */
import { isObject, memberOf, membersOf, objectWith } from "../shared/JsonText.ts"

/** In `extensions` of the capabilities. */
export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks"

/** `tasks` of a session's capabilities: what the service declares, whichever of it the provider's server does. */
export const SESSION_TASKS = `{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}`

/** Such as `tasks/get`. Some servers do not distinguish upper and lower case. */
export const isTaskMethod = (method: string): boolean => TASK.test(method)

const TASK = /^[^a-z]*tasks\//iu

/** Capabilities of a client or a server, as JSON: the extension. */
export const declaresTasks = (capabilities: string | undefined): boolean => {
  if (capabilities === undefined || !MAY_NAME_TASKS.test(capabilities)) return false
  const extensions = memberOf(capabilities, 0, "extensions")
  return extensions?.startsWith("{") === true && memberOf(extensions, 0, TASKS_EXTENSION)?.startsWith("{") === true
}

/** Capabilities of a server with sessions, as JSON: whether calls of tools can be tasks. */
export const declaresSessionTasks = (capabilities: string): boolean => {
  if (!MAY_NAME_TASKS.test(capabilities)) return false
  const { tasks } = JSON.parse(capabilities) as Declared
  return isObject(tasks?.requests?.tools?.call)
}

interface Declared {
  readonly tasks?: { readonly requests?: { readonly tools?: { readonly call?: unknown } | null } | null } | null
}

/** The same, as they are declared in a session of a client. */
export const withOwnTasks = (capabilities: string): string =>
  declaresSessionTasks(capabilities)
    ? objectWith(withoutTasks(capabilities), "tasks", SESSION_TASKS)
    : withoutTasks(capabilities)

/** Capabilities of a client or a server, as JSON. */
export const withoutTasks = (capabilities: string): string => {
  if (!MAY_NAME_TASKS.test(capabilities)) return capabilities
  const others = withoutSessionTasks(capabilities)
  const extensions = membersOf(others).findLast(({ name }) => name === "extensions")
  return extensions?.text.startsWith("{") === true
    ? objectWith(others, "extensions", objectWith(extensions.text, TASKS_EXTENSION, undefined))
    : others
}

/** Capabilities of a server without sessions, as JSON. */
export const withoutSessionTasks = (capabilities: string): string =>
  MAY_NAME_TASKS.test(capabilities) && membersOf(capabilities).some(({ name }) => name === "tasks")
    ? objectWith(capabilities, "tasks", undefined)
    : capabilities

/** The params of a client's `initialize`, as the server gets them: verbatim unless they declare tasks. */
export const passedParams = (params: string): string => {
  const declared = membersOf(params).filter(({ name, text }) => name === "capabilities" && text.startsWith("{"))
  if (declared.every(({ text }) => withoutTasks(text) === text)) return params
  return objectWith(params, "capabilities", withoutTasks(declared.at(-1)!.text))
}

/** A name may be written with escapes. */
const MAY_NAME_TASKS = /tasks|\\/u
