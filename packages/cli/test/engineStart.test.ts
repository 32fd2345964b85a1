import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../../src/protocol/ports/clock.ts'
import { assert, type CaseContext, describe } from '../../../test/support/suite.ts'
import { withCode } from '../../../test/support/agentHarness.ts'
import { Engine } from '../src/cluster/engine.ts'

/** A program in the place of the engine whose first starts, so many, end with these words; later ones answer. */
async function starting({ cleanup }: CaseContext, words: string, failures: number) {
  const folder = await mkdtemp(join(tmpdir(), 'escapement-engine-'))
  cleanup(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  const program = join(folder, 'engine.cjs')
  const source = `#!${process.execPath}
const { appendFileSync, readFileSync } = require('node:fs')
const { createServer } = require('node:http')
const { RESTATE_INGRESS__BIND_PORT: ingress, RESTATE_ADMIN__BIND_PORT: admin } = process.env
appendFileSync(${JSON.stringify(join(folder, 'starts'))}, ingress + '\\n')
if (readFileSync(${JSON.stringify(join(folder, 'starts'))}, 'utf8').split('\\n').length - 1 <= ${failures}) {
  console.error(${JSON.stringify(words)})
  process.exit(1)
}
for (const port of [ingress, admin]) createServer((_, response) => response.end('ok')).listen(Number(port), '127.0.0.1')
`
  await writeFile(program, source)
  await chmod(program, 0o755)
  const starts = async (): Promise<number> => (await readFile(join(folder, 'starts'), 'utf8')).split('\n').length - 1
  return { options: { program, folder, env: process.env, clock: systemClock }, starts }
}

describe('the engine of a cluster on one machine', (it) => {
  const taken = "error: failed binding to address '127.0.0.1:45359': Address in use (os error 98)"

  it('starts again with other ports when one of them was taken meanwhile', async (context) => {
    const { options, starts } = await starting(context, taken, 2)
    const engine = await Engine.start(options)
    context.cleanup(() => engine.end())
    assert.is(await engine.isWell(), true)
    assert.is(await starts(), 3)
  })

  it('gives up when they are taken each time, and at once for any other reason', async (context) => {
    for (const [words, count] of [
      [taken, 3],
      ['the disk is full', 1],
    ] as const) {
      const { options, starts } = await starting(context, words, 9)
      await assert.rejects(Engine.start(options), withCode('INTERNAL', 'The engine did not start', words))
      assert.is(await starts(), count)
    }
  })
})
