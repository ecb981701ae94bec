/**
 * The bytes of large answers that the process holds, from their reading to the settlement of their calls: bounded over all
 * providers, and to half of that for one provider or one consumer. Where there is no room for more, the answer is given up
 * whose provider and consumer hold the most together, so that neither of them can keep the others' answers out.
 */
interface Party {
  readonly provider: string
  readonly consumer: string
}

export interface AnswerReader extends Party {
  /** Its answer is given up: there is no room for it. */
  giveUp(): void
}

/** Of each answer so much is not counted: most are shorter, and cost nothing here. */
export const UNCOUNTED_BYTES = 65_536
/** For a settlement that is never heard of again. */
const HELD_MS_MAX = 120_000

export class AnswerBytes {
  private readonly bytesMax: number
  /** Of those that can still be given up. */
  private readonly reading = new Map<AnswerReader, number>()
  /** By provider and by consumer, with what waits for its settlement. */
  private readonly parties = new Map<string, number>()
  private total = 0

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax
  }

  /** Whether there is room for so many more of this answer; others may be given up for it. */
  take(reader: AnswerReader, bytes: number): boolean {
    if (this.largestShareOf(reader) + bytes > this.bytesMax / 2) return false
    while (this.total + bytes > this.bytesMax) {
      const heaviest = this.heavierThan(reader)
      if (heaviest === undefined) return false
      this.give(heaviest)
      heaviest.giveUp()
    }
    this.reading.set(reader, (this.reading.get(reader) ?? 0) + bytes)
    this.count(reader, bytes)
    return true
  }

  /** It holds nothing any more. */
  give(reader: AnswerReader): void {
    const bytes = this.reading.get(reader)
    if (bytes === undefined) return
    this.reading.delete(reader)
    this.count(reader, -bytes)
  }

  /** The answer is read and waits for its settlement; what is returned gives its bytes back. Undefined if it has none. */
  settling(reader: AnswerReader): (() => void) | undefined {
    const bytes = this.reading.get(reader)
    if (bytes === undefined) return undefined
    const { consumer, provider } = reader
    this.reading.delete(reader)
    let isBack = false
    const back = () => {
      if (isBack) return
      isBack = true
      clearTimeout(timer)
      this.count({ consumer, provider }, -bytes)
    }
    const timer = setTimeout(back, HELD_MS_MAX).unref()
    return back
  }

  get bytes(): number {
    return this.total
  }

  private count({ consumer, provider }: Party, bytes: number): void {
    this.total += bytes
    for (const key of [`provider ${provider}`, `consumer ${consumer}`]) {
      const sum = (this.parties.get(key) ?? 0) + bytes
      if (sum === 0) this.parties.delete(key)
      else this.parties.set(key, sum)
    }
  }

  private weightsOf({ consumer, provider }: Party): readonly [number, number] {
    return [this.parties.get(`provider ${provider}`) ?? 0, this.parties.get(`consumer ${consumer}`) ?? 0]
  }

  private largestShareOf(party: Party): number {
    return Math.max(...this.weightsOf(party))
  }

  private heavierThan(asking: AnswerReader): AnswerReader | undefined {
    const weightOf = (party: Party): number => this.weightsOf(party).reduce((sum, one) => sum + one, 0)
    let found: AnswerReader | undefined
    let most = weightOf(asking)
    for (const reader of this.reading.keys()) {
      if (weightOf(reader) <= most) continue
      most = weightOf(reader)
      found = reader
    }
    return found === asking ? undefined : found
  }
}
