import { checkRequest } from '../../src/conversation/request/checkRequest.ts'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import { textOf } from '../../src/protocol/messages.ts'
import type { ModelRequest } from '../../src/protocol/ports/model.ts'
import { createRuntime, defineAgent, memoryStore, policyModel, type Agent } from '../../src/index.ts'
import { tool } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'
import { cutStore, recordsOf } from './cutLogs.ts'

/** Looks as long as it may, and then answers with how often it has looked, and by which instructions. */
const looking = (limits: { turns: number; onLimit?: 'answer' }) => {
  const requests: ModelRequest[] = []
  const asked: number[] = []
  const looks = ({ messages }: ModelRequest): number => messages.filter(({ role }) => role === 'toolResult').length
  const model = (id: string) =>
    policyModel(
      (request) => {
        requests.push(request)
        if (looks(request) >= 3 || request.tools.length === 0)
          return `looked ${looks(request)} times: ${request.system}`
        return { toolCalls: [{ name: request.tools[0]!.name, input: {} }] }
      },
      { id },
    )
  const definition = defineAgent({
    name: 'looker',
    model: model('test:own'),
    models: { other: model('test:other') },
    instructions: () => 'look around',
    beforeTurn: ({ turn, turnIndex }) => {
      asked.push(turnIndex)
      return turn % 2 === 0 ? { model: 'other', tools: ['look'] } : undefined
    },
    tools: [tool('look', () => 'seen', { effects: 'none' }), tool('find', () => 'found', { effects: 'none' })],
    limits,
  })
  return { definition, requests, asked }
}

const lastWords = (agent: Agent): string => textOf(agent.conversation.trunk().at(-1)!.message.content)

describe('an agent whose turns are prepared, and whose process died', (it) => {
  for (const [what, limits] of [
    ['goes on to the same answer', { turns: 9 }],
    ['answers because of its limit, once, without another look', { turns: 2, onLimit: 'answer' }],
  ] as const) {
    it(`${what}, whichever record was the last`, { timeoutMs: 20_000 }, async () => {
      const whole = looking(limits)
      const store = memoryStore()
      const runtime = await createRuntime({ store })
      const agent = await runtime.spawn(whole.definition, { id: 'l1' })
      await agent.prompt('look').result
      const records = await recordsOf(store, 'l1')
      const undisturbed = lastWords(agent)
      assert.is(undisturbed, `looked ${limits.turns === 2 ? 2 : 3} times: look around`)
      await runtime.close()
      for (let cut = 3; cut < records.length; cut++) {
        const left = await cutStore('l1', records.slice(0, cut))
        const again = looking(limits)
        const second = await createRuntime({ store: left })
        const resumed = await second.resume('l1', again.definition, { continue: false })
        if (resumed.pause !== null) {
          assert.is((await resumed.resume().result).stopReason, 'stop', `cut at ${cut}`)
          const seen = records.slice(0, cut).filter(({ type }) => type === 'tool.end').length
          // A turn that was broken off counts against the limit, so that a crash yields nothing.
          const isSame = limits.turns > 2 || seen === 2
          const text = lastWords(resumed)
          assert.ok(isSame ? text === undisturbed : /looked [0-2] times/.test(text), `${text}, cut at ${cut}`)
        }
        for (const request of again.requests) assert.equal(checkRequest(request), [])
        const log = await recordsOf(left, 'l1')
        assert.equal(log.slice(0, cut), records.slice(0, cut))
        assert.is(rebuildConversation(log).head, resumed.conversation.head)
        // What was decided before the crash is not decided again, but for the turn that it broke off.
        const turns = new Set(again.asked)
        assert.is(turns.size, again.asked.length, `cut at ${cut}`)
        await second.close()
      }
    })
  }

  it('refuses calls that its turn did not offer also after the crash', async () => {
    let found = 0
    const define = () =>
      defineAgent({
        name: 'looker',
        model: policyModel(({ messages }) =>
          messages.some(({ role }) => role === 'toolResult') ? 'done' : { toolCalls: [{ name: 'find', input: {} }] },
        ),
        beforeTurn: () => ({ tools: ['look'] }),
        tools: [tool('look', () => 'seen'), tool('find', () => String(++found), { effects: 'none' })],
      })
    const store = memoryStore()
    const runtime = await createRuntime({ store })
    const agent = await runtime.spawn(define(), { id: 'l1' })
    await agent.prompt('look').result
    const records = await recordsOf(store, 'l1')
    await runtime.close()
    const replied = records.findIndex(({ type }) => type === 'reply.end')
    const second = await createRuntime({ store: await cutStore('l1', records.slice(0, replied + 1)) })
    const resumed = await second.resume('l1', define())
    while (resumed.state !== 'idle') await new Promise((resolve) => setImmediate(resolve))
    assert.equal([found, lastWords(resumed)], [0, 'done'])
    await second.close()
  })
})
