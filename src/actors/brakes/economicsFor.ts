import { economicsOf, type Sizes } from '../../conversation/limits/economics.ts'
import { isUncached } from '../../conversation/limits/tokenCounter.ts'
import type { Economics } from '../../protocol/economics.ts'
import type { Usage } from '../../protocol/messages.ts'
import type { AgentPorts } from '../agentPorts.ts'
import { requestTokens } from '../turn/estimates.ts'

/**
 * Returns the costs and savings of reshaping the trunk, at the agent's prices and with the measured cache. `used`: usage of the model calls for it.
 */
export function economicsFor(ports: AgentPorts, { before, after, unchanged }: Sizes, used?: Usage): Economics {
  const { measured } = ports.conversation
  return economicsOf({
    before: requestTokens(ports, before),
    after: requestTokens(ports, after),
    unchanged: requestTokens(ports, unchanged),
    used,
    prices: ports.frame.pricing,
    cachedShare: measured.cachedShare,
    isFree: isUncached(measured),
  })
}
