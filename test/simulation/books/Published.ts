/**
 * A published figure of a tool: price, maximum, or whether it charges for attempts. Returns the highest value that may apply
 * at a time: increases apply after the notice, decreases immediately. Does not read the service.
 */
export interface Change {
  readonly value: number
  readonly sentAtMs: number
  readonly fromMs: number
  untilMs: number
  /** When its response arrived; undefined while it is unknown whether it was executed. */
  answeredAtMs: number | undefined
}

export class Published {
  private readonly changes: Array<Change>
  private readonly noticeMs: number

  constructor(value: number, atMs: number, noticeMs: number) {
    this.noticeMs = noticeMs
    this.changes = [{ value, sentAtMs: atMs, fromMs: 0, untilMs: Infinity, answeredAtMs: atMs }]
  }

  /** Nodes may go by an older figure for a while. */
  mostAt(atMs: number, graceMs = KNOWN_EVERYWHERE_AFTER_MS): number {
    return this.changes.reduce(
      (most, { fromMs, untilMs, value }) => (fromMs <= atMs && atMs < untilMs + graceMs && value > most ? value : most),
      0
    )
  }

  /** Of all that was ever published. */
  most(): number {
    return Math.max(...this.changes.map(({ value }) => value))
  }

  /** Sent to the service, which may or may not carry it out. */
  send(value: number, atMs: number): Change {
    const isIncrease = value > this.mostAt(atMs, 0)
    const fromMs = isIncrease ? atMs + this.noticeMs : atMs
    const change: Change = { value, sentAtMs: atMs, fromMs, untilMs: Infinity, answeredAtMs: undefined }
    this.changes.push(change)
    return change
  }

  /** Carried out: it replaces what was published before, also what was only announced. */
  confirm(change: Change, atMs: number): void {
    change.answeredAtMs = atMs
    for (const other of this.changes) {
      const isBefore = other !== change && other.answeredAtMs !== undefined && other.answeredAtMs <= change.sentAtMs
      const isReplaced = isBefore && (other.value > change.value || other.fromMs > atMs)
      if (isReplaced) other.untilMs = Math.min(other.untilMs, atMs)
    }
  }
}

const KNOWN_EVERYWHERE_AFTER_MS = 10 * 60_000
