import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import type { AcpAgentOptions } from '../../src/client/acpAgent.ts'
import { call, callerOf, foreign, takeBack, temporary } from './callerHarness.ts'

const lines = (...all: string[]): string => all.join('\n')
const slow = { timeoutMs: 60_000 }
const permissions = { mode: 'auto' } as const

/** Has the foreign agent work in a folder in which "a" is, and takes its work back; returns the note of that. */
async function undone(
  context: CaseContext,
  {
    task,
    meanwhile,
    ...options
  }: Partial<AcpAgentOptions> & { task: (cwd: string) => string; meanwhile?: (cwd: string) => void },
  sessions?: string,
) {
  const cwd = temporary(context)
  writeFileSync(join(cwd, 'a'), 'before')
  const entry = foreign({ cwd, snapshots: true, ...options }, sessions)
  const called = await call(context, callerOf(entry, task(cwd), { permissions }))
  await called.said()
  const written = readFileSync(join(cwd, 'a'), 'utf8')
  meanwhile?.(cwd)
  return { cwd, written, end: await takeBack(called) }
}

describe('what a foreign agent had the workspace write', (it) => {
  it("is put back with its caller's turn, to what was there before its first write", slow, async (context) => {
    const task = (cwd: string): string =>
      lines(`write ${join(cwd, 'a')}`, `write ${join(cwd, 'new/b')}`, `write ${join(cwd, 'a')}`)
    const { cwd, written, end } = await undone(context, { task })
    assert.is(written, 'written')
    assert.is(readFileSync(join(cwd, 'a'), 'utf8'), 'before')
    assert.not.ok(existsSync(join(cwd, 'new')))
    assert.equal([end.kept, end.undone.length], [[], 1])
  })

  it('is put back after lives of its own, too', slow, async (context) => {
    const task = (cwd: string): string => lines(`once write ${join(cwd, 'a')}`, 'die', `write ${join(cwd, 'b')}`)
    const sessions = temporary(context)
    const { cwd } = await undone(context, { task }, sessions)
    assert.is(readFileSync(join(cwd, 'a'), 'utf8'), 'before')
  })

  it('is left, and named, where something else has changed it', slow, async (context) => {
    const task = (cwd: string): string => lines(`write ${join(cwd, 'a')}`, `write ${join(cwd, 'b')}`)
    const meanwhile = (cwd: string): void => writeFileSync(join(cwd, 'a'), 'mine')
    const { cwd, end } = await undone(context, { task, meanwhile })
    assert.is(readFileSync(join(cwd, 'a'), 'utf8'), 'mine')
    assert.not.ok(existsSync(join(cwd, 'b')))
    assert.match(end.kept[0]!.why, '1 file was put back; a: it was changed by something else since')
  })

  it('is put back, and what it ran is named', slow, async (context) => {
    const task = (cwd: string): string =>
      lines(`write ${join(cwd, 'a')}`, 'exec touch c', 'run npm test', `edit ${join(cwd, 'd')}`, 'done e1')
    const { cwd, end } = await undone(context, { task })
    assert.is(readFileSync(join(cwd, 'a'), 'utf8'), 'before')
    assert.match(end.kept[0]!.why, /1 file was put back; what it did by itself stays: touch c, Edit .*\/d, npm test/)
  })

  it('is not claimed to be undone where nothing of it is known', slow, async (context) => {
    const { end } = await undone(context, { task: () => 'say done' })
    assert.match(end.kept[0]!.why, 'not known what it did by itself')
    const { end: without } = await undone(context, { task: () => 'say done', snapshots: false })
    assert.match(without.kept[0]!.why, 'has no undo')
  })

  it('needs a workspace', () => {
    assert.throws(
      () => foreign({ snapshots: true, workspace: null }),
      (thrown: unknown) => thrown instanceof RuntimeError && thrown.code === 'INVALID_DEFINITION',
    )
  })
})
