/**
 * The stripe package's HTTP client, for responses that are valid JSON but not objects: the package would neither settle
 * the request's promise nor catch its own error, and an uncaught error ends the process.
 */
import { Stripe } from "stripe"

export const objectsOnly = (): ReturnType<typeof Stripe.createNodeHttpClient> => {
  const client = Stripe.createNodeHttpClient()
  const makeRequest = client.makeRequest.bind(client)
  client.makeRequest = async (...request) => {
    const response = await makeRequest(...request)
    const toJSON = response.toJSON.bind(response)
    response.toJSON = async () => {
      const answer: unknown = await toJSON()
      if (typeof answer !== "object" || answer === null) throw new TypeError("Expected an object")
      return answer
    }
    return response
  }
  return client
}
