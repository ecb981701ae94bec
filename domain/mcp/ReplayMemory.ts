/**
 * The streams of a node, and how much memory their events take. Beyond a limit the oldest streams are forgotten: they cannot
 * be resumed any more, but still reach a client that is connected.
 */
import type { ConsumerId } from "../shared/Ids.ts"
import type { ServerStream } from "./ServerStream.ts"

export const REPLAY_CHARS_PER_ACCOUNT_MAX = 16 * 1_048_576
export const REPLAY_CHARS_PER_NODE_MAX = 128 * 1_048_576

interface Account {
  readonly streams: Set<ServerStream>
  chars: number
}

export class ReplayMemory {
  /** Oldest first. */
  private readonly streams = new Map<string, ServerStream>()
  private readonly accounts = new Map<ConsumerId, Account>()
  private chars = 0

  find(streamId: string): ServerStream | undefined {
    return this.streams.get(streamId)
  }

  add(stream: ServerStream): void {
    const { consumerId, streamId } = stream.request
    this.streams.set(streamId, stream)
    const account = this.accounts.get(consumerId) ?? { streams: new Set<ServerStream>(), chars: 0 }
    this.accounts.set(consumerId, account)
    account.streams.add(stream)
  }

  grew(stream: ServerStream, chars: number): void {
    const account = this.accounts.get(stream.request.consumerId)
    if (account === undefined || !account.streams.has(stream)) return stream.buffer.clear()
    account.chars += chars
    this.chars += chars
    for (const oldest of account.streams) {
      if (account.chars <= REPLAY_CHARS_PER_ACCOUNT_MAX) break
      this.remove(oldest)
    }
    for (const oldest of this.streams.values()) {
      if (this.chars <= REPLAY_CHARS_PER_NODE_MAX) break
      this.remove(oldest)
    }
  }

  remove(stream: ServerStream): void {
    const { consumerId, streamId } = stream.request
    const account = this.accounts.get(consumerId)
    if (account === undefined || !account.streams.delete(stream)) return
    this.streams.delete(streamId)
    account.chars -= stream.buffer.chars
    this.chars -= stream.buffer.chars
    stream.buffer.clear()
    if (account.streams.size === 0) this.accounts.delete(consumerId)
  }
}
