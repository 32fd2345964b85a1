import { ClientFactory, type Client } from '@a2a-js/sdk/client'
import type { StreamResponse, Task } from '@a2a-js/sdk'
import { z } from 'zod'
import type { AgentDefinition } from '../../../src/actors/define/agentDefinition.ts'
import { defineAgent } from '../../define/src/defineAgent.ts'
import { policyModel } from '../../models/src/policyModel.ts'
import { defineTool } from '../../../src/actors/tools/defineTool.ts'
import { textOf } from '../../../src/protocol/messages.ts'
import { messageOf, textIn, textPart } from '../src/messages.ts'

/** Pays bills, which people approve; told to ask, it asks for a colour; told to wait, it does so until it is let go on. */
export function clerkWith(paid: string[] = [], gate: Promise<void> = new Promise(() => {})): AgentDefinition {
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    input: z.object({ sum: z.number() }),
    needsApproval: true,
    output: z.object({ paid: z.number() }),
    toModel: ({ paid: sum }) => `paid ${sum}`,
    run: ({ sum }, { key }) => {
      paid.push(key)
      return { paid: sum }
    },
  })
  const ask = defineTool({
    name: 'ask',
    description: 'Asks for a colour.',
    input: z.object({}),
    run: async (_, context) => `It is ${await context.ask(z.enum(['red', 'green']), 'Which colour?')}.`,
  })
  const wait = defineTool({
    name: 'wait',
    description: 'Waits.',
    input: z.object({}),
    effects: 'idempotent',
    run: () => gate.then(() => 'waited'),
  })
  return defineAgent({
    name: 'clerk',
    description: 'Pays bills.',
    tools: [pay, ask, wait],
    retry: { attempts: 1 },
    model: policyModel(({ messages }) => {
      const last = messages.at(-1)!
      if (last.role === 'toolResult') return `Done: ${textOf(last.content)}`
      const said = textOf(last.content)
      if (said.includes('fail')) throw new Error('The model broke.')
      const name = ['pay', 'ask', 'wait'].find((each) => said.includes(each))
      return name === undefined
        ? `You said: ${said}`
        : { toolCalls: [{ name, input: name === 'pay' ? { sum: 5 } : {} }] }
    }),
  })
}

export const clientOf = (url: string): Promise<Client> => new ClientFactory().createFromUrl(`${url}/`)

let sent = 0

/** A message as the SDK's client sends it. */
export function say(
  text: string,
  place: { readonly taskId?: string; readonly contextId?: string; readonly messageId?: string } = {},
) {
  sent += 1
  const message = messageOf('user', [textPart(text)], { messageId: `m${sent}`, taskId: '', contextId: '', ...place })
  return { tenant: '', message, configuration: undefined, metadata: undefined }
}

export const statusText = ({ status }: Pick<Task, 'status'>): string => textIn(status?.message?.parts ?? [])

/** The kinds of a stream's events, with the states they tell. */
export async function heard(
  events: AsyncGenerator<StreamResponse, void, undefined>,
): Promise<{ kinds: string[]; task: Task }> {
  const kinds: string[] = []
  let task: Task | undefined
  for await (const { payload } of events) {
    if (payload?.$case === 'task') task = payload.value
    const state =
      payload?.$case === 'task' || payload?.$case === 'statusUpdate' ? `:${payload.value.status?.state}` : ''
    kinds.push(`${payload?.$case}${state}`)
  }
  return { kinds, task: task! }
}
