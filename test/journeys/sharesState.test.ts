import { z } from 'zod'
import { textOf } from '../../src/protocol/messages.ts'
import type { ModelRequest } from '../../src/protocol/ports/model.ts'
import { calls, resultsOf, startAgent, tool } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

const schema = z.object({ title: z.string(), items: z.array(z.string()) })
const initial = { title: 'empty', items: [] }

/** Texts of people and notes in a request. */
const saidIn = ({ messages }: ModelRequest): string[] =>
  messages.flatMap(({ role, content }) => (role === 'user' ? content.map((block) => textOf([block])) : []))
const notesIn = (request: ModelRequest): string[] =>
  saidIn(request)
    .filter((text) => text.startsWith('(The state'))
    .map((text) => text.slice(text.indexOf(')') + 2))

describe('a model that may read the state', (it) => {
  it('sees it after what people say, and again only when it has changed', async (context) => {
    const { agent, script, records } = await startAgent(context, {
      state: { schema, initial, model: 'read' },
      tools: [tool('look', () => 'seen')],
      replies: [calls('c', 'look'), 'one', 'two', 'three'],
    })
    await agent.prompt('first').result
    await agent.prompt('second').result
    await agent.updateState((draft) => ({ ...(draft as z.output<typeof schema>), title: 'named' }))
    await agent.prompt('third').result
    const [first, looked, second, third] = script.requests
    assert.equal(notesIn(first!), ['{"title":"empty","items":[]}'])
    assert.equal(saidIn(first!)[0], 'first')
    assert.equal(notesIn(looked!), notesIn(first!), 'not after results')
    assert.equal(notesIn(second!), notesIn(first!), 'it has seen that')
    assert.equal(notesIn(third!), ['{"title":"empty","items":[]}', '{"title":"named","items":[]}'])
    for (const { system, tools } of script.requests) {
      assert.not.match(system, /state/)
      assert.equal(
        tools.map(({ name }) => name),
        ['look'],
      )
    }
    const notes = (await records()).filter((record) => record.type === 'message.added' && record.message.provenance)
    assert.is(notes.length, 2, 'the log has what the model sees')
  })

  it('sees an outline of a long one', async (context) => {
    const items = Array.from({ length: 400 }, (_, index) => `item ${index}`)
    const { agent, script } = await startAgent(context, {
      state: { schema, initial: { title: 'x'.repeat(300), items }, model: 'read' },
      replies: ['one'],
    })
    await agent.prompt('first').result
    const [note] = notesIn(script.requests[0]!)
    assert.ok(note!.length < 4_000)
    assert.match(note!, /^\/title: a text of 302 characters\n\/items\/0: "item 0"\n/)
    assert.match(note!, /\/items: 350 more of 400 elements$/)
  })
})

describe('a model that may change the state', (it) => {
  it('does so with a tool, and reads what is wrong', async (context) => {
    const op = (name: string, path: string, value?: unknown) => ({
      op: name,
      path,
      ...(value === undefined ? {} : { value }),
    })
    const { agent, script, ofType } = await startAgent(context, {
      state: { schema, initial, model: 'write' },
      replies: [
        calls(
          'c',
          ['update_state', { ops: [op('add', '/items/-', 'one'), op('replace', '/title', 'named')] }],
          ['update_state', { ops: [op('replace', '/title', 'x'), op('remove', '/gone')] }],
          ['update_state', { ops: [op('replace', '/title', 7)] }],
        ),
        'done',
      ],
    })
    await agent.prompt('go').result
    assert.equal(agent.appState, { title: 'named', items: ['one'] })
    const [done, gone, wrong] = resultsOf(script.requests[1])
    assert.is(done, 'The state is changed.')
    assert.match(gone!, /The state is unchanged: there is no "\/gone"/)
    assert.match(wrong!, /title: give a string, not a number/)
    assert.equal(
      ofType('state.patched').map(({ by, callId }) => [by, callId]),
      [['model', 'c0']],
    )
    assert.match(script.requests[0]!.tools[0]!.description, /JSON Schema: \{"type":"object","properties":\{"title"/)
  })

  it('has not a byte of it in its requests without the option', async (context) => {
    const [plain, silent] = await Promise.all(
      [{}, { state: { schema, initial } }].map(async (more) => {
        const { agent, script } = await startAgent(context, {
          tools: [
            tool('look', (_, call) => {
              if ('state' in more) call.state.set({ title: 'x', items: [] })
              return 'seen'
            }),
          ],
          replies: [calls('c', 'look'), 'one', 'two'],
          ...more,
        })
        await agent.prompt('go').result
        await agent.prompt('more').result
        return JSON.stringify(script.requests)
      }),
    )
    assert.is(silent, plain)
  })
})
