import type { AgentPolicy } from '../../machines/agentPolicy.ts'
import { lazily } from '../../protocol/lazily.ts'
import type { SubAgentSettings } from './agentDefinition.ts'
import { irreversibleNames } from './toolNames.ts'
import { continuing, reporting } from './subAgents.ts'
import type { AnyTool } from '../tools/defineTool.ts'

/** The policy of an agent whose sub-agents may not all be defined yet: what depends on them is made when first asked for. */
export function lazyAgents(
  called: () => ReadonlyMap<string, SubAgentSettings>,
  tools: ReadonlyMap<string, AnyTool>,
  policy: Omit<AgentPolicy, 'agents' | 'reports' | 'continuable' | 'irreversible'>,
): AgentPolicy {
  const names = lazily(() => [...called().keys()])
  const reports = lazily(() => reporting(called()))
  const continuable = lazily(() => continuing(called()))
  const irreversible = lazily(() => irreversibleNames(tools, called()))
  return {
    ...policy,
    get agents() {
      return names()
    },
    get reports() {
      return reports()
    },
    get continuable() {
      return continuable()
    },
    get irreversible() {
      return irreversible()
    },
  }
}
