import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cliCommand, startChild } from '../../cli/test/cliChild.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'

const child = join(import.meta.dirname, 'codeChild.ts')

async function life(context: CaseContext, folder: string, records: number): Promise<string> {
  const { stdout, stderr, code } = await startChild(context, cliCommand([folder, `${records}`], child), { input: '' })
    .ended
  assert.ok(records > 0 || code === 0, stderr)
  return stdout.trim()
}

describe('a process that is killed in the middle of a script, and again in its next life', (it) => {
  it('ends the same in a third, and pays nothing twice', { timeoutMs: 480_000 }, async (context) => {
    const answers = new Set<string>()
    for (let records = 8; records <= 40; records += 4) {
      const folder = mkdtempSync(join(tmpdir(), 'escapement-code-'))
      context.cleanup(() => rmSync(folder, { recursive: true, maxRetries: 5 }))
      await life(context, folder, records)
      await life(context, folder, 4 + (records % 5))
      answers.add(await life(context, folder, 0))
      const noted = readFileSync(join(folder, 'effects'), 'utf8').trim().split('\n')
      const paid = noted.filter((line) => !line.startsWith('asked '))
      assert.is(new Set(paid).size, paid.length, `after ${records} records: ${paid.join()}`)
      // Each of the two sub-agents was begun once, and may have been asked again by a life that was killed.
      const children = readdirSync(join(folder, 'logs')).filter((name) => /^a1\.\d+\.jsonl$/.test(name))
      assert.is(children.length, 2, `after ${records} records: ${children.join()}`)
    }
    for (const answer of answers)
      assert.match(
        answer,
        /^It said: \{"read":\["read a","read b","read c","read d"\],"said":\["(paid a|INTERRUPTED)","(paid c|INTERRUPTED)"\],"echoed":\["echo e","echo f"\]/,
      )
    // The random number is that of the call, whatever became of the process.
    assert.is(new Set([...answers].map((answer) => answer.split('"random":')[1])).size, 1)
  })
})
