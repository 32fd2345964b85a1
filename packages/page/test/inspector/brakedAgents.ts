import { z } from 'zod'
import type { AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import { defineAgent } from '../../../define/src/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { defineTool } from '../../../../src/actors/tools/defineTool.ts'
import { textOf } from '../../../../src/protocol/messages.ts'
import { deploy } from './deployTool.ts'

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  input: z.object({ at: z.number() }),
  effects: 'none',
  run: ({ at }) => `Nothing at ${at}.`,
})

/** Looks in vain, takes that back, leaves a note, and then asks for what nobody may do alone. */
const worker = defineAgent({
  name: 'worker',
  description: 'Works.',
  tools: [look, deploy],
  braking: { revert: true, prune: true },
  model: policyModel(({ messages }) => {
    const place = /to (\w+)/.exec(textOf(messages[0]!.content))?.[1] ?? ''
    const all = JSON.stringify(messages)
    if (all.includes('It is in')) return `${place} is done.`
    if (all.includes('brake-note')) return { toolCalls: [{ name: 'deploy', input: { to: place } }] }
    const looked = messages.filter(({ role }) => role === 'toolResult').length
    if (looked < 3) return { toolCalls: [{ name: 'look', input: { at: looked } }] }
    const input = { category: 'failure', step: 'n1', summary: 'There is nothing to be seen.' }
    return { toolCalls: [{ name: 'revert_to_state', input }] }
  }),
})

const boss = defineAgent({
  name: 'boss',
  description: 'Leads.',
  agents: [worker],
  braking: { revert: true },
  model: policyModel(({ messages }) =>
    messages.at(-1)!.role === 'toolResult'
      ? 'All is done.'
      : { toolCalls: ['north', 'south'].map((to) => ({ name: 'worker', input: { task: `Deploy to ${to}` } })) },
  ),
})

/** One that leads, and the one it calls twice at once. */
export const brakedAgents: readonly AgentDefinition[] = [boss, worker]
