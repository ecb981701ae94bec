/**
 * A call between two legs. A leg is one request to the provider; a leg may end with questions to the caller instead of a
 * result. The call then stays open with its hold, and the request that brings the answers resumes it, once per leg.
 */
import type { DateTime } from "effect"
import type { ConsumerId, ReceiptId } from "../shared/Ids.ts"

/** The first leg opens the call. */
export const LEGS_MAX = 5
/** From the opening of a call until the answers for its last leg. */
export const SUSPENDED_MS_MAX = 10 * 60_000
/** Per account: each has a hold and a row. */
export const SUSPENDED_CALLS_MAX = 32

/** The provider asked for input: the call stays open with its hold until the caller answers or the deadline passes. */
export interface SuspendCall {
  readonly consumerId: ConsumerId
  readonly invocationId: ReceiptId
  /** The leg that ended, from 1. */
  readonly leg: number
  /** After this the sweeper may void the call. */
  readonly deadlineAt: DateTime.Utc
  /**
   * Suspended calls that the consumer may have, including this one: half of them at one provider, which cannot keep the
   * consumer from the tools of others.
   */
  readonly max: number
}

/** `gone`: the call is not open. A call that is not suspended now is unchanged. */
export type Suspended = "suspended" | "too_many" | "gone"

/** The caller answered: the call goes on with its hold. Only one request resumes a leg. */
export interface ResumeCall {
  readonly consumerId: ConsumerId
  readonly invocationId: ReceiptId
  /** The leg after which the call was suspended. */
  readonly leg: number
  readonly deadlineAt: DateTime.Utc
}
