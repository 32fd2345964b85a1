import { z } from 'zod'
import { defineAgent } from '../../../define/src/defineAgent.ts'
import { defineTool } from '../../../../src/actors/tools/defineTool.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { textOf } from '../../../../src/protocol/messages.ts'
import { scriptedModel } from '../../../evaluation/src/testing/scriptedModel.ts'
import { calls, resultsOf, tool } from '../../../../test/support/agentHarness.ts'
import { lastingStore } from '../../../bridge/test/server/bridgeHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { call, openHost, ways, type Fill } from './mcpHarness.ts'

/** An agent that pays back once, if it may; it answers with what became of that. */
function cashier() {
  const paid: number[] = []
  const refund = defineTool({
    name: 'refund',
    description: 'Pay back.',
    input: z.object({ euros: z.number() }),
    needsApproval: true,
    run: ({ euros }) => `${paid.push(euros)} paid`,
  })
  const agent = defineAgent({
    name: 'cashier',
    tools: [refund],
    model: policyModel(({ messages }) => {
      const last = messages.at(-1)!
      return last.role === 'user'
        ? {
            toolCalls: [
              { name: 'refund', input: { euros: 5 } },
              ...(textOf(last.content) === 'twice' ? [{ name: 'refund', input: { euros: 6 } }] : []),
            ],
          }
        : textOf(last.content)
    }),
  })
  return { agent, paid }
}

const schemas: { readonly [name: string]: z.ZodType } = {
  sure: z.boolean(),
  colour: z.enum(['red', 'blue']),
  name: z.string().min(3),
  trip: z.object({ to: z.string().describe('A town.'), seats: z.int().min(1), tags: z.array(z.string()).optional() }),
  list: z.array(z.string()),
}

/** An agent that asks one of these, and what its tool got. */
function asker(name: string) {
  const model = scriptedModel([calls('c', 'ask'), 'done'])
  const ask = tool('ask', (_, context) => context.ask(schemas[name]!, `Which ${name}?`))
  return { agent: defineAgent({ name: 'asker', model, tools: [ask] }), got: () => resultsOf(model.requests[1])[0] }
}

describe('people at an MCP client', (it) => {
  for (const way of ways) {
    it(`approve calls, and deny them, each in a form (${way})`, async (context) => {
      const { agent, paid } = cashier()
      const { connect } = await openHost(context, [agent])
      const asked: string[] = []
      const fill: Fill = ({ message }) => {
        asked.push(message)
        return {
          action: 'accept',
          content: message.includes('"euros":5') ? { approve: true } : { approve: false, reason: 'too much' },
        }
      }
      const { text, session, stopReason } = await call(await connect(way, { fill }), 'cashier', { task: 'twice' })
      assert.is(stopReason, 'stop')
      assert.match(text, /too much/)
      assert.equal(paid, [5])
      assert.equal(asked.toSorted(), [
        `May ${session} call refund {"euros":5}?`,
        `May ${session} call refund {"euros":6}?`,
      ])
    })

    for (const [action, says] of [
      ['decline', /did not want to answer/],
      ['cancel', /was dismissed/],
    ] as const)
      it(`deny by ${action} (${way})`, async (context) => {
        const { agent, paid } = cashier()
        const { connect } = await openHost(context, [agent])
        const { text } = await call(await connect(way, { fill: () => ({ action }) }), 'cashier', { task: 'x' })
        assert.match(text, says)
        assert.equal(paid, [])
      })

    it(`answer questions in forms of plain fields (${way})`, async (context) => {
      for (const [name, content, got] of [
        ['sure', { answer: true }, 'true'],
        ['colour', { answer: 'blue' }, 'blue'],
        ['trip', { to: 'Ulm', seats: 2, tags: '["a"]' }, '{"to":"Ulm","seats":2,"tags":["a"]}'],
        ['list', { answer: '["a","b"]' }, '["a","b"]'],
      ] as const) {
        const { agent, got: seen } = asker(name)
        const { connect } = await openHost(context, [agent])
        const fill: Fill = ({ message }) => {
          assert.is(message, `Which ${name}?`)
          return { action: 'accept', content }
        }
        await call(await connect(way, { fill }), 'asker', { task: 'x' })
        assert.is(seen(), got)
      }
    })

    it(`see all of a call, and are not asked about one that is too long for a form (${way})`, async (context) => {
      for (const [note, isAsked] of [
        ['\u202E'.repeat(10) + 'x'.repeat(6_000), true],
        ['x'.repeat(20_000), false],
      ] as const) {
        const ran: unknown[] = []
        const model = scriptedModel([calls('c', ['note', { note }]), 'done'])
        const noted = tool('note', (input) => ran.push(input), { needsApproval: true })
        const { connect } = await openHost(context, [defineAgent({ name: 'scribe', model, tools: [noted] })])
        const asked: string[] = []
        const fill: Fill = ({ message }) => {
          asked.push(message)
          return { action: 'accept', content: { approve: true } }
        }
        const { text, stopReason } = await call(await connect(way, { fill }), 'scribe', { task: 'x' })
        assert.equal([stopReason, ran.length, asked.length], isAsked ? ['stop', 1, 1] : ['waiting', 0, 0])
        if (isAsked) assert.match(asked[0]!, `⟨U+202E⟩${'x'.repeat(6_000)}`)
        else assert.match(text, /too long to be shown here as a whole .*decide it on the inspector page/)
      }
    })

    it(`are asked again with what was wrong, but not for ever (${way})`, async (context) => {
      const { agent, got } = asker('list')
      const { connect } = await openHost(context, [agent])
      const said: string[] = []
      const answers = ['nonsense', '["a"]']
      const fill: Fill = ({ message }) => {
        said.push(message)
        return { action: 'accept', content: { answer: answers.shift()! } }
      }
      await call(await connect(way, { fill }), 'asker', { task: 'x' })
      assert.is(got(), '["a"]')
      assert.is(said.length, 2)
      assert.match(said[1]!, /The last answer did not do: .*give a list, not a string/s)
      const never = asker('list')
      const host = await openHost(context, [never.agent])
      let times = 0
      const stubborn: Fill = () => ({ action: 'accept', content: { answer: `x${(times += 1)}` } })
      const told = await call(await host.connect(way, { fill: stubborn }), 'asker', { task: 'x' })
      assert.equal([told.stopReason, told.isError, times], ['waiting', true, 5])
    })

    it(`are asked again about an answer that the form itself does not take, but not for ever (${way})`, async (context) => {
      for (const [answers, times] of [
        [['ab', 'Anna'], 2],
        [['a', 'b', '', 'cd', 'ef', 'Anna'], 5],
      ] as const) {
        const { agent, got } = asker('name')
        const { connect } = await openHost(context, [agent])
        const said: string[] = []
        const fill: Fill = ({ message }) => ({
          action: 'accept',
          content: { answer: answers[said.push(message) - 1]! },
        })
        const { stopReason } = await call(await connect(way, { fill }), 'asker', { task: 'x' })
        assert.equal([said.length, said[0]], [times, 'Which name?'])
        for (const again of said.slice(1)) assert.match(again, /The last answer did not do: /)
        assert.equal([stopReason, got()], times === 2 ? ['stop', 'Anna'] : ['waiting', undefined])
      }
    })

    it(`that cannot be asked leave it to others, and the session tells what came of it (${way})`, async (context) => {
      const { agent, paid } = cashier()
      const { connect, runtime } = await openHost(context, [agent])
      const client = await connect(way)
      const { isError, stopReason, session, text, data } = await call(client, 'cashier', { task: 'x' })
      assert.equal([isError, stopReason], [true, 'waiting'])
      assert.match(text, new RegExp(`- May ${session} call refund \\{"euros":5\\}\\?`))
      const [pending] = data['pending'] as { key: string; kind: string }[]
      assert.is(pending!.kind, 'approval')
      // Its task would wait behind the decision, and run when nobody waits for the answer.
      const again = await call(client, 'cashier', { session, task: 'another' })
      assert.is(again.stopReason, 'waiting')
      runtime.agent(session)!.decide(pending!.key, 'approve')
      const done = await call(client, 'cashier', { session })
      assert.equal([done.stopReason, done.text], ['stop', '1 paid'])
      assert.equal(paid, [5])
    })
  }

  it('are not asked where approvals are made elsewhere', async (context) => {
    const { agent, paid } = cashier()
    const { connect } = await openHost(context, [agent], { mcp: { approve: 'elsewhere' } })
    const fill: Fill = () => ({ action: 'accept', content: { approve: true } })
    for (const way of ways)
      assert.is((await call(await connect(way, { fill }), 'cashier', { task: 'x' })).stopReason, 'waiting')
    assert.equal(paid, [])
  })

  it('are asked for a call of a sub-agent', async (context) => {
    const { agent, paid } = cashier()
    const lead = defineAgent({
      name: 'lead',
      agents: [agent],
      model: policyModel(({ messages }) =>
        messages.at(-1)!.role === 'user' ? { toolCalls: [{ name: 'cashier', input: { task: 'x' } }] } : 'settled',
      ),
    })
    for (const way of ways) {
      const { connect } = await openHost(context, [lead])
      const fill: Fill = () => ({ action: 'accept', content: { approve: true } })
      assert.is((await call(await connect(way, { fill }), 'lead', { task: 'x' })).text, 'settled', way)
    }
    assert.equal(paid, [5, 5, 5, 5])
  })

  it('carry out a call that is for a client', async (context) => {
    const model = scriptedModel([calls('c', 'locate'), 'done'])
    const locate = defineTool({ name: 'locate', description: 'Where.', input: z.object({}) })
    const { connect } = await openHost(context, [defineAgent({ name: 'guide', model, tools: [locate] })])
    const fill: Fill = ({ message }) => {
      assert.match(message, /asks for this to be done: locate \{\}/)
      return { action: 'accept', content: { result: 'Ulm' } }
    }
    await call(await connect('HTTP, modern', { fill }), 'guide', { task: 'x' })
    assert.equal(resultsOf(model.requests[1]), ['Ulm'])
  })

  it('are not kept waiting when somebody else was faster', async (context) => {
    const { agent, paid } = cashier()
    const { connect, runtime } = await openHost(context, [agent])
    const fill: Fill = () => {
      const [one] = runtime.agents()
      one!.decide(one!.pending()[0]!.key, 'approve')
      return new Promise(() => {})
    }
    const { text } = await call(await connect('HTTP, legacy', { fill }), 'cashier', { task: 'x' })
    assert.is(text, '1 paid')
    assert.equal(paid, [5])
  })

  it('are asked by the next call of a client that left, also after a restart', async (context) => {
    const { agent, paid } = cashier()
    const store = lastingStore()
    const first = await openHost(context, [agent], { store })
    const { session } = await call(await first.connect('HTTP, modern'), 'cashier', { task: 'x' })
    await first.runtime.close()
    const second = await openHost(context, [agent], { store })
    const fill: Fill = () => ({ action: 'accept', content: { approve: true } })
    const done = await call(await second.connect('HTTP, modern', { fill }), 'cashier', { session })
    assert.equal([done.stopReason, done.text], ['stop', '1 paid'])
    assert.equal(paid, [5])
  })
})
