/**
 * GET of the endpoints that take a POST: their descriptions.
 */
import { AccountsApi } from "../accounts/AccountsApi.ts"
import { CatalogApi } from "../catalog/CatalogApi.ts"
import { describe } from "../contract/SelfDescription.ts"
import { MeteringApi } from "../metering/MeteringApi.ts"
import { route } from "../pipeline/Route.ts"
import { SubmissionsApi } from "../platform/SubmissionsApi.ts"

const { registerConsumer, registerProvider } = AccountsApi.endpoints
const { describeRegisterConsumer, describeRegisterProvider, describeTools, registerTools } = CatalogApi.endpoints
const { describeMeter, meter } = MeteringApi.endpoints
const { apply, describeApply, describeFeedback, describeWaitlist, giveFeedback, joinWaitlist } =
  SubmissionsApi.endpoints

export const selfDescriptionRoutes = [
  route(describeRegisterProvider, () => describe(registerProvider)),
  route(describeRegisterConsumer, () => describe(registerConsumer)),
  route(describeTools, () => describe(registerTools)),
  route(describeMeter, () => describe(meter)),
  route(describeWaitlist, () => describe(joinWaitlist)),
  route(describeFeedback, () => describe(giveFeedback)),
  route(describeApply, () => describe(apply))
]
