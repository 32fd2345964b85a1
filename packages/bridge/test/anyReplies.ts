import * as fc from 'fast-check'
import { z } from 'zod'
import { defineTool } from '../../../src/index.ts'
import type { ScriptedReply } from '../../../src/testing.ts'

/** Tools of the agents that protocols are tried with: one that answers, one that fails, one that asks first. */
export const [echo, fails, asks] = [
  defineTool({ name: 'echo', description: 'Echoes.', input: z.object({}), run: async () => ({ echo: ['echoed'] }) }),
  defineTool({
    name: 'fails',
    description: 'Fails.',
    input: z.object({}),
    run: async () => {
      throw new Error('no')
    },
  }),
  defineTool({
    name: 'asks',
    description: 'Asks.',
    input: z.object({}),
    needsApproval: true,
    run: async () => 'ok',
  }),
]

const callOf = (name: string) => ({ name, input: name === 'worker' ? { task: 'do' } : {} })

/** A reply, some of its words perhaps, that calls one to three of these. */
export const calling = (names: readonly string[]): fc.Arbitrary<ScriptedReply> =>
  fc
    .record({
      text: fc.constantFrom('', 'so'),
      called: fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 3 }),
    })
    .map(({ text, called }): ScriptedReply => ({ text, toolCalls: called.map(callOf) }))

/** One that breaks off in the middle of a call. */
const broken: ScriptedReply = {
  parts: [
    { type: 'thinking.delta', text: 'hm' },
    { type: 'text.delta', text: 'half' },
    { type: 'toolCall.delta', callId: 'broken', name: 'echo', text: '{' },
    { type: 'error', error: { kind: 'network', message: 'gone', retryAfterMs: 0 } },
  ],
}

/** Replies without the calls of a test: words, thoughts, one that breaks off, one that goes back. */
export const plainReplies: readonly fc.Arbitrary<ScriptedReply>[] = [
  fc.constant('some words here'),
  fc.constant({ thinking: 'let me see', text: 'seen' }),
  fc.constant(broken),
  fc.constant({
    toolCalls: [{ name: 'revert_to_state', input: { step: 'n1', category: 'tangent', summary: 'back' } }],
  }),
]
