import * as fc from 'fast-check'
import { z } from 'zod'
import { defineAgent, defineTool } from '../../src/index.ts'
import { scriptedModel, type ScriptedReply } from '../../src/testing.ts'
import { assert, describe } from '../support/suite.ts'
import { say, serveFrontEnds } from './agUiHarness.ts'

const echo = defineTool({ name: 'echo', description: 'Echoes.', input: z.object({}), run: async () => 'echoed' })
const fails = defineTool({
  name: 'fails',
  description: 'Fails.',
  input: z.object({}),
  run: async () => {
    throw new Error('no')
  },
})
const asks = defineTool({
  name: 'asks',
  description: 'Asks.',
  input: z.object({}),
  needsApproval: true,
  run: async () => 'ok',
})

const callOf = (name: string) => ({ name, input: name === 'worker' ? { task: 'do' } : {} })
const broken: ScriptedReply = {
  parts: [
    { type: 'thinking.delta', text: 'hm' },
    { type: 'text.delta', text: 'half' },
    { type: 'toolCall.delta', callId: 'broken', name: 'echo', text: '{' },
    { type: 'error', error: { kind: 'network', message: 'gone', retryAfterMs: 0 } },
  ],
}

const reply: fc.Arbitrary<ScriptedReply> = fc.oneof(
  fc.constant<ScriptedReply>('some words here'),
  fc.constant<ScriptedReply>({ thinking: 'let me see', text: 'seen' }),
  fc.constant(broken),
  fc.constant<ScriptedReply>({
    toolCalls: [{ name: 'revert_to_state', input: { step: 'n1', category: 'tangent', summary: 'back' } }],
  }),
  fc
    .record({
      text: fc.constantFrom('', 'so'),
      names: fc.array(fc.constantFrom('echo', 'fails', 'asks', 'worker', 'nothing'), { minLength: 1, maxLength: 3 }),
    })
    .map(({ text, names }): ScriptedReply => ({ text, toolCalls: names.map(callOf) })),
)

describe('AG-UI event sequences', (it) => {
  it('are accepted by the official client, whatever the agent does', { timeoutMs: 60_000 }, async () => {
    const journey = fc.record({
      replies: fc.array(reply, { minLength: 1, maxLength: 8 }),
      worker: fc.array(reply, { minLength: 0, maxLength: 4 }),
      answers: fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }),
    })
    let number = 0
    await fc.assert(
      fc.asyncProperty(journey, async ({ replies, worker, answers }) => {
        const undo: (() => unknown)[] = []
        const scope = { cleanup: (call: () => unknown) => void undo.push(call) }
        try {
          const tools = [echo, fails, asks]
          const settings = { tools, braking: { revert: true }, retry: { baseMs: 1 } }
          const child = defineAgent({
            name: 'worker',
            description: 'Works.',
            model: scriptedModel([...worker, 'worked']),
            ...settings,
          })
          const definition = defineAgent({
            name: 'a',
            model: scriptedModel([...replies, 'last']),
            agents: [child],
            ...settings,
          })
          const { agent: dial } = await serveFrontEnds(scope, [definition])
          const agent = dial(`t${(number += 1)}`)
          await say(agent, 'begin')
          for (const approved of answers) {
            if (agent.pendingInterrupts.length === 0) break
            await say(agent, undefined, {
              resume: agent.pendingInterrupts.map(({ id }) => ({
                interruptId: id,
                status: 'resolved',
                payload: { approved },
              })),
            })
          }
          assert.is(agent.messages[0]!.content, 'begin')
        } finally {
          for (const call of undo.toReversed()) await call()
        }
      }),
      { seed: 7, numRuns: 40 },
    )
  })
})
