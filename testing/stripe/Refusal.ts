/**
 * An error in Stripe's own form: the package takes a 404 without an `error` body for success.
 */
export class StripeRefusal extends Error {
  readonly status: number
  readonly type: string
  readonly code: string | undefined

  constructor(status: number, type: string, message: string, code?: string) {
    super(message)
    this.status = status
    this.type = type
    this.code = code
  }

  get body(): string {
    const { code, message, type } = this
    return JSON.stringify({ error: { type, message, ...(code === undefined ? {} : { code }) } })
  }
}
