import { z } from 'zod'
import { defineTool } from '../../src/actors/tools/defineTool.ts'
import { startAgent } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'
import { useWire, wireFamilies } from '../support/wireServer/useWire.ts'
import type { WireBlock, WireFamily, WireReply } from '../support/wireServer/wireFamily.ts'
import type { WireRequest } from '../support/wireServer/wireServer.ts'
import { wireFaults } from '../support/wireRules.ts'

const call = (id: string, name: string, input: object): WireBlock => ({
  call: id,
  name,
  input: [JSON.stringify(input)],
})
const back = (id: string, step: string, category = 'failure'): WireBlock =>
  call(id, 'revert_to_state', { category, step, summary: `what ${id} taught` })

/** Replies of the model, request by request; each is sent only if the request that asks for it keeps the format's rules. */
const session = (family: WireFamily): WireReply[] => {
  const { stop, toolUse } = family.stops
  const step = (...blocks: WireBlock[]): WireReply => ({ blocks, stop: toolUse })
  const say = (text: string): WireReply => ({ blocks: [{ text: [text] }], stop })
  const looks = (id: string): WireReply =>
    step(
      { text: ['let me look'] },
      call(`${id}0`, 'look', { at: 1 }),
      call(`${id}1`, 'look', { at: 2 }),
      call(`${id}2`, 'fail', {}),
    )
  return [
    looks('a'), // n2…n5
    looks('b'), // n6…n9
    step(back('c0', 'n5')),
    looks('d'),
    step(back('e0', 'n5'), call('e1', 'look', {}), back('e2', 'n1')),
    looks('f'),
    step(back('g0', 'n5')), // the third time: refused
    step(back('h0', 'n999'), back('h1', 'x')),
    say('half way'),
    looks('i'),
    step(back('j0', 'n1')), // a user message is in between: refused
    step(call('k0', 'prun', { steps: ['n2'], memo: 'looked around' }), call('k1', 'look', {})),
    looks('l'),
    step(call('m0', 'prun', { tokens: 40 })),
    step(call('n0', 'prun', { steps: ['n1', 'zzz'] })),
    say('nearly'),
    looks('o'),
    step(call('p0', 'revert_to_state', { category: 'NOPE', step: 5 })),
    looks('q'),
    looks('r'),
    step({ text: ['enough'] }, back('s0', 'n14', 'completion')),
    say('almost'),
    looks('t'),
    say('done'),
  ]
}

for (const family of wireFamilies) {
  describe(`a long braked session over ${family.name}`, (it) => {
    it('sends nothing the wire format does not allow', { timeoutMs: 10_000 }, async (context) => {
      const replies = session(family)
      const faults: string[] = []
      const { server, model } = await useWire(
        context,
        family,
        replies.map((reply, at) => (exchange) => {
          const wrong = wireFaults(family.name, exchange.request)
          faults.push(...wrong.map((fault) => `request ${at + 1}: ${fault}`))
          if (wrong.length > 0) return exchange.answer(400, family.error('invalid_request_error', wrong.join('; ')))
          exchange.send(...family.open(reply), ...family.finish(reply))
          exchange.end()
        }),
      )
      const { agent, ofType } = await startAgent(context, {
        model,
        instructions: 'be brief',
        braking: { revert: true, prune: true },
        checkRequests: true,
        tools: [
          defineTool({
            name: 'look',
            description: 'Looks.',
            input: z.looseObject({}),
            run: () => 'saw [n3] and\n[n4] <brake-note>',
          }),
          defineTool({
            name: 'fail',
            description: 'Fails.',
            input: z.object({}),
            run: () => {
              throw new Error('no')
            },
          }),
        ],
      })
      for (const said of ['go', 'on', 'further', 'last']) {
        const { stopReason, error } = await agent.prompt(said).result
        assert.equal([stopReason, error, faults], ['stop', undefined, []])
      }
      assert.is(server.requests.length, replies.length)
      assert.ok(replies.length >= 20)
      assert.ok(ofType('revert.applied').filter(({ applied }) => applied).length >= 2)
      assert.ok(ofType('revert.applied').filter(({ applied }) => !applied).length >= 4)
      assert.ok(ofType('prune.applied').some(({ applied }) => applied))
      assert.ok(server.requests.some(({ body }) => JSON.stringify(body).includes('brake-note kind=\\"lesson\\"')))
    })

    it('is judged by rules that see a fault', () => {
      const request = (messages: unknown): WireRequest => ({ path: '', headers: {}, body: { messages } })
      for (const messages of broken[family.name]!)
        assert.ok(wireFaults(family.name, request(messages)).length > 0, JSON.stringify(messages))
    })
  })
}

const user = { role: 'user', content: [{ type: 'text', text: 'hi' }] }
const use = { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'x', input: {} }] }
const toolCalls = {
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'a', type: 'function', function: { name: 'x', arguments: '{}' } }],
}
const result = { type: 'tool_result', tool_use_id: 'a', content: 'r' }

/** Requests each family's provider would refuse. */
const broken: { readonly [family: string]: readonly unknown[] } = {
  anthropic: [
    [],
    [use],
    [user, user],
    [user, use],
    [user, use, user],
    [user, use, { role: 'user', content: [{ type: 'text', text: 'first' }, result] }],
    [user, use, { role: 'user', content: [result, result] }],
    [{ role: 'user', content: [result] }],
    [{ role: 'user', content: [{ type: 'text', text: ' ' }] }],
    [user, { role: 'assistant', content: [{ type: 'text', text: 'hi' }] }],
  ],
  'openai-compatible': [
    [],
    [user, toolCalls],
    [user, toolCalls, user],
    [user, { role: 'tool', tool_call_id: 'a', content: 'r' }],
    [user, toolCalls, { role: 'tool', tool_call_id: 'b', content: 'r' }],
    [
      user,
      toolCalls,
      { role: 'tool', tool_call_id: 'a', content: 'r' },
      { role: 'tool', tool_call_id: 'a', content: 'r' },
    ],
  ],
}
