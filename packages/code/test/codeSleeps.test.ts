import { textOf } from '../../../src/protocol/messages.ts'
import type { LogRecord, RecordOf } from '../../../src/protocol/records.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'
import { ends, Lives, paused, until, type Life } from '../../../test/support/lives.ts'
import { sleepTool } from '../../../src/actors/parts/sleep/sleepTool.ts'
import { inner, noting, scripted } from './scriptedAgent.ts'

const said = ({ agent }: Pick<Life, 'agent'>): string =>
  textOf(agent.conversation.trunk().at(-1)!.message.content).replace('It said: ', '')

const of = <T extends LogRecord['type']>(records: readonly LogRecord[], type: T): RecordOf<T>[] =>
  records.filter((record): record is RecordOf<T> => record.type === type)

/** Has a script run, with the time going on whenever it sleeps in this process. */
async function told(context: CaseContext, code: string): Promise<unknown> {
  const lives = new Lives(context)
  const life = await lives.begin(scripted(code, [noting('read', [])]), 'go')
  await ends(life.agent)
  return JSON.parse(said(life))
}

describe('a script that sleeps', (it) => {
  it('waits in its process for a short time, and longer than its time limit', async (context) => {
    const lives = new Lives(context)
    const code = `const from = Date.now(); await sleep(5000); await sleep(5000); return Date.now() - from`
    const life = await lives.begin(scripted(code, [noting('read', [])], {}, { limits: { ms: 6_000 } }), 'go')
    const over = ends(life.agent)
    for (let nap = 1; nap <= 2; nap += 1) {
      await until(life.agent, (event) => event.type === 'inner.start' && event.n === nap)
      await new Promise((resolve) => setTimeout(resolve, 20))
      await lives.clock.advance(5_000)
    }
    await over
    assert.is(said(life), '10000')
    assert.equal(of((await life.logs())['a1']!, 'timer.set'), [])
  })

  it('is put to sleep for a long one: the agent pauses, and goes on at the time, once', async (context) => {
    const ran: string[] = []
    const lives = new Lives(context)
    const code = `const a = await tools.read({ to: 'a' }); await sleep(3600_000); return [a, await tools.read({ to: 'b' }), Date.now()]`
    const life = await lives.begin(scripted(code, [noting('read', ran)]), 'go')
    const begun = lives.clock.now()
    await paused(life.agent)
    const { a1 } = await life.logs()
    const [timer] = of(a1!, 'timer.set')
    assert.equal([timer?.due, timer?.goesOn], [begun + 3_600_000, true])
    const settled = await life.agent.settled()
    assert.is(settled.status === 'paused' && settled.reason.type, 'timer')
    const over = ends(life.agent)
    await lives.clock.advance(3_600_000)
    await over
    assert.equal(JSON.parse(said(life)).slice(0, 2), ['read a', 'read b'])
    assert.ok(JSON.parse(said(life))[2] >= begun + 3_600_000)
    assert.is(ran.length, 2)
    // The same, from the log of a process that died while it slept, and with half of the time over.
    const again = await lives.resume(scripted(code, [noting('read', ran)]), { a1: a1! })
    const end = ends(again.agent)
    await end
    assert.equal(JSON.parse(said(again)).slice(0, 2), ['read a', 'read b'])
    assert.is(ran.length, 3)
  })

  it('does not begin to sleep anew after a crash', async (context) => {
    const lives = new Lives(context)
    const code = `await sleep(8000); return 'awake'`
    const make = () => scripted(code, [noting('read', [])])
    const life = await lives.begin(make(), 'go')
    await until(life.agent, ({ type }) => type === 'inner.start')
    const { a1 } = await life.logs()
    const due = (inner(a1!, 'inner.start')[0]!.input as { until: number }).until
    await lives.clock.advance(7_000)
    const again = await lives.resume(
      make(),
      { a1: a1!.slice(0, a1!.findIndex(({ type }) => type === 'inner.start') + 1) },
      { continue: true },
    )
    const over = ends(again.agent)
    await lives.clock.advance(1_000)
    await over
    assert.is(said(again), 'awake')
    const ended = inner((await again.logs())['a1']!, 'inner.end')
    assert.equal([ended.length, ended[0]!.at], [1, due])
  })

  it('goes on with what else it does meanwhile', async (context) => {
    const ran: string[] = []
    const lives = new Lives(context)
    const code = `const long = sleep(new Date(Date.now() + 60_000))
const done = []
for (let i = 0; i < 3; i++) done.push(await tools.read({ to: 'n' + i }))
await long
return done.length`
    const life = await lives.begin(scripted(code, [noting('read', ran)]), 'go')
    await paused(life.agent)
    assert.is(ran.length, 3)
    const over = ends(life.agent)
    await lives.clock.advance(60_000)
    await over
    assert.equal([said(life), ran.length], ['3', 3])
  })

  it('does not wait for a sleep that it has left behind', async (context) => {
    const lives = new Lives(context)
    const code = `void sleep(5_000); void sleep(3600_000); return await Promise.race([tools.read({ to: 'a' }), sleep(60_000)])`
    const life = await lives.begin(scripted(code, [noting('read', [])]), 'go')
    await ends(life.agent)
    assert.is(said(life), 'read a')
    assert.is(inner((await life.logs())['a1']!, 'inner.end').length, 1)
  })

  it('is told what is wrong with a time, and does not wait for one that has passed', async (context) => {
    const code = `const tried = []
for (const time of [NaN, -1, 'soon', '2027-03-01T09:00', Infinity, {}, undefined, 1e15, 0, '2001-01-01T00:00:00Z', new Date(0)])
  tried.push(await sleep(time).then(() => 'slept', (e) => e.code))
return tried`
    const answer = await told(context, code)
    assert.equal(answer, [
      'INVALID_INPUT',
      'INVALID_INPUT',
      'INVALID_INPUT',
      'INVALID_INPUT',
      'INVALID_INPUT',
      'INVALID_INPUT',
      'INVALID_INPUT',
      'INVALID_INPUT',
      'slept',
      'slept',
      'slept',
    ])
  })

  it('is woken by an abort, and skipped by what a person says', async (context) => {
    const lives = new Lives(context)
    const code = `await tools.read({ to: 'a' }); await sleep(3600_000); return 1`
    const first = await lives.begin(scripted(code, [noting('read', [])]), 'go')
    await paused(first.agent)
    const aborted = ends(first.agent)
    first.agent.abort()
    await aborted
    const second = await lives.begin(scripted(code, [noting('read', [])]), 'go')
    await paused(second.agent)
    const skipped = until(second.agent, ({ type }) => type === 'tool.end')
    second.agent.steer('never mind')
    await skipped
    const results = [first, second].map(async ({ logs }) => of((await logs())['a1']!, 'tool.end')[0]!.message.synthetic)
    assert.equal(await Promise.all(results), ['aborted', 'skipped'])
  })

  it('is not put to sleep by a tool, which says so', async (context) => {
    const lives = new Lives(context)
    const life = await lives.begin(
      scripted(`return await tools.sleep({ seconds: 60 }).catch((e) => e.message)`, [sleepTool()]),
      'go',
    )
    await ends(life.agent)
    assert.match(said(life), /sleep\(ms\)/)
  })
})
