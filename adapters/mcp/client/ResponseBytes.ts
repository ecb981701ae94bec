/**
 * Limits the bytes of large responses in memory, from reading until the settlement of their calls: over all providers,
 * and to half of that for one provider or one consumer. If there is no room, the response is dropped whose provider and
 * consumer hold the most together, so that neither can block the responses of others.
 */
interface Party {
  readonly provider: string
  readonly consumer: string
}

export interface ResponseReader extends Party {
  /** The response is dropped: there is no room for it. */
  drop(): void
}

/** This much of each response is not counted: most are shorter, and cost nothing here. */
export const UNCOUNTED_BYTES = 65_536
/** Limit for a settlement that is never reported. */
const HELD_MS_MAX = 120_000

export class ResponseBytes {
  private readonly bytesMax: number
  /** These responses can still be dropped. */
  private readonly reading = new Map<ResponseReader, number>()
  /** Bytes by provider and by consumer, including responses that wait for their settlement. */
  private readonly parties = new Map<string, number>()
  private total = 0

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax
  }

  /** Tells whether there is room for so many more bytes of this response; others may be dropped for it. */
  take(reader: ResponseReader, bytes: number): boolean {
    const shareMax = this.bytesMax / 2
    if (this.bytesOfConsumer(reader) + bytes > shareMax) return false
    while (this.bytesOfProvider(reader) + bytes > shareMax) {
      const oneOfMany = this.oneOfMany(reader, bytes)
      if (oneOfMany === undefined) return false
      this.end(oneOfMany)
    }
    while (this.total + bytes > this.bytesMax) {
      const heaviest = this.heavierThan(reader)
      if (heaviest === undefined) return false
      this.end(heaviest)
    }
    this.reading.set(reader, (this.reading.get(reader) ?? 0) + bytes)
    this.count(reader, bytes)
    return true
  }

  /** It holds no bytes. */
  give(reader: ResponseReader): void {
    const bytes = this.reading.get(reader)
    if (bytes === undefined) return
    this.reading.delete(reader)
    this.count(reader, -bytes)
  }

  /**
   * The response is read and waits for its settlement; the returned function releases its bytes. Undefined if it has
   * none.
   */
  settling(reader: ResponseReader): (() => void) | undefined {
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

  private end(reader: ResponseReader): void {
    this.give(reader)
    reader.drop()
  }

  private bytesOfProvider({ provider }: Party): number {
    return this.parties.get(`provider ${provider}`) ?? 0
  }

  private bytesOfConsumer({ consumer }: Party): number {
    return this.parties.get(`consumer ${consumer}`) ?? 0
  }

  /**
   * Finds a response of the same provider whose consumer reads several at once and holds much more than the requester.
   * The only response of a consumer is never dropped for this: each would be dropped shortly before its end.
   */
  private oneOfMany(asking: ResponseReader, bytes: number): ResponseReader | undefined {
    const heldMin = 2 * (this.bytesOfConsumer(asking) + bytes)
    const consumers = new Set<string>()
    for (const reader of this.reading.keys()) {
      if (reader.provider !== asking.provider || this.bytesOfConsumer(reader) < heldMin) continue
      if (consumers.has(reader.consumer)) return reader
      consumers.add(reader.consumer)
    }
    return undefined
  }

  private heavierThan(asking: ResponseReader): ResponseReader | undefined {
    const weightOf = (party: Party): number => this.bytesOfProvider(party) + this.bytesOfConsumer(party)
    let found: ResponseReader | undefined
    let most = weightOf(asking)
    for (const reader of this.reading.keys()) {
      if (weightOf(reader) <= most) continue
      most = weightOf(reader)
      found = reader
    }
    return found === asking ? undefined : found
  }
}
