/**
 * The moves of a ring, as plain data. A ring is several accounts of one owner, which shares all gains.
 */
import type { ToolTerms } from "../books/ToolTerms.ts"

export type Move =
  | {
      readonly _tag: "RingJoins"
      readonly ring: number
      readonly consumers: number
      readonly tools: ReadonlyArray<ToolTerms>
    }
  /** Ordered, paid and told: of each of its consumers, or of one. */
  | { readonly _tag: "RingLoads"; readonly ring: number; readonly who: number; readonly cents: number }
  /** From itself, so many times at once. */
  | {
      readonly _tag: "RingBuys"
      readonly ring: number
      readonly who: number
      readonly tool: number
      readonly times: number
    }
  | { readonly _tag: "RingCashesOut"; readonly ring: number }
  /** About its own calls, the newest first; its providers accept at once. */
  | { readonly _tag: "RingDisputes"; readonly ring: number; readonly times: number; readonly accepts: boolean }
  /** About a load, at the payer's bank. */
  | {
      readonly _tag: "RingChargesBack"
      readonly ring: number
      readonly which: number
      readonly stage: "open" | "withdraw" | "win" | "lose"
      readonly told: boolean
    }
  | { readonly _tag: "RingWithdraws"; readonly ring: number; readonly who: number; readonly percent: number }
  /** Changes what it offers. */
  | {
      readonly _tag: "RingBaits"
      readonly ring: number
      readonly tool: number
      readonly terms: Partial<ToolTerms>
    }
  /** An honest consumer, who relies on the published figures, calls one of its tools. */
  | {
      readonly _tag: "RingServes"
      readonly ring: number
      readonly who: number
      readonly tool: number
      readonly reports: number
      readonly fails: boolean
      readonly capped: boolean
    }
  /** Calls another provider's tool and disconnects before the response. */
  | {
      readonly _tag: "RingLeaves"
      readonly ring: number
      readonly who: number
      readonly tool: number
      readonly times: number
      readonly afterMs: number
      readonly latencyMs: number
    }
  /** Reports failures of another provider's tool, or disputes calls of it. */
  | {
      readonly _tag: "RingSmears"
      readonly ring: number
      readonly tool: number
      readonly by: "reports" | "disputes"
      readonly times: number
    }
  /** Calls another provider's tool, which asks for input, and cheats with its answers. */
  | {
      readonly _tag: "RingAnswers"
      readonly ring: number
      readonly who: number
      readonly tool: number
      /** How often the tool asks. */
      readonly asks: number
      readonly keyed: boolean
      readonly trick: Trick
    }

  /** Opens so many calls of another provider's tool, which asks for input, at once, and never answers. */
  | {
      readonly _tag: "RingFloods"
      readonly ring: number
      readonly who: number
      readonly tool: number
      readonly times: number
    }

/** Never answers; answers one question twice, later or at once; with other arguments; by another account; or answers. */
export type Trick = "abandons" | "replays" | "races" | "changes" | "steals" | "none"
