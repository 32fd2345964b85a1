import { z } from 'zod'
import type { Client, RemoteAgent, RemoteAgentOf } from '../../src/client.ts'
import { type AgentEvent, defineAgent, defineTool, policyModel } from '../../src/index.ts'
import { type Equal, expectType } from './typeEquality.ts'

const add = defineTool({ name: 'add', description: 'Add.', input: z.object({ a: z.number() }), run: ({ a }) => a })
const output = z.object({ sum: z.number() })
const adder = defineAgent({ name: 'adder', model: policyModel(() => '{}'), tools: [add], output })
const plain = defineAgent({ name: 'plain', model: policyModel(() => 'hello') })

export async function drive(client: Client): Promise<void> {
  const agent = client.agent<typeof adder>('a1')
  expectType<Equal<typeof agent, RemoteAgentOf<typeof adder>>>()
  const result = await agent.prompt('1 + 1').result
  if (result.stopReason === 'stop') expectType<Equal<typeof result.output, { sum: number }>>()
  agent.subscribe((event) => {
    if (event.type === 'tool.start' && event.name === 'add') expectType<Equal<typeof event.input, { a: number }>>()
  })
  // Sub-agents have other tools.
  agent.subscribe((event) => expectType<Equal<typeof event, AgentEvent>>(), { descendants: true })
  for await (const event of agent.prompt('2 + 2'))
    if (event.type === 'tool.end' && event.name === 'add') expectType<Equal<typeof event.name, 'add'>>()

  const spawned = await client.spawn<typeof plain>('plain')
  const said = await spawned.prompt('hello').result
  if (said.stopReason === 'stop') expectType<Equal<typeof said.output, undefined>>()

  const read = client.agent('a1', { output })
  expectType<Equal<typeof read, RemoteAgent<{ sum: number }>>>()
  client.agent<typeof adder>('a1', { output })
  // @ts-expect-error it answers something else
  client.agent<typeof adder>('a1', { output: z.object({ product: z.number() }) })
  const unknown = await client.agent('a1').prompt('hello').result
  if (unknown.stopReason === 'stop') expectType<Equal<typeof unknown.output, unknown>>()
}
