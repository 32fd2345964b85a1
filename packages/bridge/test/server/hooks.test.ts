import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { scriptedModel } from '../../../evaluation/src/testing/scriptedModel.ts'
import { calls, tool } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { Heard, serveAgents } from './bridgeHarness.ts'

describe('hooks and guards, for a client', (it) => {
  it('show in what is to be approved, in what ran, and in what was refused', async (context) => {
    const ran: unknown[] = []
    const careful = defineAgent({
      name: 'careful',
      model: scriptedModel([calls('c', ['send', { to: 'ann' }], 'hide'), 'It was Ann.', 'unheard']),
      tools: [
        tool(
          'send',
          (input) => {
            ran.push(input)
            return 'sent'
          },
          { needsApproval: true },
        ),
        tool('hide', () => 'hidden'),
      ],
      beforeTool: ({ name }) => (name === 'hide' ? { deny: 'not now' } : { input: { to: 'bob' } }),
      afterTool: () => ({ result: 'done' }),
      guards: {
        input: [({ text }) => (text.includes('password') ? { refuse: 'no passwords' } : { ok: true })],
        output: [
          function noNames({ text }) {
            return text.includes('Ann') ? { refuse: 'no names' } : { ok: true }
          },
        ],
      },
    })
    const serving = await serveAgents(context, [careful])
    const agent = await serving.connect().spawn('careful', { id: 'a1' })
    const heard = new Heard()
    agent.subscribe(heard.listen)
    const run = agent.prompt('go')
    await heard.until(({ type }) => type === 'approval.requested')
    const [request] = heard.events.filter((event) => event.type === 'approval.requested')
    assert.equal([request!.input, request!.beforeTool, request!.edited], [{ to: 'bob' }, true, true])
    await agent.decide(request!.key, 'approve')
    const result = await run.result
    assert.equal(ran, [{ to: 'bob' }])
    const refusal = { at: 'output', guard: 'noNames', reason: 'no names.' }
    assert.equal([result.stopReason, 'refusal' in result && result.refusal], ['refusal', refusal])
    assert.is(result.text, '[This answer was withheld by the application: no names.]')
    const ends = heard.events.filter((event) => event.type === 'tool.end')
    const hookOf = (callId: string) => ends.find((end) => end.callId === callId)?.hook
    assert.equal([hookOf('c0'), hookOf('c1')], ['replaced', 'denied'])

    const second = await agent.prompt('the password is 1234').result
    assert.equal('refusal' in second && second.refusal?.reason, 'no passwords.')
    const { nodes } = await agent.conversation()
    const said = nodes.flatMap(({ message }) => (message.role === 'user' ? message.content : []))
    assert.equal(
      said.map((block) => (block.type === 'text' ? block.text : '')),
      ['go', '[A message of the user was withheld by the application: no passwords.]'],
    )
  })
})
