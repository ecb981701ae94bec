/**
 * The price of a tool of the simulation.
 */
export interface ToolTerms {
  readonly price: number
  readonly freeCalls: number
  readonly policy: "success" | "attempt"
  /** In percent of the price. */
  readonly most?: number
  /** In microcents: of a tool whose price is 0, say. */
  readonly maximum?: number
}
