/**
 * A call whose provider works on it after its response, as a task. Toward the provider the service is the client of the
 * task; its own client gets a task with another id. The call stays open with its hold until the task ends.
 */
import type { DateTime } from "effect"
import type { UpstreamSession } from "../upstream/Protocol.ts"
import type { ConsumerId, ProviderId, ReceiptId } from "../shared/Ids.ts"

/** From the opening of a call until its task counts as timed out. */
export const TASK_MS_MAX = 24 * 60 * 60_000
/** A shorter lifetime that a provider wants for its task is not kept to: it would leave no time to ask. */
export const TASK_MS_MIN = 60_000
/** After the end of a task's time, until the sweeper may void its call: for nodes that were down. */
export const TASK_GRACE_MS = 5 * 60_000
/** How long the result of a task can be read. */
export const TASK_KEPT_MS = 24 * 60 * 60_000
/** Results of ended tasks per account; the oldest ones are deleted first. */
export const TASKS_KEPT_BYTES_MAX = 64 * 1024 * 1024
/** Of the state of a task that runs, with the questions that it asks. */
export const TASK_STATE_CHARS_MAX = 64 * 1024
/** Of the provider's id. */
export const UPSTREAM_ID_CHARS_MAX = 1_024
/** The ids of tasks: unguessable. */
export const TASK_ID_BYTES = 24

/** How often a provider is asked, if the client asks as often. */
export const POLL_MS_MIN = 500
export const POLL_MS_DEFAULT = 2_000
export const POLL_MS_MAX = 60_000

export interface CallTask {
  /** As the client knows it. */
  readonly id: string
  readonly consumerId: ConsumerId
  readonly providerId: ProviderId
  /** Of the server that started the task. */
  readonly endpointUrl: string
  /** Of the service at a server of the legacy era, for this task alone; undefined at one of the modern era. */
  readonly session: UpstreamSession | undefined
  readonly invocationId: ReceiptId
  /** As the provider knows it. */
  readonly upstreamId: string
  /** Of the call's idempotency key: a repeated call finds its task. */
  readonly keyHash: string | undefined
  /** What the call is settled by, as JSON (`TaskTerms.ts`). */
  readonly terms: string
  /** When the call was opened. */
  readonly createdAt: DateTime.Utc
  readonly progress: TaskProgress
  /** The caller canceled the task, and the tool passes that on. */
  readonly canceled: boolean
  /** How the provider ended the task, as JSON (`TaskOutcome.ts`): the first ending counts, and is settled. */
  readonly ended: { readonly outcome: string; readonly at: DateTime.Utc } | undefined
  /** After the settlement. */
  readonly final: FinalTask | undefined
}

/** What the client gets of a settled task. */
export interface FinalTask {
  readonly status: FinalStatus
  /** What the client gets from then on, byte for byte. */
  readonly text: string
}

/** Of the legacy era. In the modern one, a task with a result that is an error is `completed`. */
export type FinalStatus = "completed" | "failed" | "cancelled"

/** What is known of a task that runs. */
export interface TaskProgress {
  /** Members of the task as the provider gave them, as JSON. */
  readonly state: string
  readonly pollMs: number
  /** Then it counts as timed out. */
  readonly expiresAt: DateTime.Utc
  /** When the provider was last asked. */
  readonly askedAt: DateTime.Utc
  /** When it is asked next, unless the client wants to know before. */
  readonly dueAt: DateTime.Utc
  /** How often in a row the provider could not be asked. */
  readonly failures: number
  /** For its caller's answers, until `waitingSince` or now (`CallerTime.ts`). */
  readonly waitedMs: number
  /** Undefined while it does not wait for its caller. */
  readonly waitingSince: DateTime.Utc | undefined
}

/** A task as lists show it: without what may be large. */
export interface ListedTask extends Pick<CallTask, "id" | "createdAt" | "progress"> {
  /** After the settlement. */
  readonly final: { readonly status: FinalStatus; readonly endedAt: DateTime.Utc } | undefined
}
