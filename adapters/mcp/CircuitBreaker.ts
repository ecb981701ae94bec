/**
 * Stops calls to an endpoint that keeps failing. Plain state without a fiber: it costs nanoseconds on the hot path,
 * where effect/persistence's breaker costs microseconds (see test/bench/upstream.ts).
 */
import type { McpUpstreamOptions } from "./McpUpstreamOptions.ts"

type CircuitOptions = Pick<McpUpstreamOptions, "circuitFailures" | "circuitOpenMs" | "circuitOpenMsMax">

export class CircuitBreaker {
  private readonly options: CircuitOptions
  private state: "closed" | "open" | "probing" = "closed"
  private failuresInARow = 0
  private openings = 0
  private openUntilMs = 0

  constructor(options: CircuitOptions) {
    this.options = options
  }

  /** Milliseconds until a call may pass; 0 lets this one pass. After an opening, one call at a time is the probe. */
  waitMs(nowMs: number): number {
    if (this.state === "closed") return 0
    if (nowMs < this.openUntilMs) return this.openUntilMs - nowMs
    // A probe without a result, because its caller left, blocks the circuit for at most one opening.
    this.state = "probing"
    this.openUntilMs = nowMs + this.options.circuitOpenMs
    return 0
  }

  /** As `waitMs`, for a request that is not a probe. */
  leftMs(nowMs: number): number {
    return this.state === "closed" ? 0 : Math.max(0, this.openUntilMs - nowMs)
  }

  succeeded(): void {
    this.state = "closed"
    this.failuresInARow = 0
    this.openings = 0
  }

  failed(nowMs: number): void {
    // Calls that were in flight when the circuit opened do not count.
    if (this.state === "open") return
    this.failuresInARow++
    if (this.state === "closed" && this.failuresInARow < this.options.circuitFailures) return
    this.state = "open"
    this.openUntilMs = nowMs + Math.min(this.options.circuitOpenMs * 2 ** this.openings, this.options.circuitOpenMsMax)
    this.openings++
  }
}
