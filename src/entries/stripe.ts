/**
 * `agent-tool-billing/stripe`: the `PaymentGateway` of Stripe. Needs the package `stripe`.
 */
export { layer as stripeGateway } from "../../adapters/payments/StripeGateway.ts"
export type { StripeSettings } from "../../adapters/payments/StripeRequests.ts"
