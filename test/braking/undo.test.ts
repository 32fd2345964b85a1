import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { workspaceTools } from '../../packages/tools/src/workspace/workspaceTools.ts'
import { defineTool } from '../../src/actors/tools/defineTool.ts'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import { workspaceFolder } from '../../packages/tools/test/workspace/workspaceFolder.ts'
import { calls, gate, startAgent, tool, type HarnessOptions } from '../support/agentHarness.ts'
import { notesIn } from '../support/brakeLog.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

const undoing = { revert: { undo: true } } as const
const back = (step: string, extra: object = {}) =>
  calls('r', ['revert_to_state', { category: 'failure', step, summary: 'wrong', undo: true, ...extra }])

async function inFolder(
  context: CaseContext,
  { files = {}, tools = [], ...options }: HarnessOptions & { readonly files?: { readonly [path: string]: string } },
) {
  const { dir } = workspaceFolder(context, files)
  const snapshots = workspaceTools(dir, { snapshots: true }).filter(({ name }) => name !== 'run_command')
  const started = await startAgent(context, { tools: [...snapshots, ...tools], braking: undoing, ...options })
  const read = (path: string): string | undefined => {
    const file = join(dir, path)
    return existsSync(file) ? readFileSync(file, 'utf8') : undefined
  }
  return { ...started, dir, read }
}

const lastNote = (requests: readonly { readonly messages: Parameters<typeof notesIn>[0] }[]): string =>
  notesIn(requests.at(-1)!.messages).at(-1)!

describe('a revert that undoes', (it) => {
  it('makes files what they were before the span, and tells the model, the log and listeners', async (context) => {
    const { agent, read, script, ofType, records } = await inFolder(context, {
      files: { 'a.txt': 'one', 'b.txt': 'bee' },
      replies: [
        calls('e', ['edit_file', { path: 'a.txt', oldText: 'one', newText: 'two' }]),
        calls(
          'w',
          ['write_file', { path: 'a.txt', content: 'three' }],
          ['write_file', { path: 'new/c.txt', content: 'c' }],
        ),
        calls('d', ['delete_file', { path: 'b.txt' }]),
        back('n1'),
        'as before',
      ],
    })
    await agent.prompt('go').result
    assert.equal([read('a.txt'), read('b.txt'), read('new/c.txt'), read('new')], ['one', 'bee', undefined, undefined])
    const ledger = { undone: ['a.txt', 'new/c.txt', 'b.txt'], kept: [] }
    const [ended] = ofType('undo.end')
    assert.equal([ended!.undone, ended!.kept], [ledger.undone, ledger.kept])
    assert.equal(
      ofType('undo.step').map(({ undone }) => undone),
      [true, true, true, true],
    )
    assert.match(lastNote(script.requests), /undone, as it was before: a\.txt, new\/c\.txt, b\.txt<\/brake-note>/)
    assert.not.match(lastNote(script.requests), /still changed|not undone/)
    const conversation = rebuildConversation(await records())
    assert.equal(conversation.tags()[0]?.tag.undo, ledger)
    assert.equal(agent.conversation.tags()[0]?.tag.undo, ledger)
  })

  it('leaves what somebody else changed, and what cannot be undone, and names both with the reason', async (context) => {
    const run = tool('run', () => 'ran')
    const poke = tool('poke', () => 'poked', { effects: 'idempotent' })
    const look = tool('look', () => 'seen', { effects: 'none' })
    const { agent, read, dir, script, ofType } = await inFolder(context, {
      files: { 'a.txt': 'one', 'b.txt': 'bee' },
      tools: [run, poke, look, tool('other', () => writeFileSync(join(dir, 'a.txt'), 'mine'), { effects: 'none' })],
      replies: [
        calls(
          'w',
          ['write_file', { path: 'a.txt', content: 'two' }],
          ['write_file', { path: 'b.txt', content: 'two' }],
        ),
        calls('x', ['run', { command: 'make' }], ['run', { command: 'make' }], 'poke', 'look', 'other'),
        calls('f', ['edit_file', { path: 'a.txt', oldText: 'nowhere', newText: 'x' }]),
        back('n1'),
        'as before',
      ],
    })
    await agent.prompt('go').result
    assert.equal([read('a.txt'), read('b.txt')], ['mine', 'bee'])
    const [ended] = ofType('undo.end')
    assert.equal(ended!.undone, ['b.txt'])
    assert.equal(ended!.kept, [
      { what: 'run {"command":"make"} (2 times)', why: 'it cannot be undone' },
      { what: 'poke {}', why: 'its tool has no undo' },
      { what: 'a.txt', why: 'it was changed by something else since' },
    ])
    const note = lastNote(script.requests.filter(({ messages }) => notesIn(messages).length > 0))
    assert.match(JSON.stringify(notesIn(script.requests.at(-1)!.messages)), /undone, as it was before: b\.txt/)
    assert.match(
      JSON.stringify(notesIn(script.requests.at(-1)!.messages)),
      /not undone: .*\(it cannot be undone\), poke \{\} \(its tool has no undo\), a\.txt \(it was changed by something else since\)/,
    )
    assert.ok(note !== '')
  })

  it('undoes nothing when it is refused, without undo, or when the model was not offered it', async (context) => {
    for (const [step, extra, braking] of [
      ['n99', {}, undoing],
      ['n1', { undo: undefined }, undoing],
      ['n1', { undo: false }, undoing],
      ['n1', {}, { revert: true }],
    ] as const) {
      const { agent, read, types } = await inFolder(context, {
        files: { 'a.txt': 'one' },
        braking,
        replies: [calls('w', ['write_file', { path: 'a.txt', content: 'two' }]), back(step, extra), 'ok'],
      })
      await agent.prompt('go').result
      assert.equal([read('a.txt'), types().includes('undo.end')], ['two', false])
    }
  })

  it('is what a person asks for, whatever the model is offered', async (context) => {
    const { agent, read, until, script } = await inFolder(context, {
      files: { 'a.txt': 'one' },
      braking: { revert: true },
      replies: [calls('w', ['write_file', { path: 'a.txt', content: 'two' }]), 'done', 'again'],
    })
    await agent.prompt('go').result
    agent.revert('n1', { category: 'failure', summary: 'no', undo: true })
    await until(({ type }) => type === 'undo.end')
    assert.is(read('a.txt'), 'one')
    await agent.prompt('more').result
    assert.match(JSON.stringify(notesIn(script.requests.at(-1)!.messages)), /undone, as it was before: a\.txt/)
  })

  it('goes on with the next call when one cannot be undone, and holds together what belongs together', async (context) => {
    const undone: unknown[] = []
    const book = (name: string, undo: (receipt: unknown) => void) =>
      defineTool({
        name,
        description: name,
        input: z.object({ n: z.number() }),
        effects: 'reversible',
        undo: ({ receipt }) => undo(receipt),
        run: ({ n }, { keep }) => keep(n, n < 10 ? 'seats' : undefined),
      })
    const { agent, ofType } = await startAgent(context, {
      tools: [
        book('good', (receipt) => void undone.push(receipt)),
        book('bad', () => {
          throw new Error('no such seat')
        }),
      ],
      braking: undoing,
      replies: [
        calls('a', ['good', { n: 1 }], ['good', { n: 11 }]),
        calls('b', ['bad', { n: 2 }]),
        calls('c', ['good', { n: 3 }], ['bad', { n: 12 }]),
        back('n1'),
        'ok',
      ],
    })
    await agent.prompt('go').result
    assert.equal(undone, [3, 11])
    const [ended] = ofType('undo.end')
    assert.equal(ended!.undone, ['good {"n":11}'])
    assert.equal(ended!.kept, [
      { what: 'seats', why: 'no such seat' },
      { what: 'bad {"n":12}', why: 'no such seat' },
    ])
    assert.is(ofType('undo.step').at(-1)?.undone, false)
    assert.is(ofType('revert.applied')[0]?.applied, true)
  })

  it('gives up a tool that hangs, and tells so', async (context) => {
    const started = gate()
    const hang = defineTool({
      name: 'hang',
      description: 'hang',
      input: z.object({}),
      effects: 'reversible',
      timeoutMs: 5_000,
      run: () => 'ok',
      undo: () => new Promise(() => started.resolve()),
    })
    const { agent, clock, ofType } = await startAgent(context, {
      tools: [hang],
      braking: undoing,
      replies: [calls('a', 'hang'), back('n1'), 'ok'],
    })
    const { result } = agent.prompt('go')
    await started.promise
    await clock.advance(5_000)
    await result
    const why = 'undoing it timed out after 5000 ms: it is not known how far that came'
    assert.equal(ofType('undo.end')[0]?.kept, [{ what: 'hang {}', why }])
  })

  it('ends when it is aborted, and says what may have happened', async (context) => {
    const started = gate()
    const hang = defineTool({
      name: 'hang',
      description: 'hang',
      input: z.object({}),
      effects: 'reversible',
      run: () => 'ok',
      undo: ({ signal }) => {
        started.resolve()
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))))
      },
    })
    const { agent, ofType } = await startAgent(context, {
      tools: [hang],
      braking: undoing,
      replies: [calls('a', 'hang', 'hang'), back('n1'), 'ok'],
    })
    const { result } = agent.prompt('go')
    await started.promise
    agent.abort()
    assert.is((await result).stopReason, 'aborted')
    assert.equal(
      ofType('undo.end')[0]?.kept.map(({ why }) => why),
      ['the run was aborted', 'the run was aborted while it was undone: look at it'],
    )
    assert.equal(agent.conversation.tags()[0]?.tag.undo?.undone, [])
  })

  it('does not undo again what was undone, and undoes what came later', async (context) => {
    const { agent, read, until, ofType } = await inFolder(context, {
      files: { 'a.txt': 'one' },
      braking: { revert: true },
      replies: [
        calls('w', ['write_file', { path: 'a.txt', content: 'two' }]),
        'first',
        calls('x', ['write_file', { path: 'a.txt', content: 'three' }]),
        'second',
      ],
    })
    await agent.prompt('go').result
    agent.revert('n1', { category: 'failure', summary: 'no', undo: true })
    await until(({ type }) => type === 'undo.end')
    assert.is(read('a.txt'), 'one')
    await agent.prompt('again').result
    agent.revert('n5', { category: 'failure', summary: 'no', undo: true })
    await until(() => ofType('undo.end').length === 2)
    assert.equal([read('a.txt'), ofType('undo.end')[1]?.undone], ['one', ['a.txt']])
  })

  it('names a folder that vanished, and the revert stands', async (context) => {
    const { agent, dir, until, ofType } = await inFolder(context, {
      files: { 'src/a.txt': 'one' },
      replies: [calls('d', ['delete_file', { path: 'src/a.txt' }]), 'done'],
    })
    await agent.prompt('go').result
    rmSync(join(dir, 'src'), { recursive: true })
    agent.revert('n1', { category: 'failure', undo: true, summary: 'no' })
    await until(({ type }) => type === 'undo.end')
    assert.equal(ofType('undo.end')[0]?.kept, [{ what: 'src/a.txt', why: 'its folder is gone' }])
    assert.equal([ofType('revert.applied')[0]?.applied, agent.conversation.head], [true, 1])
  })
})
