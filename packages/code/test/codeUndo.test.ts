import { z } from 'zod'
import { defineTool, type AnyTool } from '../../../src/actors/tools/defineTool.ts'
import type { ToolSource } from '../../../src/actors/tools/toolSource.ts'
import type { LogRecord } from '../../../src/protocol/records.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'
import { ends, Lives, until } from '../../../test/support/lives.ts'
import { inner, noting, scripted } from './scriptedAgent.ts'

/** A tool that sets values, and can take that back. */
function setter(values: Map<string, string>, undone: string[]): AnyTool {
  return defineTool({
    name: 'set',
    description: 'Sets a value.',
    effects: 'reversible',
    input: z.object({ key: z.string(), value: z.string() }),
    receipt: z.object({ before: z.string().nullable(), after: z.string() }),
    run: ({ key, value }, { keep, changed }) => {
      keep({ before: values.get(key) ?? null, after: value }, key)
      values.set(key, value)
      changed(key)
      return 'set'
    },
    undo: ({ input: { key }, receipt, earlier }) => {
      undone.push(key)
      if (values.get(key) !== receipt.after) throw new Error('it was changed since')
      const { before } = earlier.at(-1) ?? receipt
      if (before === null) values.delete(key)
      else values.set(key, before)
    },
  })
}

/** Runs a script, and undoes its turn. */
async function undoing(context: CaseContext, code: string, values: Map<string, string>) {
  const undone: string[] = []
  const paid: string[] = []
  const pay = noting('pay', paid, { effects: 'irreversible' })
  const note = defineTool({
    name: 'note',
    description: 'Notes something.',
    effects: 'idempotent',
    input: z.object({}),
    run: (_, { changed }) => {
      changed('notes.md')
      return 'noted'
    },
  })
  const life = await new Lives(context).begin(
    scripted(code, [setter(values, undone), pay, note], { braking: { revert: true } }),
    'go',
  )
  await ends(life.agent)
  const before = new Map(values)
  const over = until(life.agent, ({ type }) => type === 'undo.end')
  life.agent.revert('n1', { category: 'failure', summary: 'wrong', undo: true })
  await over
  const { a1 } = await life.logs()
  return { log: a1!, undone, before }
}

const last = <T extends LogRecord['type']>(log: readonly LogRecord[], type: T) =>
  log.findLast((record) => record.type === type) as Extract<LogRecord, { type: T }> | undefined

describe('the effects of a script', (it) => {
  it('are those of its calls: changed paths, receipts and what cannot be undone are on its result', async (context) => {
    const values = new Map([['a', '1']])
    const code = `await tools.set({ key: 'a', value: '2' }); await tools.set({ key: 'b', value: '3' }); await tools.set({ key: 'a', value: '4' }); return 'done'`
    const life = await new Lives(context).begin(scripted(code, [setter(values, [])]), 'go')
    await ends(life.agent)
    const { a1 } = await life.logs()
    const { message } = last(a1!, 'tool.end')!
    assert.equal(message.changed, ['a', 'b'])
    assert.is(message.calls, '3 calls: set ×3 a b')
    const { undo, left } = message.receipt!.data as { undo: { n: number; of: string }[]; left: string[] }
    assert.equal(
      undo.map(({ n, of }) => [n, of]),
      [
        [3, 'a'],
        [2, 'b'],
        [1, 'a'],
      ],
    )
    assert.equal(left, [])
    assert.equal(
      inner(a1!, 'inner.end').map(({ changed }) => changed),
      [['a'], ['b'], ['a']],
    )
  })

  it('are undone the newest first, those on one thing together', async (context) => {
    const values = new Map([['a', '1']])
    const code = `await tools.set({ key: 'a', value: '2' }); await tools.set({ key: 'b', value: '3' }); await tools.set({ key: 'a', value: '4' }); return 'done'`
    const { undone, before, log } = await undoing(context, code, values)
    assert.equal(
      [...before],
      [
        ['a', '4'],
        ['b', '3'],
      ],
    )
    assert.equal([...values], [['a', '1']])
    assert.equal(undone, ['a', 'b'])
    assert.is(last(log, 'undo.step')?.undone, true)
  })

  it('of tools of sources are undone too, and stay where the source has changed them', async (context) => {
    for (const isGone of [false, true]) {
      const values = new Map([['a', '1']])
      const undone: string[] = []
      let tools: readonly AnyTool[] = [setter(values, undone)]
      const source: ToolSource = {
        source: 'shop',
        open: () => ({
          get tools() {
            return tools
          },
          ready: () => Promise.resolve(),
          status: () => ({ state: 'up', since: 0 }),
          close: () => Promise.resolve(),
        }),
      }
      const life = await new Lives(context).begin(
        scripted(`return await tools.set({ key: 'a', value: '2' })`, [source], { braking: { revert: true } }),
        'go',
      )
      await ends(life.agent)
      assert.equal([...values], [['a', '2']])
      if (isGone) tools = []
      const over = until(life.agent, ({ type }) => type === 'undo.end')
      life.agent.revert('n1', { category: 'failure', summary: 'wrong', undo: true })
      await over
      const { a1 } = await life.logs()
      const step = last(a1!, 'undo.step')
      assert.equal([[...values], step?.undone], [[['a', isGone ? '2' : '1']], !isGone])
      if (isGone) assert.match(step?.why ?? '', /this stays: a: "set" is no longer as it was offered to you/)
    }
  })

  it('that stay are named when the others are undone', async (context) => {
    const values = new Map<string, string>()
    const code = `await tools.set({ key: 'a', value: '2' }); await tools.pay({ to: 'x' }); await tools.note(); return 'done'`
    const { log } = await undoing(context, code, values)
    assert.equal([...values], [])
    const step = last(log, 'undo.step')
    assert.is(step?.undone, false)
    assert.match(step?.why ?? '', /this stays: note \{\} has no undo; pay \{"to":"x"\} cannot be undone/)
  })

  it('without undo are listed by a revert, and harmless scripts are not', async (context) => {
    const pays = await undoing(context, `return await tools.pay({ to: 'x' })`, new Map())
    assert.match(
      JSON.stringify(last(pays.log, 'revert.applied')),
      /run_code 1 call: pay \{[^}]*x[^}]*\}","why":"it cannot be undone/,
    )
    const notes = await undoing(context, `return await tools.note()`, new Map())
    assert.match(JSON.stringify(last(notes.log, 'revert.applied')), /its tools have no undo/)
    const nothing = await undoing(context, `return 1`, new Map())
    assert.not.match(JSON.stringify(last(nothing.log, 'revert.applied')), /undo"?:.*run_code/)
  })
})
