import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileStore } from '../../packages/stores/src/fileStore.ts'
import { readHistory } from '../../src/log/readHistory.ts'
import { rebuildContext } from '../../src/machines/rebuildContext.ts'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import { byTurns, some } from '../support/seeds.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'
import { killModes } from './killingStore.ts'

/** Lives one life in a folder. Resolves with the signal that ended it; `null`: it came to its end. */
async function live(
  { signal: over }: Pick<CaseContext, 'signal'>,
  folder: string,
  ...args: readonly string[]
): Promise<NodeJS.Signals | null> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'partsChild.ts'), folder, ...args], {
    stdio: ['ignore', 'inherit', 'inherit'],
    signal: over,
  })
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (...end) => resolve(end))
  })
  assert.ok(signal !== null || code === 0, `it ended with ${code}`)
  return signal
}

function freshFolder({ cleanup }: Pick<CaseContext, 'cleanup'>): string {
  const folder = mkdtempSync(join(tmpdir(), 'escapement-parts-'))
  mkdirSync(join(folder, 'store'))
  cleanup(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const linesOf = (file: string): string[] => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [])

const ofType = <T extends LogRecord['type']>(log: readonly LogRecord[], type: T): Extract<LogRecord, { type: T }>[] =>
  log.filter((record): record is Extract<LogRecord, { type: T }> => record.type === type)

/** Checks the end, which is the same however often it was killed. */
async function checkEnd(folder: string, where: string): Promise<void> {
  const { records } = await readHistory(fileStore(join(folder, 'store')), 'a1')
  const steps = { one: 'one', two: 'two' }
  assert.equal(rebuildConversation(records).state?.value, { title: 'House', steps }, where)
  const made = ofType(records, 'state.patched').flatMap(({ callId, n }) =>
    callId === undefined ? [] : [`${callId} ${n}`],
  )
  assert.is(new Set(made).size, made.length, `${where}: no update was made twice`)
  const { permissions, schedules } = rebuildContext(records).parts
  assert.is(permissions?.mode, 'edits', where)
  assert.equal(
    permissions?.grants.map(({ rule, isNew }) => [rule, isNew === true]).toSorted(),
    [['make(door)', false], ['make(roof)', false], ['make(wall)', false]], // prettier-ignore
    where,
  )
  assert.equal(
    linesOf(join(folder, 'rules.jsonl')).filter((line) => /make\((roof|wall)\)/.test(line)).length >= 2,
    true,
    where,
  )
  assert.equal(schedules?.schedules ?? {}, {}, where)
  assert.is(ofType(records, 'schedule.fired').length, 1, where)
  assert.is(
    ofType(records, 'run.start').filter(({ requestId }) => requestId.startsWith('schedule/x/')).length,
    1,
    where,
  )
  // Its end may be written once more, when only the first of its two records was.
  const woken = new Set(ofType(records, 'timer.fired').map(({ key }) => key))
  const slept = ofType(records, 'tool.end').filter(({ message }) => message.toolName === 'sleep')
  assert.equal([woken.size, slept.length], [1, 1], where)
  const ran = linesOf(join(folder, 'ledger'))
  assert.is(new Set(ran).size, ran.length, `${where}: none ran twice`)
}

describe('state, rules, schedules and sleep of a process that is killed', (it) => {
  const records = Array.from({ length: 70 }, (_, index) => index + 3)

  it('are whole without a death', { timeoutMs: 60_000 }, async (context) => {
    const folder = freshFolder(context)
    assert.is(await live(context, folder), null)
    await checkEnd(folder, 'undisturbed')
    const { records: log } = await readHistory(fileStore(join(folder, 'store')), 'a1')
    const types = new Set(log.map(({ type }) => type))
    for (const type of [
      'state.patched',
      'permission.granted',
      'mode.changed',
      'schedule.set',
      'schedule.fired',
      'timer.set',
      'timer.fired',
    ] as const)
      assert.ok(types.has(type), type)
  })

  for (const [turn, mode] of killModes.entries())
    it(`come to the same end, killed ${mode} a record`, { timeoutMs: 600_000 }, async (context) => {
      for (const at of some(byTurns(records, turn))) {
        const folder = freshFolder(context)
        const signal = await live(context, folder, mode, String(at))
        if (signal !== null) await live(context, folder)
        await checkEnd(folder, `${mode} record ${at}`)
        if (signal === null) return
      }
    })
})
