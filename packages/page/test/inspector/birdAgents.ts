import { defineAgent } from '../../../define/src/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'

const fetcher = defineAgent({
  name: 'fetcher',
  description: 'Fetches.',
  model: policyModel(() => 'The heron stood there.'),
})
const researcher = defineAgent({
  name: 'researcher',
  description: 'Looks things up.',
  model: policyModel(({ messages }) =>
    messages.at(-1)?.role === 'toolResult'
      ? 'Nothing.'
      : { toolCalls: [{ name: 'fetcher', input: { task: 'birds' } }] },
  ),
  agents: [fetcher],
})
/** Its grandchild alone says a word that nobody above it repeats. */
export const lead = defineAgent({
  name: 'lead',
  model: policyModel(({ messages }) =>
    messages.at(-1)?.role === 'toolResult' ? 'Done.' : { toolCalls: [{ name: 'researcher', input: { task: 'look' } }] },
  ),
  agents: [researcher],
})
