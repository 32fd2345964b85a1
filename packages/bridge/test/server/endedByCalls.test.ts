import { z } from 'zod'
import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { defineTool } from '../../../../src/actors/tools/defineTool.ts'
import type { EventOf } from '../../../../src/protocol/events.ts'
import { textOf } from '../../../../src/protocol/messages.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { visibleEvent, visibleNodes, type View } from '../../src/server/visible.ts'
import { Heard, serveAgents, type Serving } from './bridgeHarness.ts'

const secret = 'CANARY'
const [staff, customer] = ['token-of-the-staff-member', 'token-of-the-customer-here']
const schema = z.object({ id: z.string() })

const save = defineTool({
  name: 'save',
  description: 'Saves.',
  input: z.object({}),
  output: schema,
  endsRun: true,
  run: (_, { give }) => {
    give([secret], 'table')
    return { id: `${secret}-7` }
  },
  toModel: () => 'Saved.',
})

const fail = defineTool({
  name: 'fail',
  description: 'Fails.',
  input: z.object({}),
  endsRun: true,
  run: () => {
    throw new Error(secret)
  },
})

const saver = (name: string, more: { readonly output?: typeof schema } = {}) =>
  defineAgent({
    name,
    model: policyModel(({ messages }) => ({
      toolCalls: [{ name: messages.length > 1 ? 'save' : 'fail', input: {} }],
    })),
    tools: [save, fail],
    ...more,
  })

const serve = (context: CaseContext): Promise<Serving> =>
  serveAgents(context, [], { tokens: { [staff]: 'drive', [customer]: 'talk' } })

describe('a run that a call ends, for a client', (it) => {
  for (const name of ['plain', 'typed'])
    it(`has its text, its value and its data where it may see all (${name})`, async (context) => {
      const serving = await serve(context)
      await serving.runtime.spawn(name === 'plain' ? saver(name) : saver(name, { output: schema }), { id: 'a' })
      const agent = serving.connect({ token: staff }).agent('a')
      const run = agent.prompt('go')
      const ended: unknown[] = []
      for await (const event of run) if (event.type === 'tool.end' && event.name === 'save') ended.push(event.data)
      const result = await run.result
      assert.equal([result.stopReason, result.text], ['stop', 'Saved.'])
      assert.equal(result.output, name === 'plain' ? undefined : { id: `${secret}-7` })
      assert.equal(ended, [{ table: [secret], id: `${secret}-7` }])
    })

  for (const name of ['plain', 'typed'])
    it(`has its text as the answer, and no data, where it may see only what is said (${name})`, async (context) => {
      const serving = await serve(context)
      const inside = await serving.runtime.spawn(name === 'plain' ? saver(name) : saver(name, { output: schema }), {
        id: 'a',
      })
      const seen: unknown[] = []
      const client = serving.connect({ token: customer })
      const agent = client.agent('a')
      const run = agent.prompt('go')
      for await (const event of run) seen.push(event)
      const result = await run.result
      assert.equal([result.stopReason, result.text, result.output], ['stop', 'Saved.', undefined])
      assert.not.match(JSON.stringify(seen), secret)
      // Whoever comes later reads the same.
      const late = new Heard()
      context.cleanup(serving.connect({ token: customer }).agent('a').subscribe(late.listen, { fromSeq: 1 }))
      await late.until(({ type }) => type === 'run.end')
      const [answered] = late.events.filter((event) => event.type === 'tool.end' && event.endsRun === true)
      assert.is(textOf((answered as EventOf<'tool.end'>).message.content), 'Saved.')
      assert.not.match(JSON.stringify(late.events), secret)
      assert.match(JSON.stringify(inside.conversation.trunk()), secret)
    })

  it('has the text of its last result in the conversation that it is shown, and not its value', () => {
    const message = {
      role: 'toolResult',
      callId: 'c',
      toolName: 'pay',
      isError: false,
      content: [{ type: 'text', text: secret }],
    }
    const ended = (more: object) => visibleNodes([{ id: 4, message, ...more }] as never, 'messages')
    assert.equal(ended({ ending: { data: secret } }), [{ id: 4, message, tags: [], ending: {} }])
    assert.equal(ended({}), [{ id: 4, message: { ...message, content: [] }, tags: [] }])
    const below = visibleNodes([{ id: 4, message, ending: { data: secret } }] as never, 'names')
    assert.not.match(JSON.stringify(below), secret)
  })

  it('has the words of the result alone, and of one that only could have ended it nothing', () => {
    const shown = (more: object, view: View = 'messages'): unknown => {
      const image = { type: 'image', data: secret, mimeType: 'image/png' }
      const message = { role: 'toolResult', callId: 'c', content: [{ type: 'text', text: 'said' }, image] }
      const event = visibleEvent(
        { type: 'tool.end', message, data: secret, value: secret, answer: true, ...more } as never,
        view,
      )
      assert.not.match(JSON.stringify(event), secret)
      assert.not.match(Object.keys(event!).join(), /data|value|answer/)
      return (event as EventOf<'tool.end'>).message.content
    }
    const said = [{ type: 'text', text: 'said' }]
    assert.equal([shown({ endsRun: true }), shown({ endsRun: true }, 'answering')], [said, said])
    assert.equal([shown({ endsRun: false }), shown({}), shown({ endsRun: true }, 'names')], [[], [], []])
  })
})
