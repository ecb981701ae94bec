/**
 * Secrets that can be recognized: each in the forms in which it may leak.
 */
import { randomBytes } from "node:crypto"

/** Long and random: nothing else looks like it. */
export const aCanary = (): string => randomBytes(24).toString("hex")

export class Canaries {
  private readonly known = new Map<string, string>()

  /** Returns the value, recorded under this name. */
  plant(what: string, value: string): string {
    this.known.set(value, what)
    return value
  }

  get size(): number {
    return this.known.size
  }

  /** The canaries that occur in the text, and in which form. */
  foundIn(text: string): ReadonlyArray<string> {
    return [...this.known].flatMap(([value, what]) =>
      Object.entries(formsOf(value))
        .filter(([, form]) => text.includes(form))
        .map(([name]) => `${what}, ${name}`)
    )
  }
}

const formsOf = (value: string): Readonly<Record<string, string>> => {
  const bytes = Buffer.from(value, "utf8")
  return {
    "as it is": value,
    "its second half": value.slice(value.length >> 1),
    "in base64": bytes.toString("base64").replace(/=+$/u, ""),
    "in base64url": bytes.toString("base64url"),
    "in hex": bytes.toString("hex"),
    "in an address": encodeURIComponent(value)
  }
}
