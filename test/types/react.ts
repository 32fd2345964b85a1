import { z } from 'zod'
import type { RemoteAgentOf } from '../../src/client.ts'
import { type AgentEvent, defineAgent, defineTool, policyModel } from '../../src/index.ts'
import { useAgent, useApprovals, useConversation, useRun, type ChatMessage, type ChatPending } from '../../src/react.ts'
import { type Equal, expectType } from './typeEquality.ts'

const add = defineTool({ name: 'add', description: 'Add.', input: z.object({ a: z.number() }), run: ({ a }) => a })
const output = z.object({ sum: z.number(), parts: z.array(z.number()) })
const adder = defineAgent({ name: 'adder', model: policyModel(() => '{}'), tools: [add], output })

export async function Adder(): Promise<void> {
  const { agent, prompt, resume, status } = useAgent<typeof adder>('a1', { spawn: 'adder', metadata: { user: 'ann' } })
  expectType<Equal<typeof agent, RemoteAgentOf<typeof adder>>>()
  expectType<Equal<typeof status, 'loading' | 'idle' | 'running' | 'paused' | 'stopped' | 'failed'>>()
  const result = await prompt('1 + 1').result
  if (result.stopReason === 'stop') expectType<Equal<typeof result.output, { sum: number; parts: number[] }>>()
  for await (const event of resume())
    if (event.type === 'tool.start' && event.name === 'add') expectType<Equal<typeof event.input, { a: number }>>()

  const run = useRun<typeof adder>('a1')
  if (run?.status === 'running')
    expectType<
      Equal<
        typeof run.progress,
        readonly { readonly callId: string; readonly name: string; readonly progress: unknown }[]
      >
    >()
  expectType<Equal<NonNullable<typeof run>['output'] extends { sum?: number } | undefined ? true : false, true>>()
  const ended = run?.result
  if (ended?.stopReason === 'stop') expectType<Equal<typeof ended.output, { sum: number; parts: number[] }>>()
  // @ts-expect-error it has no such member
  void run?.output?.product

  const any = await useAgent('a1').prompt('Hello').result
  if (any.stopReason === 'stop') expectType<Equal<typeof any.output, unknown>>()
  useAgent('a1').agent.subscribe((event) => expectType<Equal<typeof event, AgentEvent>>())

  const messages = useConversation('a1')
  expectType<Equal<typeof messages, readonly ChatMessage[]>>()
  const { pending } = useApprovals('a1')
  expectType<Equal<typeof pending, readonly ChatPending[]>>()
  for (const one of pending) if (one.kind === 'question') expectType<Equal<typeof one.question, string>>()
  // @ts-expect-error an agent has an id
  useAgent()
}
