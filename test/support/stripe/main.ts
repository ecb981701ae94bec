/**
 * `npm run stripe-double`: the double alone, to try payments. Start the service beside it with PAYMENTS=stripe
 * STRIPE_API_BASE=http://127.0.0.1:12111 STRIPE_SECRET_KEY=sk_test_double STRIPE_WEBHOOK_SECRET=whsec_double
 */
import { StripeDouble } from "../../../testing/stripe/StripeDouble.ts"

const double = await StripeDouble.start({
  secretKey: process.env["STRIPE_SECRET_KEY"] ?? "sk_test_double",
  webhookSecret: process.env["STRIPE_WEBHOOK_SECRET"] ?? "whsec_double",
  ...(process.env["WEBHOOK_URL"] === undefined ? {} : { webhookUrl: process.env["WEBHOOK_URL"] }),
  port: Number(process.env["STRIPE_DOUBLE_PORT"] ?? 12_111),
  ...(process.env["STATE_FILE"] === undefined ? {} : { stateFile: process.env["STATE_FILE"] })
}).catch((error: Error) => {
  process.stderr.write(`The double cannot start: ${error.message}. STRIPE_DOUBLE_PORT sets another port.\n`)
  process.exit(1)
})
double.webhooks.followReturns = process.env["WEBHOOK_URL"] === undefined
double.webhooks.say = (line) => void process.stdout.write(`${line}\n`)
process.stdout.write(`A double of Stripe at ${double.url}. No money moves here.\n`)
