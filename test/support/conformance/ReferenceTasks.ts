/**
 * The tools of the conformance suite that run as tasks (`io.modelcontextprotocol/tasks`, 2026-07-28), before a server whose
 * SDK has no tasks: it answers their calls, and the requests about them.
 */
import { randomUUID } from "node:crypto"

type Json = Readonly<Record<string, unknown>>

interface Task {
  readonly id: string
  readonly createdAt: string
  readonly inputs: Map<string, object>
  readonly answers: Map<string, Json>
  status: "working" | "input_required" | "completed" | "failed" | "cancelled"
  ending: Json
}

const EXTENSION = "io.modelcontextprotocol/tasks"
const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
const JOB_MS = 300

const text = (value: string) => ({ content: [{ type: "text", text: value }] })

const elicit = (message: string, properties: object) => ({
  method: "elicitation/create",
  params: { mode: "form", message, requestedSchema: { type: "object", properties } }
})

const required = (name: string) => ({
  code: -32_021,
  message: `${name} runs as a task`,
  data: { requiredCapabilities: { extensions: { [EXTENSION]: {} } } }
})

/** As the SDK lists them. */
export const TASK_TOOLS: ReadonlyArray<string> = [
  "greet",
  "slow_compute",
  "failing_job",
  "protocol_error_job",
  "confirm_delete",
  "multi_input",
  "test_tool_with_task"
]

/** The methods whose params the header `Mcp-Name` repeats. */
const NAMED: ReadonlySet<string> = new Set(["tools/call", "tasks/get", "tasks/update", "tasks/cancel"])

type Answered = { readonly result: Json } | { readonly error: Json }

export const referenceTasks = () => {
  const tasks = new Map<string, Task>()

  const shown = ({ createdAt, ending, id, inputs, status }: Task): Json => ({
    taskId: id,
    status,
    createdAt,
    lastUpdatedAt: new Date().toISOString(),
    ttlMs: 600_000,
    pollIntervalMs: 500,
    ...(status === "input_required" ? { inputRequests: Object.fromEntries(inputs) } : {}),
    ...ending
  })

  const start = (inputs: Readonly<Record<string, object>> = {}): Task => {
    const task: Task = {
      id: randomUUID(),
      createdAt: new Date().toISOString(),
      inputs: new Map(Object.entries(inputs)),
      answers: new Map(),
      status: Object.keys(inputs).length === 0 ? "working" : "input_required",
      ending: {}
    }
    tasks.set(task.id, task)
    return task
  }

  const end = (task: Task, status: Task["status"], ending: Json): void => {
    if (task.status !== "working" && task.status !== "input_required") return
    task.status = status
    task.ending = ending
  }

  const created = (task: Task, ms: number, status: Task["status"], ending: Json): Answered => {
    if (task.inputs.size === 0) setTimeout(() => end(task, status, ending), ms).unref()
    const { inputRequests: _, ...seed } = shown({ ...task, status: "working" })
    return { result: { resultType: "task", ...seed } }
  }

  const called = (params: Json, isTaking: boolean): Answered | undefined => {
    const name = String(params["name"])
    const args = (params["arguments"] ?? {}) as Json
    const done = (value: string): Answered => ({ result: { resultType: "complete", ...text(value) } })
    switch (name) {
      case "greet":
        return done(`Hello, ${String(args["name"])}!`)
      case "slow_compute": {
        const ms = Number(args["seconds"]) * 1_000
        return isTaking && ms > 0
          ? created(start(), ms, "completed", { result: text(`computed ${String(args["label"])}`) })
          : done(`computed ${String(args["label"])}`)
      }
      case "failing_job":
        return isTaking
          ? created(start(), JOB_MS, "completed", { result: { ...text("failed"), isError: true } })
          : { error: required(name) }
      case "protocol_error_job":
        return isTaking
          ? created(start(), JOB_MS, "failed", { error: { code: -32_603, message: "The job broke" } })
          : { error: required(name) }
      case "confirm_delete":
        return isTaking
          ? created(start({ confirm: elicit("Delete?", { confirm: { type: "boolean" } }) }), 0, "completed", {})
          : { error: required(name) }
      case "multi_input":
        return isTaking
          ? created(
              start({
                one: elicit("One?", { name: { type: "string" } }),
                two: elicit("Two?", { name: { type: "string" } })
              }),
              0,
              "completed",
              {}
            )
          : { error: required(name) }
      case "test_tool_with_task": {
        const responses = params["inputResponses"] as Readonly<Record<string, { content?: Json }>> | undefined
        const answer = responses?.["user_name"]?.content?.["name"]
        if (answer === undefined) {
          const inputRequests = { user_name: elicit("Who?", { name: { type: "string" } }) }
          return { result: { resultType: "input_required", inputRequests } }
        }
        return created(start(), JOB_MS, "completed", { result: text(`Hello, ${String(answer)}`) })
      }
      default:
        return undefined
    }
  }

  const ofTask = (method: string, params: Json, isTaking: boolean): Answered => {
    if (!["tasks/get", "tasks/update", "tasks/cancel"].includes(method)) {
      return { error: { code: -32_601, message: "Method not found" } }
    }
    if (!isTaking) return { error: required(method) }
    const task = tasks.get(String(params["taskId"]))
    if (task === undefined) return { error: { code: -32_602, message: "Task not found" } }
    if (method === "tasks/get") return { result: { resultType: "complete", ...shown(task) } }
    if (method === "tasks/cancel") end(task, "cancelled", {})
    for (const [name, answer] of Object.entries((params["inputResponses"] ?? {}) as Readonly<Record<string, Json>>)) {
      if (task.inputs.delete(name)) task.answers.set(name, answer)
    }
    if (task.inputs.size === 0 && task.answers.size > 0) {
      end(task, "completed", { result: text(`got ${[...task.answers.keys()].join(" and ")}`) })
    }
    return { result: { resultType: "complete" } }
  }

  /** The response to a modern request; undefined leaves it to the server. */
  return (headers: Headers, body: unknown): Response | undefined => {
    const {
      id,
      method,
      params = {}
    } = body as { readonly id?: unknown; readonly method?: string; readonly params?: Json }
    if (method === undefined || (method !== "tools/call" && !method.startsWith("tasks/"))) return undefined
    const name = method === "tools/call" ? params["name"] : params["taskId"]
    if (method === "tools/call" && !TASK_TOOLS.includes(String(name))) return undefined
    const meta = (params["_meta"] ?? {}) as Readonly<Record<string, { readonly extensions?: Json } | undefined>>
    const isTaking = meta[CAPABILITIES]?.extensions?.[EXTENSION] !== undefined
    const isNamed = name === undefined || !NAMED.has(method) || headers.get("mcp-name") === name
    const answer =
      headers.get("mcp-method") !== method || !isNamed
        ? { error: { code: -32_020, message: "Header mismatch" } }
        : method === "tools/call"
          ? called(params, isTaking)
          : ofTask(method, params, isTaking)
    if (answer === undefined) return undefined
    const code = "error" in answer ? answer.error["code"] : undefined
    const status = code === -32_020 || code === -32_021 ? 400 : code === -32_601 ? 404 : 200
    return Response.json({ jsonrpc: "2.0", id, ...answer }, { status })
  }
}
