import { defineAgent } from '../../define/src/defineAgent.ts'
import { policyModel } from '../../models/src/policyModel.ts'
import { textOf } from '../../../src/protocol/messages.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { ends, Lives, until, type Life } from '../../../test/support/lives.ts'
import { progressOf } from '../../mcp/src/server/progress.ts'
import type { AgentEvent } from '../../../src/protocol/events.ts'
import { codeTool } from '../src/codeTool.ts'
import { engine, noting, scripted } from './scriptedAgent.ts'

const hangs = noting('hangs', [], {
  run: (_, { signal }) =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
})
const code = `console.log('read ' + (await tools.read({ to: 'a' }))); await tools.hangs({}); return 1`

async function result({ logs }: Life): Promise<string> {
  const { a1 } = await logs()
  const end = a1!.find((record) => record.type === 'tool.end')
  return end?.type === 'tool.end' ? textOf(end.message.content) : ''
}

describe('a script that comes to no result', (it) => {
  it('tells what it had printed and called when its time is up', async (context) => {
    const lives = new Lives(context)
    const life = await lives.begin(scripted(code, [noting('read', []), hangs], {}, { limits: { ms: 5_000 } }), 'go')
    const over = ends(life.agent)
    await until(life.agent, (event) => event.type === 'inner.start' && event.name === 'hangs')
    await lives.clock.advance(5_000)
    await over
    assert.is(
      await result(life),
      'Timed out after 5000 ms. What it did so far was not undone. It had made 2 calls: read, hangs.\n\nIt had printed:\nread read a',
    )
  })

  it('tells the same when it is aborted, without secrets and cut to size', async (context) => {
    const long = `console.log('x'.repeat(9_000)); ${code}`
    for (const script of [code, long]) {
      const life = await new Lives(context).begin(scripted(script, [noting('read', []), hangs]), 'go')
      const over = ends(life.agent)
      await until(life.agent, (event) => event.type === 'inner.start' && event.name === 'hangs')
      life.agent.abort()
      await over
      const text = await result(life)
      assert.match(text, /^Aborted while it ran: what it did so far was not undone\. It had made 2 calls: read/)
      assert.match(text, /It had printed:\n[^]*read read a$/)
      assert.ok(text.length < 4_500)
    }
  })
})

describe('an error that a script meets again and again', (it) => {
  it('counts as one of the model, whatever the script makes of it', async (context) => {
    let turn = 0
    const model = policyModel(() =>
      (turn += 1) > 6
        ? 'done'
        : {
            toolCalls: [
              {
                name: 'run_code',
                input: { code: `await tools.fails({ to: '${turn}' }).catch(() => 0); return 'try ${turn}'` },
              },
            ],
          },
    )
    const fails = noting('fails', [], {
      run: () => {
        throw new Error('ENOENT: no such file "orders.csv"')
      },
    })
    const agent = defineAgent({
      name: 'coder',
      model,
      tools: [codeTool([fails], { only: true, engine })],
      braking: { stall: { rules: ['sameError'], revert: false, pause: false } },
    })
    const life = await new Lives(context).begin(agent, 'go')
    const heard: AgentEvent[] = []
    life.agent.subscribe((event) => heard.push(event))
    await ends(life.agent)
    const stall = heard.find((event) => event.type === 'stall.detected')
    assert.ok(stall?.type === 'stall.detected' && stall.rule === 'sameError')
    const told = heard.flatMap((event) => progressOf(event, 'a1') ?? [])
    assert.ok(
      told.some((text) => text.startsWith('fails')),
      told.join('\n'),
    )
  })

  it('is none once the same call goes well', async (context) => {
    let turn = 0
    let tried = 0
    const model = policyModel(() =>
      (turn += 1) > 5
        ? 'done'
        : {
            toolCalls: [
              {
                name: 'run_code',
                input: {
                  code: `for (let i = 0; i < 2; i++) await tools.flaky({}).catch(() => 0); return 'try ${turn}'`,
                },
              },
            ],
          },
    )
    const flaky = noting('flaky', [], {
      run: () => {
        if ((tried += 1) % 2 === 1) throw new Error('ENOENT: no such file "orders.csv"')
        return 'fine'
      },
    })
    const agent = defineAgent({
      name: 'coder',
      model,
      tools: [codeTool([flaky], { only: true, engine })],
      braking: { stall: { rules: ['sameError'], revert: false, pause: false } },
    })
    const life = await new Lives(context).begin(agent, 'go')
    await ends(life.agent)
    const { a1 } = await life.logs()
    assert.ok(a1!.every(({ type }) => type !== 'stall.detected'))
  })
})
