import type { AgentDefinition } from '../../../src/actors/define/agentDefinition.ts'
import { defineAgent } from '../../define/src/defineAgent.ts'
import { policyModel } from '../../models/src/policyModel.ts'
import { openApiTools } from '../src/openApiTools.ts'
import { textOf } from '../../../src/protocol/messages.ts'
import { documentOf } from './service.ts'

/** An agent that calls a service once, by this method, and says what came of it. */
export async function caller(url: string, method: string): Promise<AgentDefinition> {
  const service = await openApiTools(documentOf(url, { '/thing': { [method]: { operationId: 'call' } } }), {
    approve: 'none',
  })
  return defineAgent({
    name: 'caller',
    tools: [service],
    model: policyModel(({ messages }) => {
      const last = messages.at(-1)!
      return last.role === 'user' ? { toolCalls: [{ name: 'call', input: {} }] } : textOf(last.content)
    }),
  })
}
