import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileStore } from '../../packages/stores/src/fileStore.ts'
import { readHistory } from '../../src/log/readHistory.ts'
import { rebuildContext } from '../../src/machines/rebuildContext.ts'
import { byTurns, some } from '../support/seeds.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'
import { killModes } from './killingStore.ts'

/** Lives one life in a folder. Resolves with the signal that ended it; `null`: it came to its end. */
async function live(folder: string, ...args: readonly string[]): Promise<NodeJS.Signals | null> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'backgroundChild.ts'), folder, ...args], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) =>
    child.once('exit', (...end) => resolve(end)),
  )
  assert.ok(signal !== null || code === 0, `it ended with ${code}`)
  return signal
}

function freshFolder({ cleanup }: Pick<CaseContext, 'cleanup'>): string {
  const folder = mkdtempSync(join(tmpdir(), 'escapement-background-'))
  mkdirSync(join(folder, 'store'))
  cleanup(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const recordsIn = async (folder: string) => (await readHistory(fileStore(join(folder, 'store')), 'a1')).records
const ledgerOf = (folder: string): string[] =>
  existsSync(join(folder, 'ledger')) ? readFileSync(join(folder, 'ledger'), 'utf8').trim().split('\n') : []

describe('calls in the background of a process that is killed', (it) => {
  // A life without a death writes 46 records.
  const records = Array.from({ length: 44 }, (_, index) => index + 3)
  for (const effects of ['idempotent', 'irreversible'] as const)
    for (const [turn, mode] of killModes.entries())
      it(`report once, ${effects}, killed ${mode} a record`, { timeoutMs: 300_000 }, async (context) => {
        for (const at of some(byTurns(records, turn))) {
          const folder = freshFolder(context)
          const signal = await live(folder, effects, mode, String(at))
          if (signal !== null) await live(folder, effects)
          const log = await recordsIn(folder)
          const where = `${mode} record ${at}`
          const receipts = log.filter((record) => record.type === 'tool.end' && !record.message.isError).length
          const told = log.filter(
            (record) => record.type === 'message.added' && record.message.provenance?.type === 'report',
          ).length
          const reported = log.flatMap((record) => (record.type === 'call.reported' ? [record.key] : []))
          assert.equal([told, reported.length, new Set(reported).size], [receipts, receipts, receipts], where)
          assert.equal(rebuildContext(log).reporters, [], where)
          const ran = ledgerOf(folder)
          if (effects === 'irreversible') assert.is(new Set(ran).size, ran.length, `${where}: none ran twice`)
          if (signal === null) return
        }
      })
})
